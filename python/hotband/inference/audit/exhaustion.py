"""Rule group 10, an exhausted cache: the write rate is even, steps down after a number of bytes, and is even again.

A new drive does the same when it becomes full: the finding states this if the written bytes are about its capacity. If
the device became hot before the step, `thermal-throttling` reports it instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.heavy import pl
from hotband.base.text.numbers import rate, size
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding
from hotband.inference.audit.levels import one_step, smoothed

FALL = 0.25
"""Least fall of a step. Pseudo-SLC caches and disks' write caches are at least three times as fast as the media behind
them. Half of the smallest published fall known to us (1.5 to 1, QLC with a small cache)."""
WRITES = 0.9
"""Least share of written bytes: in mixes the reads dominate."""
PIECES = 120
LEAST = 3
"""Least samples per side: fewer cannot show that it is even."""
CAPACITY = (0.8, 1.25)
"""Range of written bytes over capacity in which a step means that a new drive became full."""


def check(runs: Sequence[Audited], facts: Sequence[MachineFacts | None], hot: frozenset[str]) -> list[Finding]:
    """Return all findings, without the runs in `hot`."""
    pairs = zip(runs, facts, strict=True)
    return [finding for run, machine in pairs if run.name not in hot and (finding := _of(run, machine)) is not None]


def _of(run: Audited, facts: MachineFacts | None) -> Finding | None:
    rates = write_rates(run)
    if rates is None or run.concurrency is None or not mostly_writes(run):
        return None
    values, each_s = rates
    step = one_step(values, LEAST)
    if step is None or step.fall < FALL:
        return None
    written = sum(values[: step.at]) * each_s
    known = facts.capacity_bytes if facts is not None else None
    new = known is not None and CAPACITY[0] <= written / known <= CAPACITY[1]
    what = "a new drive became full" if new else "a cache was full"
    words = f"Writes fell from {rate(step.before)} to {rate(step.after)} after {size(written)}: {what}"
    numbers = {
        "written_bytes": written,
        "after_s": step.at * each_s,
        "before_bytes_per_s": step.before,
        "after_bytes_per_s": step.after,
        "fall_pct": 100 * step.fall,
    }
    advice = (
        "The mean mixes both rates. Quote each rate with the bytes that it lasted; how much a cache "
        "holds depends on how full the drive is and how long it idled."
    )
    return Finding("cache-exhausted", "warning", (run.name,), words, numbers, advice)


def mostly_writes(run: Audited) -> bool:
    """Return whether nearly all bytes were written."""
    read, write = (float(run.summary(way).get("bytes") or 0) for way in ("read", "write"))
    return write > 0 and write >= WRITES * (read + write)


def write_rates(run: Audited) -> tuple[list[float], float] | None:
    """Return bytes written per second in equal pieces of the measured time, and seconds per piece; None without
    samples."""
    series, named = run.series, run.record.get("series")
    interval = float(named["interval_ns"] or 0) if named else 0.0
    steps = run.record.get("steps") or []
    if series is None or interval <= 0 or len(steps) > 1 or "bandwidth_bytes_per_s" not in series.columns:
        return None
    writes = (
        series.filter(pl.col("direction") == "write").group_by("time_ns").agg(pl.col("bandwidth_bytes_per_s").sum())
    )
    values = [float(value or 0.0) for value in writes.sort("time_ns")["bandwidth_bytes_per_s"].to_list()]
    # The last interval is shorter where the measured time is no multiple of it.
    whole = values[: int(run.duration_ns // interval)]
    pieces = smoothed(whole, PIECES)
    if len(pieces) < 2 * LEAST:
        return None
    return pieces, interval / 1e9 * max(1, len(whole) // PIECES)
