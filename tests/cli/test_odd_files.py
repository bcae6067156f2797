"""Does a command end where a file of a folder is a pipe that nobody writes or reads, or a device without end?"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from command_line import run_hotband
from hotband.base.errors import UserError
from hotband.base.text import regular, write
from hotband.base.text.regular import file_bytes, file_text, opened
from hotband.base.text.write import write_file
from hotband.data.catalog.entries import CATALOG_DIR

DISK = "exos-15e900-512n"
RUN = f"run fio-randread --on {DISK} --duration '0.2 s'"
SWEEP = f"sweep fio-randread --on {DISK} --set qd=1,2 --duration '0.2 s'"
NO_FILE = "cannot be read: is a KIND, not a regular file"
NO_FOLDER = "is a pipe, a socket or a device; expected a folder of files"
LINES = {
    "report FOLDER -o page.html": ("run/record.json", 2, f"run/record.json: {NO_FILE}"),
    "compare FOLDER FOLDER": ("run/record.json", 2, f"run/record.json: {NO_FILE}"),
    "audit FOLDER": ("run/record.json", 2, f"run/record.json: {NO_FILE}"),
    f"reliability raid5:6x{DISK} --record FOLDER": ("run/record.json", 2, f"--record = 'run/record.json': {NO_FILE}"),
    f"{RUN} --out FOLDER": ("run/record.json", 2, f"--out = 'run/record.json': {NO_FOLDER}"),
    f"{RUN} --out FOLDER --fresh": ("run/series.parquet", 2, f"--out = 'run/series.parquet': {NO_FOLDER}"),
    f"{SWEEP} --out FOLDER": ("sweep/sweep.journal", 2, f"--out = 'sweep/sweep.journal': {NO_FOLDER}"),
    f"{SWEEP} --out FOLDER --fresh": ("sweep/sweep.parquet", 2, f"--out = 'sweep/sweep.parquet': {NO_FOLDER}"),
    "store add STORE FOLDER": ("sweep/sweep.parquet", 2, f"sweep/sweep.parquet: {NO_FILE}"),
    "store check FOLDER": ("store/summary", 1, ""),
    "store compact FOLDER": ("store/manifest", 2, "not a part's entry of a store of this version"),
    f"{RUN} --into FOLDER": ("store/summary", 2, f"{NO_FILE}: hotband store check lists all damage"),
    "store list FOLDER": ("store/manifest", 2, "not a part's entry of a store of this version"),
}
"""Lines with the file that is none, the code they end with, and what the error says."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, a sweep and a store."""
    folder = tmp_path_factory.mktemp("made")
    for line in (f"{RUN} --out run", f"{SWEEP} --out sweep", f"{RUN} --into store"):
        done = hotband(line, folder)
        assert done.returncode == 0, done.stderr
    return folder


def hotband(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command, in this process, that may take a minute: one that waits for ever is ended, and raises."""

    def ended(*_: object) -> None:
        raise TimeoutError(line)

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(60)
    try:
        return run_hotband(*shlex.split(line), cwd=folder)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("line", LINES)
def test_a_command_says_what_is_no_file_or_does_without(line: str, kind: str, made: Path, tmp_path: Path) -> None:
    name, code, words = LINES[line]
    folder = tmp_path / name.split("/", maxsplit=1)[0]
    shutil.copytree(made / folder.name, folder)
    place = tmp_path / name
    place = place if place.suffix else next(one for one in sorted(place.rglob("part-*")) if one.is_file())
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero")
    done = hotband(line.replace("FOLDER", folder.name).replace("STORE", "other"), tmp_path)
    assert done.returncode == code, done.stderr
    if code == 2:
        said = done.stderr.splitlines()[-1]
        assert said.startswith("hotband: error: ")
        assert words.replace("KIND", kind) in said
    elif line.startswith("store check"):
        assert str(place.relative_to(folder)) in done.stdout.replace("\n", "")


def test_a_report_does_without_a_series_that_is_a_pipe_and_takes_none_from_elsewhere(
    made: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(made / "run", folder)
    (folder / "series.parquet").unlink()
    os.mkfifo(folder / "series.parquet")
    done = hotband("report run -o page.html", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "series.parquet is missing next to record.json" in (tmp_path / "page.html").read_text()
    (folder / "series.parquet").unlink()
    (folder / "series.parquet").symlink_to("/dev/zero")
    done = hotband("report run -o page.html", tmp_path)
    assert done.returncode == 2
    assert "expected a file in the record's folder" in done.stderr


@pytest.mark.parametrize("name", ["study.toml", "published.csv", "boot.toml"])
def test_a_study_of_others_with_a_pipe_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(CATALOG_DIR / "studies" / "exos_15e900", folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    done = hotband("study run ./study", tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"hotband: error: {Path('study')}/")


def test_a_file_is_read_and_what_is_none_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a\r\nb")
    assert file_bytes(file) == b"a\r\nb"
    with opened(file) as data:
        assert data.read() == b"a\r\nb"
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            file_bytes(path)
    monkeypatch.setattr(regular, "LARGEST_BYTES", 3)
    with pytest.raises(OSError, match="is larger than"):
        file_bytes(file)


def test_a_pipe_that_was_named_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("all of it"))
    writer.start()
    assert file_text(pipe, pipes=True) == "all of it"
    writer.join()


def test_a_pipe_without_a_writer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "f.json"
    os.mkfifo(pipe)
    monkeypatch.setattr(regular, "WRITERS_S", 0.2)
    done = hotband(f"import auto {pipe}", tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"hotband: error: {pipe}: cannot be read: is a pipe without a writer; expected a file\n"


def test_a_writer_of_a_pipe_may_be_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(regular, "WRITERS_S", 0.0)
    writer = os.open(pipe, os.O_RDWR)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(file_bytes(pipe, pipes=True)))
    reader.start()
    reader.join(0.3)
    assert reader.is_alive(), "it waits for a writer that has opened the pipe"
    os.write(writer, b"late")
    os.close(writer)
    reader.join()
    assert read == [b"late"]


def test_a_pipe_is_written_where_somebody_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(write, "READERS_S", 0.2)
    with pytest.raises(UserError, match="is a pipe without a reader"):
        write_file(pipe, "lost")
    monkeypatch.setattr(write, "READERS_S", 60.0)
    told: list[str] = []
    reader = threading.Thread(target=lambda: told.append(pipe.read_text()))
    later = threading.Timer(0.3, reader.start)
    later.start()
    write_file(pipe, "told" * 50_000)
    later.join()
    reader.join()
    assert told == ["told" * 50_000]
    assert pipe.is_fifo()


def test_a_file_that_is_written_has_its_folder_made(tmp_path: Path, hotband) -> None:
    run = ("run", "fio-randread", "--on", "ent-15k", "--duration", "100 ms", "--out", "run")
    for command, written in [
        ((*run, "--io-log", "logs/a/log.parquet"), ["logs/a/log.parquet"]),
        (("report", "run", "-o", "pages/a/page.html", "--charts", "charts/a"), ["pages/a/page.html", "charts/a"]),
        (("workloads", "convert", "fio-randread", "-o", "jobs/a/job.fio"), ["jobs/a/job.fio"]),
        (("trace", "show", "logs/a/log.parquet", "-o", "traces/a/page.html"), ["traces/a/page.html"]),
        (("trace", "fit", "logs/a/log.parquet", "-o", "fits/a/like.toml"), ["fits/a/like.toml"]),
        (("report", "--latency", "run", "--out", "plots/a/chart.svg"), ["plots/a/chart.svg"]),
    ]:
        done = hotband(*command)
        assert done.returncode == 0, done.stderr
        assert all((tmp_path / name).exists() for name in written), command
