"""Slips of a first try: what is refused before anything runs, and what is never written over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError, reason_of, reason_of_input
from hotband.execution.runs import run as runs
from hotband.execution.runs.interrupted import RunsInterrupted

JOB = "[a]\nioengine=libaio\nfilename=/dev/sdx\nrw=randread\nbs=8k\niodepth=4\nruntime=1\ntime_based\n"
ON = ("--on", "exos-15e900-512n", "--duration", "0.1 s")


@pytest.fixture
def told(typed, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs a command as `typed` does, in a folder with `my.fio`."""
    (tmp_path / "my.fio").write_text(JOB)
    return typed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "my.fio", *ON, "--draws", "16"), "--draws = '16': is for intervals: expected --interval PERCENT"),
        (("run", "my.fio", *ON, "--fresh"), "--fresh: is for a folder: expected --out DIR with it"),
        (
            ("sweep", "my.fio", *ON, "--set", "qd=1,2", "--fresh"),
            "--fresh: is for a folder: expected --out DIR with it",
        ),
        (("review", "ent-10k", "--fresh"), "--fresh: is for a folder: expected --out DIR with it"),
        (("study", "run", "exos-15e900", "--fresh"), "--fresh: is for a folder: expected --out DIR with it"),
        (("run", "my.fio", *ON, "--expect", "none"), "--expect = 'none': is for hardware"),
        (
            ("sweep", "my.fio", "--on", "real:my.fio", "--size", "1 GiB"),
            "--size = '1 GiB': applies to a file made in",
        ),
        (("sweep", "my.fio", "--on", "real:my.fio", "--keep"), "--keep: applies to a file made in a folder"),
        (("run", "my.fio", *ON, "--out", ""), "--out: is empty; expected a path"),
        (("compare", "", "my.fio"), "is empty; expected a path"),
        (("run", "job", *ON), "WORKLOAD = 'job': is not in the catalog; use ./job for the file here"),
        (("run", "my.fio", "--on", "folder"), "--on = 'folder': is a folder; expected a drive of the catalog"),
        (("run", "my.fio", "--on", "job"), "--on = 'job': is not in the catalog; use ./job for the file"),
        (("run", "wal", *ON), "WORKLOAD = 'wal': is not in the catalog; use ./wal.fio"),
        (("run", "my.fio", "--on", "mine"), "--on = 'mine': is not in the catalog; use ./mine.toml"),
        (("run", "my.fio", "--on", "raid5:4xmine:64k"), "is not in the catalog; use raid5:4x./mine.toml:64k"),
        (("run", "my.fio", "--on", "raid5:4xaid"), "is not in the catalog; use raid5:4x./aid.toml"),
        (("serve", "mine"), "MACHINE = 'mine': is not in the catalog; use ./mine.toml"),
        (("drives", "mine"), "NAME = 'mine': is not in the catalog; use ./mine.toml"),
        (("audit", "record"), "record: cannot be read: No such file or directory; did you mean ./record.json?"),
        (("fleet", "mine"), "mine: the fleet cannot be read: No such file or directory; did you mean ./mine.toml?"),
        (("run", "far.fio", *ON), "far.fio:2: offset = '9t': begins at the end of the target of "),
        (("trace", "show", "bs.txt"), "bs.txt: line 3 = "),
        (("trace", "show", "bs.txt"), ". --skip-bad N leaves out N such lines"),
        (("run", "folder", *ON), "WORKLOAD = 'folder': is a folder; expected a catalog name"),
        (("run", "./record.json", *ON), "record.json: is a record of hotband, not a workload: hotband report"),
        (
            ("run", "/dev/zero", *ON),
            "/dev/zero: is a device, not a regular file; expected a workload as text",
        ),
        (
            ("run", "my.fio", "--on", "/dev/zero"),
            "/dev/zero: is a device, not a regular file; expected",
        ),
        (
            ("run", "--explain", "my.fio", *ON, "--figure", "p95"),
            "--figure = 'p95': expected one of iops, bandwidth, mean, p50",
        ),
        (
            ("workloads", "convert", "my.fio", "-o", "./my.fio"),
            "--output = 'my.fio': is the file that is read; expected another",
        ),
    ],
)
def test_slips_are_refused_before_anything_runs(told, tmp_path, arguments, said) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "job").write_text(JOB)
    (tmp_path / "wal.fio").write_text(JOB)
    (tmp_path / "far.fio").write_text(JOB.replace("[a]\n", "[a]\noffset=9t\n"))
    (tmp_path / "bs.txt").write_text(
        "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 a 1 d R 8 512 0.2\n0.1 ? 0 R -1 8 0\n"
    )
    for name in ("mine", "aid"):
        (tmp_path / f"{name}.toml").write_text('variant_of = "ent-10k"\n')
    (tmp_path / "folder").mkdir()
    (tmp_path / "record.json").write_text('{"schema": "hotband-record"}')
    code, out, err = told(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("hotband: error: ")
    assert said in err
    assert (tmp_path / "my.fio").read_text() == JOB


@pytest.mark.parametrize(
    "arguments",
    [
        ("measure", "pts", "s4500-960", "--test", "latency"),
        ("measure", "quick", "ent-10k"),
        ("review", "ent-10k"),
        ("study", "run", "exos-15e900"),
        ("run", "fio-randread", "--on", "real:my.fio"),
        ("run", "fio-randread", "--on", "emulated:ent-10k"),
    ],
)
def test_a_page_of_another_command_is_not_written_over(told, tmp_path, arguments: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/report.html").write_text("of another")
    code, out, err = told(*arguments, "--out", "kept")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("hotband: error: --out = 'kept': holds report.html of another command: ")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["report.html"]


def test_a_page_with_the_review_of_another_machine_is_not_written_over(told, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name in ("ent-10k", "ent-15k"):
        (tmp_path / "kept" / name).mkdir(parents=True)
        (tmp_path / "kept" / name / "review.json").write_text("{}")
    (tmp_path / "kept/report.html").write_text("of both")
    code, out, err = told("review", "ent-10k", "--out", "kept")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "holds report.html with the review of ent-15k: expected another folder, or --fresh" in err


@pytest.mark.parametrize("name", ["record.json", "program.json"])
def test_what_a_program_left_is_not_written_over(told, tmp_path: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / name).write_text("{}")
    code, out, err = told("program", "sysbench", "--on", "real:.", "--out", "kept")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--out = 'kept': contains the record of another run: expected another folder, or --fresh" in err
    assert (tmp_path / "kept" / name).read_text() == "{}"


def test_a_report_does_not_take_the_place_of_its_record(told, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert told("run", "my.fio", *ON, "--out", "r")[0] == 0
    before = (tmp_path / "r" / "record.json").read_bytes()
    code, out, err = told("report", "r", "-o", "r/record.json")
    assert (code, out) == (2, "")
    assert err == "hotband: error: --output = 'r/record.json': is the file that is read; expected another file\n"
    assert (tmp_path / "r" / "record.json").read_bytes() == before


@pytest.mark.parametrize("text", [JOB, '[load]\nclosed = { threads = 1, depth = 1 }\n[[streams]]\nsize = "4 KiB"\n'])
def test_a_pipe_is_read_once(text: str) -> None:
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    try:
        found = runs.text_of(f"/dev/fd/{reader}", "workload")
    finally:
        os.close(reader)
    assert found is not None
    assert "[[streams]]" in found


def test_a_job_file_with_an_escape_in_its_name_runs(told, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "e\x1b[31m.fio").write_text(JOB)
    code, out, err = told("run", "e\x1b[31m.fio", *ON)
    assert code == 0, err
    assert "\x1b" not in out


def test_python_refuses_a_level_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^interval = '200'"):
        hb.run("fio-randread", on="exos-15e900-512n", duration="0.1 s", interval=200, out=tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_an_interrupt_among_the_draws_prints_the_run_and_ends_with_130(told, monkeypatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    def stopped(*_: object) -> None:
        raise RunsInterrupted([])

    monkeypatch.setattr("hotband.inference.interval.of_record.intervals_of", stopped)
    code, out, err = told("run", "my.fio", *ON, "--interval", "90", "--out", "r")
    assert (code, "IOPS" in out) == (130, True)
    assert "interrupted: the record is stored without intervals" in err
    assert (tmp_path / "r" / "record.json").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.fio", JOB + "rate_iops=-5\n", "a.fio:9: rate_iops = '-5': expected I/Os per second, such as 500 or 10k"),
        ("a.fio", JOB.replace("[a]", "[a\x07]"), "a.fio: is not text (it has control characters)"),
        (
            "a.parm",
            "sd=sd1,lun=/dev/sda\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=fast,elapsed=2\n",
            "a.parm:3: iorate = 'fast': expected max, curve, or rates above zero",
        ),
    ],
)
def test_mistakes_in_job_files_say_what_is_accepted(told, tmp_path, name, text, said) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / name).write_text(text)
    code, _, err = told("run", name, *ON)
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"to": None}, "to = 'None'"), ({"to": "fio", "target": 3}, "target = '3'"), ({"target": "/dev/x"}, "target = ")],
)
def test_python_convert_names_its_arguments(asked, said) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError) as error:
        hb.convert("fio-randread", **asked)
    assert str(error.value).startswith(said)


def test_python_refuses_an_empty_folder() -> None:
    with pytest.raises(UserError, match=r"^out: is empty"):
        hb.run("fio-randread", on="exos-15e900-512n", duration="0.1 s", out="")


def test_comparisons_say_once_what_is_alike_in_all_rows(told, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for seed in ("1", "2"):
        told("run", "my.fio", "--on", "exos-15e900-512n", "--seed", seed, "--out", seed)
    code, out, _ = told("compare", "1", "2")
    assert (code, out.count(" over time;")) == (0, 1)
    headline = "Not enough data for a verdict on 2 against 1 (268 against 268 IOPS): 1 has\n1 sample over time;"
    assert out.startswith(headline), "the headline gives the reason"


def test_a_folder_called_as_a_machine_is_in_nobodys_way(told, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    name = "raid1:2xexos-15e900-512n"
    (tmp_path / "my.fio").write_text(JOB)
    code, _, err = told("run", "my.fio", "--on", name, "--duration", "0.1 s", "--out", name)
    assert code == 0, err
    assert (tmp_path / name / "record.json").is_file()


def test_a_missing_program_is_no_file_without_its_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fio.job").touch()
    error = FileNotFoundError(2, "No such file or directory", "fio")
    assert reason_of(error) == "No such file or directory"
    assert reason_of_input(error) == "No such file or directory; did you mean ./fio.job?"
