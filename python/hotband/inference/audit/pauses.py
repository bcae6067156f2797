"""Rule group 6, rates of no moment: seconds without any I/O, and overall rates that the samples do not have.

Left out: loads that pause themselves (think time, bursts), and samples so short that chance leaves some empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hotband.base.heavy import pl
from hotband.base.text.numbers import counted, number, span
from hotband.data.documents.record import side_of
from hotband.data.documents.sides import PrintedSide, Side
from hotband.data.record.stats import DIRECTIONS
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import Finding, Number

LEAST_IOS = 20.0
"""I/Os that a sample has on average, so that none is no chance: e^-20 of samples of random arrivals."""
APART = 0.10
"""Share by which the mean of samples may differ from the rate over all: two samples of 25 lie at the ends."""
LEAST_SAMPLES = 10


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return all findings of stalls and of jobs that ended apart."""
    return [finding for run in runs for rule in (_stall, _apart) if (finding := rule(run)) is not None]


def _stall(run: Audited) -> Finding | None:
    """Find samples in which no I/O of a load without pauses completed."""
    if not (run.concurrency or run.asked.rate_iops) or len(run.record.get("steps") or []) > 1:
        return None
    longest = run.summary().get("latency_max_ns")
    numbers: dict[str, Number] = {} if longest is None else {"latency_max_ms": longest / 1e6}
    advice = (
        "Find what stopped it (a flush, garbage collection, a reset in the kernel log): a mean over a stall hides it."
    )
    empty = _empty_seconds(run)
    if empty is not None:
        seconds, whole, interval = empty
        words = f"No I/O completed in {seconds} of {whole} intervals of {span(interval)}"
        numbers |= {"intervals_without_io": seconds, "intervals": whole, "interval_s": interval / 1e9}
        return Finding("stall", "warning", (run.name,), words, numbers, advice)
    for name, side, printed in sampled(run):
        mean, samples = printed["iops_mean"] or 0.0, printed["iops_samples"] or 0
        each = mean / max(1, run.asked.jobs or 1) * printed["runtime_ns"] / 1e9 / max(samples, 1)
        if printed["iops_min"] == 0 and samples and each * max(1, run.asked.jobs or 1) >= LEAST_IOS:
            high = side["latency_max_ns"]
            took = f"; the longest took {span(high)}" if high is not None else ""
            words = f"The {name} stalled: at least one of {counted(samples, 'sample')} had no I/O{took}"
            return Finding(
                "stall", "warning", (run.name,), words, {"iops_mean": mean, "samples": samples} | numbers, advice
            )
    return None


def _empty_seconds(run: Audited) -> tuple[int, int, float] | None:
    """Return how many whole intervals of the series have no I/O, of how many, and their length; None without any."""
    series, named = run.series, run.record.get("series")
    interval = float(named.get("interval_ns") or 0) if named else 0.0
    rate = run.summary().get("iops")
    if series is None or not interval or not rate or "iops" not in series.columns or rate * interval / 1e9 < LEAST_IOS:
        return None
    whole = int(run.duration_ns // interval)
    if series["iops"].null_count() == len(series) or whole < 2:
        return None
    by_time = series.group_by("time_ns").agg(pl.col("iops").sum()).filter(pl.col("iops") > 0)
    busy = {int(time // interval) for time in by_time["time_ns"].to_list()}
    # Logs may lack their end, where the tool was stopped or its buffer not written: only those that have all I/Os show
    # a stall there.
    if float(by_time["iops"].sum()) * interval / 1e9 < (1 - APART) * (run.summary().get("count") or 0):
        whole = min(whole, max(busy, default=-1) + 1)
    empty = whole - sum(0 <= number_of < whole for number_of in busy)
    return (empty, whole, interval) if empty else None


def sampled(run: Audited) -> Iterator[tuple[str, Side, PrintedSide]]:
    """Yield the sides with samples printed by the tool, with their names."""
    for stream in run.record["streams"]:
        for direction in DIRECTIONS:
            side = side_of(stream, direction)
            printed = side.get("printed") if side and side["count"] else None
            if side and printed and printed["iops_samples"]:
                yield f"{direction}s", side, printed


def _apart(run: Audited) -> Finding | None:
    """Find rates over all that are far from the mean of their samples, and jobs that ran for different times."""
    advice = (
        "The overall rate describes no moment: give jobs the same time (time_based, runtime), or quote the samples."
    )
    for name, each, printed in sampled(run):
        mean, overall = printed["iops_mean"] or 0.0, each["count"] / printed["runtime_ns"] * 1e9
        if (printed["iops_samples"] or 0) >= LEAST_SAMPLES and mean and abs(mean / overall - 1) > APART:
            words = (
                f"The {name} did {number(overall)} IOPS overall, but {number(mean)} on average over its samples: jobs "
                "ended apart, or it paused"
            )
            numbers: dict[str, Number] = {"iops": overall, "samples_iops": mean, "ratio": mean / overall}
            return Finding("jobs-ended-apart", "warning", (run.name,), words, numbers, advice)
    together = next((note for note in run.notes if note.startswith("jobs that ran together took")), None)
    if together is None:
        return None
    took = []
    for stream in run.record["streams"]:
        sides = [side for direction in DIRECTIONS if (side := side_of(stream, direction))]
        took.append(max((side["printed"]["runtime_ns"] for side in sides if "printed" in side), default=0))
    if not took or min(took) >= (1 - APART) * max(took):
        return None
    words = f"Its jobs ended apart, after {span(min(took))} to {span(max(took))}: the rate is over the longest"
    numbers = {"shortest_s": min(took) / 1e9, "longest_s": max(took) / 1e9, "ratio": max(took) / max(1, min(took))}
    return Finding("jobs-ended-apart", "warning", (run.name,), words, numbers, advice)
