"""What results prove: every rule of the auditor on results, or on what a study published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.record.incomplete import refusing_incomplete
from hotband.inference.audit.load import load_results
from hotband.inference.audit.result import AuditResult
from hotband.inference.audit.rules import findings
from hotband.questions.study import file
from hotband.questions.study.definition import PUBLISHED_FILE

if TYPE_CHECKING:
    from hotband.data.record.record import Record
    from hotband.inference.audit.facts import MachineFacts


def audit_of(
    results: Sequence[Path | Record], study: str | Path | None = None, machine: MachineFacts | None = None
) -> AuditResult:
    """All rules on results, and on the published table of a study; `machine` is what is known of the target of all.
    Raises UserError."""
    wanted = list(results)
    if study is not None:
        wanted.append(file.load(str(study)).folder / PUBLISHED_FILE)
    if not wanted:
        raise UserError("question.results", "", "", "expected records, result files or tables (or question.study NAME)")
    with refusing_incomplete([one if isinstance(one, Path) else Path(one.name) for one in wanted]):
        loaded = load_results(wanted)
        return AuditResult(tuple(one.name for one in loaded), tuple(findings(loaded, machine)))
