"""Figures that were predicted before they were seen: `data/catalog/studies/released.csv`.

Each row is a figure that was withheld while the models were built: the published value and, if there is one, its
prediction (`blind`), the error in percent and the commit that made it (`blind_of`). The `published.csv` of the study
has the figure itself. Predictions are never repeated: a later model has seen the figure.
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
    """A figure that was withheld: its published value as text, and its prediction, if there is one."""

    row: int
    id: str
    value: str
    blind: BlindPrediction | None
    error_pct: float | None


@cache
def released(path: Path = TABLE) -> tuple[Released, ...]:
    """Read the rows of the table. Raises UserError for the first mistake."""
    rows: dict[str, Released] = {}
    for number, cells in read_rows(path, COLUMNS):
        row = _released(path, number, cells)
        if row.id in rows:
            raise UserError(str(path), f"row {number}: id", row.id, f"is given twice; first in row {rows[row.id].row}")
        rows[row.id] = row
    return tuple(rows.values())


def _released(path: Path, number: int, cells: dict[str, str]) -> Released:
    """Check a row: a prediction needs the commit that made it, an error needs a prediction."""
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


def _number(path: Path, key: str, text: str) -> float:
    value = number_in(path, key, text)
    if value is None:
        raise UserError(str(path), key, text, "expected a number, or an empty cell")
    return value


def predictions(path: Path = TABLE) -> dict[str, BlindPrediction]:
    """Return the blind predictions by the id of the published figure."""
    return {row.id: row.blind for row in released(path) if row.blind is not None}


def check_released(studies: Iterable[Study], path: Path = TABLE) -> None:
    """Raise UserError for a released figure that no study publishes, or that one publishes with another value."""
    published = {row.id: (row.text, study) for study in studies for row in study.published}
    for released_row in released(path):
        text, study = published.get(released_row.id, (None, None))
        if study is None:
            raise UserError(
                str(path), f"row {released_row.row}: id", released_row.id, "is not a figure of a study of the catalog"
            )
        if text != released_row.value:
            accepted = f"expected {text}, as published.csv of {study.name} has"
            raise UserError(str(path), f"row {released_row.row}: value", released_row.value, accepted)


def scored_as(study: Study, row: FigureDoc) -> str:
    """Return the rule for a figure's error (`comparisons.error_of`): that of its comparison, or "gain_pct" for a
    percentage of two configurations."""
    for comparison in study.comparisons:
        if comparison.id == row["id"]:
            return comparison.kind
    return "gain_pct" if row["unit"] == "%" and figure_class(row) is FigureClass.GAIN else ""


def blind_of(study: Study, row: FigureDoc) -> BlindDoc | None:
    """Return the blind prediction of a figure, with its error by the current rule; None without one."""
    made = study.blind.get(row["source"])
    if made is None:
        return None
    error = error_of(scored_as(study, row), row["published"], made.predicted)
    return {"predicted": made.predicted, "error_pct": error, "of": made.commit}
