"""What a study reads from a record: pure functions, one a measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]


def iops(record: Record) -> float:
    """I/Os a second."""
    return float(record["summary"]["iops"])


def bandwidth_mib_per_s(record: Record) -> float:
    """Bandwidth in MiB/s."""
    return float(record["summary"]["bandwidth_bytes_per_s"]) / 2**20


def latency_mean_ms(record: Record) -> float | None:
    """Mean latency in milliseconds."""
    mean = record["summary"]["latency_mean_ns"]
    return None if mean is None else float(mean) / 1e6


MEASURES: dict[str, Callable[[Record], float | None]] = {
    "iops": iops,
    "bandwidth_mib_per_s": bandwidth_mib_per_s,
    "latency_mean_ms": latency_mean_ms,
}


def error_pct(published: float | None, predicted: float | None) -> float | None:
    """Error of a prediction in percent of the published figure."""
    if published is None or predicted is None or published == 0:
        return None
    return (predicted / published - 1) * 100


def median(values: list[float]) -> float | None:
    """The median; None of nothing."""
    import statistics

    return statistics.median(values) if values else None
