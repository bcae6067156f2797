"""Rule group 7: a working set that fits into a cache of the target.

Of random reads over a working set of which a cache holds a share, that share comes from the cache once it is warm. Left
out: skew, which makes it more; look-ahead; whether the cache was warm.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.text import numbers
from hotband.inference.audit.audited import Audited, span_share
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding

LEAST_SHARE = 0.05
"""Share of the working set that a cache may hold before it is worth a word: less moves a mean by less than that."""
SEVERE_SHARE = 0.5


def check(runs: Sequence[Audited], facts_of: Sequence[MachineFacts | None]) -> list[Finding]:
    """All findings of the group."""
    found = []
    for run, facts in zip(runs, facts_of, strict=True):
        size = None if facts is None else working_set(run, facts)
        if facts is None or not size or run.asked.pattern not in ("random", "mixed"):
            continue
        for direction in run.directions():
            cache = facts.read_cache_bytes if direction == "read" else facts.write_cache_bytes
            share = min(1.0, cache / size)
            # A write cache drains: only one that holds all of it keeps writes from the media.
            if share > LEAST_SHARE and (direction == "read" or share >= 1):
                found.append(_finding(run, facts, direction, size, cache, share))
    return found


def working_set(run: Audited, facts: MachineFacts) -> float | None:
    """Bytes of the target that the run touches: as asked, else the share of a model's machine."""
    share = span_share(run.record)
    if share is not None and facts.capacity_bytes:
        return share * facts.capacity_bytes
    return run.asked.working_set_bytes


def _finding(run: Audited, facts: MachineFacts, direction: str, size: float, cache: float, share: float) -> Finding:
    words = "fits into" if share >= 1 else f"is to {numbers.share(share)} held by"
    return Finding(
        "working-set-in-cache",
        "severe" if share >= SEVERE_SHARE else "warning",
        (run.name,),
        f"The working set of the {direction}s, {numbers.size(size)}, {words} the caches of {facts.name} "
        f"({numbers.size(cache)})",
        {
            "working_set_bytes": size,
            "cache_bytes": cache,
            "share_pct": 100 * share,
            "direction": direction,
            "working_set_needed_bytes": cache / LEAST_SHARE,
        },
        f"Touch at least {numbers.size(cache / LEAST_SHARE)} (20 times the caches), or say that the cache is measured.",
    )
