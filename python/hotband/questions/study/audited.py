"""What the auditor says of a study's published table, as findings of the study (docs/guides/studies.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hotband.inference.audit.finding import Number
from hotband.inference.audit.published import read_table
from hotband.inference.audit.rules import findings
from hotband.questions.study.definition import PUBLISHED_FILE

if TYPE_CHECKING:
    from hotband.data.documents.study import FindingDoc

# Digits of a number in a study's table: one more than the published ones have.
_DIGITS = 5


def published_findings(folder: Path) -> list[FindingDoc]:
    """Findings of the published table in a study's folder, with the rule as id. Raises UserError."""
    found = []
    for one in findings(read_table(folder / PUBLISHED_FILE), None):
        entry: FindingDoc = {"id": one.rule, "title": one.title, "text": one.advice}
        if one.table is not None:
            rows = [[_short(value) for value in row] for row in one.table.rows]
            entry["table"] = {"columns": list(one.table.columns), "rows": rows}
        found.append(entry)
    return found


def _short(value: Number) -> Number:
    return value if isinstance(value, str) else float(f"{value:.{_DIGITS}g}")
