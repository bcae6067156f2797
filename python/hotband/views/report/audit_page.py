"""Findings of the auditor as a section of a page."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.text.numbers import cell
from hotband.inference.audit.finding import Finding
from hotband.views.audit import rows_table
from hotband.views.report.page import Block, Cell, Group, Prose, Section, Table

TITLES = {"severe": "Severe", "warning": "Warnings", "note": "Notes"}


def audit_section(findings: Sequence[Finding], count: int) -> Section:
    """What the rules say of the page's records; that there is nothing to say, too."""
    if not findings:
        text = f"The auditor looked at {count} record{'s' if count != 1 else ''} by all its rules and found nothing."
        return Section("audit", "Audit", [Prose([text])])
    groups = []
    for severity, title in TITLES.items():
        rows = [_row(one) for one in findings if one.severity == severity]
        if rows:
            groups.append(Group(rows, title))
    blocks: list[Block] = [Table(["Found, and what to do", "Rule and numbers", "Records"], groups)]
    for one in findings:
        if one.table is not None:
            blocks.append(Table.of(rows_table("", one.table, every=True), f"{one.rule}: the runs", folded=True))
    return Section("audit", "Audit", blocks)


def _row(one: Finding) -> list[Cell]:
    numbers = "; ".join(f"{key} = {cell(value)}" for key, value in one.numbers.items())
    return [Cell(one.title, under=one.advice), Cell(one.rule, under=numbers), Cell(", ".join(one.subject))]
