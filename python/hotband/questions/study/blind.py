"""Figures that were predicted before they were seen: `data/catalog/studies/released.csv`.

A row a figure that was withheld while the models were built: the published value and, where one was made, the
prediction of it (`blind`), its error in percent and the commit that made it (`blind_of`). The figure itself stands in
the `published.csv` of its study. Predictions are never made again: a later model has seen the figure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.inference.interval.figureclass import FigureClass, figure_class
from hotband.questions.study.comparisons import error_of
from hotband.questions.study.definition import BlindPrediction, Study
from hotband.questions.study.rows import number_in, read_rows

if TYPE_CHECKING:
    from hotband.data.documents.study import BlindDoc, FigureDoc

TABLE = CATALOG_DIR / "studies" / "released.csv"
COLUMNS = ("id", "value", "blind", "blind_error_pct", "blind_of")


@dataclass(frozen=True)
class Released:
    """A figure that was withheld: its published value as text, and what was predicted of it, if anything was."""

    row: int
    id: str
    value: str
    blind: BlindPrediction | None
    error_pct: float | None


@cache
def released(path: Path = TABLE) -> tuple[Released, ...]:
    """The rows of the table. Raises UserError for the first mistake."""
    found: dict[str, Released] = {}
    for number, cells in read_rows(path, COLUMNS):
        one = _released(path, number, cells)
        if one.id in found:
            raise UserError(str(path), f"row {number}: id", one.id, f"is given twice; first in row {found[one.id].row}")
        found[one.id] = one
    return tuple(found.values())


def _released(path: Path, number: int, cells: dict[str, str]) -> Released:
    """One row. A prediction has the commit that made it; an error needs a prediction."""
    value, error = (
        _number(path, f"row {number}: {name}", cells[name]) if cells[name] else None
        for name in ("blind", "blind_error_pct")
    )
    if value is not None and not cells["blind_of"]:
        raise UserError(str(path), f"row {number}: blind_of", "", "is missing; expected the commit that predicted it")
    if value is None and error is not None:
        raise UserError(str(path), f"row {number}: blind", "", "is missing; expected the prediction of this error")
    blind = None if value is None else BlindPrediction(value, cells["blind_of"])
    return Released(number, cells["id"], cells["value"], blind, error)


def _number(path: Path, place: str, text: str) -> float:
    value = number_in(path, place, text)
    if value is None:
        raise UserError(str(path), place, text, "expected a number, or nothing")
    return value


def predictions(path: Path = TABLE) -> dict[str, BlindPrediction]:
    """What was predicted blind, by the id of the published figure."""
    return {one.id: one.blind for one in released(path) if one.blind is not None}


def check_released(studies: Iterable[Study], path: Path = TABLE) -> None:
    """Refuses a released figure that none of these studies publishes, or publishes with another value."""
    published = {row.id: (row.text, study) for study in studies for row in study.published}
    for one in released(path):
        text, study = published.get(one.id, (None, None))
        if study is None:
            raise UserError(str(path), f"row {one.row}: id", one.id, "is no figure of a study of the catalog")
        if text != one.value:
            accepted = f"expected {text}, as published.csv of {study.name} has"
            raise UserError(str(path), f"row {one.row}: value", one.value, accepted)


def scored_as(study: Study, row: FigureDoc) -> str:
    """By which rule a figure's error is taken (`comparisons.error_of`): that of its comparison; else a percentage of
    two configurations is a gain."""
    for one in study.comparisons:
        if one.id == row["id"]:
            return one.kind
    return "gain_pct" if row["unit"] == "%" and figure_class(row) is FigureClass.GAIN else ""


def blind_of(study: Study, row: FigureDoc) -> BlindDoc | None:
    """What was predicted of a figure before it was seen, with its error by the rule of today's; None where nothing
    was."""
    made = study.blind.get(row["source"])
    if made is None:
        return None
    error = error_of(scored_as(study, row), row["published"], made.predicted)
    return {"predicted": made.predicted, "error_pct": error, "of": made.of}
