"""Findings of the auditor as a section of a page, and as a separate page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hotband.base.text.numbers import cell, counted
from hotband.inference.audit.finding import Finding, listed
from hotband.inference.audit.result import AuditResult
from hotband.views.audit import rows_table, sentence_of
from hotband.views.report.page import Block, Cell, Group, Page, Prose, Section, Table, unchecked

MOST_NAMED = 3
"""Most results that a row names; the tables of runs below have all."""
TITLES = {"severe": "Severe", "warning": "Warnings", "note": "Notes"}


@unchecked()
def audit_page(result: AuditResult) -> Page:
    """Return the page of an audit: the number of findings, then each with its remedy."""
    count = counted(len(result.subjects), "result")
    skipped = [Prose([f"! {words}" for words in result.skipped])] if result.skipped else []
    answer = Section("answer", "Answer", [Prose([sentence_of(result)], lead=True), *skipped])
    section = replace(audit_section(result.findings, len(result.subjects)), title="Findings")
    names = Section("results", "Results", [Prose([", ".join(result.subjects)])], folded=True)
    sections = [answer, section, names] if result.findings else [answer, names]
    alone = len(result.subjects) == 1
    title = f"What does {result.subjects[0]} prove?" if alone else f"What do these {count} prove?"
    return Page(title, sections, count, "Hotband audit")


def audit_section(findings: Sequence[Finding], count: int) -> Section:
    """Return the findings on the page's records, or a sentence that there are none."""
    if not findings:
        text = f"The auditor applied all its rules to {count} record{'s' if count != 1 else ''} and found nothing."
        return Section("audit", "What do these results prove?", [Prose([text])])
    groups = []
    for severity, title in TITLES.items():
        rows = [_row(alike) for alike in _by_rule(findings, severity)]
        if rows:
            groups.append(Group(rows, title))
    blocks: list[Block] = [Table(["Findings and advice", "Rule and numbers", "Records"], groups)]
    rules = [finding.rule for finding in findings]
    for finding in findings:
        if finding.table is not None:
            whose = "the runs" if rules.count(finding.rule) == 1 else listed(finding.subject, 1)
            table = rows_table("", finding.table, every=True)
            blocks.append(Table.of(table, f"{finding.rule}: {whose}", folded=True))
    return Section("audit", "What do these results prove?", blocks)


def _by_rule(findings: Sequence[Finding], severity: str) -> list[list[Finding]]:
    """Return the findings of a severity, grouped by rule."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.severity == severity:
            groups.setdefault(finding.rule, []).append(finding)
    return list(groups.values())


def _row(alike: Sequence[Finding]) -> list[Cell]:
    """Return the row of findings of one rule: the first in words, and the results of all."""
    first = alike[0]
    names = list(dict.fromkeys(name for finding in alike for name in finding.subject))
    numbers = "; ".join(f"{key} = {cell(value)}" for key, value in first.numbers.items())
    more = f" The same in {counted(len(names) - 1, 'more result')}." if len(alike) > 1 and len(names) > 1 else ""
    title = f"{first.subject[0]}: {first.title}.{more}" if more else first.title
    return [Cell(title, under=first.advice), Cell(first.rule, under=numbers), Cell(listed(names, MOST_NAMED))]
