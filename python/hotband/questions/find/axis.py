"""The axis that a question varies: its range, its steps, and its tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` in steps of `step`, counted from `low`. Two values that differ by less than `within`
    (a share) count as equal; on an `exact` axis only neighbours do. `text` formats a value as `set` accepts it."""

    name: str
    low: float
    high: float
    step: float
    text: Callable[[float], str]
    within: float = 0.02
    exact: bool = False

    def snap(self, value: float) -> float:
        """Return the nearest value of the axis."""
        steps = round((min(max(value, self.low), self.high) - self.low) / self.step)
        snapped = self.low + steps * self.step
        # The last value may lie off the steps.
        return snapped if snapped <= self.high else snapped - self.step

    def place(self, value: float) -> float:
        """Return the position of a value in a count of distinguishable values: steps of the axis, or steps of `within`
        of the value if those are wider."""
        turn = self.step / self.within
        return value / self.step if value <= turn else (1.0 + math.log(value / turn)) / self.within

    def at(self, position: float) -> float:
        """Return the value at a position."""
        turn = 1.0 / self.within
        if position <= turn:
            return self.snap(position * self.step)
        return self.snap(turn * self.step * math.exp(position * self.within - 1.0))

    def width(self, low: float, high: float) -> float:
        """Return the number of distinguishable values between two; 1 for neighbours."""
        return self.place(high) - self.place(low)

    def between(self, low: float, high: float) -> bool:
        """Return whether the axis has a value between two."""
        return high - low > 1.5 * self.step
