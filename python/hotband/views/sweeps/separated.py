"""Whether the seeds of a sweep separate two points: by the difference of their means and the spread over seeds.

Two seeds of one point say little about its spread: their t interval is 12.7 standard errors wide. All points of a sweep
together say much more, so that the relative spread is pooled over them. A pair whose own spread is larger keeps its
own. Left out: that runs with the same seed are paired.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from hotband.inference.beta import student_quantile
from hotband.questions.sweeps.frames import CONFIDENCE

ALIKE = 0.01
"""Share by which values of one seed must differ to be distinguished: seeds change a rate by as much."""
EQUAL = 0.05
"""Share below which several seeds must prove a difference to be, for two values to be called alike."""


class Verdict(Enum):
    """Result of the comparison of two points."""

    SEPARATE = auto()
    ALIKE = auto()
    UNRESOLVED = auto()


@dataclass(frozen=True)
class Pooled:
    """Relative variance over seeds of a figure, pooled over points, and its degrees of freedom."""

    variance: float
    freedom: int


@dataclass(frozen=True)
class Seeds:
    """Values of one figure at one point, one per seed, and the spread of that figure over the sweep."""

    values: tuple[float, ...]
    pooled: Pooled

    @property
    def mean(self) -> float:
        """Return the mean over seeds."""
        return math.fsum(self.values) / len(self.values)


def pool(points: Iterable[Sequence[float]]) -> Pooled:
    """Return the spread of points with these values, one per seed. A point whose mean is 0 has no relative spread."""
    squares, freedom = 0.0, 0
    for values in points:
        mean = math.fsum(values) / len(values) if values else 0.0
        if len(values) > 1 and mean > 0:
            squares += math.fsum((value / mean - 1) ** 2 for value in values)
            freedom += len(values) - 1
    return Pooled(squares / freedom if freedom else 0.0, freedom)


def is_close(first: float, other: float) -> bool:
    """Return whether two values differ by so little that one run each does not distinguish them."""
    return abs(first - other) <= ALIKE * max(abs(first), abs(other))


def compare(first: Seeds, other: Seeds) -> Verdict:
    """Return whether two points differ by more than their seeds explain, at the level of the intervals of means."""
    difference, largest = abs(first.mean - other.mean), max(abs(first.mean), abs(other.mean))
    if sorted(first.values) == sorted(other.values):
        return Verdict.ALIKE
    if not first.pooled.freedom:
        return Verdict.ALIKE if is_close(first.mean, other.mean) else Verdict.SEPARATE
    variance = max(first.pooled.variance, pool((first.values, other.values)).variance)
    error = math.sqrt(variance * (first.mean**2 / len(first.values) + other.mean**2 / len(other.values)))
    half = student_quantile(first.pooled.freedom, (1 + CONFIDENCE) / 2) * error
    if difference > half:
        return Verdict.SEPARATE
    return Verdict.ALIKE if difference + half <= EQUAL * largest else Verdict.UNRESOLVED
