"""Findings of the auditor on a study's published table (docs/guides/studies.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hotband.inference.audit.finding import Number
from hotband.inference.audit.published import read_table
from hotband.inference.audit.rules import findings
from hotband.questions.study.definition import PUBLISHED_FILE

if TYPE_CHECKING:
    from hotband.data.documents.study import FindingDoc

# Digits of a number in a study's table: one more than published numbers have.
_DIGITS = 5


def published_findings(folder: Path) -> list[FindingDoc]:
    """Return findings on the published table in a study's folder, with the rule as id. Raises UserError."""
    entries = []
    for finding in findings(read_table(folder / PUBLISHED_FILE), None):
        entry: FindingDoc = {"id": finding.rule, "title": finding.title, "text": finding.advice}
        if finding.table is not None:
            rows = [[_short(value) for value in row] for row in finding.table.rows]
            entry["table"] = {"columns": list(finding.table.columns), "rows": rows}
        entries.append(entry)
    return entries


def _short(value: Number) -> Number:
    return value if isinstance(value, str) else float(f"{value:.{_DIGITS}g}")
