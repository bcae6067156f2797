"""Rule group 10: a cache that is used up in the measured time: the rate of writes is even, steps down after so many
bytes, and is even again.

A drive that is new does the same when it was written over once; where its capacity is known and about so much was
written, that is said instead. Where the device grew hot before it stepped, `thermal-throttling` speaks, not this.
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
"""Least fall of a step. Caches of pseudo-SLC are three times and more as fast as what lies behind them; of disks' write
caches the same. Half of the smallest published fall that was found (1.5 to 1, QLC with a small cache)."""
WRITES = 0.9
"""Share of the bytes that are writes: of mixes the reads decide."""
PIECES = 120
LEAST = 3
"""Samples of a side: of fewer nobody can say that it is even."""
CAPACITY = (0.8, 1.25)
"""Written bytes over the capacity at which a step is that of a drive written over once."""


def check(runs: Sequence[Audited], facts: Sequence[MachineFacts | None], hot: frozenset[str]) -> list[Finding]:
    """All findings; none of runs that are `hot`."""
    pairs = zip(runs, facts, strict=True)
    return [found for run, own in pairs if run.name not in hot and (found := _of(run, own)) is not None]


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
    what = "a new drive was written over once" if new else "a cache was full"
    words = f"Writes fell from {rate(step.before)} to {rate(step.after)} after {size(written)}: {what}"
    numbers = {
        "written_bytes": written,
        "after_s": step.at * each_s,
        "before_bytes_per_s": step.before,
        "after_bytes_per_s": step.after,
        "fall_pct": 100 * step.fall,
    }
    advice = (
        "The mean is of both. Quote the rate before and after, each with the bytes that it lasts; how much a cache "
        "takes depends on how full the drive is and how long it rested."
    )
    return Finding("cache-exhausted", "warning", (run.name,), words, numbers, advice)


def mostly_writes(run: Audited) -> bool:
    """Whether nearly all bytes were written."""
    read, write = (float(run.summary(way).get("bytes") or 0) for way in ("read", "write"))
    return write > 0 and write >= WRITES * (read + write)


def write_rates(run: Audited) -> tuple[list[float], float] | None:
    """Bytes written a second, in equal pieces of the measured time, and the length of a piece; None without samples."""
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
