"""Findings of the auditor as a section of a page."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.text.numbers import cell, counted
from hotband.inference.audit.finding import Finding, listed
from hotband.views.audit import rows_table
from hotband.views.report.page import Block, Cell, Group, Prose, Section, Table

MOST_NAMED = 12
"""Results that a row of several findings names."""
TITLES = {"severe": "Severe", "warning": "Warnings", "note": "Notes"}


def audit_section(findings: Sequence[Finding], count: int) -> Section:
    """What the rules say of the page's records; that there is nothing to say, too."""
    if not findings:
        text = f"The auditor looked at {count} record{'s' if count != 1 else ''} by all its rules and found nothing."
        return Section("audit", "What do these results prove?", [Prose([text])])
    groups = []
    for severity, title in TITLES.items():
        rows = [_row(alike) for alike in _by_rule(findings, severity)]
        if rows:
            groups.append(Group(rows, title))
    blocks: list[Block] = [Table(["Found, and what to do", "Rule and numbers", "Records"], groups)]
    for one in findings:
        if one.table is not None:
            blocks.append(Table.of(rows_table("", one.table, every=True), f"{one.rule}: the runs", folded=True))
    return Section("audit", "What do these results prove?", blocks)


def _by_rule(findings: Sequence[Finding], severity: str) -> list[list[Finding]]:
    """Return the findings of a severity, those of one rule together."""
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        if one.severity == severity:
            groups.setdefault(one.rule, []).append(one)
    return list(groups.values())


def _row(alike: Sequence[Finding]) -> list[Cell]:
    """Return the row of findings of one rule: the first in words, and the results of all."""
    first = alike[0]
    names = list(dict.fromkeys(name for one in alike for name in one.subject))
    numbers = "; ".join(f"{key} = {cell(value)}" for key, value in first.numbers.items())
    more = f" The same in {counted(len(names) - 1, 'more result')}." if len(alike) > 1 and len(names) > 1 else ""
    title = f"{first.subject[0]}: {first.title}.{more}" if more else first.title
    subjects = listed(names, MOST_NAMED) if len(alike) > 1 else ", ".join(names)
    return [Cell(title, under=first.advice), Cell(first.rule, under=numbers), Cell(subjects)]
