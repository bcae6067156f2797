"""The reported faults at the edges of safety, each as its sample describes it; skipped without the samples."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hotband as hb

SAMPLES = Path(__file__).parents[3] / "shared/samples/faults"
HOTBAND = [sys.executable, "-c", "from hotband.__main__ import main; main()"]
FIO_RUN = ("--yes", "--expect", "none", "--duration", "200 ms", "--set", "warm_up=0 s")


def begun(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A command in a folder."""
    return subprocess.Popen([*HOTBAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(folder: Path, *words: str) -> tuple[int, str]:
    """Exit code and last line of stderr of a command."""
    process = begun(folder, *words)
    said = process.communicate(timeout=120)[1]
    assert "Traceback" not in said
    return process.returncode, (said.strip().splitlines() or [""])[-1]


def swapped_after_the_check(folder: Path) -> None:
    """12: a symbolic link takes the name of the file as soon as it is locked."""
    file, victim = folder / "f.dat", folder / "victim"
    file.write_bytes(b"x" * (8 << 20))
    victim.write_bytes(b"V" * (8 << 20))
    inode = file.stat().st_ino
    process = begun(folder, "run", "fio-randwrite", "--on", "real:f.dat", "--erase", str(file), *FIO_RUN)
    for _ in range(5000):
        if f":{inode} " in Path("/proc/locks").read_text():
            file.rename(folder / "f.old")
            file.symlink_to(victim)
            break
        if process.poll() is not None:
            break
        time.sleep(0.002)
    process.communicate(timeout=120)
    assert file.is_symlink(), "it was held"
    assert victim.read_bytes() == b"V" * (8 << 20)


def by_its_name_alone(folder: Path) -> None:
    """13: a file with data is not written by its basename, and one of a known content not at all."""
    (folder / "status").write_bytes(b"Package: a\n" * 1000)
    code, said = ended(folder, "run", "fio-randwrite", "--on", "real:status", "--erase", "status", *FIO_RUN)
    assert (code, "letter for letter" in said) == (2, True), said
    shutil.copy(sys.executable, folder / "program")
    erase = str(folder / "program")
    code, said = ended(folder, "run", "fio-randwrite", "--on", "real:program", "--erase", erase, *FIO_RUN)
    assert (code, "is an ELF program" in said) == (2, True), said
    assert (folder / "status").read_bytes() == b"Package: a\n" * 1000


def told_to_end(folder: Path) -> None:
    """17: SIGTERM leaves no part of a log."""
    words = ("run", "fio-randread", "--on", "ent-15k", "--duration", "900 h", "--io-log", "l.parquet")
    process = begun(folder, *words)
    for _ in range(1000):
        if list(folder.glob("*part*")) or list(folder.glob(".*part*")):
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert "hotband: interrupted" in process.communicate(timeout=120)[1]
    assert (process.returncode, list(folder.iterdir())) == (143, [])


def pipe_without_a_reader(folder: Path) -> None:
    """07: a pipe that nobody reads is one line."""
    os.mkfifo(folder / "f.csv")
    code, said = ended(folder, "run", "fio-randread", "--on", "ent-15k", "--duration", "1 s", "--io-log", "f.csv")
    assert (code, said) == (2, "hotband: error: f.csv: is a pipe without a reader; expected a file")


def query_interrupted(folder: Path) -> None:
    """11: Ctrl-C in a query is no damage."""
    hb.store(folder / "store").add(hb.run("fio-randread", on="ent-10k", duration="1 s", progress=False))
    sql = "select count(*) from (select distinct (a.range*7919)%1000003 x,b.range y from range(20000) a,range(20000) b)"
    process = begun(folder, "store", "query", sql, "--from", "store")
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, said) == (130, "hotband: interrupted\n")


FAULTS: dict[str, Callable[[Path], None]] = {
    "07-fifo-without-reader": pipe_without_a_reader,
    "11-query-interrupted": query_interrupted,
    "12-real-file-swapped-after-check": swapped_after_the_check,
    "13-file-with-content-needs-basename-only": by_its_name_alone,
    "17-sigterm-leaves-files": told_to_end,
}
"""By the folder of the sample; 06, 19 and 24 are `tests/ui/test_ui_shared_host.py`."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_reported_fault_is_mended(tmp_path: Path, name: str) -> None:
    if not (SAMPLES / name / "expect.txt").is_file():
        pytest.skip("the samples are not here")
    if name.startswith("1") and "real" in (SAMPLES / name / "expect.txt").read_text() and shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    FAULTS[name](tmp_path)
