"""What a question varies: numbers on a line, from which to which, in which steps, and how fine is fine enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` in steps of `step`, counted from `low`. Two that differ by less than `within` (a
    share) are as good as one; of an `exact` axis neighbours alone are. `text` is a value as `set` takes it."""

    name: str
    low: float
    high: float
    step: float
    text: Callable[[float], str]
    within: float = 0.02
    exact: bool = False

    def snap(self, value: float) -> float:
        """Return the nearest value that there is."""
        steps = round((min(max(value, self.low), self.high) - self.low) / self.step)
        found = self.low + steps * self.step
        # The last value may lie between two steps' ends.
        return found if found <= self.high else found - self.step

    def place(self, value: float) -> float:
        """Return where a value lies in a count of values that can be told apart: steps of the axis, or of `within` of
        the value where those are wider."""
        turn = self.step / self.within
        return value / self.step if value <= turn else (1.0 + math.log(value / turn)) / self.within

    def at(self, place: float) -> float:
        """Return the value at a place."""
        turn = 1.0 / self.within
        if place <= turn:
            return self.snap(place * self.step)
        return self.snap(turn * self.step * math.exp(place * self.within - 1.0))

    def width(self, low: float, high: float) -> float:
        """Return how many values that can be told apart lie between two; one where they are neighbours."""
        return self.place(high) - self.place(low)

    def between(self, low: float, high: float) -> bool:
        """Return whether there is a value between two."""
        return high - low > 1.5 * self.step
