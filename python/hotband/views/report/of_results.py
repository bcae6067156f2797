"""Reports of results, registered in `hotband.views.registered`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.views.draw.published import error_chart
from hotband.views.report.advise_page import advise_page
from hotband.views.report.audit_page import audit_page
from hotband.views.report.compare_page import compare_page
from hotband.views.report.kept import Report
from hotband.views.report.study_figures import error_frame
from hotband.views.report.study_page import study_page

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.data.documents.study import ListedFigureDoc, StudyDoc
    from hotband.data.record.load import LoadedRecord
    from hotband.inference.audit.result import AuditResult
    from hotband.questions.advise.advice import Advice
    from hotband.questions.compare import Compared


def of_advice(advice: Advice) -> Report:
    """Return the report of an advice."""
    return Report(advise_page(advice))


def of_comparison(result: Compared) -> Report:
    """Return the report of a comparison."""
    return Report(compare_page(result))


def of_audit(result: AuditResult) -> Report:
    """Return the report of an audit."""
    return Report(audit_page(result))


def of_study(result: StudyDoc, loaded: Mapping[str, LoadedRecord]) -> Report:
    """Return the report of a study, with the records of its runs by their ids."""
    return Report(study_page(result, loaded))


def study_chart(study: str, figures: Sequence[ListedFigureDoc]) -> View:
    """Return a chart of the errors. Raises UserError if no figure is published."""
    frame = error_frame(figures)
    if frame.is_empty():
        raise UserError("study", "", study, "no figure of it is published, so there is no error to draw")
    return error_chart(frame)
