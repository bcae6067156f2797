"""How often intervals hold what was published: each study's, made from the other studies alone.

What it leaves out: five studies are few. The figures of one are alike, so that its coverage is all or nothing more
often than figures that are independent would make it.
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


def is_inside(one: Residual, term: ModelTerm, level: float) -> bool:
    """Whether a figure lies in the interval that a term gives it."""
    low, high = term.bounds(one.kind, one.spread, level)
    return low <= one.log_ratio <= high


def half_width(one: Residual, term: ModelTerm, level: float) -> float:
    """Half the width of its interval, in percent of the prediction."""
    low, high = term.bounds(one.kind, one.spread, level)
    return (math.exp(high) - math.exp(low)) / 2 * 100


def coverage(residuals: Sequence[Residual], level: float) -> list[CoverageDoc]:
    """By class and kind (seen, blind), of all figures at last; each study is left out of the term for its figures
    (`ModelTerm.without`)."""
    term = ModelTerm(residuals)
    found = []
    for of in [*FigureClass, None]:
        for was in ("seen", "blind"):
            chosen = [
                residual for residual in residuals if residual.was == was and of in (None, residual.kind.figure_class)
            ]
            if chosen:
                found.append(_covered(ALL if of is None else str(of), was, chosen, term, level))
    return found


def _covered(name: str, was: str, chosen: Sequence[Residual], term: ModelTerm, level: float) -> CoverageDoc:
    rests = [term.without(one.study, one.machine, one.kind) for one in chosen]
    inside = sum(is_inside(one, rest, level) for one, rest in zip(chosen, rests, strict=True))
    widths = [half_width(one, rest, level) for one, rest in zip(chosen, rests, strict=True)]
    return {
        "figure_class": name,
        "predicted": was,
        "figures": len(chosen),
        "inside": inside,
        "coverage_pct": 100 * inside / len(chosen),
        "width_pct": median(widths),
    }


def terms_of(term: ModelTerm) -> list[ClassTermDoc]:
    """What the term of each class rests on."""
    kinds = [Kind(of, system) for of in FigureClass for system in (ARRAYS, POOLS)]
    return [
        {
            "figure_class": str(of.figure_class),
            "system": of.system,
            "figures": len({one.figure for one in own}),
            "studies": len({one.study for one in own}),
            "size": term.size(of),
            "pooled_with": term.pool(of).name,
            "pooled_figures": len({(residual.study, residual.figure) for residual in term.pool(of).residuals}),
        }
        for of in kinds
        if (own := [residual for residual in term.residuals if residual.kind == of])
    ]
