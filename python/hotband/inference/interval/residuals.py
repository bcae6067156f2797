"""Distances of published figures from their predictions, the basis of the model error, in one file,
`data/catalog/studies/residuals.json`.

A figure that was predicted before it was seen has two residuals: that of the blind prediction, and today's. The blind
one is the error that a user's machine would have had then. Mechanisms have been added since because of it; today's
residual, seen while they were built, is too small for a new machine. The next machine is unseen, so both count by half.

Left out: different precision of printed figures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.regular import file_text
from hotband.data.catalog import STUDIES_DIR
from hotband.data.record.stats import same_figures
from hotband.inference.interval.conformal import ARRAYS, FigureSpread, Kind, ModelTerm, Residual, Spread
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.figures import class_for

if TYPE_CHECKING:
    from hotband.data.documents.study import ListedFigureDoc

RESIDUALS_FILE = STUDIES_DIR / "residuals.json"
SEEN, BLIND = "seen", "blind"
HALF = 0.5


@dataclass(frozen=True)
class Kept:
    """A published figure next to today's prediction and, if there is one, the blind one; its `spread` is that of its
    values and the seed, downwards and upwards. Errors are in percent, of gains those of the ratio they represent."""

    study: str
    machine: str
    figure: str
    figure_class: str
    system: str
    published: float
    predicted: float
    error_pct: float
    blind: float | None
    blind_error_pct: float | None
    spread: tuple[float, float]

    def residuals(self) -> list[Residual]:
        """Return one or two residuals; none for an error without a logarithm."""
        of, spread = Kind(FigureClass(self.figure_class), self.system), Spread(*self.spread)
        known = [(SEEN, self.error_pct), (BLIND, self.blind_error_pct)]
        logs = [(was, _log(error)) for was, error in known if error is not None]
        found = [(was, log) for was, log in logs if log is not None]
        weight = 1.0 if len(found) == 1 else HALF
        return [Residual(self.study, self.machine, self.figure, of, log, spread, was, weight) for was, log in found]


def _log(error_pct: float) -> float | None:
    """Return the logarithm of published over predicted, of the error of the prediction."""
    ratio = 1 + error_pct / 100
    return -math.log(ratio) if ratio > 0 and math.isfinite(ratio) else None


@dataclass
class ResidualFile:
    """All that the term rests on, and the build of the model that predicted it."""

    version: str
    command: str
    figures: list[Kept] = field(default_factory=list)

    def text(self) -> str:
        """Return the file: one line per figure, by study and figure."""
        ordered = sorted(self.figures, key=lambda one: (one.study, one.figure))
        lines = ",\n".join("  " + json.dumps(asdict(one), ensure_ascii=False) for one in ordered)
        head = json.dumps({"version": self.version, "command": self.command}, ensure_ascii=False)[1:-1]
        return "{" + head + ', "figures": [\n' + lines + "\n]}\n"

    def is_stale(self, study: str, predicted: Mapping[str, float | None]) -> bool:
        """Return whether a study predicts something else now."""
        kept = {
            figure.figure: figure.predicted
            for figure in self.figures
            if figure.study == study and figure.figure in predicted
        }
        return not same_figures(kept, predicted)

    def term(self) -> ModelTerm:
        """Return the term of all its figures."""
        return ModelTerm([residual for figure in self.figures for residual in figure.residuals()])


def kept_of(
    study: str, rows: Sequence[ListedFigureDoc], spreads: Mapping[str, FigureSpread], systems: Mapping[str, str]
) -> list[Kept]:
    """Return the figures of a study that are published and predicted, each measurement once; `systems` are those of its
    configurations by label."""
    found = []
    for row in rows:
        published, predicted, error, blind = row["published"], row["predicted"], row["error_pct"], row["blind"]
        if row["counted"] and published is not None and predicted is not None and error is not None:
            one = spreads.get(row["id"])
            found.append(
                Kept(
                    study,
                    row["config"],
                    row["id"],
                    str(class_for(study, row)),
                    systems.get(row["config"], ARRAYS),
                    published,
                    predicted,
                    error,
                    blind["predicted"] if blind else None,
                    blind["error_pct"] if blind else None,
                    (one.low, one.high) if one else (0.0, 0.0),
                )
            )
    return found


def read_residuals(path: Path = RESIDUALS_FILE) -> ResidualFile | None:
    """Reads the file, None if there is none. Raises UserError for another file."""
    if not path.is_file():
        return None
    try:
        table = json.loads(file_text(path))
        figures = [Kept(**{**one, "spread": tuple(one["spread"])}) for one in table.pop("figures")]
        for one in figures:
            FigureClass(one.figure_class)
            one.residuals()
        return ResidualFile(**table, figures=figures)
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise UserError(str(path), "", "", f"not a file of residuals; create it again: {error}") from None


@cache
def model_term() -> ModelTerm:
    """Return the term that intervals have. Raises UserError if the file is missing or damaged."""
    found = read_residuals()
    if found is None or not found.figures:
        accepted = "is missing: storing the intervals of all studies creates it"
        raise UserError(str(RESIDUALS_FILE), "", "", accepted)
    return found.term()
