"""Draws of uncertain values: a scrambled Sobol sequence over their distributions, which fills the space more evenly
than independent draws (`hotband.inference.interval.sobol`). Groups that are drawn together share a coordinate.

Left out: nothing is drawn by importance; the tails of an interval rest on few of 64 draws, which is why
`conformal` takes the spread of the draws and not their extremes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.inference.interval.sobol import Sobol

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.inference.interval.uncertain import Uncertain


class Sampler:
    """An endless sequence of draws; the same values and seed give the same draws."""

    def __init__(self, values: Sequence[Uncertain], seed: int) -> None:
        self.values = list(values)
        groups = list(dict.fromkeys(value.group for value in values))
        self._column = {group: number for number, group in enumerate(groups)}
        self._seed = seed
        self._sequence = self._sobol(len(groups))

    def _sobol(self, dimensions: int) -> Sobol:
        return Sobol(max(dimensions, 1), self._seed)

    def two_samples(self, count: int) -> tuple[Floats, Floats]:
        """Two samples that are independent of each other, as shares: halves of the coordinates of one sequence."""
        drawn = self._sobol(2 * len(self._column)).random(count)
        columns = np.array([self._column[value.group] for value in self.values], dtype=int)
        return drawn[:, columns], drawn[:, columns + len(self._column)]

    def shares(self, count: int) -> Floats:
        """Return the next draws: one row per draw, one column per value, each the share (0 to 1) of its distribution
        below it."""
        columns = [self._column[value.group] for value in self.values]
        return self._sequence.random(count)[:, columns]

    def places(self, shares: Floats) -> Floats:
        """Return the same draws as places between the ends of each value (-1 low, 0 nominal, 1 high)."""
        found = np.empty_like(shares)
        for column, one in enumerate(self.values):
            found[:, column] = [one.distribution.place(share) for share in shares[:, column]]
        return found
