"""Rule group 5: runs shorter than requested or than the others, too few I/Os for a percentile, runs out of sequence."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from datetime import UTC
from itertools import pairwise
from statistics import median, median_low

from hotband.base.text.numbers import number, span
from hotband.data.documents.record import Percentile
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.finding import Finding, Number, Rows, listed
from hotband.inference.audit.orderstat import interval_ranks, least_count
from hotband.inference.audit.replay import in_time

SHORT = 0.02
"""Share of the requested time that may be missing: tools stop at the last completion and cut runtimes to seconds or
milliseconds (14 real runs of 900 s: 900.0 to 902.2 s)."""
SEVERELY_SHORT = 0.5
QUOTED: dict[Percentile, float] = {"latency_p50_ns": 0.5, "latency_p99_ns": 0.99, "latency_p999_ns": 0.999}
"""Percentiles that a record's summary quotes. Percentiles that a tool prints beyond them are not claims (fio's
99.99)."""
LEAST_SEQUENCE = 0.6
"""A sweep is a sequence if at least this share of its runs follow one another in order of concurrency: 1 in 60 random
orders of five runs does so by chance in either direction, and a random order is not a fault."""
LEAST_RUNS = 4
MUCH_SHORTER, FAR_SHORTER = 0.5, 0.1
"""Shares of the others' median time below which a run is a finding, and a severe one: a tenth of the time makes the
interval of a mean 3.2 times as wide (the root of ten), and such a run covers only the beginning of the others."""
GAP = 3.0
"""A run out of order is apart from the others if it is this many usual distances from the nearest of them."""


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return findings on the time of runs."""
    findings = [finding for run in runs for finding in _short(run)]
    for _, sweep in grouped([run for run in runs if not run.is_model], lambda run: (run.tool, run.target, run.load)):
        findings += _out_of_sequence(sweep, runs)
    timed = [run for run in runs if run.duration_ns > 0 and not (run.is_model or run.is_published or _attained(run))]
    for _, alike in grouped(timed, lambda run: (run.tool, run.load)):
        findings += _shorter(alike)
    return findings


def support(runs: Sequence[Audited]) -> list[Finding]:
    """Return findings on percentiles of few I/Os, none of them severe."""
    return [finding for run in runs for finding in _support(run)]


def _attained(run: Audited) -> bool:
    """Return whether fio ended the run at its steady state, or at the depth of its latency target, as requested."""
    samples = run.record.get("samples")
    is_search = any("latency_target" in job and job.get("latency_run", "0") == "0" for job in run.job_options)
    return is_search or (samples is not None and samples.get("attained") is True)


def _shorter(runs: Sequence[Audited]) -> list[Finding]:
    """Find runs that are much shorter than others of their load, at any concurrency and on any target."""
    short = []
    for run in runs:
        others = [other.duration_ns for other in runs if other is not run]
        if others and run.duration_ns < MUCH_SHORTER * median_low(others):
            short.append((run, median_low(others)))
    if not short:
        return []
    names = tuple(run.name for run, _ in short)
    least, usual = min(short, key=lambda pair: pair[0].duration_ns / pair[1])
    share = least.duration_ns / usual
    rows: list[list[Number]] = [[run.name, run.duration_ns / 1e9, "yes" if run.name in names else ""] for run in runs]
    return [
        Finding(
            "shorter-than-others",
            "severe" if share < FAR_SHORTER else "warning",
            names,
            f"{least.name} ran for {span(least.duration_ns)}, other runs of the same load for {span(usual)}",
            {
                "runs": len(runs),
                "runs_shorter": len(short),
                "duration_s": least.duration_ns / 1e9,
                "others_s": usual / 1e9,
                "share_pct": 100 * share,
            },
            "Caches, fill and warm-up weigh more in a short run, and its figures are less certain than those of the "
            "others: repeat it at the length of the others, or omit it.",
            Rows(["run", "ran for, s", "much shorter"], rows),
        )
    ]


def _short(run: Audited) -> list[Finding]:
    requested, took = run.asked.duration_ns, run.duration_ns
    if not requested or run.is_model or _attained(run) or took <= 0:
        return []
    # Some tools count the warm-up they leave out as part of the time.
    if took + (run.asked.ramp_ns or 0.0) >= (1 - SHORT) * requested:
        return []
    severe = took < SEVERELY_SHORT * requested
    return [
        Finding(
            "short-run",
            "severe" if severe else "warning",
            (run.name,),
            f"It ran for {span(took)} of the {span(requested)} requested",
            {"duration_s": took / 1e9, "asked_s": requested / 1e9, "share_pct": 100 * took / requested},
            "It ended early: look for an error, or for a size that was used up (fio needs time_based to continue"
            "). Repeat it, or quote the time that it ran.",
        )
    ]


def _support(run: Audited) -> list[Finding]:
    """Find percentiles above which the sample has too few I/Os for a two-sided interval."""
    rows: list[list[Number]] = []
    worst: tuple[float, float] | None = None
    directions: list[str | None] = [*run.directions()] or [None]
    for direction in directions:
        summary = run.summary(direction)
        count = int(summary.get("count") or 0)
        for key, share in QUOTED.items():
            value = summary.get(key)
            if value is None or not count or count >= least_count(share):
                continue
            low, _ = interval_ranks(count, share)
            points = run.quantiles(direction)
            bound = points.quantile(low / count) if points is not None and points.kind == "histogram" and low else None
            ends = [bound / 1e6 if bound else "", (summary.get("latency_max_ns") or 0) / 1e6 or ""]
            rows.append([direction or "all", 100 * share, count, least_count(share), value / 1e6, *ends])
            worst = max(worst or (0.0, 0.0), (share, float(count)))
    if worst is None:
        return []
    share, counted = worst
    above = counted * (1 - share)
    return [
        Finding(
            "percentile-support",
            "warning" if above < 1 else "note",
            (run.name,),
            f"{number(counted)} I/Os do not support p{100 * share:g}: {number(above)} lie above it, "
            f"a 95 % interval needs {least_count(share):,} I/Os",
            {
                "percentile": 100 * share,
                "ios": counted,
                "ios_needed": least_count(share),
                "ios_above": above,
                "largest_supported_percentile": 100 * largest_supported(int(counted)),
            },
            f"Run longer, or quote p{math.floor(1000 * largest_supported(int(counted))) / 10:g} at most.",
            Rows(
                ["I/Os of", "percentile", "I/Os", "needed", "quoted, ms", "at least, ms", "at most (largest seen), ms"],
                rows,
            ),
        )
    ]


def largest_supported(count: int) -> float:
    """Return the largest share whose quantile has a two-sided 95 % interval with `count` I/Os."""
    return math.exp(math.log(0.025) / count) if count else 0.0


def _out_of_sequence(sweep: Sequence[Audited], everything: Sequence[Audited]) -> list[Finding]:
    """Find runs of a sweep over concurrency that ran apart from the others, out of their order."""
    timed = [run for run in sweep if run.ended is not None and run.concurrency]
    depths = [run.concurrency for run in timed]
    if len(timed) < LEAST_RUNS or len(set(depths)) < len(depths):
        return []
    ordered = sorted(timed, key=lambda run: run.concurrency or 0)
    stamps = [run.ended.replace(tzinfo=UTC).timestamp() for run in ordered if run.ended is not None]
    in_sequence = max(longest_rising(stamps), longest_rising([-stamp for stamp in stamps]), key=len)
    outside = [run for index, run in enumerate(ordered) if index not in in_sequence]
    if not outside or len(in_sequence) < LEAST_SEQUENCE * len(ordered):
        return []
    usual = usual_distance(everything)
    inside = [stamps[index] for index in in_sequence]
    apart = [(run, min(abs(stamps[ordered.index(run)] - stamp) for stamp in inside)) for run in outside]
    far = [(run, distance) for run, distance in apart if usual and distance > GAP * usual]
    if not far:
        return []
    names = tuple(run.name for run, _ in far)
    rows: list[list[Number]] = [
        [run.name, run.concurrency or 0, str(run.ended), "no" if run.name in names else "yes"]
        for run in in_time(ordered)
    ]
    hours = max(distance for _, distance in far) / 3600
    return [
        Finding(
            "out-of-sequence",
            "warning",
            names,
            f"{listed(names)} {'was' if len(far) == 1 else 'were'} run out of sequence, "
            f"up to {hours:.1f} h from the others",
            {
                "runs": len(ordered),
                "runs_out_of_sequence": len(far),
                "hours_apart": hours,
                "usual_distance_h": (usual or 0.0) / 3600,
            },
            "They were repeated or added later, when caches, fill and background work of the target differed from "
            "those of the other runs. State this, or repeat the whole sequence.",
            Rows(["run, in order of time", "concurrency", "ended (UTC)", "in sequence"], rows),
        )
    ]


def usual_distance(runs: Sequence[Audited]) -> float:
    """Return the median seconds between the ends of runs that follow one another."""
    stamps = sorted(run.ended.replace(tzinfo=UTC).timestamp() for run in runs if run.ended is not None)
    steps = [later - earlier for earlier, later in pairwise(stamps) if later > earlier]
    return median(steps) if steps else 0.0


def longest_rising(values: Sequence[float]) -> list[int]:
    """Return the indices of a longest strictly rising subsequence (patience sorting)."""
    tails: list[float] = []
    ends: list[int] = []
    before: list[int] = []
    for index, value in enumerate(values):
        pile = bisect.bisect_left(tails, value)
        before.append(ends[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(value)
            ends.append(index)
        else:
            tails[pile], ends[pile] = value, index
    indices: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        indices.append(index)
        index = before[index]
    return indices[::-1]
