"""Contents of preconditioned drives that one process leaves in the cache folder and another takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import sys
from hotband.data.documents.run import RunSpec
from hotband.execution.runs.run import execute_one, prepare
spec = RunSpec("a", "7450-pro-3840", "iometer-database", (("scale", "512"),), int(sys.argv[1]), "10 ms", in_use=True)
sys.stdout.write(execute_one([prepare(spec)], 0).text)
"""
OLD = 1_000_000_000


def record(cache: Path | str, seed: int = 1) -> str:
    """The record of a run in a process of its own."""
    env = os.environ | {"XDG_CACHE_HOME": str(cache)}
    done = subprocess.run([sys.executable, "-c", RUN, str(seed)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def stored(cache: Path) -> list[Path]:
    """The files of the cache, made to look old."""
    files = sorted((cache / "hotband" / "drives").iterdir())
    for file in files:
        os.utime(file, (OLD, OLD))
    return files


def test_another_process_takes_the_drives_that_the_first_made_and_leaves_the_same_record(tmp_path: Path) -> None:
    first = record(tmp_path)
    (file,) = stored(tmp_path)
    bytes_of_first = file.read_bytes()
    assert record(tmp_path) == first
    assert file.stat().st_mtime > OLD, "it was used"
    assert file.read_bytes() == bytes_of_first
    assert record(tmp_path, seed=2) != first
    assert len(stored(tmp_path)) == 2, "another seed makes others"


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    first = record(tmp_path)
    (file,) = stored(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert record(tmp_path) == first
    assert file.read_bytes() == whole


@pytest.mark.parametrize("place", ["a file", "~"])
def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, place: str) -> None:
    (tmp_path / "a file").write_text("")
    assert record(place if place == "~" else tmp_path / place) == record(tmp_path / "cache")
