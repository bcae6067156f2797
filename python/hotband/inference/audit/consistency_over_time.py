"""Rule group 0 for the tables over time of Hotband's records: series, power, and what drives did."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from hotband.base.claim import EXACT, LENGTH_OF_TIME, Claim, equal
from hotband.base.text.numbers import finite
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.consistency import PLURALS

if TYPE_CHECKING:
    import polars as pl

ENDS = 0.2
"""Share of energy by which its ends may be nearer to it than the sums of those of power: the end of an interval is of
the drive's values that draw least (or most) in it, and other values may do so over the whole run (4 % seen)."""
ENERGIES = (
    ("power_w", "energy_j", EXACT, EXACT),
    ("low_w", "energy_low_j", EXACT, ENDS),
    ("high_w", "energy_high_j", ENDS, EXACT),
)
"""Columns of power with the energies of their sums, and by which share these may be less and more."""


def over_time(run: Audited) -> Iterator[Claim]:
    """Yield checks of a record's tables over time against its sums."""
    named = run.record.get("series")
    interval = named.get("interval_ns") if isinstance(named, Mapping) else None
    if not run.is_model or not run.duration_ns or not isinstance(interval, int | float):
        return
    if interval <= 0:
        yield Claim("interval of the series, ns", interval, LENGTH_OF_TIME, 1.0, math.inf)
        return
    tables = [table for table in (run.series, *run.over_time.values()) if table is not None]
    lengths = _lengths(run, interval, max(map(len, tables), default=0))
    if run.series is not None:
        yield from _steps("the series", run.series, lengths)
        for direction in ("read", "write"):
            rows = run.series.filter(run.series["direction"] == direction)
            if not len(rows):
                yield from equal(f"{PLURALS[direction]}: count", run.summary(direction).get("count"), "its series", 0)
            else:
                yield from _sums(run, direction, rows, lengths)
    if (power := run.over_time.get("power")) is not None:
        yield from _steps("the power", power, lengths)
        yield from _energies(run, power)
    if (caches := run.over_time.get("caches")) is not None:
        yield from _steps("the caches", caches, lengths)
        yield from _media(run, caches)


def _lengths(run: Audited, interval: float, most: int) -> dict[float, float]:
    """Return the lengths in ns of the first `most` intervals by their begins in ns: every measured phase begins with a
    new interval, and its last one ends with it."""
    intervals = (
        (begin + n * interval, min(interval, took - n * interval))
        for begin, took in _measured_phases(run)
        for n in range(math.ceil(took / interval))
    )
    return dict(islice(intervals, most))


def _measured_phases(run: Audited) -> list[tuple[float, float]]:
    """Return the begins and lengths of measured phases in ns; a record of a single phase has no steps."""
    phases: list[tuple[float, float]] = []
    for step in run.record.get("steps") or []:
        begin, took = step.get("begin_ns"), step.get("duration_ns")
        if isinstance(begin, int | float) and isinstance(took, int | float):
            phases.append((begin, took))
    return phases or [(0, run.duration_ns)]


def _steps(name: str, table: pl.DataFrame, lengths: Mapping[float, float]) -> Iterator[Claim]:
    """Yield the claim that times are begins of intervals, none left out, or that one of them is not."""
    pairs = zip(table["time_ns"].unique().sort(), lengths, strict=False)
    wrong = next(((time, begin) for time, begin in pairs if time != begin), None)
    if wrong is not None:
        yield from equal(f"begin of an interval of {name}, ns", wrong[0], "its record", wrong[1])


def _sums(run: Audited, direction: str, rows: pl.DataFrame, lengths: Mapping[float, float]) -> Iterator[Claim]:
    """Yield counts, bytes, depths and mean latencies as the sums over a direction's series, and latencies within its
    ends."""
    name, block, duration_ns = PLURALS[direction], run.summary(direction), run.duration_ns
    took = [lengths.get(begin, 0.0) / 1e9 for begin in rows["time_ns"]]
    counts = [(rate or 0.0) * each for rate, each in zip(rows["iops"], took, strict=True)]
    for column, key, weights, divisor in (
        ("iops", "count", took, 1.0),
        ("bandwidth_bytes_per_s", "bytes", took, 1.0),
        ("queue_depth", "queue_depth_mean", took, duration_ns / 1e9),
        ("latency_mean_ns", "latency_mean_ns", counts, sum(counts)),
    ):
        if column in rows.columns and rows[column].null_count() < len(rows) and divisor:
            summed = sum((value or 0.0) * each for value, each in zip(rows[column], weights, strict=True)) / divisor
            yield from equal(f"{name}: {key}", finite(block.get(key)), "the sum over its series", summed)
    low, high = block.get("latency_min_ns"), block.get("latency_max_ns")
    if low is None or high is None:
        return
    for column, what in (("latency_mean_ns", "mean"), ("latency_p99_ns", "p99")):
        known = [value for value, count in zip(rows[column], counts, strict=True) if value is not None and count]
        for value in {min(known), max(known)} if known else ():
            yield Claim(f"{name}: {what} latency of an interval", value, "its min and max", low - 1000, high + 1000)


def _energies(run: Audited, power: pl.DataFrame) -> Iterator[Claim]:
    """Yield energies as the sums over power, and ends of power that enclose it."""
    repair = run.record.get("repair")
    for part in run.record["parts"]:
        document = part.get("power")
        rows = power.filter(power["drive"] == part.get("id"))
        # A failed drive draws nothing from then on, and its energy is that of its life.
        if not document or not len(rows) or (isinstance(repair, Mapping) and repair.get("failures")):
            continue
        for column, key, less, more in ENERGIES:
            summed, stated = float((rows[column] * rows["length_ns"]).sum()) / 1e9, finite(document.get(key))
            if stated is not None:
                ends = (summed * (1 - less), summed * (1 + more))
                yield Claim(f"{part['id']}: {key}", stated, "the sum over its power", *ends)
    for low, mean, high in zip(power["low_w"], power["power_w"], power["high_w"], strict=True):
        if not low <= mean * (1 + 1e-9) <= high * (1 + 2e-9):
            yield Claim("power of an interval (W)", mean, "its ends", low, high)
            return


def _media(run: Audited, caches: pl.DataFrame) -> Iterator[Claim]:
    """Yield the I/Os of media as the sum of the drives' counters."""
    parts = run.record["parts"]
    if not parts or any(part.get("kind") != "disk" for part in parts):
        return
    for column, keys in (("media_ios", ("media_reads", "media_writes")), ("destages", ("destages",))):
        if column in caches.columns:
            counted = sum(int((part.get("counters") or {}).get(key, 0)) for part in parts for key in keys)
            yield from equal(f"{column} over time", float(caches[column].sum()), "the counters of its drives", counted)
