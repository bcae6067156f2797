"""Rule group 7: a working set that fits into a cache of the target.

If a cache holds a share of the working set of random reads, a warm cache serves that share of them. Left out: skew,
which raises the share; look-ahead; whether the cache was warm.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.text import numbers
from hotband.inference.audit.audited import Audited, span_share
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding

LEAST_SHARE = 0.05
"""Share of the working set that a cache may hold without a finding: less changes a mean by less than that."""
SEVERE_SHARE = 0.5


def check(runs: Sequence[Audited], facts_of: Sequence[MachineFacts | None]) -> list[Finding]:
    """Return all findings of the group."""
    findings = []
    for run, facts in zip(runs, facts_of, strict=True):
        size = None if facts is None else working_set(run, facts)
        if facts is None or not size or run.asked.pattern not in ("random", "mixed"):
            continue
        for direction in run.directions():
            cache = facts.read_cache_bytes if direction == "read" else facts.write_cache_bytes
            share = min(1.0, cache / size)
            # A write cache drains: only one that holds all of it keeps writes from the media.
            if share > LEAST_SHARE and (direction == "read" or share >= 1):
                findings.append(_finding(run, facts, direction, size, cache, share))
    return findings


def working_set(run: Audited, facts: MachineFacts) -> float | None:
    """Return the bytes of the target that the run touches: as requested, or the share of a model's machine."""
    share = span_share(run.record)
    if share is not None and facts.capacity_bytes:
        return share * facts.capacity_bytes
    return run.asked.working_set_bytes


def _finding(run: Audited, facts: MachineFacts, direction: str, size: float, cache: float, share: float) -> Finding:
    touched = f"working set of the {direction}s, {numbers.size(size)}"
    caches = f"caches of {facts.name} ({numbers.size(cache)})"
    title = f"The {caches} hold {numbers.share(share)} of the {touched}"
    if share >= 1:
        title = f"The {touched}, fits into the {caches}"
    return Finding(
        "working-set-in-cache",
        "severe" if share >= SEVERE_SHARE else "warning",
        (run.name,),
        title,
        {
            "working_set_bytes": size,
            "cache_bytes": cache,
            "share_pct": 100 * share,
            "direction": direction,
            "working_set_needed_bytes": cache / LEAST_SHARE,
        },
        f"Touch at least {numbers.size(cache / LEAST_SHARE)} (20 times the caches), or state that you test the cache.",
    )
