"""The intervals of all studies, and the model error: one command makes all data behind intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hotband.base.engine import version
from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.base.text.write import write_file
from hotband.inference.interval import LEVEL
from hotband.inference.interval.residuals import RESIDUALS_FILE, ResidualFile, kept_of
from hotband.questions.study import file
from hotband.questions.study.asked import StudyIntervalsQuestion
from hotband.questions.study.intervals.coverage import coverage, terms_of
from hotband.questions.study.intervals.listing import systems_of
from hotband.questions.study.intervals.of_study import run_study_intervals
from hotband.questions.study.intervals.spreads import AllIntervals, AllStudiesDoc, Spreads


def answer(question: StudyIntervalsQuestion, way: Way) -> Spreads | AllIntervals:
    """Return the intervals of a study, or how often those of all contain the published figure. Raises UserError."""
    if question.every == (question.study is not None):
        raise UserError(
            "question.study", "", str(question.study or ""), "expected the name of a study, or question.every"
        )
    if not question.every:
        return Spreads(run_study_intervals(question, way)[0])
    if question.only:
        raise UserError("question.only", "", question.only[0], "applies to one study: omit question.every")
    return AllIntervals(run_all(question, way))


def run_all(question: StudyIntervalsQuestion, way: Way) -> AllStudiesDoc:
    """Make the intervals of every study of the catalog, then the file of residuals. `save` stores both in the catalog,
    `out` in that folder."""
    residuals = ResidualFile(version(), way.again(replace(question, out=None, save=True, jobs=None)))
    for name in file.whole_names():
        made, rows = run_study_intervals(replace(question, study=name, every=False), way)
        residuals.figures += kept_of(name, rows, made.figures, systems_of(file.load(name)))
        _write(residuals, question.out, save=False)
    _write(residuals, question.out, question.save)
    term = residuals.term()
    return {
        "level": LEVEL,
        "studies": file.whole_names(),
        "coverage": coverage(term.residuals, LEVEL),
        "terms": terms_of(term),
    }


def _write(residuals: ResidualFile, out: Path | None, save: bool) -> None:
    for path in ([out / RESIDUALS_FILE.name] if out is not None else []) + ([RESIDUALS_FILE] if save else []):
        write_file(path, residuals.text())
