"""All rules on all results."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.inference.audit import (
    bandwidth,
    caches,
    comparability,
    exhaustion,
    interference,
    lengths,
    littles_law,
    physics,
    replay,
    steadiness,
    thermal,
    tools,
)
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts, of_record
from hotband.inference.audit.finding import Finding, ordered


def findings(results: Sequence[Audited], machine: MachineFacts | None) -> list[Finding]:
    """What the rules say of results, the severest first. `machine` is what is known of the target of all of them; where
    None, what each record says of its own."""
    facts = [machine if machine is not None else of_record(result.record) for result in results]
    again = replay.replayed(results)
    served = physics.check(results, facts, again)
    hot = thermal.check(results)
    hit = frozenset(name for one in served if one.rule == "cache-served" for name in one.subject)
    return ordered(
        [
            *littles_law.check(results),
            *bandwidth.check(results),
            *served,
            *replay.check(results, hit),
            *lengths.check(results),
            *steadiness.check(results, facts),
            *caches.check(results, facts),
            *comparability.check(results),
            *tools.check(results),
            *hot,
            *exhaustion.check(results, facts, frozenset(name for one in hot for name in one.subject)),
            *interference.check(results),
        ]
    )
