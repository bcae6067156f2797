"""The proof in results: every rule of the auditor on results, or on figures that a study published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.question import Ending, Question, Way, asks
from hotband.data.inputs.kinds import Machine, NameOrPath, Records, paths_of
from hotband.data.record.incomplete import refusing_incomplete
from hotband.inference.audit.facts import of_options
from hotband.inference.audit.fields import cache, media, target
from hotband.inference.audit.load import load_results
from hotband.inference.audit.result import AuditResult
from hotband.inference.audit.rules import findings
from hotband.questions.study import file
from hotband.questions.study.definition import PUBLISHED_FILE

if TYPE_CHECKING:
    from hotband.data.record.record import Record
    from hotband.inference.audit.facts import MachineFacts


@dataclass(frozen=True, kw_only=True)
class AuditQuestion(Question):
    """Show what results prove: rules of physics, arithmetic and statistics on yours or published ones.

    A machine (`on`) or `media`, and the `cache` in front of it, state facts about the target that are not known
    otherwise.

    The result has `findings` (`severity`, `rule`, `subject`, `title`, `numbers`, `advice`, `table`), the severest
    first, `is_severe`, `counts` and a `frame`. Raises UserError for a mistake and for what is not a result.
    """

    name = "audit"
    schema = "hotband-audit"
    answers = "hotband.inference.audit.result:AuditResult"
    has_page = True

    results: Records = asks(
        "Records, results of other tools, folders of them, CSV tables.",
        default=(),
        metavar="RECORD|FILE...",
        positional=True,
    )
    study: NameOrPath | None = asks("The published table of a study.", default=None, metavar="NAME")
    on: Machine | None = target()
    media: str | None = media()
    cache: str | None = cache()

    def ending(self, result: AuditResult) -> Ending | None:
        """Return exit code 1 if a finding is severe."""
        return Ending(1) if result.is_severe else None


def answer(question: AuditQuestion, _: Way) -> AuditResult:
    """Return the findings. Raises UserError."""
    return audit_of(question.results, question.study, of_options(question.on, question.media, question.cache))


def audit_of(
    results: Sequence[Path | Record], study: str | Path | None = None, machine: MachineFacts | None = None
) -> AuditResult:
    """Apply all rules to results, and to the published table of a study; `machine` has known facts about the target
    of all results. Raises UserError."""
    wanted = list(results)
    if study is not None:
        wanted.append(file.load(str(study)).folder / PUBLISHED_FILE)
    if not wanted:
        raise UserError("question.results", "", "", "expected records, result files or tables (or question.study NAME)")
    with refusing_incomplete(paths_of(tuple(wanted))):
        skipped: list[str] = []
        loaded = load_results(wanted, skipped)
        return AuditResult(tuple(result.name for result in loaded), tuple(findings(loaded, machine)), tuple(skipped))
