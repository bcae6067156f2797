"""The errors of all studies: run each, sum up its errors by class, and list the large ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.views import view_of
from hotband.execution.experiment.store import other_version
from hotband.questions.study import file
from hotband.questions.study.accounted import Accuracy
from hotband.questions.study.accuracy import by_class, goals, totals
from hotband.questions.study.asked import StudyRunQuestion
from hotband.questions.study.blind import check_released
from hotband.questions.study.definition import Study
from hotband.questions.study.study import reason, run_study

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.data.documents.study import AccountDoc, ListedFigureDoc, MissedDoc
    from hotband.questions.study.asked import StudyAccuracyQuestion

LARGE = 25.0
"""Errors beyond this (percent) are listed: the goal for nine in ten rates and times."""


def answer(question: StudyAccuracyQuestion, way: Way) -> Accuracy:
    """Return the errors. Raises UserError before any run for a page that cannot be rewritten."""
    if question.page is not None:
        view_of("hotband-study-accuracy", "rewritable")(question.page)
    return Accuracy(run_account(question, way))


def run_account(question: StudyAccuracyQuestion, way: Way) -> AccountDoc:
    """Run studies of the catalog (by default all) and sum up their errors. With `out`, each study stores its runs in a
    folder there and continues from finished ones, unless they come from another version."""
    known = {study.name: study for study in map(file.load, question.studies or file.whole_names())}
    check_released(known.values() if not question.studies else map(file.load, file.whole_names()))
    figures: dict[str, list[ListedFigureDoc]] = {}
    for name, study in known.items():
        folder = None if question.out is None else question.out / name
        before = None if folder is None else other_version(folder)
        if before is not None and not question.fresh:
            way.say(f"{name}: the runs in {folder} come from another version, {before}; starting again")
        of_study = StudyRunQuestion(study=study, out=folder, fresh=question.fresh or before is not None)
        figures[name] = run_study(of_study, way, page=False)[0]["figures"]
    return account_of(known, figures)


def account_of(studies: Mapping[str, Study], figures: Mapping[str, Sequence[ListedFigureDoc]]) -> AccountDoc:
    """Return the errors of the predictions of studies."""
    return {
        "studies": {
            name: {"classes": by_class(rows), "missed": missed(studies[name], rows)} for name, rows in figures.items()
        },
        "totals": totals(figures),
        "goals": goals(figures),
    }


def missed(study: Study, figures: Sequence[ListedFigureDoc]) -> list[MissedDoc]:
    """Return counted figures with errors above `LARGE`, by cell, with the study's explanation."""
    names = {config.label: config.name for config in study.configs}
    cells: dict[tuple[str, str], MissedDoc] = {}
    for row in figures:
        error = row["error_pct"]
        if not row["counted"] or error is None or abs(error) <= LARGE:
            continue
        cell = row["config"], row["label"]
        if cell not in cells:
            name = names.get(cell[0], cell[0])
            cells[cell] = {"config": name, "label": cell[1], "errors": [], "why": reason(study, *cell)}
        blind = None if row["blind"] is None else row["blind"]["error_pct"]
        cells[cell]["errors"].append({"metric": row["metric"], "error_pct": error, "blind_error_pct": blind})
    return list(cells.values())
