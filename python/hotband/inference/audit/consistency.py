"""Rule group 0, a result against itself: figures that others of the same result contradict.

Counts, times, sizes, sums, histograms and percentiles of a result state several facts twice. A figure outside the range
that the others allow is wrong, or they are; no target and no load makes it right. Left out: figures that follow from
nothing else (docs/guides/audit.md lists those of a record).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from hotband.base.claim import EXACT, IN_FLIGHT, LENGTH_OF_TIME, PRINTED, Claim, equal
from hotband.base.text.numbers import span
from hotband.data.documents.record import side_of
from hotband.data.documents.sides import Side
from hotband.data.documents.source import moment_of
from hotband.data.importers.fio.jobs import BIN_EDGES_NS, PLAT_BITS, PLAT_NR, bucket_value
from hotband.data.record.stats import (
    DIRECTIONS,
    OTHER_DIRECTIONS,
    SUMMARY_PERCENTILES,
    latency_sum,
    merge,
    percentile,
    total,
)
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.distribution import RESOLUTION
from hotband.inference.audit.tools import may_be_group

BUCKETS = 2.0
"""Widths of a bucket by which a latency may differ from its bucket's value: a value is an edge or the middle."""
CLOCK_NS = 2e9
"""Time by which clocks of whole seconds may differ from a runtime: both ends are cut."""
LAST_BUCKET_NS = {True: bucket_value(PLAT_NR - 1), False: 1000 * bucket_value((19 << PLAT_BITS) - 1)}
"""The value of the last of fio's buckets, since version 2.99 and before (stat.h, FIO_IO_U_PLAT_GROUP_NR: 29 groups of
ns, 19 of us). It also counts all longer latencies."""
PLURALS = {"read": "reads", "write": "writes", "flush": "flushes", "trim": "trims"}
ORDER = ("min", "p50", "p99", "p999", "max")


def claims(run: Audited) -> Iterator[Claim]:
    """Yield checks of a result's summary, streams and times against each other."""
    for scope in (None, *DIRECTIONS, *OTHER_DIRECTIONS):
        yield from _block(run, scope)
    for stream in run.record["streams"]:
        for direction in (*DIRECTIONS, *OTHER_DIRECTIONS):
            side, name = side_of(stream, direction), f"{stream['name']} {PLURALS[direction]}"
            if side and side["count"]:
                yield from _side(run, name, side)
            elif side and side["count"] is not None:
                summed = int(side["latency_sum_ns"] or 0)
                yield from equal(f"{name}: latency sum, ns", summed, "a count of 0", 0)
                yield from equal(f"{name}: bytes", side["bytes"], "a count of 0", 0)
    yield from _times(run)
    for document in run.source.get("contradictions", []) if run.source else []:
        yield Claim.of(document)


def _block(run: Audited, scope: str | None) -> Iterator[Claim]:
    """Yield checks of a block of the summary against the streams."""
    block, name = cast("Mapping[str, float | None]", run.summary(scope)), f"{PLURALS[scope]}: " if scope else ""
    every = [side for stream in run.record["streams"] for d in ([scope] if scope else DIRECTIONS)
             if (side := side_of(stream, d))]  # fmt: skip
    busy, summed_over = [side for side in every if side["count"]], f"the sum over {len(run.record['streams'])} streams"
    if not block or not every or any(side["count"] is None for side in every):
        return
    for key, what in (("count", "count"), ("bytes", "bytes"), ("errors", "failed I/Os")):
        summed = sum(cast("Mapping[str, int]", side).get(key) or 0 for side in every)
        high = math.inf if key == "errors" and run.tool == "fio" and scope is None else summed
        if block.get(key) is not None:
            yield Claim(f"{name}{what}", cast("float", block[key]), summed_over, summed, high)
    if scope is None and run.is_model:
        depths = [run.summary(direction).get("queue_depth_mean") or 0.0 for direction in DIRECTIONS]
        yield from equal("queue depth", block.get("queue_depth_mean"), "reads and writes", sum(depths))
    yield from rates(name, block, run.duration_ns, run.deepest, own_time=bool(scope) and not run.is_model)
    yield from ordered(name, block, is_exact=run.is_model)
    summed_ns = latency_sum(busy)
    if not busy or summed_ns is None or not block.get("count"):
        return
    count = sum(side["count"] for side in busy)
    yield from equal(f"{name}mean latency", block.get("latency_mean_ns"), "latency sum / count", summed_ns / count)
    for end, chosen in (("min", min), ("max", max)):
        known = [n for side in busy if (n := cast("Mapping[str, int | None]", side)[f"latency_{end}_ns"]) is not None]
        if known:
            source = f"the {end} of its streams"
            yield from equal(f"{name}{end} latency", block.get(f"latency_{end}_ns"), source, chosen(known))
    yield from _percentiles(run, name, block, busy)


def rates(
    name: str, block: Mapping[str, float | None], duration_ns: float, deepest: float = 0.0, own_time: bool = False
) -> Iterator[Claim]:
    """Yield rates x time = counts for a block of figures; a direction with its `own_time` ran for at most the
    duration. `deepest` is the mean number of I/Os in flight in the deepest measured phase."""
    seconds = duration_ns / 1e9
    pairs = (("iops", "count"), ("bandwidth_bytes_per_s", "bytes"), ("ops_per_s", "count"), ("per_second", "completed"))
    times = []
    for rate, counted in pairs:
        stated, number = block.get(rate), block.get(counted)
        if stated is None or number is None or not seconds:
            continue
        what, source = f"{name}{_PLAIN.get(rate, rate)}", f"{number:,.0f} {_PLAIN.get(counted, counted)}"
        if not own_time or not stated or not number:
            yield from equal(what, stated, f"{source} in {seconds:.6g} s", number / seconds)
            continue
        times.append((what, stated, source, number))
        yield Claim(what, stated, f"{source} in at most {seconds:.6g} s", number / seconds * (1 - EXACT), math.inf)
    for what, stated, source, number in times[1:]:
        taken = times[0][3] / times[0][1]
        yield from equal(what, stated, f"{source} in the {taken:.6g} s that its other rate took", number / taken)
    depth, mean, count = (block.get(key) for key in ("queue_depth_mean", "latency_mean_ns", "count"))
    if depth is not None and mean is not None and count and duration_ns:
        took = times[0][3] / times[0][1] * 1e9 if times else duration_ns
        derived, longest = count * mean / took, (block.get("latency_max_ns") or 0.0) / took
        # I/Os in flight at the start or the end count towards the depth for only part of their latency: at each end the
        # mean number of I/Os (of several phases that of the deepest, which may be the first or last one, or the one
        # before), and at least one in total.
        slack = EXACT * derived + max(2 * derived, 2 * deepest, 1.0) * longest
        if slack < derived:
            source = "count x mean latency / time"
            yield Claim(f"{name}queue depth", depth, source, derived - slack, derived + slack)


_PLAIN = {"iops": "IOPS", "bandwidth_bytes_per_s": "bytes per second", "count": "I/Os", "ops_per_s": "operations/s"}


def ordered(name: str, block: Mapping[str, object], prefix: str = "latency", is_exact: bool = True) -> Iterator[Claim]:
    """Yield min <= p50 <= p99 <= p99.9 <= max, and a mean that these allow, for a block of figures. Percentiles of
    other tools are not `is_exact`: they are edges of wide bins."""
    known = [(label, float(value)) for label in ORDER
             if isinstance(value := block.get(f"{prefix}_{label}_ns"), int | float)]  # fmt: skip
    for (below, low), (label, value) in pairwise(known):
        # A percentile is the value of a bucket: its middle or edge may lie beyond the ends.
        slack = BUCKETS * RESOLUTION["fio"] * low if "min" in below or "max" in label else 0.0
        yield Claim(f"{name}{label} latency", value, f"{below} of {span(low)}", low - slack - 1000, math.inf)
    if known:
        yield Claim(f"{name}{known[0][0]} latency", known[0][1], LENGTH_OF_TIME, 0.0, math.inf)
    mean, ends = block.get(f"{prefix}_mean_ns"), dict(known)
    count = block.get("count") or block.get("completed")
    if not isinstance(mean, int | float) or "max" not in ends or not (is_exact or "min" in ends):
        return
    low = ends.get("min", 0.0)
    source = f"min and max of {span(low)} and {span(ends['max'])}"
    yield Claim(f"{name}mean latency", mean, source, low * (1 - EXACT) - 1000, ends["max"] * (1 + EXACT) + 1000)
    if is_exact and isinstance(count, int | float) and count >= 1:
        shares = (("p50", 0.5), ("p99", 0.99), ("p999", 0.999))
        points = [(share, ends[label]) for label, share in shares if label in ends]
        least, most = _mean_range(points, low, ends["max"], int(count))
        slack = 2 * RESOLUTION["fio"]
        bounds = least * (1 - slack) - 1000, most * (1 + slack) + 1000
        yield Claim(f"{name}mean latency", mean, "its percentiles, min and max", *bounds)


def _percentiles(run: Audited, name: str, block: Mapping[str, float | None], busy: Sequence[Side]) -> Iterator[Claim]:
    """Yield checks of the summary's percentiles against the merged histograms."""
    kinds = {side["histogram"]["kind"] for side in busy}
    if len(kinds) != 1 or not kinds & RESOLUTION.keys():
        return
    merged = merge(side["histogram"] for side in busy)
    width = BUCKETS * RESOLUTION[kinds.pop()]
    for key, pct in SUMMARY_PERCENTILES.items():
        label = key.removeprefix("latency_").removesuffix("_ns")
        source = "the merged histogram"
        for claim in equal(f"{name}{label} latency", block.get(key), source, percentile(merged, pct), width):
            # A tool's rank may be a rank off on a tie, which is the next bucket.
            next_one = _next_value(merged["buckets"], claim.high) if not run.is_model else claim.high
            yield Claim(claim.figure, claim.stated, claim.source, claim.low - 1000, max(claim.high, next_one) + 1000)


def _next_value(buckets: Sequence[Sequence[int]], above: float) -> float:
    return next((float(value) for value, _ in buckets if value > above), above)


def _side(run: Audited, name: str, side: Side) -> Iterator[Claim]:
    """Yield claims within one direction of a stream."""
    count, summed = side["count"], side["latency_sum_ns"]
    histogram, low, high = side["histogram"], side["latency_min_ns"], side["latency_max_ns"]
    mean = None if summed is None or not count else int(summed) / count
    width = BUCKETS * RESOLUTION.get(histogram["kind"], math.inf)
    if histogram["buckets"] and math.isfinite(width):
        yield from _histogram(run, name, side, mean, width)
    if histogram["kind"] == "bins" and histogram["buckets"] and mean is not None and high is not None:
        # A tool may count the I/Os of its warm-up, or leave out the last ones.
        edges, binned = histogram["buckets"], total(histogram)
        if abs(binned - side["count"]) <= PRINTED * side["count"]:
            most = sum(min(edge, high) * number for edge, number in edges) / binned
            yield Claim(f"{name}: mean latency", mean, "its histogram", 0.0, most * (1 + PRINTED))
    points = sorted((pct / 100, float(value)) for pct, value in side.get("percentiles") or [] if pct <= 100)
    for (pct, below), (share, value) in pairwise(points):
        source = f"p{100 * pct:g} of {span(below)}"
        yield Claim(f"{name}: p{100 * share:g} latency", value, source, below, math.inf)
    # Old fio, its terse output and other tools cut to whole microseconds.
    unit = 1.0 if any(value % 1000 for _, value in points) or (low or 0) % 1000 else 1000.0
    if points and low is not None and high is not None:
        ends = f"min and max of {span(low)} and {span(high)}"
        for share, value in points:
            bounds = (low * (1 - 2 * RESOLUTION["fio"]) - unit, high * (1 + 2 * RESOLUTION["fio"]) + unit)
            yield Claim(f"{name}: p{100 * share:g} latency", value, ends, *bounds)
        if mean is not None and high < LAST_BUCKET_NS[False]:
            least, most = _mean_range(points, low, high, count)
            bounds = (least * (1 - 2 * RESOLUTION["fio"]) - unit, most * (1 + 2 * RESOLUTION["fio"]) + unit)
            yield Claim(f"{name}: mean latency", mean, "percentiles, min and max", *bounds)
    bins = side.get("latency_bins")
    if bins and mean is not None and high is not None:
        # Each share is rounded to 0.01 %, and a bin without I/Os in that rounding is not printed.
        most = sum((pct + 0.01) / 100 * min(edge, high) for edge, pct in bins)
        most += max(0.0, 1 - sum(pct for _, pct in bins) / 100) * high
        least = sum((pct - 0.01) / 100 * _bin_begins(edge) for edge, pct in bins)
        bounds = (least * (1 - EXACT) - unit, most * (1 + EXACT) + unit)
        yield Claim(f"{name}: mean latency", mean, "the histogram of its latency bins", *bounds)
    if bins:
        # I/Os in flight at either end of a ramp are in only one of both.
        yield from _in_bins(name, points, bins, unit, ((run.concurrency or IN_FLIGHT) + 2) / max(1, count or 0))
    yield from _printed(run, name, side)


def _in_bins(
    name: str, points: Sequence[tuple[float, float]], bins: Sequence[Sequence[float]], unit: float, slack: float
) -> Iterator[Claim]:
    """Yield checks of percentiles against the coarse bins of the same latencies, whose shares are rounded to 0.01 %;
    `slack` is the share of the I/Os that may be in only one of both."""
    for share, value in points:
        most = least = 0.0
        low, high = math.inf, math.inf
        for edge, pct in bins:
            most, least = most + (pct + 0.01) / 100, least + max(0.0, pct - 0.01) / 100
            # It lies in or above the first bin that may reach its share, and not above the first that does.
            low = min(low, _bin_begins(edge) if most + slack >= share else math.inf)
            high = min(high, edge if least - slack >= share else math.inf)
        if math.isfinite(low):
            near = (low * (1 - 2 * RESOLUTION["fio"]) - unit, high * (1 + 2 * RESOLUTION["fio"]) + unit)
            yield Claim(f"{name}: p{100 * share:g} latency", value, "its latency bins", *near)


def _bin_begins(upper: float) -> float:
    """Return where the coarse bin of fio begins that ends at `upper`."""
    return max((edge for edge in BIN_EDGES_NS if edge < upper), default=0)


def _histogram(run: Audited, name: str, side: Side, mean: float | None, width: float) -> Iterator[Claim]:
    """Yield checks of count, mean and ends against a histogram."""
    buckets, count = side["histogram"]["buckets"], total(side["histogram"])
    slack = 0.0 if run.is_model else PRINTED * side["count"] + (run.concurrency or IN_FLIGHT)
    # fio writes no histogram log at the end of its last window.
    least = 0.0 if any("from logs" in note for note in run.notes) else count - slack
    yield Claim(f"{name}: count", side["count"], f"{count:,} I/Os in its histogram", least, count + slack)
    for (below, _), (value, _) in pairwise(buckets):
        if value < below:
            yield Claim(f"{name}: bucket of latency", value, f"the bucket before it, {below:,} ns,", below, math.inf)
    low, high = side["latency_min_ns"], side["latency_max_ns"]
    is_cut = run.tool == "fio" and (high or 0) >= LAST_BUCKET_NS[False]
    for label, stated, bucket in (("min", low, buckets[0][0]), ("max", high, buckets[-1][0])):
        if stated is not None and least and not is_cut:
            near = (bucket * (1 - width) - 1000, bucket * (1 + width) + 1000)
            yield Claim(f"{name}: {label} latency", stated, "its histogram", *near)
    if mean is not None and least and not is_cut:
        middle = sum(value * number for value, number in buckets) / count
        near = (middle * (1 - width - slack / count) - 1000, middle * (1 + width + slack / count) + 1000)
        yield Claim(f"{name}: mean latency", mean, "its histogram", *near)


def _mean_range(points: Sequence[tuple[float, float]], low: float, high: float, count: int) -> tuple[float, float]:
    """Return the lowest and highest mean that these percentiles, min and max allow."""
    least = most = share_before = 0.0
    ranked_before, value_before = 0.0, float(low)
    for share, value in points:
        # The percentile may be the latency of the next rank, or of the one after it on a tie.
        ranked = min(1.0, (math.ceil(share * count) + 1) / count)
        least += (ranked - ranked_before) * value_before
        most += (share - share_before) * value
        share_before, ranked_before, value_before = share, ranked, value
    return least + (1 - ranked_before) * value_before, most + (1 - share_before) * high


def _printed(run: Audited, name: str, side: Side) -> Iterator[Claim]:
    """Yield what a tool printed of a direction twice: rates and times, counts and samples of latency."""
    printed = cast("Mapping[str, float | None]", side.get("printed") or {})
    took, count = printed.get("runtime_ns"), printed.get("count")
    iops, bandwidth, samples = (printed.get(key) for key in ("iops", "bandwidth_bytes_per_s", "samples"))
    if took and count:
        for what, stated, number, step in (
            ("IOPS as printed", iops, count, 1.0),
            ("bytes per second as printed", bandwidth, side["bytes"], 1024.0),
        ):
            if stated:
                derived, source = number / took * 1e9, f"{number:,.0f} in {took / 1e9:g} s"
                slack = max(PRINTED * derived, step)
                yield Claim(f"{name}: {what}", stated, source, derived - slack, derived + slack)
    if samples and count and not side["errors"]:
        slack = PRINTED * count + (run.concurrency or run.asked.concurrency or IN_FLIGHT)
        yield Claim(f"{name}: latency samples", samples, f"a count of {count:,.0f}", count - slack, count + slack)
    least, mean, most = (printed.get(key) for key in ("iops_min", "iops_mean", "iops_max"))
    if least is not None and mean and most:
        source = f"samples from {least:,.0f} to {most:,.0f}"
        # Of jobs that are reported together older fio adds the means, not the ends.
        highest = math.inf if may_be_group(run) else most * max(1, run.asked.jobs or 1) + 1
        yield Claim(f"{name}: mean IOPS of samples", mean, source, least - 1, highest)


def _times(run: Audited) -> Iterator[Claim]:
    """Yield checks of runtime, elapsed time and timestamps against each other."""
    source = cast("Mapping[str, object]", run.source or {})
    elapsed = source.get("elapsed_ns")
    if isinstance(elapsed, int | float) and elapsed:
        yield Claim("the run time", run.duration_ns, "the elapsed time of its process", 0.0, elapsed + CLOCK_NS)
    began, ended = (moment_of(source.get(key)) for key in ("began", "ended"))
    if began is not None and ended is not None:
        between = (ended - began).total_seconds() * 1e9
        yield Claim("the run time", run.duration_ns, f"from {began} to {ended}", 0.0, max(0.0, between) + CLOCK_NS)
