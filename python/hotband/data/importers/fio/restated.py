"""Figures of a job entry of fio that follow from others of the same entry.

Sources: fio's stat.c (add_ddir_status_json, add_ddir_lat_json, stat_calc_lat). `bw` is `bw_bytes` in KiB, `io_kbytes`
is `io_bytes` in KiB; total latency is submission plus completion latency of the same I/Os.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from hotband.base.claim import IN_FLIGHT, PRINTED, Claim, largest_deviation, near
from hotband.data.importers.fio.text import Fields

STEP = "step of its ends"
"""Key of a latency, next to those of fio: the ns that a unit of the last printed digit of its ends counts. Normal
output cuts those of slat, clat and lat to units that differ."""
QUANTITIES = ("slat", "clat", "lat")
_KIB = 1024
_OUTSTANDING = 0.05
"""Share by which outstanding I/Os may exceed iodepth x numjobs, as in the audit's first rule group."""
_SHARE_STEP = 0.01
"""Percent to which a share of a latency bin is rounded; a smaller one is printed as this."""


def claims_of(entry: Fields, options: Mapping[str, str]) -> Iterator[Claim]:
    """Yield checks of a job entry; failed I/Os are in only some of its counts, so that such a job has none."""
    if entry.code("error") or entry.count("total_err"):
        return
    name, jobs = entry.text("jobname") or "job", _whole(options.get("numjobs", ""))
    in_flight = max(IN_FLIGHT, jobs * _whole(options.get("iodepth", "")))
    total = 0
    most_jobs = math.inf if _may_be_group(entry, options) else jobs
    for direction in ("read", "write", "trim", "mixed"):
        side = entry.child(direction)
        if side is not None and (side.count("total_ios") or side.number("iops")):
            total += side.count("total_ios")
            yield from _side(side, name if direction == "mixed" else f"{name} {direction}s", most_jobs, in_flight)
    tables = [table for unit in ("ns", "us", "ms") if (table := entry.child(f"latency_{unit}")) is not None]
    shares = [share for table in tables for edge in table.values if (share := table.number(edge))]
    if shares and total:
        most = 100 * (1 + PRINTED + in_flight / total) + _SHARE_STEP * len(shares)
        yield Claim(f"{name}: sum of its latency bins, percent", sum(shares), "100 % of its I/Os", 0.0, most)


def _may_be_group(entry: Fields, options: Mapping[str, str]) -> bool:
    """Return whether it may be a group of a number of jobs that is unknown: newer fio does not print group_reporting,
    but such a group has more I/Os outstanding than a job's options allow."""
    if options.get("group_reporting", "0").strip() != "0":
        return True
    sides = [side for direction in ("read", "write", "trim", "mixed") if (side := entry.child(direction)) is not None]
    outstanding = sum(
        side.number("iops") * table.number("mean") / (1e9 if "clat_ns" in side else 1e6)
        for side in sides
        if (table := _table(side, "clat")) is not None
    )
    declared = _whole(options.get("numjobs", "")) * _whole(options.get("iodepth", ""))
    return outstanding > (1 + _OUTSTANDING) * declared


def _whole(text: str) -> int:
    """Return the number of an option; 1 without it."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def _side(side: Fields, name: str, jobs: float, in_flight: int) -> Iterator[Claim]:
    for stated, source, unit in (("bw", "bw_bytes", "KiB/s"), ("io_kbytes", "io_bytes", "KiB")):
        if stated in side and source in side:
            derived = side.number(source) / _KIB
            yield from near(f"{name}: {stated}", side.number(stated), f"{source} in {unit}", derived, 1.0)
    low, mean, high = (side.number(f"bw_{key}") for key in ("min", "mean", "max"))
    if side.count("bw_samples") and mean:
        # Of jobs that are reported together older fio adds the means, not the ends.
        ends = (low * (1 - PRINTED) - 1, high * jobs * (1 + PRINTED) + 1)
        yield Claim(f"{name}: bw_mean", mean, f"samples from {low:,.0f} to {high:,.0f} KiB/s", *ends)
    latencies = {quantity: table for quantity in QUANTITIES if (table := _table(side, quantity)) is not None}
    for quantity, table in latencies.items():
        yield from _latency(table, name, quantity)
    for (before, first), (after, second) in pairwise(latencies.items()):
        count = second.count("N")
        if count and "N" in first:
            slack = PRINTED * count + in_flight
            figure, source = f"{name}: {before} samples", f"{count:,} samples of {after}"
            yield Claim(figure, first.count("N"), source, count - slack, count + slack)
    if len(latencies) == len(QUANTITIES):
        yield from _parts(name, list(latencies.values()))


def _table(side: Fields, quantity: str) -> Fields | None:
    """Return a latency of a direction, in ns or in the us of old fio; None if fio measured none."""
    tables = [table for key in (f"{quantity}_ns", quantity) if (table := side.child(key)) is not None]
    return tables[0] if tables and (tables[0].count("max") or tables[0].number("mean")) else None


def _latency(table: Fields, name: str, quantity: str) -> Iterator[Claim]:
    """Yield a mean between the ends, and a deviation that mean and ends allow."""
    low, high, mean, count = table.count("min"), table.count("max"), table.number("mean"), table.count("N")
    ends, step = f"{quantity} from {low:,} to {high:,}", 1 + table.number(STEP)
    yield Claim(f"{name}: mean {quantity}", mean, ends, low * (1 - PRINTED) - step, high * (1 + PRINTED) + step)
    # fio divides by N - 1, and old fio prints whole microseconds.
    of_samples = math.sqrt(count / (count - 1) if count > 1 else 2.0)
    most = of_samples * largest_deviation(mean, low - step, high + step) * (1 + PRINTED) + 1
    yield Claim(f"{name}: stddev of {quantity}", table.number("stddev"), f"a mean of {mean:,.0f} and {ends}", 0.0, most)


def _parts(name: str, tables: Sequence[Fields]) -> Iterator[Claim]:
    """Yield total latency = submission + completion latency, if all three are of the same I/Os."""
    counts = [table.count("N") for table in tables]
    apart = (max(counts) - min(counts)) / max(counts) if max(counts) else 0.0
    if apart > PRINTED:
        return
    # Those in flight at either end are in only some of the means.
    slack = 2 + apart * max(table.count("max") for table in tables)
    submission, completion, total = (table.number("mean") for table in tables)
    source = f"slat of {submission:,.0f} and clat of {completion:,.0f}"
    yield from near(f"{name}: mean lat", total, source, submission + completion, slack)
    if not apart:
        slack = 2 + sum(table.number(STEP) for table in tables)
        for end in ("min", "max"):
            submission, completion, total = (table.count(end) for table in tables)
            # Each total is the sum of its parts; old fio cuts to microseconds.
            low = submission + completion if end == "min" else completion
            high = math.inf if end == "min" else submission + completion
            source = f"slat of {submission:,} and clat of {completion:,}"
            yield Claim(f"{name}: {end} lat", total, source, low - slack, high + slack)
