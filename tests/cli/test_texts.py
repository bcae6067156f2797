"""Does a command refuse at once a text that is a pipe nobody writes, a device without end, or too large?"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.faces.cli import main

JOB = "[a]\nfilename=/dev/sdx\nrw=randread\nruntime=1\ntime_based\n"
RUN = ("--duration", "0.1 s")
MACHINE = """[drives.d]
product = "PLACE"
[volumes.v]
on = "d"
"""
PRODUCT = "the drive's file cannot be read: is KIND, not a regular file: expected a text of at most 1 MiB"
TEXT = "is KIND, not a regular file; expected a WHAT as text of at most 64 MiB"
JOB_FILE = "is KIND, not a regular file; expected a job file of fio, vdbench, Iometer (.icf) or DiskSpd (XML), of at"
Ended = tuple[int, str]
Command = Callable[..., Ended]


@pytest.fixture
def hotband(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in an empty folder, in this process: its exit code and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["hotband", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), capsys.readouterr().err

    return run


@pytest.fixture(params=["a pipe", "a device"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What `odd`, `odd.toml`, `odd.fio`, `odd.csv` and `odd.trace` are."""
    for name in ("odd", "odd.toml", "odd.fio", "odd.csv", "odd.trace"):
        if request.param == "a pipe":
            os.mkfifo(tmp_path / name)
        else:
            (tmp_path / name).symlink_to("/dev/zero")
    return str(request.param)


@pytest.mark.parametrize(
    ("arguments", "where", "accepted"),
    [
        (("drives", "./odd.toml"), "NAME = './odd.toml'", PRODUCT),
        (("keys", "fio-randread", "--on", "m.toml"), "m.toml: drives.d.product = './odd.toml'", PRODUCT),
        (("run", "fio-randread", "--on", "m.toml", *RUN), "m.toml: drives.d.product = './odd.toml'", PRODUCT),
        (("run", "fio-randread", "--on", "./odd.toml", *RUN), "./odd.toml", TEXT.replace("WHAT", "machine")),
        (("run", "./odd.toml", "--on", "ent-10k", *RUN), "./odd.toml", TEXT.replace("WHAT", "workload")),
        (("run", "./odd.fio", "--on", "ent-10k", *RUN), "./odd.fio", TEXT.replace("WHAT", "workload")),
        (("run", "outer.fio", "--on", "ent-10k", *RUN), "outer.fio:1: include = 'odd.fio'", JOB_FILE),
        (
            ("run", "replay.toml", "--on", "ent-10k", *RUN),
            "trace.file",
            "is KIND, not a regular file; expected",
        ),
        (("run", "fio-randread", "--on", "ent-10k", *RUN, "--set", "data=./odd"), "./odd", "is KIND, not a regular"),
        (
            (
                "advise",
                "fio-randread",
                "--slo",
                "p99 < 1 s",
                "--capacity",
                "1 TB",
                "--protect",
                "no failure",
                "--prices",
                "odd.csv",
            ),
            "odd.csv",
            TEXT.replace("WHAT", "table of prices"),
        ),
        (("fleet", "odd.toml"), "odd.toml", TEXT.replace("WHAT", "fleet")),
        (("study", "run", "./study"), "study/study.toml", TEXT.replace("WHAT", "study")),
        (("trace", "show", "./odd.trace"), "odd.trace", "is not a regular file; expected a trace"),
    ],
)
def test_a_text_that_is_no_file_is_refused_at_once(
    hotband: Command, tmp_path: Path, kind: str, arguments: tuple[str, ...], where: str, accepted: str
) -> None:
    (tmp_path / "m.toml").write_text(MACHINE.replace("PLACE", "./odd.toml"))
    (tmp_path / "outer.fio").write_text(f"include odd.fio\n{JOB}")
    (tmp_path / "replay.toml").write_text(
        '[trace]\nfile = "odd.csv"\ncolumns = { time = "t", offset = "o", size = "s" }\n'
    )
    (tmp_path / "study").mkdir()
    (tmp_path / "study/study.toml").symlink_to(tmp_path / "odd.toml")
    code, said = hotband(*arguments)
    assert code == 2, said
    assert where in said
    assert accepted.replace("KIND", kind) in said


def test_a_drive_that_is_too_large_is_refused_with_the_limit(tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text("#" * ((1 << 20) + 1))
    with pytest.raises(UserError, match="is larger: expected a text of at most 1 MiB"):
        hb.drive(str(tmp_path / "large.toml"))


def test_a_drive_comes_through_a_pipe_that_is_typed() -> None:
    text = CATALOG_DIR / "drives/ent-10k.toml"
    reader, writer = os.pipe()
    os.write(writer, text.read_bytes())
    os.close(writer)
    try:
        assert hb.drive(f"/dev/fd/{reader}").title == hb.drive("ent-10k").title
    finally:
        os.close(reader)
