"""Which loads are measured, and how often: those that tell most for their time.

Greedy D-optimal design (Fedorov 1972; Chaloner and Verdinelli 1995 for priors): the next measurement is the one that
adds most to the logarithm of the determinant of the information about all values, a second of its time. Choices count
as numbers of which the other option is a standard deviation away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hotband.base.errors import UserError
from hotband.questions.calibrate.screen import Screened, covariance

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.questions.calibrate.loads import Measurement


WORTH = 0.01
"""A measurement that adds less to the logarithm of the determinant is not made: no value's deviation would shrink by
more than a hundredth."""
MOST_REPEATS = 4
REPEATED = 2
"""So many loads are measured twice at the least, where time is left, so that their spread can be compared with that
between seeds."""
FEWEST = 3


@dataclass(frozen=True)
class Plan:
    """How often each candidate is measured, what is held out, and what the unknowns are expected to be known to: their
    deviations after it, as shares of those before."""

    counts: tuple[int, ...]
    seconds: float
    expected: Floats


class Design:
    """What measurements of the screened loads would tell."""

    def __init__(self, screened: Screened, loads: Sequence[Measurement]) -> None:
        self.screened, self.loads = screened, loads
        columns = [step for steps in screened.steps for step in steps[1:]]
        self.slopes = np.column_stack([screened.slopes, *columns]) if columns else screened.slopes

    def information(self, load: int, times: int) -> Floats:
        """What so many measurements of a load tell, as a matrix over the unknowns."""
        rows = self.screened.rows([load])
        if not rows or not times:
            return np.zeros((self.slopes.shape[1],) * 2)
        of = self.loads[load]
        seconds = of.seconds * times
        share = self.screened.counts[rows] / max(sum(set(self.screened.counts[rows])), 1.0)
        ios = self.screened.rates[load] * seconds * np.minimum(share, 1.0)
        slopes = self.slopes[rows]
        return np.asarray(slopes.T @ np.linalg.solve(covariance(self.screened, rows, ios), slopes))

    def plan(self, budget_s: float, reserved_s: float) -> Plan:
        """The measurements within a time of which some is reserved. Raises UserError where that is too short."""
        counts = [0] * len(self.loads)
        left = budget_s - reserved_s
        known = np.eye(self.slopes.shape[1])
        while True:
            gains = self._gains(known, counts, left)
            best = max(gains, key=lambda place: gains[place], default=None)
            if best is None or gains[best] * self.loads[best].time < WORTH:
                break
            known = known + self.information(best, counts[best] + 1) - self.information(best, counts[best])
            counts[best] += 1
            left -= self.loads[best].time
        if sum(1 for count in counts if count) < FEWEST:
            needed = reserved_s + sum(sorted(one.time for one in self.loads)[:FEWEST])
            accepted = f"is too short: expected at least {needed:.0f} s, of which {reserved_s:.0f} s check the fit"
            raise UserError("question.duration", "", f"{budget_s:g} s", accepted)
        for place in sorted((n for n, count in enumerate(counts) if count == 1), key=lambda n: self.loads[n].time):
            load = self.loads[place]
            if sum(count > 1 for count in counts) < REPEATED and load.time <= left and self._most(load) > 1:
                counts[place] += 1
                left -= self.loads[place].time
        expected = np.sqrt(np.diag(np.linalg.inv(known)))[: len(self.screened.unknowns.numbers)]
        return Plan(tuple(counts), budget_s - left, expected)

    @staticmethod
    def _most(load: Measurement) -> int:
        return 1 if load.changes else MOST_REPEATS

    def _gains(self, known: Floats, counts: Sequence[int], left: float) -> dict[int, float]:
        """What one more measurement of each load adds, a second of its time."""
        before = np.linalg.slogdet(known)[1]
        gains = {}
        for index, load in enumerate(self.loads):
            if load.time > left or counts[index] >= self._most(load):
                continue
            more = self.information(index, counts[index] + 1) - self.information(index, counts[index])
            gains[index] = (float(np.linalg.slogdet(known + more)[1]) - float(before)) / load.time
        return gains

    def best_next(self, counts: Sequence[int], deviations: Floats) -> Next | None:
        """The measurement that would reduce what is not known most, with what it reduces; None where nothing does."""
        numbers = len(self.screened.unknowns.numbers)
        known = np.eye(self.slopes.shape[1])
        for index, count in enumerate(counts):
            known = known + self.information(index, count)
        now = np.diag(np.linalg.inv(known))[:numbers]
        found: list[Next] = []
        for index, load in enumerate(self.loads):
            if counts[index] >= self._most(load):
                continue
            more = self.information(index, counts[index] + 1) - self.information(index, counts[index])
            then = np.diag(np.linalg.inv(known + more))[:numbers]
            shares = 1.0 - then / now
            # What is left of each variance, by what is left of it now.
            total = float((deviations**2) @ shares / max(float((deviations**2).sum()), 1e-12))
            most = int(np.argmax(shares * deviations**2))
            found.append(Next(load.name, total, self.screened.unknowns.numbers[most].name, float(shares[most])))
        best = max(found, key=lambda one: one.total, default=None)
        return best if best is not None and best.value_share >= WORTH else None


@dataclass(frozen=True)
class Next:
    """A measurement that would help: by how much it reduces the sum of the variances (a share), the value that it
    tells most of, and by how much it reduces the variance of that."""

    load: str
    total: float
    value: str
    value_share: float
