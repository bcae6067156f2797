"""Two levels in a series of samples: the step between them, and whether both are even."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean, median

EVEN = 0.10
"""Share of a level's median within which seven of eight samples lie: garbage collection spreads samples by some
percent, a step is a quarter and more."""
MOST_OUTSIDE = 1 / 8


@dataclass(frozen=True)
class Step:
    """A step between two levels (medians): one before the sample `at`, the other from it on."""

    at: int
    before: float
    after: float

    @property
    def fall(self) -> float:
        """The share by which the second level is lower."""
        return 1 - self.after / self.before if self.before else 0.0


def one_step(values: Sequence[float], least: int) -> Step | None:
    """Return the single step of a series, the cut of least squares; None if a side has fewer than `least` samples or is
    not even. A slope has no such cut: its halves are not even."""
    at = cut(values, least)
    if at is None:
        return None
    step = Step(at, median(values[:at]), median(values[at:]))
    # The sample in which it steps lies between both.
    if not (is_even(values[: at - 1] or values[:at], step.before) and is_even(values[at + 1 :], step.after)):
        return None
    return step


def cut(values: Sequence[float], least: int) -> int | None:
    """Return the cut whose two means leave the least squares; None for too few values."""
    if len(values) < 2 * least:
        return None
    sums = [0.0, *accumulate(values)]
    total, count = sums[-1], len(values)

    def explained(n: int) -> float:
        """Return the squares that two means explain beyond one mean: they are largest at the cut of least squares."""
        first, second = sums[n] / n, (total - sums[n]) / (count - n)
        return n * (count - n) / count * (first - second) ** 2

    return max(range(least, count - least + 1), key=explained)


def is_even(values: Sequence[float], level: float) -> bool:
    """Return whether samples stay at a level."""
    outside = sum(abs(value - level) > EVEN * level for value in values)
    return bool(values) and outside <= MOST_OUTSIDE * len(values)


def smoothed(values: Sequence[float], most: int) -> list[float]:
    """Return means of at most `most` equal pieces: single samples of a real drive jump."""
    each = max(1, len(values) // most)
    return [fmean(values[n : n + each]) for n in range(0, len(values) - each + 1, each)]
