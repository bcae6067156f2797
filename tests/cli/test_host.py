"""Does an array of fast drives of the catalog meet its host's limit, and does the record say which core was full?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

READS = """
[load]
closed = { threads = 8, depth = 128 }

[[streams]]
read_pct = 100
random_pct = 100
size = "4 KiB"

[[phases]]
name = "warm-up"
duration = "4 ms"

[[phases]]
name = "measure"
duration = "5 ms"
measure = true
"""
ARRAY = """
[drives.d]
product = "pm9a3-3840"
count = 8

[host]
cores = 2
path = "io_uring"

[layouts.a]
raid0 = { members = "d*" }
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "reads.toml").write_text(READS, encoding="utf-8")
    (tmp_path / "array.toml").write_text(ARRAY, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("options", [["--set", "scale=256"], ["--set", "state=fob"]], ids=["in use", "whole"])
def test_a_stripe_of_gen4_drives_is_limited_by_its_host(files: Path, hotband, options: list[str]) -> None:
    done = hotband("run", "./reads.toml", "--on", "./array.toml", "--out", "out", *options)
    assert done.returncode == 0, done.stderr
    assert "all 2 cores of the host (core0 to core1) were full" in " ".join(done.stdout.split())
    record = json.loads(next((files / "out").rglob("record.json")).read_text(encoding="utf-8"))
    assert record["summary"]["iops"] == pytest.approx(2e6, rel=0.02), "1 us of a core an I/O"
    assert record["host"]["full"] == ["core0", "core1"]
    assert [core["utilisation"] > 0.95 for core in record["host"]["cores"]] == [True, True]


def test_without_a_host_the_same_drives_do_what_their_data_sheets_say(files: Path, hotband) -> None:
    done = hotband("run", "./reads.toml", "--on", "raid0:8xpm9a3-3840", "--out", "out")
    assert done.returncode == 0, done.stderr
    record = json.loads(next((files / "out").rglob("record.json")).read_text(encoding="utf-8"))
    assert record["summary"]["iops"] == pytest.approx(8e6, rel=0.1)
    assert "host" not in record or record["host"] is None
