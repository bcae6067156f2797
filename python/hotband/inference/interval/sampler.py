"""Draws of uncertain values: a scrambled Sobol sequence over their distributions, which fills the space more evenly
than independent draws (Owen 1998; `scipy.stats.qmc`). Groups that are drawn together share a coordinate.

What it leaves out: nothing is drawn by importance; the tails of an interval rest on few of 64 draws, which is why
`conformal` takes the spread of the draws and not their extremes.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hotband.base.heavy import np
from hotband.execution.runs.signals import whole

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.inference.interval.uncertain import Uncertain


FIRST = ((0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.75, 0.25, 0.25), (0.25, 0.75, 0.75))
"""The first points of Sobol's sequence in three dimensions (Bratley and Fox 1988, algorithm 659)."""


class Sampler:
    """An endless sequence of draws; the same values and seed give the same draws."""

    def __init__(self, values: Sequence[Uncertain], seed: int) -> None:
        self.values = list(values)
        groups = list(dict.fromkeys(value.group for value in values))
        self._column = {group: number for number, group in enumerate(groups)}
        self._seed = seed
        self._sequence = self._sobol(len(groups))

    def _sobol(self, dimensions: int) -> Any:
        # scipy reads its direction numbers once, in C that drops exceptions: without them it draws other points.
        with whole():
            from scipy.stats import qmc

            made = qmc.Sobol(d=max(dimensions, 1), scramble=True, rng=np.random.default_rng(self._seed))
            if not np.array_equal(qmc.Sobol(d=3, scramble=False).random_base2(2), FIRST):
                raise OSError(errno.EIO, "scipy could not read its direction numbers", "scipy.stats.qmc.Sobol")
        return made

    def two_samples(self, count: int) -> tuple[Floats, Floats]:
        """Two samples that are independent of each other, as shares: halves of the coordinates of one sequence."""
        drawn = self._sobol(2 * len(self._column)).random(count)
        columns = np.array([self._column[value.group] for value in self.values], dtype=int)
        return drawn[:, columns], drawn[:, columns + len(self._column)]

    def shares(self, count: int) -> Floats:
        """The next draws: a row a draw, a column a value, each the share (0 to 1) of its distribution below it."""
        drawn = [self._sequence.random(1)[0] for _ in range(count)]
        columns = [self._column[value.group] for value in self.values]
        return np.asarray(np.array(drawn).reshape(count, self._sequence.d)[:, columns])

    def places(self, shares: Floats) -> Floats:
        """The same draws as places between the ends of each value (-1 low, 0 nominal, 1 high)."""
        found = np.empty_like(shares)
        for column, one in enumerate(self.values):
            found[:, column] = [one.distribution.place(share) for share in shares[:, column]]
        return found
