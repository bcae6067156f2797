"""Rule group 10, thermal throttling: the device reports that it throttled, or its rate fell after it became hot.

A temperature alone proves nothing, nor does a fall: both have to come together, the fall while the device is within a
few degrees of its hottest after it had warmed up, and the rate before it even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hotband.base.heavy import pl
from hotband.base.text.numbers import share
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import Finding, Number
from hotband.inference.audit.levels import cut, smoothed

WARMER_C = 10.0
"""Least warming from the first reading to the fall. Drives that do not throttle drift by a few degrees within a run;
sensors report whole degrees."""
NEAR_C = 3.0
"""Degrees below the hottest reading at which a device is as hot as it gets: throttling holds it there."""
HOT_C = 60.0
"""Below this temperature no drive throttles: composite temperature thresholds (WCTEMP) of NVMe drives are 70 C and
more, disks are rated to 60 C (data sheets of docs/drives)."""
FALL = 0.10
"""Least fall of the rate: above the allowance of drift (7.5 %)."""


@dataclass(frozen=True)
class Reading:
    """A temperature at a time of the run, and the throttling that the device had counted by then."""

    at_s: float
    temperature_c: float | None
    throttled_s: float | None
    events: float | None


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return all findings."""
    return [finding for run in runs if (finding := _of(run)) is not None]


def _of(run: Audited) -> Finding | None:
    readings = readings_of(run.over_time.get("health"))
    counted = _told(run, readings)
    if counted is not None:
        return counted
    warm = [(reading.at_s, reading.temperature_c) for reading in readings if reading.temperature_c is not None]
    rates = rates_of(run)
    if len(warm) < 3 or rates is None:
        return None
    values, each_s = rates
    at = cut(values, 3)
    if at is None:
        return None
    before, after = median(values[:at]), median(values[at:])
    fall = 1 - after / before if before else 0.0
    hottest, begin = max(degrees for _, degrees in warm), warm[0][1]
    here = temperature_at(warm, at * each_s)
    if fall < FALL or hottest < HOT_C or here < hottest - NEAR_C or here - begin < WARMER_C:
        return None
    numbers: dict[str, Number] = {
        "before": before,
        "after": after,
        "fall_pct": 100 * fall,
        "after_s": at * each_s,
        "begin_c": begin,
        "then_c": here,
        "hottest_c": hottest,
    }
    words = f"The rate fell by {share(fall)} after the device had warmed from {begin:.0f} to {here:.0f} °C"
    return _finding(run, words, numbers)


def _told(run: Audited, readings: Sequence[Reading]) -> Finding | None:
    """Return a finding if the device counted throttling during the run."""
    for name, key in (("throttled_s", "throttled_s"), ("throttle_events", "events")):
        counted = [value for reading in readings if (value := getattr(reading, key)) is not None]
        if len(counted) > 1 and counted[-1] > counted[0]:
            grown = counted[-1] - counted[0]
            amount = f"for {grown:g} s" if key == "throttled_s" else f"{grown:g} times"
            hottest = max((reading.temperature_c or 0.0 for reading in readings), default=0.0)
            words = f"The device reports that it throttled {amount} during the run"
            return _finding(run, words, {name: grown, "hottest_c": hottest})
    return None


def _finding(run: Audited, words: str, numbers: dict[str, Number]) -> Finding:
    advice = "Cool the device and measure again, or quote the rate of the hot device together with its temperature."
    return Finding("thermal-throttling", "warning", (run.name,), words, numbers, advice)


def readings_of(health: pl.DataFrame | None) -> list[Reading]:
    """Return the rows of a record's table `health` in order of time, the hottest drive of several at each time."""
    if health is None or "temperature_c" not in health.columns:
        return []
    rows: dict[float, Reading] = {}
    for row in health.sort("time_ns").iter_rows(named=True):
        at, degrees = float(row["time_ns"]) / 1e9, _number(row["temperature_c"])
        reading = Reading(at, degrees, _number(row.get("throttled_s")), _number(row.get("throttle_events")))
        if at not in rows or (degrees or 0.0) > (rows[at].temperature_c or 0.0):
            rows[at] = reading
    return list(rows.values())


def rates_of(run: Audited) -> tuple[list[float], float] | None:
    """Return I/Os per second in equal pieces of the measured time, and seconds per piece; None without samples."""
    series, named = run.series, run.record.get("series")
    interval = float(named["interval_ns"] or 0) if named else 0.0
    if series is None or interval <= 0 or run.concurrency is None or len(run.record.get("steps") or []) > 1:
        return None
    whole = int(run.duration_ns // interval)
    values = series.group_by("time_ns").agg(pl.col("iops").sum()).sort("time_ns")["iops"].to_list()[:whole]
    pieces = smoothed([float(value or 0.0) for value in values], PIECES)
    return (pieces, interval / 1e9 * max(1, len(values) // PIECES)) if len(pieces) >= 6 else None


PIECES = 120


def temperature_at(warm: Sequence[tuple[float, float]], at_s: float) -> float:
    """Return the temperature (°C) of the reading that is nearest in time."""
    return min(warm, key=lambda point: abs(point[0] - at_s))[1]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
