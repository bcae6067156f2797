"""fio documents in fio's own format, written by hand for the tests: numbers small enough to compute with."""

from __future__ import annotations

import json
from typing import Any


def latency(mean: float, low: int, high: int, samples: int | None = None, **extra: Any) -> dict[str, Any]:
    block: dict[str, Any] = {"min": low, "max": high, "mean": mean, "stddev": 0.0}
    if samples is not None:
        block["N"] = samples
    return {**block, **extra}


def percentiles(p50: int, p99: int, p999: int) -> dict[str, int]:
    return {"50.000000": p50, "99.000000": p99, "99.900000": p999}


def side(ios: int, size: int, runtime_ms: int, clat: dict[str, Any], lat: dict[str, Any]) -> dict[str, Any]:
    return {
        "io_bytes": ios * size,
        "io_kbytes": ios * size // 1024,
        "bw_bytes": ios * size * 1000 // runtime_ms if runtime_ms else 0,
        "bw": ios * size * 1000 // runtime_ms // 1024 if runtime_ms else 0,
        "iops": ios * 1000 / runtime_ms if runtime_ms else 0.0,
        "runtime": runtime_ms,
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": latency(0.0, 0, 0, 0),
        "clat_ns": clat,
        "lat_ns": lat,
    }


def idle() -> dict[str, Any]:
    return side(0, 4096, 0, latency(0.0, 0, 0, 0), latency(0.0, 0, 0, 0))


def reads(bins: dict[int, int] | None, *, ios: int = 4, runtime_ms: int = 1000, printed: bool = True) -> dict[str, Any]:
    """4 KiB reads: clat 2000 ns, lat 3000 ns on average."""
    clat = latency(2000.0, 1000, 4000, ios)
    if printed:
        clat["percentile"] = percentiles(1992, 3984, 3984)
    if bins is not None:
        clat["bins"] = {str(value): count for value, count in bins.items()}
    return side(ios, 4096, runtime_ms, clat, latency(3000.0, 2000, 5000, ios))


def job(
    name: str = "a", read: dict[str, Any] | None = None, write: dict[str, Any] | None = None, **extra: Any
) -> dict[str, Any]:
    entry = {
        "jobname": name,
        "groupid": 0,
        "error": 0,
        "eta": 0,
        "elapsed": 2,
        "job options": {"ioengine": "libaio", "iodepth": "4", "filename": "/dev/x", "rw": "randread"},
        "read": read if read is not None else idle(),
        "write": write if write is not None else idle(),
        "trim": idle(),
        "sync": {"total_ios": 0, "lat_ns": latency(0.0, 0, 0, 0)},
    }
    entry.update(extra)
    return entry


def document(*jobs: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"fio version": "fio-3.33", "timestamp": 1, "jobs": list(jobs), **extra}


def text(*jobs: dict[str, Any], **extra: Any) -> bytes:
    return json.dumps(document(*jobs, **extra), indent=2).encode() + b"\n"


def options(**values: str) -> dict[str, str]:
    return {"ioengine": "libaio", "filename": "/dev/x", **values}
