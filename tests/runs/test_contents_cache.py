"""Contents of preconditioned drives that one process leaves in the cache folder and another takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.execution.runs.run import CACHE_SIZE, contents_cache

RUN = """
import sys
from hotband.data.documents.run import RunSpec
from hotband.execution.runs.run import execute_one, prepare
for machine, scale in zip(sys.argv[2::2], sys.argv[3::2]):
    spec = RunSpec("a", machine, "iometer-database", (("scale", scale),), int(sys.argv[1]), "10 ms", in_use=True)
    print(execute_one([prepare(spec)], 0).text)
"""
SERVE = """
import json
from hotband.execution.serve.served import Served, ServeSpec
settings = (("scale", "64"), ("state", "preconditioned"))
with Served(ServeSpec("7450-pro-3840", settings, anyway=True)) as served:
    pass
print(json.dumps([drive["at_begin"] for drive in served.finished.record["smart"]]))
"""
OLD = 1_000_000_000
# Of each mechanism that stores more than a map and blocks: a pseudo-SLC cache, a mapping table larger than its memory,
# mapping units of 16 KiB, compression, cells that are written in place, members that copy one drive.
MACHINES = {
    "980-pro-1tb": "512",
    "980-1tb": "512",
    "p5336-61440": "1024",
    "nytro-1351-960": "256",
    "p4800x-750": "512",
    "raid5:3x7450-pro-3840": "512",
}


def output(cache: Path | str, program: str, *words: str, **environment: str) -> str:
    """Return what a process of its own prints."""
    env = os.environ | {"XDG_CACHE_HOME": str(cache)} | environment
    done = subprocess.run([sys.executable, "-c", program, *words], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(cache: Path | str, seed: int = 1, **environment: str) -> str:
    """The record of a run in a process of its own."""
    return output(cache, RUN, str(seed), "7450-pro-3840", "512", **environment)


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
    assert record(tmp_path, 2) != first
    assert len(stored(tmp_path)) == 2, "another seed makes others"


@pytest.mark.long
def test_drives_of_each_mechanism_are_taken_as_they_were_made(tmp_path: Path) -> None:
    words = [word for pair in MACHINES.items() for word in pair]
    first = output(tmp_path, RUN, "1", *words)
    files = stored(tmp_path)
    assert len(files) == len(MACHINES)
    assert output(tmp_path, RUN, "1", *words) == first
    assert all(file.stat().st_mtime > OLD for file in files), "each was used"


@pytest.mark.long
def test_a_served_drive_is_taken_as_it_was_made(tmp_path: Path) -> None:
    first = output(tmp_path, SERVE)
    (file,) = stored(tmp_path)
    assert output(tmp_path, SERVE) == first
    assert file.stat().st_mtime > OLD, "it was used"
    (smart,) = json.loads(first)
    assert smart["host_bytes"] == pytest.approx(3 * 3.84e12 / 64, rel=0.001), "all of the drive was written three times"


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    first = record(tmp_path)
    (file,) = stored(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert record(tmp_path) == first
    assert file.read_bytes() == whole


@pytest.mark.parametrize("place", ["a file", pytest.param("~", marks=pytest.mark.long)])
def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, place: str) -> None:
    (tmp_path / "a file").write_text("")
    assert record(place if place == "~" else tmp_path / place) == record(tmp_path / "cache")


def test_the_environment_bounds_the_cache_or_turns_it_off(tmp_path: Path) -> None:
    record(tmp_path, **{CACHE_SIZE: "off"})
    record(tmp_path, **{CACHE_SIZE: "100 KiB"})
    assert not list(tmp_path.rglob("*.zst")), "a file of a drive is larger"


def test_a_size_that_is_none_is_refused_by_the_name_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_SIZE, "much")
    with pytest.raises(UserError, match=r"HOTBAND_DRIVE_CACHE.*much.*a size with its unit.*or off"):
        contents_cache()
