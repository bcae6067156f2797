"""Figures, claims and names that the expressions of a study read: of a whole run, or made up by a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.questions.study.figures import cell_figures, comparison_figures

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc, FigureDoc
    from hotband.questions.study.runs import Results


@dataclass(frozen=True)
class KnownFigures:
    """Figures of a study by the ids of configuration, load and measure, those that no single cell has by their own id,
    and claims by id."""

    cells: Mapping[tuple[str, str, str], FigureDoc]
    compared: Mapping[str, FigureDoc]
    claims: Mapping[str, ClaimDoc]


def figures_of(results: Results, claims: Sequence[ClaimDoc] = (), further: Sequence[FigureDoc] = ()) -> KnownFigures:
    """Return the figures of a whole run, with claims and `further` figures that are known so far."""
    compared = {row["id"]: row for row in (*comparison_figures(results), *further)}
    return KnownFigures(cell_figures(results), compared, {claim["id"]: claim for claim in claims})
