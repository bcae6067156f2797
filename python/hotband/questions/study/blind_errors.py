"""Errors of blind predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study import file
from hotband.questions.study.accounted import AllBlindErrors, BlindErrors
from hotband.questions.study.accuracy import totals
from hotband.questions.study.blind import blind_of, check_released
from hotband.questions.study.definition import Study
from hotband.questions.study.study import figure, listing

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.data.documents.study import FigureDoc, ListedFigureDoc
    from hotband.questions.study.asked import StudyBlindQuestion

ALL = "all"


def answer(_: StudyBlindQuestion, __: Way) -> AllBlindErrors:
    """Return the errors."""
    return AllBlindErrors(tuple(blind_errors()))


def blind_figures(study: Study) -> list[ListedFigureDoc]:
    """Return the figures of a study that were predicted blind, with the blind prediction instead of the current one."""
    readings = {comparison.id: comparison.reading for comparison in study.comparisons if comparison.reading is not None}
    rows: list[FigureDoc] = []
    for row in study.published:
        if row.id in study.blind:
            made = figure(
                id=row.id,
                config=row.config,
                label=row.workload,
                workload=row.workload,
                metric=row.metric,
                unit=row.unit,
                source=row.id,
                published=readings.get(row.id, row.value),
                predicted=study.blind[row.id].predicted,
            )
            blind = blind_of(study, made)
            rows.append({**made, "error_pct": None if blind is None else blind["error_pct"]})
    return listing(study, rows)


def blind_errors() -> list[BlindErrors]:
    """Return the errors by study of the catalog and class, and last over all studies. Runs nothing."""
    studies = [file.load(name) for name in file.names()]
    check_released(studies)
    rows = {study.name: blind_figures(study) for study in studies}
    return [
        BlindErrors(name, class_errors["figure_class"], **class_errors["blind"])
        for name, figures in (*((name, {name: of_study}) for name, of_study in rows.items()), (ALL, rows))
        for class_errors in totals(figures)
        if class_errors["blind"]["measurements"]
    ]
