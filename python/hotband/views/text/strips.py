"""Intervals drawn on one line each, all on the same logarithmic scale, with a bound across them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Strip:
    """An interval and its value, all above zero. Measured figures of a product can move the interval off the value."""

    name: str
    low: float
    value: float
    high: float


def strips(drawn: Sequence[Strip], bound: float | None, width: int) -> list[str]:
    """Draw each interval as `├──●──┤`, and the bound as `│` in free positions."""
    known = [end for strip in drawn for end in (strip.low, strip.value, strip.high)] + ([bound] if bound else [])
    low, high = math.log(min(known)), math.log(max(known))
    scale = (width - 1) / (high - low) if high > low else 0.0
    return [f"{strip.name} {_line(strip, bound, low, scale, width)}".rstrip() for strip in drawn]


def _line(strip: Strip, bound: float | None, low: float, scale: float, width: int) -> str:
    def at(value: float) -> int:
        return round((math.log(value) - low) * scale)

    cells = [" "] * width
    first, last = at(strip.low), at(strip.high)
    cells[first : last + 1] = "─" * (last + 1 - first)
    if bound:
        cells[at(bound)] = "│"
    cells[first], cells[last], cells[at(strip.value)] = "├", "┤", "●"
    return "".join(cells)
