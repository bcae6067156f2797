"""Records of drives that wear, with the operations of an app, made by formula."""

from __future__ import annotations

from typing import Any

import polars as pl
import synthetic

from hotband.views.report import LoadedRecord

GB = 10**9


def attributes(host_gb: float, flash_gb: float) -> dict[str, Any]:
    """What SMART says of a drive."""
    return {
        "host_bytes": int(host_gb * GB),
        "stored_bytes": int(host_gb * GB),
        "flash_bytes": int(flash_gb * GB),
        "relocated_bytes": int((flash_gb - host_gb) * GB),
        "metadata_bytes": 0,
        "trimmed_bytes": 0,
        "erases_mean": flash_gb / 20,
        "erases_max": round(flash_gb / 10),
        "percentage_used": flash_gb / 100,
        "bad_blocks": 0,
    }


def smart(amplification: float = 2.5, drives: int = 1) -> list[dict[str, Any]]:
    """The record's `smart`: 40 GB before the measured time, 20 GB within it."""
    return [
        {
            "drive": f"d{n}",
            "at_begin": attributes(40, 60),
            "at_end": attributes(60, 60 + 20 * amplification),
            "write_amplification": amplification,
            "write_amplification_total": (60 + 20 * amplification) / 60,
            "endurance_bytes": int(1000 * GB / amplification),
        }
        for n in range(drives)
    ]


def app(rate: float = 900.0, requested: float | None = None) -> dict[str, Any]:
    """The record's `app`: reads and half as many updates, which take three times as long."""

    def operation(name: str, share: float, mean_ms: float) -> dict[str, Any]:
        made: dict[str, Any] = {"name": name, "count": int(60 * rate * share), "ops_per_s": rate * share}
        return made | {f"latency_{key}_ns": mean_ms * 1e6 for key in ("mean", "p50", "p99", "p999", "max")}

    return {
        "kind": "btree",
        "operations": [operation("read", 2 / 3, 2.0), operation("update", 1 / 3, 6.0), operation("scan", 0.0, 0.0)],
        "requested_ops_per_s": requested,
        "achieved_ops_per_s": rate,
        "counters": {"checkpoints": 1},
    }


def readings(amplification: float = 2.5, drives: int = 1, minutes: int = 60) -> pl.DataFrame:
    """SMART over time: 20 GB without timing, twice (three readings at the beginning), then 1 GB a minute, of which the
    flash takes more and more until it takes `amplification` times as much."""
    rows: list[tuple[int, str, float, float]] = []
    for n in range(drives):
        rows += [(0, f"d{n}", 0.0, 0.0), (0, f"d{n}", 20.0, 20.0), (0, f"d{n}", 40.0, 60.0)]
        flash = 60.0
        for minute in range(1, minutes + 1):
            flash += 1 + (amplification - 1) * min(1.0, minute / 30)
            rows.append((minute * 60 * GB, f"d{n}", 40.0 + minute, flash))
    columns = ["time_ns", "drive", "host_bytes", "flash_bytes"]
    frame = pl.DataFrame(rows, schema=columns, orient="row").sort("time_ns", maintain_order=True)
    return frame.with_columns(pl.col("host_bytes", "flash_bytes") * GB, pl.col("time_ns").cast(pl.Float64))


def worn(label: str = "ssd", amplification: float = 2.5, drives: int = 1, rate: float = 900.0) -> LoadedRecord:
    """A record in memory with SMART, its series and an app."""
    made = synthetic.record(label) | {"smart": smart(amplification, drives), "app": app(rate)}
    return LoadedRecord(made, synthetic.series(), label, smart=readings(amplification, drives))
