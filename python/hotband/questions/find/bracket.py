"""The search for a crossing: choose the next values to try, until those on its two sides are near enough.

Two values are tried at a time to use two cores. They lie on both sides of the crossing that the measurements suggest (a
line through both ends, and in logarithms a line and a parabola); if that did not help, at thirds of the remaining
bracket. As many rounds of thirds as `MOST_TRIALS` allows shrink a bracket to a 729th. The result does not depend on the
number of cores.

Left out: a second crossing. The first one from below counts; a trial beyond it that contradicts it is reported
(`contradictions`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hotband.questions.find.axis import Axis

MOST_TRIALS = 12
AT_A_TIME = 2
NEAR = 0.35
"""Distance, in tolerances, of the values tried on either side of the expected crossing. If the estimates agree, they
enclose well less than one tolerance, which leaves room for noise."""
CLOSE = 0.05
"""An end whose score is within this of zero is near the crossing: the metric is within 5 % of its bound."""
ENOUGH = 3.0
"""Factor by which a round of thirds shrinks a bracket: one follows a guess that shrinks it less."""


@dataclass(frozen=True)
class Point:
    """A value that was tried, with its score: above zero if all conditions were met, and the higher the better."""

    value: float
    score: float

    @property
    def met(self) -> bool:
        """Return whether the conditions are met."""
        return self.score > 0


@dataclass
class Bracket:
    """The points tried so far on an axis; `spent` counts further trials that were not for values of the axis."""

    axis: Axis
    most: int = MOST_TRIALS
    spent: int = 0
    points: list[Point] = field(default_factory=list)
    _guessed: float | None = None

    def tell(self, points: Sequence[Point]) -> None:
        """Replace all points with those of every trial so far: a share of the maximum changes with the maximum."""
        self.points = sorted(points, key=lambda point: point.value)

    @property
    def left(self) -> int:
        """Number of trials left."""
        return max(0, self.most - self.spent - len(self.points))

    @property
    def ends(self) -> tuple[Point, Point] | None:
        """Return the first neighbours from below of which only one meets the conditions; None if all points agree."""
        for low, high in pairwise(self.points):
            if low.met != high.met:
                return low, high
        return None

    @property
    def answer(self) -> Point | None:
        """Return the value of the crossing that meets the conditions."""
        ends = self.ends
        return None if ends is None else next(point for point in ends if point.met)

    @property
    def is_near(self) -> bool:
        """Return whether the ends are too close to be distinguished."""
        ends = self.ends
        if ends is None:
            return False
        low, high = ends[0].value, ends[1].value
        return not self.axis.between(low, high) or (not self.axis.exact and self.axis.width(low, high) <= 1.0)

    def contradictions(self) -> list[Point]:
        """Return points beyond the crossing that agree with those before it."""
        ends = self.ends
        if ends is None:
            return []
        return [point for point in self.points if point.value > ends[1].value and point.met == ends[0].met]

    def next(self) -> list[float]:
        """Return the values to try next; none if the search is over, or if no crossing is bracketed."""
        ends = self.ends
        if ends is None or self.is_near or not self.left:
            return []
        low, high = ends[0].value, ends[1].value
        width = self.axis.width(low, high)
        if self.left < AT_A_TIME or (width <= 2.0 and not self.axis.exact):
            return self._inside([0.5 * width])
        missed = self._guessed is not None and width > self._guessed / ENOUGH
        guess = self._beside(ends, width) if missed else self._guess(ends)
        values = self._inside(guess) if guess else []
        self._guessed = width if values and not missed else None
        return values or self._inside([width / 3, 2 * width / 3])

    def _guess(self, ends: tuple[Point, Point]) -> list[float]:
        """Return positions, from the lower end, on either side of the crossing that all estimates suggest."""
        low, high = ends
        share = low.score / (low.score - high.score)
        values = [low.value + share * (high.value - low.value)]
        if low.value > 0 and min(low.score, high.score) > -1:
            values += self._by_logarithms(low, high)
        places = [self.axis.place(value) - self.axis.place(low.value) for value in values]
        return [min(places) - NEAR, max(places) + NEAR]

    def _beside(self, ends: tuple[Point, Point], width: float) -> list[float]:
        """Return positions a little further on, after a guess that just missed; none if no end is near the crossing."""
        near = min(ends, key=lambda point: abs(point.score))
        if abs(near.score) > CLOSE:
            return []
        least, most = self._guess(ends)
        further = most + NEAR if near is ends[0] else least - NEAR
        return [further, (further + width) / 2 if near is ends[0] else further / 2]

    def _by_logarithms(self, low: Point, high: Point) -> list[float]:
        """Return the crossing that a line through both ends suggests, in logarithms, and a parabola through the third
        point nearest to the crossing, unless it leaves the bracket."""
        others = [point for point in self.points if point not in (low, high) and point.value > 0 and point.score > -1]
        points = [low, high, *sorted(others, key=lambda point: abs(math.log1p(point.score)))[:1]]
        logs = [(math.log1p(point.score), math.log(point.value)) for point in points]
        (s0, x0), (s1, x1) = logs[:2]
        slope = (x1 - x0) / (s1 - s0)
        crossings = [x0 - s0 * slope]
        if len(logs) == 3 and logs[2][0] not in (s0, s1):
            s2, x2 = logs[2]
            bend = ((x2 - x1) / (s2 - s1) - slope) / (s2 - s0)
            crossings.append(x0 - s0 * slope + bend * s0 * s1)
        return [math.exp(value) for value in crossings if x0 < value < x1]

    def _inside(self, places: Sequence[float]) -> list[float]:
        """Return the values at positions from the lower end that lie between the ends and were not tried yet."""
        assert self.ends is not None, "asked for where there is a crossing"
        low, high = (end.value for end in self.ends)
        tried = {point.value for point in self.points}
        values = {self.axis.at(self.axis.place(low) + position) for position in places}
        inside = sorted(value for value in values if low < value < high and value not in tried)
        if not inside and self.axis.between(low, high):
            inside = [self.axis.snap((low + high) / 2)]
        return [value for value in inside if value not in tried][: self.left]
