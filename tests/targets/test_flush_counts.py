"""A job with flushes issues as many per write on a model, an emulated drive and hardware, and its records agree."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
JOB = "[j]\nfilename=/dev/x\nioengine=libaio\ndirect=1\nrw=randwrite\nbs=8k\nsize=16m\ntime_based=1\nruntime=1s\n"


@pytest.mark.parametrize(("fsync", "depth"), [pytest.param(1, 1, marks=pytest.mark.long), (16, 8)])
def test_three_targets_flush_after_as_many_writes(hotband: Hotband, tmp_path: Path, fsync: int, depth: int) -> None:
    (tmp_path / "job.fio").write_text(f"{JOB}iodepth={depth}\nfsync={fsync}\n")
    (tmp_path / "disk.img").touch()
    with (tmp_path / "disk.img").open("r+b") as file:
        file.truncate(16 << 20)
    drive, image = "ent-15k", str(tmp_path / "disk.img")
    assert hotband("run", "job.fio", "--on", drive, "--out", "model").returncode == 0
    # On a busy host it ends INVALID, whose counts are as right.
    assert hotband("run", "job.fio", "--on", f"emulated:{drive}", "--out", "emulated").returncode in (0, 1)
    done = hotband(
        "run", "job.fio", "--on", f"real:{image}", "--erase", image, "--yes", "--expect", "none", "--out", "real"
    )
    assert done.returncode == 0, done.stderr
    for record in ("model", "emulated/emulated", "real"):
        [path] = (tmp_path / record).glob("**/record.json")
        summary = json.loads(path.read_text())["summary"]
        writes, flushes = summary["write"]["count"], summary["flush"]["count"]
        # Writes of each slot after its last flush have none.
        assert 0 <= writes - fsync * flushes <= fsync * depth, (record, writes, flushes)
    audited = hotband("audit", "emulated", "--json")
    assert "contradiction" not in {finding["rule"] for finding in json.loads(audited.stdout)["findings"]}
