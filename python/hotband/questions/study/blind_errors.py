"""Errors of what was predicted before it was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.questions.study import file
from hotband.questions.study.accuracy import totals
from hotband.questions.study.blind import blind_of, check_released
from hotband.questions.study.definition import Study
from hotband.questions.study.study import figure, listing

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc, ListedFigureDoc


ALL = "all"


@dataclass(frozen=True)
class BlindErrors:
    """Errors of the blind predictions of a class of figures, either way, in percent; each measurement once."""

    study: str
    figures: str
    measurements: int
    median_pct: float | None
    p90_pct: float | None
    largest_pct: float | None


def blind_figures(study: Study) -> list[ListedFigureDoc]:
    """The figures of a study that were predicted blind, with the prediction of then in the place of today's."""
    readings = {one.id: one.reading for one in study.comparisons if one.reading is not None}
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
            found = blind_of(study, made)
            rows.append({**made, "error_pct": None if found is None else found["error_pct"]})
    return listing(study, rows)


def blind_errors() -> list[BlindErrors]:
    """By study of the catalog and class, and at last over all studies. Nothing is run."""
    studies = [file.load(name) for name in file.names()]
    check_released(studies)
    rows = {study.name: blind_figures(study) for study in studies}
    return [
        BlindErrors(name, of["figure_class"], **of["blind"])
        for name, figures in (*((name, {name: found}) for name, found in rows.items()), (ALL, rows))
        for of in totals(figures)
        if of["blind"]["measurements"]
    ]
