"""Drop candidates that nobody would buy: far more drives than others need, at no lower price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.questions.advise.advice import Point

SHELF = 24
"""Drives in a shelf of two rack units (2.5 inch): fewer are never too many."""
TIMES = 2
"""A candidate is left out if another needs fewer drives by at least this factor."""
REASON = f"of more than {SHELF} drives, although half as many cost no more"


def sensible(points: Sequence[Point], is_flash: Callable[[Point], bool]) -> list[Point]:
    """Return the points, without those of more than a shelf of drives if another of the same kind, flash or disk, needs
    half as many and costs no more."""
    return [candidate for candidate in points if not any(_replaces(other, candidate, is_flash) for other in points)]


def _replaces(other: Point, point: Point, is_flash: Callable[[Point], bool]) -> bool:
    if point.drives <= SHELF or TIMES * other.drives > point.drives or is_flash(point) != is_flash(other):
        return False
    if point.cost is None or other.cost is None:
        return point.cost is other.cost
    return other.cost.value <= point.cost.value
