"""Intervals drawn on one line each, all on the same logarithmic scale, with a bound across them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Strip:
    """An interval and the value in it, all above zero."""

    name: str
    low: float
    value: float
    high: float


def strips(drawn: Sequence[Strip], bound: float | None, width: int) -> list[str]:
    """Draw each interval as `├──●──┤`, and the bound as `│` in free positions."""
    known = [end for one in drawn for end in (one.low, one.high)] + ([bound] if bound else [])
    low, high = math.log(min(known)), math.log(max(known))
    scale = (width - 1) / (high - low) if high > low else 0.0
    return [f"{one.name} {_line(one, bound, low, scale, width)}".rstrip() for one in drawn]


def _line(of: Strip, bound: float | None, low: float, scale: float, width: int) -> str:
    def at(value: float) -> int:
        return round((math.log(value) - low) * scale)

    cells = [" "] * width
    first, last = at(of.low), at(of.high)
    cells[first : last + 1] = "─" * (last + 1 - first)
    if bound:
        cells[at(bound)] = "│"
    cells[first], cells[last], cells[at(of.value)] = "├", "┤", "●"
    return "".join(cells)
