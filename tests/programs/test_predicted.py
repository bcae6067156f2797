"""A program on other drives: are its I/Os replayed on the machine that ran it as they were, and on others?"""

from __future__ import annotations

from pathlib import Path

import pytest

import hotband as hb
from command_line import run_hotband
from hotband.data.record.load import load_record
from hotband.execution.programs.predicted import predicted


def test_a_replay_on_the_same_machine_is_the_recording(tmp_path: Path) -> None:
    log = tmp_path / "io.parquet"
    hb.run("fio-randwrite", on="ent-10k", duration="5 s", warm_up="0 s", io_log=log).save(tmp_path / "a")
    rows, notes = predicted(log, load_record(tmp_path / "a").record, "ent-10k", (), ["ent-15k"])
    assert [(row["machine"], row["source"]) for row in rows] == [
        ("ent-10k", "recorded"),
        ("ent-10k", "replayed"),
        ("ent-15k", "replayed"),
    ]
    recorded, same, faster = (row["write_latency_mean_ns"] for row in rows)
    assert recorded is not None
    assert same == pytest.approx(recorded, rel=0.01)
    assert faster is not None
    assert faster < 0.9 * recorded
    assert rows[0]["read_latency_mean_ns"] is None
    assert notes == []


def test_flushes_that_linux_did_not_send_are_missed_on_a_drive_that_needs_them(tmp_path: Path) -> None:
    """A drive without a volatile write cache gets no flushes; with one, the program would wait for them."""
    log = tmp_path / "io.parquet"
    settings = {"wce": "off"}
    hb.run("fio-randwrite", on="ent-10k", duration="1 s", warm_up="0 s", io_log=log, set=settings).save(tmp_path / "a")
    _, notes = predicted(log, load_record(tmp_path / "a").record, "ent-10k", (("wce", "off"),), ["ent-10k"])
    assert [note.partition(",")[0] for note in notes] == ["ent-10k has no volatile write cache"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--on", "ent-10k", "--predict", "nothing"), "--predict = 'nothing': expected one of"),
        (("--on", "ent-10k", "--predict", "emulated:ent-15k"), "expected a machine without emulated:"),
        (
            ("--on", "real:.", "--predict", "ent-15k"),
            "needs the I/Os of a machine that is served: expected --on MACHINE",
        ),
        (("--on", "real:.", "--anyway"), "--anyway: is for machines that are served: expected --on MACHINE"),
    ],
)
def test_a_mistake_is_named_before_the_program_starts(words: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    done = run_hotband("program", "jetstress", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr
