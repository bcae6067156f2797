"""Figures that a calibration compares: logarithms of mean, median and 99th percentile of reads and of writes.

The rate of a closed loop is the inverse of its mean; that of an open loop is given and has no information.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import np

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.data.documents.record import RecordDoc


FLOORS = {"mean": 0.003, "p50": 0.005, "p99": 0.015}
"""Least error of a figure, as a share, with any number of I/Os: fio's histograms have steps of 1.6 % (64 per doubling),
read at their upper ends, so a percentile is 0.5 % off (the standard deviation of a uniform step); and the model is
linear between its points to about the same degree."""
LEAST_COUNT = {"mean": 50, "p50": 100, "p99": 300}
"""I/Os below which a figure is not used: three lie beyond the 99th percentile of 300."""
SIDES = ("read", "write")


@dataclass(frozen=True)
class Figure:
    """A figure of a load: its side (read or write) and its name."""

    load: int
    side: str
    name: str


@dataclass(frozen=True)
class Seen:
    """The figures of a run of a load: logarithms (ns) by (side, name), I/Os by side, IOPS, and the 99th percentile of
    all I/Os (ns)."""

    logs: Mapping[tuple[str, str], float]
    counts: Mapping[str, int]
    iops: float
    p99: float | None = None


def seen_of(record: RecordDoc) -> Seen:
    """Return the figures of a record."""
    logs, counts = {}, {}
    for side in SIDES:
        figures = record["summary"]["read"] if side == "read" else record["summary"]["write"]
        counts[side] = int(figures["count"] or 0)
        values = {
            "mean": figures["latency_mean_ns"],
            "p50": figures["latency_p50_ns"],
            "p99": figures["latency_p99_ns"],
        }
        for name, value in values.items():
            if value and counts[side] >= LEAST_COUNT[name]:
                logs[side, name] = math.log(float(value))
    return Seen(logs, counts, float(record["summary"]["iops"] or 0.0), record["summary"]["latency_p99_ns"])


def figures_of(loads: Sequence[Seen]) -> list[Figure]:
    """Return the figures that loads have, in order."""
    return [Figure(index, side, name) for index, seen in enumerate(loads) for side, name in seen.logs]


def vector(figures: Sequence[Figure], loads: Sequence[Seen]) -> Floats:
    """Return the logarithms of these figures, NaN for a missing one."""
    return np.array(
        [loads[figure.load].logs.get((figure.side, figure.name), math.nan) for figure in figures], dtype=float
    )


def means(repeats: Sequence[Seen]) -> Seen:
    """Combine several runs of a load: the mean of each figure that all have, and the sum of I/Os."""
    common = set.intersection(*(set(repeat.logs) for repeat in repeats))
    logs = {key: sum(repeat.logs[key] for repeat in repeats) / len(repeats) for key in repeats[0].logs if key in common}
    counts = {side: sum(repeat.counts[side] for repeat in repeats) for side in SIDES}
    iops = sum(repeat.iops for repeat in repeats) / len(repeats)
    p99 = [repeat.p99 for repeat in repeats if repeat.p99]
    return Seen(logs, counts, iops, sum(p99) / len(p99) if p99 else None)
