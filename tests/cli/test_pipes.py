"""Results that come through a pipe are read as those in files: once, though how they begin is looked at first."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from command_line import run_hotband
from hotband.base.errors import UserError
from hotband.base.text.pipes import with_pipes

FIO = {
    "fio version": "fio-3.36",
    "global options": {"ioengine": "libaio"},
    "jobs": [
        {
            "jobname": "reads",
            "job options": {"rw": "randread", "bs": "4k", "iodepth": "1", "runtime": "10", "time_based": "1"},
            "read": {
                "io_bytes": 4096000, "bw_bytes": 409600, "iops": 100.0, "runtime": 10000, "total_ios": 1000,
                "clat_ns": {"min": 1000000, "max": 20000000, "mean": 9900000.0, "stddev": 1000000.0, "N": 1000},
                "lat_ns": {"min": 1000000, "max": 20000000, "mean": 9900000.0, "stddev": 1000000.0, "N": 1000},
            },
        }
    ],
}  # fmt: skip


def hotband(*given: str, said: bytes = b"", folder: Path) -> subprocess.CompletedProcess[str]:
    """A command, in this process, with a pipe as its standard input: `process` is how a user starts one."""
    kept, (reading, writing) = os.dup(0), os.pipe()
    os.dup2(reading, 0)
    os.close(reading)

    def write() -> None:
        with open(writing, "wb") as file, contextlib.suppress(BrokenPipeError):
            file.write(said)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return run_hotband(*given, cwd=folder)
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        writer.join()


def process(*given: str, said: bytes | None = None, folder: Path) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "hotband", *given]
    return subprocess.run(command, cwd=folder, env=environ, input=said, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    done = hotband("run", "fio-randread", "--on", "ent-10k", "--duration", "2 s", "--out", "run", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "run/record.json"


@pytest.mark.parametrize(
    "given", [["audit", "--details"], ["import", "auto"], ["import", "fio"], ["report", "-o", "page.html"]]
)
@pytest.mark.parametrize("end", ["", "\n" * 5000])
def test_what_comes_in_is_read_like_a_file(given: list[str], end: str, tmp_path: Path) -> None:
    text = (json.dumps(FIO) + end).encode()
    (tmp_path / "stdin").write_bytes(text)
    wanted = hotband(*given, "stdin", folder=tmp_path)
    found = hotband(*given, "-", said=text, folder=tmp_path)
    assert found.returncode == wanted.returncode in (0, 1), found.stderr
    # What came through a pipe cannot be read again by the next command.
    assert found.stdout == wanted.stdout.replace("Next: hotband audit stdin\n", "")
    assert found.stdout


def test_a_record_that_comes_in_is_compared(record: Path, tmp_path: Path) -> None:
    found = process("compare", "-", str(record), said=record.read_bytes(), folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(b"No difference in IOPS is shown between stdin and run (144 against 144 IOPS;")


def test_what_is_no_result_is_said_with_where_it_came_from(tmp_path: Path) -> None:
    for said, reason in ((b"", "the file is empty"), (b"\0" * 1000, "not a result that Hotband recognises")):
        found = hotband("audit", "-", said=said, folder=tmp_path)
        assert found.returncode == 2
        assert found.stderr.startswith("hotband: error: /dev/stdin: " + reason)


def test_a_file_of_that_name_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "-").write_text(json.dumps(FIO))
    found = hotband("import", "auto", "-", said=b"", folder=tmp_path)
    assert found.returncode == 0, found.stderr


def test_what_came_out_of_a_pipe_is_there_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("a\r\nb", newline=""))
    writer.start()
    [kept] = with_pipes([pipe])
    writer.join()
    for _ in range(2):
        assert kept.read_bytes() == b"a\r\nb"
        assert kept.read_text(encoding="utf-8", errors="replace") == "a\nb"
    assert kept.is_file()
    assert kept == pipe
    # What lies beside it is a path like others.
    with pytest.raises(OSError, match="No such file"):
        (kept.parent / "other").read_bytes()


def test_files_are_as_they_were_and_what_cannot_be_looked_at_is_said(tmp_path: Path) -> None:
    assert with_pipes([tmp_path, Path("missing")]) == [tmp_path, Path("missing")]
    with pytest.raises(UserError, match="cannot be read"):
        with_pipes([tmp_path / ("long" * 100)])


def test_a_pipe_that_is_given_twice_is_said(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("once"))
    writer.start()
    with pytest.raises(UserError, match="is a pipe that is given twice"):
        with_pipes([pipe, pipe])
    writer.join()
    for command in ("audit", "compare"):
        found = hotband(command, "-", "-", said=json.dumps(FIO).encode(), folder=tmp_path)
        assert found.returncode == 2
        assert "given twice" in found.stderr


def test_a_log_of_fio_comes_through_a_pipe_of_its_name(tmp_path: Path) -> None:
    log = "".join(f"{n * 10}, {100 + n}, 0, 4096, 0\n" for n in range(200))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/x_clat.1.log").write_text(log)
    pipe = tmp_path / "x_clat.1.log"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(log))
    writer.start()
    found = hotband("import", "fio", pipe.name, folder=tmp_path)
    writer.join()
    assert found.returncode == 0, found.stderr
    assert found.stdout == hotband("import", "fio", pipe.name, folder=tmp_path / "kept").stdout
