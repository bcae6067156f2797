"""Apply all rules to all results."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.data.documents.record import RecordDoc
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
    shapes,
    steadiness,
    thermal,
    tools,
    trouble,
)
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts, of_record
from hotband.inference.audit.finding import GROUPS, Finding, ordered

ARITHMETIC = (0, 1, 2)
"""Groups of rules that need nothing but the figures of a result."""
NO_ARITHMETIC = {"failed-ios", "no-storage", "invalid-emulation"}
"""Rules of these groups on what a tool reports: the figures are right for what they are of."""


def findings(results: Sequence[Audited], machine: MachineFacts | None) -> list[Finding]:
    """Return the findings of all rules, the severest first. `machine` has facts of the target of all results; None
    takes them from each record."""
    facts = _facts(results, machine)
    hot = thermal.check(results)
    return ordered(
        [
            *_may_be_severe(results, facts),
            *lengths.support(results),
            *pauses.check(results),
            *alike.check(results),
            *hot,
            *exhaustion.check(results, facts, frozenset(name for finding in hot for name in finding.subject)),
            *interference.check(results),
        ]
    )


def _may_be_severe(results: Sequence[Audited], facts: Sequence[MachineFacts | None]) -> list[Finding]:
    """Return the findings of the rules that may be severe; the others take a third of the time."""
    again = replay.replayed(results)
    served = physics.check(results, facts, again)
    hit = frozenset(name for finding in served if finding.rule == "cache-served" for name in finding.subject)
    return [
        *contradictions.check(results),
        *trouble.check(results),
        *littles_law.check(results),
        *bandwidth.check(results),
        *served,
        *links.check(results, facts),
        *replay.check(results, hit),
        *lengths.check(results),
        *steadiness.check(results, facts),
        *caches.check(results, facts),
        *comparability.check(results),
        *tools.check(results),
    ]


def _facts(results: Sequence[Audited], machine: MachineFacts | None) -> list[MachineFacts | None]:
    return [machine if machine is not None else of_record(result.record) for result in results]


def severe_of(run: Audited) -> list[Finding]:
    """Return the severe findings of a result alone."""
    made = ordered(_may_be_severe([run], _facts([run], None)))
    return [finding for finding in made if finding.severity == "severe"]


def contradicted(run: Audited) -> list[str]:
    """Return why its rates and latencies cannot all be right: contradictions, Little's law, bandwidth and size."""
    rules = {rule for rule, group in GROUPS.items() if group in ARITHMETIC} - NO_ARITHMETIC
    # Rules of other groups take most of the time of all, and a report has hundreds of results.
    checks = (contradictions.check, trouble.check, littles_law.check, bandwidth.check, tools.check)
    made = ordered([finding for check in checks for finding in check([run])])
    return [f"{run.name}: {each.title}" for each in made if each.severity == "severe" and each.rule in rules]


def troubles(record: RecordDoc, name: str = "") -> list[str]:
    """Return the sentences that every command prints when it quotes a result: its severe findings, then what its tool
    reports. `name` is the name of the result."""
    shapes.check(name, record)
    whose, reported = f"{name}: " if name else "", trouble.troubles(record, name)
    severe = [f"{whose}{finding.title}" for finding in severe_of(Audited(name, record))]
    return [*(words for words in severe if not any(line.startswith(words) for line in reported)), *reported]
