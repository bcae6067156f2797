"""Rule group 8: comparisons at unequal concurrency or on unequal data, one repeat only, differences within their
interval.

Results of different targets under the same load (pattern, size, share of reads, rate) are taken to be compared. Left
out: other differences (firmware, temperature, hosts), which no result reports.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations

from hotband.base.text.numbers import between, number, percent, size
from hotband.data.record.stats import DIRECTIONS, OTHER_DIRECTIONS
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.difference import NONE, iops_difference
from hotband.inference.audit.distribution import sides_of
from hotband.inference.audit.finding import Finding, Number, Rows, listed

LEAST_ALIKE = 100
"""I/Os from which equal sums of latencies are no coincidence."""
DATA_TOLERANCE = 0.05
"""Share by which working sets and compressibility may differ: seeks and hit shares change by less."""


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return all findings of the group."""
    findings: list[Finding] = []
    known = [run for run in runs if run.asked.pattern is not None and not run.is_published]
    for _, alike in grouped(known, lambda run: run.load):
        by_target = grouped(alike, lambda run: run.target)
        if len(by_target) > 1:
            findings += _unequal(alike, by_target)
            findings += _within(by_target)
    copies = _copies(runs)
    further = {name for copy in copies for name in copy.subject[1:]}
    return findings + copies + _once([run for run in known if run.name not in further])


def _copies(runs: Sequence[Audited]) -> list[Finding]:
    """Find measurements that are equal to the last digit. Models repeat exactly and are left out."""
    real = [run for run in runs if not run.is_model and not run.is_published]
    timed = [run for run in real if (run.summary().get("count") or 0) >= LEAST_ALIKE and _waited(run)]
    findings = []
    for _, alike in grouped(timed, measured):
        if len(alike) > 1:
            names = tuple(run.name for run in alike)
            title = f"{listed(names)} are copies of one measurement: all counts and latencies are equal"
            advice = "Two measurements never agree to the last digit: look for a file that was copied to a wrong place."
            findings.append(Finding("copied-result", "severe", names, title, {"results": len(alike)}, advice))
    return findings


def _waited(run: Audited) -> bool:
    return any(side["latency_sum_ns"] for side in sides_of(run.record["streams"]))


def measured(run: Audited) -> str:
    """Return all that a result states of its run, without the names of its file and its streams."""
    streams = [
        [stream.get(direction) for direction in (*DIRECTIONS, *OTHER_DIRECTIONS)] for stream in run.record["streams"]
    ]
    source = {key: value for key, value in (run.source or {}).items() if key != "file"}
    return json.dumps([source, run.concurrency, run.duration_ns, run.record["summary"], streams])


def data_text(key: str, value: float) -> str:
    """Format a value of `data_of`."""
    return size(value) if key.endswith("bytes") else number(value)


def data_of(run: Audited) -> dict[str, float]:
    """Return the properties by which data are compared: working set, entropy, compressibility, duplicates."""
    properties: dict[str, float] = {}
    if run.asked.working_set_bytes:
        properties["working set, bytes"] = run.asked.working_set_bytes
    means = [entry.get("mean") for entry in run.record.get("data") or [] if isinstance(entry, dict)]
    numbers = [float(mean) for mean in means if isinstance(mean, int | float)]
    if numbers and len(numbers) == len(means):
        properties["entropy"] = sum(numbers) / len(numbers)
    options = {key: value for table in run.option_tables for key, value in table.items()}
    for key in ("buffer_compress_percentage", "dedupe_percentage"):
        try:
            properties[key] = float(options[key])
        except (KeyError, ValueError):
            continue
    return properties


def _unequal(runs: Sequence[Audited], by_target: Sequence[tuple[str, list[Audited]]]) -> list[Finding]:
    findings = []
    names = tuple(run.name for run in runs)
    depths = [{run.concurrency or 0 for run in runs_of_target} for _, runs_of_target in by_target]
    if all(0 not in depths_of_target for depths_of_target in depths) and not set.intersection(*depths):
        pairs = [
            (target, ", ".join(map(str, sorted(depths_of_target))))
            for (target, _), depths_of_target in zip(by_target, depths, strict=True)
        ]
        numbers: dict[str, Number] = {
            "targets": len(by_target),
            "least": min(min(depths_of_target) for depths_of_target in depths),
            "most": max(max(depths_of_target) for depths_of_target in depths),
        }
        title = "Targets are compared at unequal concurrency: " + ", ".join(
            f"{t} at {depth_words}" for t, depth_words in pairs
        )
        advice = "More outstanding I/Os raise both IOPS and latency of a target: compare at equal concurrency."
        table = Rows(["target", "concurrency"], pairs)
        findings.append(Finding("unequal-concurrency", "warning", names, title, numbers, advice, table))
    for key in sorted({key for run in runs for key in data_of(run)}):
        values = [
            [properties[key] for run in runs_of_target if key in (properties := data_of(run))]
            for _, runs_of_target in by_target
        ]
        known = [values_of_target for values_of_target in values if values_of_target]
        if len(known) < len(values):
            continue
        if min(map(max, known)) < (1 - DATA_TOLERANCE) * max(map(min, known)):
            sizes = [
                (target, max(values_of_target)) for (target, _), values_of_target in zip(by_target, values, strict=True)
            ]
            title = f"Targets are compared on unequal data ({key}): " + ", ".join(
                f"{t} {data_text(key, v)}" for t, v in sizes
            )
            numbers = {"what": key, "least": min(map(min, known)), "most": max(map(max, known))}
            advice = "Caches, seeks and compression depend on it: repeat with the same data on all targets."
            findings.append(
                Finding("unequal-data", "warning", names, title, numbers, advice, Rows(["target", key], sizes))
            )
    return findings


def _once(runs: Sequence[Audited]) -> list[Finding]:
    """Find points of a comparison or a sweep that were measured once. Model runs repeat exactly and are left out."""
    real = [run for run in runs if not run.is_model]
    once: list[Audited] = []
    points = 0
    for _, alike in grouped(real, lambda run: (run.load[:2],)):
        by_point = grouped(alike, lambda run: (run.target, run.load, run.concurrency, run.asked.working_set_bytes))
        if len(by_point) > 1:
            points += len(by_point)
            once += [repeats[0] for _, repeats in by_point if len(repeats) == 1]
    if not once:
        return []
    return [
        Finding(
            "one-repeat",
            "note",
            tuple(run.name for run in once),
            f"{len(once)} of {points} points were measured once: the spread between repeats is unknown",
            {"points": points, "points_measured_once": len(once)},
            "Repeat each point at least three times, in another order, and quote the spread.",
        )
    ]


def _within(by_target: Sequence[tuple[str, list[Audited]]]) -> list[Finding]:
    """Find differences of IOPS between targets that chance alone explains."""
    findings = []
    for (_, runs_of_target), (_, other) in combinations(by_target, 2):
        depths = {run.concurrency for run in runs_of_target} & {run.concurrency for run in other}
        for depth in sorted(depths, key=lambda value: value or 0):
            a = [run for run in runs_of_target if run.concurrency == depth]
            b = [run for run in other if run.concurrency == depth]
            difference = iops_difference(a, b)
            if difference is None or difference.verdict != NONE:
                continue
            low, high = difference.low_pct, difference.high_pct
            if low is None or high is None:  # one run each: how much runs differ is not known
                continue
            names = tuple(run.name for run in (*a, *b))
            findings.append(
                Finding(
                    "within-interval",
                    "note",
                    names,
                    f"{listed(names)}: IOPS differ by {percent(difference.change_pct)}, within the 95 % interval of "
                    f"{between(low, high, percent)}",
                    {
                        "change_pct": difference.change_pct,
                        "low_pct": low,
                        "high_pct": high,
                        "how": difference.how,
                    },
                    "The data show no difference: call them equal, or measure longer and more often.",
                )
            )
    return findings
