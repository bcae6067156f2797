"""The physical ceiling of rates: what ports, links and media of a machine carry, at the ends of their ranges.

A model can be wrong by a factor, a port cannot: the upper end of a rate's interval stays at or below the ceiling that
the engine computes for the machine, and the lower end of a closed loop's mean latency follows from it.

Left out: I/Os of one size at the ceiling (a rate of several sizes is capped by its mean size), and reads
that memory of the host serves: a prediction above the media rate comes from a cache, so only ports limit it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.data.catalog import CATALOG_DIR
from hotband.execution.experiment.ranges import machine_text
from hotband.inference.interval.asked_rate import RATES

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.run import RunSpec

MEAN = "latency_mean_ns"
TAILS = ("latency_p99_ns", "latency_p999_ns")
SLACK = 1.05
"""A prediction up to this many times a ceiling is still limited by it: a track without its switch is some percent
faster than the sustained rate, and short runs end within a command."""
SHORTEST_S = 1e-3
"""Measured time below which memory is not counted as emptied faster."""


def room_of(spec: RunSpec, record: RecordDoc) -> dict[str, float]:
    """Return the factors by which rates of a run can exceed their predictions, as log-ratios by figure; none for a rate
    that nothing known limits. Raises UserError for a machine that cannot be read."""
    seconds = max(record["duration_ns"] / 1e9, SHORTEST_S)
    summary = record["summary"]
    sides = {"": summary, "read.": summary["read"], "write.": summary["write"]}
    rates = {side: of.get("bandwidth_bytes_per_s") or 0.0 for side, of in sides.items()}
    shares = {"read.": 1.0, "write.": 0.0, "": min(rates["read."] / rates[""], 1.0) if rates[""] else 1.0}
    found: dict[str, float] = {}
    for side, predicted in rates.items():
        if predicted <= 0:
            continue
        with mistakes_of(spec.machine):
            ceiling = _core.ceiling(
                CATALOG_DIR,
                spec.machine,
                machine_text(spec),
                list(spec.set),
                read_share=shares[side],
                seconds=seconds,
            )
        room = room_below(ceiling, predicted)
        if room is not None:
            found |= {f"{side}{name}": room for name in RATES}
    return found


def room_below(ceiling: _core.Ceiling, predicted: float) -> float | None:
    """Return the log-ratio of the ceiling to a prediction in bytes a second, zero at least; None if no ceiling
    applies."""
    limits = [limit for limit in (ceiling["ports"], ceiling["media"]) if limit is not None]
    above = [limit for limit in limits if predicted <= limit * SLACK]
    return max(math.log(min(above) / predicted), 0.0) if above else None


def capped(
    name: str, bounds: tuple[float, float], room: Mapping[str, float], *, is_inverse: bool = False
) -> tuple[float, float]:
    """Return the ends of a figure's interval as log-ratios, within what its machine can do. The mean latency of a
    closed loop `is_inverse`: it cannot fall by more than the rate can rise. If figures of the product
    move the whole interval beyond the limit, only its far end is the limit, and the near end is where it was without
    them."""
    low, high = bounds
    half = (high - low) / 2
    if name in room:
        return (low if low <= room[name] else -half), min(high, room[name])
    side, dot, figure = name.rpartition(".")
    rate = f"{side}{dot}iops"
    if is_inverse and figure == MEAN and rate in room:
        return max(low, -room[rate]), (high if high >= -room[rate] else half)
    return low, high


Interval = tuple[float, float]


def above_means(predicted: Mapping[str, float], intervals: Mapping[str, Interval]) -> dict[str, Interval]:
    """Return intervals whose tails do not end below those of the mean, by figure. The p99 and p99.9 of a prediction lie
    above its mean, which in a closed loop is the inverse of the rate; of the two intervals the mean's is narrower."""
    above = dict(intervals)
    for name, (low, high) in intervals.items():
        side, dot, figure = name.rpartition(".")
        mean = f"{side}{dot}{MEAN}"
        if figure in TAILS and mean in intervals and predicted[name] >= predicted[mean] and math.isfinite(high):
            above[name] = max(low, intervals[mean][0]), max(high, intervals[mean][1])
    return above
