"""Rule group 4, replayed offsets: random runs on one target that draw the same offsets from the same fixed seed.

fio's `randrepeat` is on by default, diskspd's seed is 0: each run then repeats the offsets of the previous run, and
caches still hold its data. Left out: what happened between the runs (caches dropped, image recreated), which no result
reports. A model's run begins with a fresh machine and replays nothing, unless it belongs to a `sequence` of runs on one
machine with one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.finding import Finding, Number, Rows, listed

LEAST_SHARE = 0.01
"""Least share of a run's offsets that earlier runs had drawn."""
CURES = {"fio": "randrepeat=0 (or another randseed for every run)", "diskspd": "-z (a seed from the clock)"}


def key_of(run: Audited) -> tuple[object, ...]:
    """Return the key of the offsets: runs with equal keys draw the same."""
    options = run.asked
    return (
        run.tool,
        run.target,
        options.block_bytes,
        options.working_set_bytes,
        options.offset_begin_bytes,
        options.seed_text,
    )


def groups(runs: Sequence[Audited]) -> list[list[Audited]]:
    """Group the runs that replay each other, in order of time (in the given order if it is unknown)."""
    fixed = [run for run in runs if run.asked.seed == "fixed" and run.asked.pattern == "random"]
    return [in_time(alike) for _, alike in grouped(fixed, key_of) if len(alike) > 1]


def in_time(runs: Sequence[Audited]) -> list[Audited]:
    """Sort runs by their place in a sequence or their end; keep the given order if one is unknown."""
    sequences = [run.record.get("sequence") for run in runs]
    places = [int(sequence.get("place", 0)) if sequence else 0 for sequence in sequences]
    if all(places):
        return [run for _, run in sorted(zip(places, runs, strict=True), key=lambda pair: pair[0])]
    ended = [run.ended for run in runs]
    if any(time is None for time in ended):
        return list(runs)
    return sorted(runs, key=lambda run: run.ended or datetime.min)


def replayed_shares(runs: Sequence[Audited]) -> list[float]:
    """Return for each run the share of its offsets that an earlier run had drawn: the shorter of two runs is a part of
    the longer."""
    most, shares = 0.0, []
    for run in runs:
        count = float(run.summary().get("count") or 0)
        shares.append(min(1.0, most / count) if count else 0.0)
        most = max(most, count)
    return shares


def replayed(runs: Sequence[Audited]) -> frozenset[str]:
    """Return the names of the runs that repeat offsets of an earlier run."""
    return frozenset(
        run.name
        for group in groups(runs)
        for run, share in zip(group, replayed_shares(group), strict=True)
        if share >= LEAST_SHARE
    )


def check(runs: Sequence[Audited], cache_served: frozenset[str]) -> list[Finding]:
    """Return a finding for each group of runs; severe if a cache served reads of it (`cache_served`)."""
    findings = []
    for group in groups(runs):
        shares = replayed_shares(group)
        again = [run.name for run, share in zip(group, shares, strict=True) if share >= LEAST_SHARE]
        if not again:
            continue
        hit = [name for name in again if name in cache_served]
        names = tuple(run.name for run in group)
        cure = CURES.get(group[0].tool, "a fresh seed for every run")
        rows: list[list[Number]] = [
            [run.name, str(run.ended or ""), float(run.summary().get("count") or 0), 100 * share]
            for run, share in zip(group, shares, strict=True)
        ]
        numbers: dict[str, Number] = {
            "runs": len(group),
            "replaying_runs": len(again),
            "cache_served_runs": len(hit),
            "replayed_pct_mean": 100 * sum(shares) / len(shares),
            "target": group[0].target,
        }
        served = f"; the reads of {listed(hit)} were served from a cache" if hit else ""
        findings.append(
            Finding(
                "replayed-offsets",
                "severe" if hit else "warning",
                names,
                f"{len(again)} of {len(group)} random runs on {group[0].target} repeat the offsets of earlier runs"
                f"{served}",
                numbers,
                f"The seed is fixed, so caches may hold the data. Repeat the runs with {cure}.",
                Rows(["run", "ended (UTC)", "offsets", "drawn before, %"], rows),
            )
        )
    return findings
