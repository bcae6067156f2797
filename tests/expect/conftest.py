"""Results for the tests of `expect`: documents of our own as importers' tests have them, real ones outside the
repository."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "import"))
Fio = Callable[..., Path]


@pytest.fixture(scope="session")
def samples() -> Path:
    folder = Path(os.environ.get("HOTBAND_SAMPLES", HERE.parents[1].parent / "shared" / "samples"))
    if not folder.is_dir():
        pytest.skip("the real results are not on this machine")
    return folder


def side(ios: int, seconds: float, mean_ms: float) -> dict[str, Any]:
    """Reads or writes as fio prints them: 4 KiB each, percentiles around the mean."""
    latency = {"min": 1000, "max": round(mean_ms * 1e7), "mean": mean_ms * 1e6, "N": ios,
               "percentile": {"50.000000": round(mean_ms * 8e5), "99.000000": round(mean_ms * 4e6)}}  # fmt: skip
    return {"io_bytes": ios * 4096, "io_kbytes": ios * 4, "total_ios": ios, "runtime": round(seconds * 1000),
            "iops": ios / seconds if seconds else 0, "clat_ns": latency}  # fmt: skip


def job(name: str, options: dict[str, str], *, reads: int = 0, writes: int = 0, mean_ms: float = 40.0, group: int = 0,
        seconds: float = 60.0, elapsed: int = 61) -> dict[str, Any]:  # fmt: skip
    """An entry of `jobs`."""
    return {
        "jobname": name, "groupid": group, "error": 0, "elapsed": elapsed, "job options": options,
        "read": side(reads, seconds, mean_ms), "write": side(writes, seconds, mean_ms),
    }  # fmt: skip


@pytest.fixture
def fio(tmp_path: Path) -> Fio:
    """Writes a result of fio with these jobs."""

    def written(*jobs: dict[str, Any], name: str = "run.json", **shared: str) -> Path:
        path = tmp_path / name
        options = {"ioengine": "libaio", "direct": "1", "bs": "4k", "filename": "/dev/sdb", **shared}
        path.write_text(json.dumps({"fio version": "fio-3.33", "global options": options, "jobs": list(jobs)}))
        return path

    return written
