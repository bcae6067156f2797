"""Jobs of fio results, as its JSON has them."""

from __future__ import annotations

from typing import Any


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
