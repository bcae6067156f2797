"""Coverage of intervals: how often they contain the published figure, made from the other studies alone.

Left out: five studies are few. The figures of one are alike, so its coverage is all or nothing more often than that of
independent figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from hotband.inference.interval.conformal import ARRAYS, POOLS, Kind, ModelTerm, Residual
from hotband.inference.interval.figureclass import FigureClass

if TYPE_CHECKING:
    from hotband.data.documents.interval import ClassTermDoc, CoverageDoc

ALL = "all"


def is_inside(residual: Residual, term: ModelTerm, level: float) -> bool:
    """Return whether a figure lies in the interval of a term."""
    low, high = term.bounds(residual.kind, residual.spread, level)
    return low <= residual.log_ratio <= high


def half_width(residual: Residual, term: ModelTerm, level: float) -> float:
    """Return half the width of its interval, in percent of the prediction."""
    low, high = term.bounds(residual.kind, residual.spread, level)
    return (math.exp(high) - math.exp(low)) / 2 * 100


def coverage(residuals: Sequence[Residual], level: float) -> list[CoverageDoc]:
    """Return coverage by class and kind (seen, blind), last of all figures; each study is left out of the term for its
    figures (`ModelTerm.without`)."""
    term = ModelTerm(residuals)
    rows = []
    for figure_class in [*FigureClass, None]:
        for was in ("seen", "blind"):
            chosen = [
                residual
                for residual in residuals
                if residual.was == was and figure_class in (None, residual.kind.figure_class)
            ]
            if chosen:
                rows.append(_covered(ALL if figure_class is None else str(figure_class), was, chosen, term, level))
    return rows


def _covered(name: str, was: str, chosen: Sequence[Residual], term: ModelTerm, level: float) -> CoverageDoc:
    rests = [term.without(residual.study, residual.machine, residual.kind) for residual in chosen]
    inside = sum(is_inside(residual, rest, level) for residual, rest in zip(chosen, rests, strict=True))
    widths = [half_width(residual, rest, level) for residual, rest in zip(chosen, rests, strict=True)]
    return {
        "figure_class": name,
        "predicted": was,
        "figures": len(chosen),
        "inside": inside,
        "coverage_pct": 100 * inside / len(chosen),
        "width_pct": median(widths),
    }


def terms_of(term: ModelTerm) -> list[ClassTermDoc]:
    """Return the data behind the term of each class."""
    kinds = [Kind(figure_class, system) for figure_class in FigureClass for system in (ARRAYS, POOLS)]
    return [
        {
            "figure_class": str(kind.figure_class),
            "system": kind.system,
            "figures": len({residual.figure for residual in members}),
            "studies": len({residual.study for residual in members}),
            "size": term.size(kind),
            "pooled_with": term.pool(kind).name,
            "pooled_figures": len({(residual.study, residual.figure) for residual in term.pool(kind).residuals}),
        }
        for kind in kinds
        if (members := [residual for residual in term.residuals if residual.kind == kind])
    ]
