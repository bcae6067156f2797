"""Does a rate in place of a closed loop, or the other way round, preserve the mix of streams that flush, or say so?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hotband as hb
import hotband._core as _core
from hotband.data.inputs.loads import Load

CLOSED = "closed = { threads = 4, depth = 1 }"
OPEN = 'open = { rate_iops = 1000, arrival = "fixed" }'
IOS = 9000


def workload(load: str, log: str = "flush_every = 1", shares: tuple[str, str] = ("50", "50")) -> str:
    """A log, and reads of data."""
    parts = zip(("log", "data"), shares, (f"read_pct = 0\n{log}", "read_pct = 100"), strict=True)
    streams = "".join(
        f'[[streams]]\nname = "{name}"\nshare_pct = {share}\nsize = "4 KiB"\nrandom_pct = 100\n{keys}\n'
        for name, share, keys in parts
    )
    return f"[load]\n{load}\n{streams}[[phases]]\nios = {IOS}\nmeasure = true\n"


def ran(folder: Path, text: str, rate: str | None = None) -> hb.Record:
    path = folder / "w.toml"
    path.write_text(text)
    return hb.run(path, on="s4500-960", set={"state": "fob"}, rate=rate, progress=False)


def writes(record: hb.Record) -> float:
    """Share of writes in reads and writes."""
    summary = record.summary
    return summary.write.count / (summary.read.count + summary.write.count)


# Six standard errors of two draws of at least 6,000 I/Os.
NEAR = 6 * (2 * 0.25 / 6000) ** 0.5


@pytest.mark.parametrize("log", ["flush_every = 1", "flush_every = 3", "flush_every = 1\ntrim_first = true"])
@pytest.mark.parametrize("load", [CLOSED, OPEN])
def test_a_loop_of_the_other_kind_has_the_same_mix(tmp_path: Path, load: str, log: str) -> None:
    text = workload(load, log)
    given = Load(text, "w.toml")
    other = given.with_open_loop(1000, "fixed") if load == CLOSED else given.with_closed_loop(4)
    assert writes(ran(tmp_path, other.text())) == pytest.approx(writes(ran(tmp_path, text)), abs=NEAR)


def test_a_loop_of_the_same_kind_keeps_its_shares() -> None:
    for load, other in (
        (OPEN, lambda load: load.with_open_loop(5, "fixed")),
        (CLOSED, lambda load: load.with_closed_loop(9)),
    ):
        changed = other(Load(workload(load), "w.toml"))
        assert [stream["share_pct"] for stream in changed.table["streams"]] == [50, 50]


@pytest.mark.parametrize(
    ("log", "flushes"),
    [
        ("read_pct = 60\nflush_every = 2", 0.2),
        ('read_pct = 60\nflush_every = 2\ntrim_pct = "50 %"', 0.1),
        ("read_pct = 60\nflush_every = 2\ntrim_first = true", 0.4 / 1.4 / 2),
    ],
)
def test_flushes_follow_writes_alone(log: str, flushes: float) -> None:
    load = Load(workload(CLOSED).replace("read_pct = 0\nflush_every = 1", log), "w.toml")
    expected = 100 / (1 + flushes) / (1 / (1 + flushes) + 1)
    assert load.shares_of_mix() == [("log", pytest.approx(expected)), ("data", pytest.approx(100 - expected))]


def test_a_rate_names_the_shares_that_preserve_the_mix(tmp_path: Path) -> None:
    closed = ran(tmp_path, workload(CLOSED))
    rated = ran(tmp_path, workload(CLOSED), rate="1000")
    assert writes(rated) > writes(closed) + NEAR
    (note,) = (note for note in rated.notes if "share_pct" in note)
    log, data = re.findall(r'([\d.]+) of "', note)
    assert (float(log), float(data)) == (pytest.approx(33.3), pytest.approx(66.7))
    same = ran(tmp_path, workload(CLOSED, shares=(log, data)), rate="1000")
    assert writes(same) == pytest.approx(writes(closed), abs=NEAR)


@pytest.mark.parametrize(
    ("text", "rate"),
    [(workload(CLOSED), None), (workload(OPEN), "500"), (workload(CLOSED, "fua = true"), "500")],
    ids=["its own loop", "an open loop", "no flushes"],
)
def test_an_unchanged_mix_has_no_note(tmp_path: Path, text: str, rate: str | None) -> None:
    assert not [note for note in ran(tmp_path, text, rate).notes if "share_pct" in note]


def test_the_engine_reads_shares_that_were_changed() -> None:
    text = workload(CLOSED, shares=('"0.5 %"', "99.5"))
    _core.workload(Load(text, "w.toml").with_open_loop(1000, "fixed").text())
