"""Rule group 8: comparisons at unequal concurrency or on unequal data, one repeat only, differences within their
interval.

Results of different targets that were asked the same (pattern, size, share of reads, rate) are taken to be compared.
Left out: what else may differ (firmware, temperature, hosts), which no result tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hotband.base.text.numbers import between, number, percent, size
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.difference import NONE, iops_difference
from hotband.inference.audit.finding import Finding, Number, Rows, listed

DATA_TOLERANCE = 0.05
"""Share by which working sets and compressibility may differ: seeks and hit shares change by less."""


def check(runs: Sequence[Audited]) -> list[Finding]:
    """All findings of the group."""
    found: list[Finding] = []
    known = [run for run in runs if run.asked.pattern is not None and not run.is_published]
    for _, alike in grouped(known, lambda run: run.load):
        by_target = grouped(alike, lambda run: run.target)
        if len(by_target) > 1:
            found += _unequal(alike, by_target)
            found += _within(by_target)
    return found + _once(known)


def data_text(key: str, value: float) -> str:
    """A value of `data_of` as people read it."""
    return size(value) if key.endswith("bytes") else number(value)


def data_of(run: Audited) -> dict[str, float]:
    """What makes data equal: size of the working set, how far it compresses, duplicates."""
    found: dict[str, float] = {}
    if run.asked.working_set_bytes:
        found["working set, bytes"] = run.asked.working_set_bytes
    means = [entry.get("mean") for entry in run.record.get("data") or [] if isinstance(entry, dict)]
    numbers = [float(mean) for mean in means if isinstance(mean, int | float)]
    if numbers and len(numbers) == len(means):
        found["entropy"] = sum(numbers) / len(numbers)
    options = dict((run.record.get("spec") or {}).get("global") or {})
    for own in ((run.record.get("spec") or {}).get("jobs") or {}).values():
        options |= own if isinstance(own, dict) else {}
    for key in ("buffer_compress_percentage", "dedupe_percentage"):
        try:
            found[key] = float(options[key])
        except (KeyError, ValueError):
            continue
    return found


def _unequal(runs: Sequence[Audited], by_target: Sequence[tuple[str, list[Audited]]]) -> list[Finding]:
    found = []
    names = tuple(run.name for run in runs)
    depths = [{run.concurrency or 0 for run in own} for _, own in by_target]
    if all(0 not in own for own in depths) and not set.intersection(*depths):
        pairs = [(target, ", ".join(map(str, sorted(own)))) for (target, _), own in zip(by_target, depths, strict=True)]
        numbers: dict[str, Number] = {
            "targets": len(by_target),
            "least": min(min(own) for own in depths),
            "most": max(max(own) for own in depths),
        }
        title = "Targets are compared at unequal concurrency: " + ", ".join(f"{t} at {own}" for t, own in pairs)
        advice = (
            "More outstanding I/Os make more IOPS and more latency of the same target: compare at equal concurrency."
        )
        table = Rows(["target", "concurrency"], pairs)
        found.append(Finding("unequal-concurrency", "warning", names, title, numbers, advice, table))
    for key in sorted({key for run in runs for key in data_of(run)}):
        values = [[one[key] for run in own if key in (one := data_of(run))] for _, own in by_target]
        known = [own for own in values if own]
        if len(known) < len(values):
            continue
        if min(map(max, known)) < (1 - DATA_TOLERANCE) * max(map(min, known)):
            sizes = [(target, max(own)) for (target, _), own in zip(by_target, values, strict=True)]
            title = f"Targets are compared on unequal data ({key}): " + ", ".join(
                f"{t} {data_text(key, v)}" for t, v in sizes
            )
            numbers = {"what": key, "least": min(map(min, known)), "most": max(map(max, known))}
            advice = "Caches, seeks and compression depend on it: repeat with the same data on all."
            found.append(
                Finding("unequal-data", "warning", names, title, numbers, advice, Rows(["target", key], sizes))
            )
    return found


def _once(runs: Sequence[Audited]) -> list[Finding]:
    """Points of a comparison or a sweep that were measured once. Models are exact, so they are left out."""
    real = [run for run in runs if not run.is_model]
    once: list[Audited] = []
    points = 0
    for _, alike in grouped(real, lambda run: (run.load[:2],)):
        by_point = grouped(alike, lambda run: (run.target, run.load, run.concurrency, run.asked.working_set_bytes))
        if len(by_point) > 1:
            points += len(by_point)
            once += [own[0] for _, own in by_point if len(own) == 1]
    if not once:
        return []
    return [
        Finding(
            "one-repeat",
            "note",
            tuple(run.name for run in once),
            f"{len(once)} of {points} points were measured once: how far a repeat would differ is not known",
            {"points": points, "points_measured_once": len(once)},
            "Repeat each point at least three times, in another order, and quote the spread.",
        )
    ]


def _within(by_target: Sequence[tuple[str, list[Audited]]]) -> list[Finding]:
    """Differences of IOPS between targets that are no larger than chance makes them."""
    found = []
    for (_, one), (_, other) in combinations(by_target, 2):
        depths = {run.concurrency for run in one} & {run.concurrency for run in other}
        for depth in sorted(depths, key=lambda value: value or 0):
            a = [run for run in one if run.concurrency == depth]
            b = [run for run in other if run.concurrency == depth]
            difference = iops_difference(a, b)
            if difference is None or difference.verdict != NONE:
                continue
            low, high = difference.low_pct, difference.high_pct
            if low is None or high is None:  # one run each: how much runs differ is not known
                continue
            names = tuple(run.name for run in (*a, *b))
            found.append(
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
                    "No difference is shown: call them equal, or measure longer and more often.",
                )
            )
    return found
