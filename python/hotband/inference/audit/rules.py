"""Apply all rules to all results."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.inference.audit import (
    alike,
    bandwidth,
    caches,
    comparability,
    contradictions,
    exhaustion,
    interference,
    lengths,
    links,
    littles_law,
    pauses,
    physics,
    replay,
    steadiness,
    thermal,
    tools,
    trouble,
)
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts, of_record
from hotband.inference.audit.finding import Finding, ordered


def findings(results: Sequence[Audited], machine: MachineFacts | None) -> list[Finding]:
    """Return the findings of all rules, the severest first. `machine` has facts of the target of all results; None
    takes them from each record."""
    facts = [machine if machine is not None else of_record(result.record) for result in results]
    again = replay.replayed(results)
    served = physics.check(results, facts, again)
    hot = thermal.check(results)
    hit = frozenset(name for finding in served if finding.rule == "cache-served" for name in finding.subject)
    return ordered(
        [
            *contradictions.check(results),
            *trouble.check(results),
            *littles_law.check(results),
            *bandwidth.check(results),
            *served,
            *links.check(results, facts),
            *replay.check(results, hit),
            *lengths.check(results),
            *steadiness.check(results, facts),
            *pauses.check(results),
            *caches.check(results, facts),
            *comparability.check(results),
            *alike.check(results),
            *tools.check(results),
            *hot,
            *exhaustion.check(results, facts, frozenset(name for finding in hot for name in finding.subject)),
            *interference.check(results),
        ]
    )
