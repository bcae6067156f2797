"""Choose the loads to measure, and how often: those with the most information per time.

Greedy D-optimal design (Fedorov 1972; Chaloner and Verdinelli 1995 for priors): the next measurement is the one that
adds most per second to the logarithm of the determinant of the information about all values. Choices count as numbers
whose other option is a standard deviation away.
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
"""Least addition to the logarithm of the determinant by a measurement: with less, no value's deviation would shrink by
more than a hundredth."""
MOST_REPEATS = 4
REPEATED = 2
"""Least number of loads measured twice, if time is left, to compare their spread with that between seeds."""
FEWEST = 3


@dataclass(frozen=True)
class Plan:
    """The number of measurements of each candidate, their total time, and the expected deviations of the unknowns
    afterwards, as shares of those before."""

    counts: tuple[int, ...]
    seconds: float
    expected: Floats


class Design:
    """The information in measurements of the screened loads."""

    def __init__(self, screened: Screened, loads: Sequence[Measurement]) -> None:
        self.screened, self.loads = screened, loads
        columns = [step for steps in screened.steps for step in steps[1:]]
        self.slopes = np.column_stack([screened.slopes, *columns]) if columns else screened.slopes

    def information(self, load: int, times: int) -> Floats:
        """Return the information of a number of measurements of a load, as a matrix over the unknowns."""
        rows = self.screened.rows([load])
        if not rows or not times:
            return np.zeros((self.slopes.shape[1],) * 2)
        measurement = self.loads[load]
        seconds = measurement.seconds * times
        share = self.screened.counts[rows] / max(sum(set(self.screened.counts[rows])), 1.0)
        ios = self.screened.rates[load] * seconds * np.minimum(share, 1.0)
        slopes = self.slopes[rows]
        return np.asarray(slopes.T @ np.linalg.solve(covariance(self.screened, rows, ios), slopes))

    def plan(self, budget_s: float, reserved_s: float) -> Plan:
        """Plan the measurements within a time, part of which is reserved. Raises UserError if it is too short."""
        counts = [0] * len(self.loads)
        left = budget_s - reserved_s
        known = np.eye(self.slopes.shape[1])
        while True:
            gains = self._gains(known, counts, left)
            best = max(gains, key=lambda index: gains[index], default=None)
            if best is None or gains[best] * self.loads[best].time < WORTH:
                break
            known = known + self.information(best, counts[best] + 1) - self.information(best, counts[best])
            counts[best] += 1
            left -= self.loads[best].time
        if sum(1 for count in counts if count) < FEWEST:
            needed = reserved_s + sum(sorted(load.time for load in self.loads)[:FEWEST])
            accepted = f"is too short: expected at least {needed:.0f} s, of which {reserved_s:.0f} s validate the fit"
            raise UserError("question.duration", "", f"{budget_s:g} s", accepted)
        for index in sorted((n for n, count in enumerate(counts) if count == 1), key=lambda n: self.loads[n].time):
            load = self.loads[index]
            if sum(count > 1 for count in counts) < REPEATED and load.time <= left and self._most(load) > 1:
                counts[index] += 1
                left -= self.loads[index].time
        expected = np.sqrt(np.diag(np.linalg.inv(known)))[: len(self.screened.unknowns.numbers)]
        return Plan(tuple(counts), budget_s - left, expected)

    @staticmethod
    def _most(load: Measurement) -> int:
        return 1 if load.changes else MOST_REPEATS

    def _gains(self, known: Floats, counts: Sequence[int], left: float) -> dict[int, float]:
        """Return the information per second that one more measurement of each load adds."""
        before = np.linalg.slogdet(known)[1]
        gains = {}
        for index, load in enumerate(self.loads):
            if load.time > left or counts[index] >= self._most(load):
                continue
            more = self.information(index, counts[index] + 1) - self.information(index, counts[index])
            gains[index] = (float(np.linalg.slogdet(known + more)[1]) - float(before)) / load.time
        return gains

    def best_next(self, counts: Sequence[int], deviations: Floats) -> Next | None:
        """Return the measurement that would reduce the uncertainty most, with its effect; None if none would."""
        numbers = len(self.screened.unknowns.numbers)
        known = np.eye(self.slopes.shape[1])
        for index, count in enumerate(counts):
            known = known + self.information(index, count)
        now = np.diag(np.linalg.inv(known))[:numbers]
        candidates: list[Next] = []
        for index, load in enumerate(self.loads):
            if counts[index] >= self._most(load):
                continue
            more = self.information(index, counts[index] + 1) - self.information(index, counts[index])
            then = np.diag(np.linalg.inv(known + more))[:numbers]
            shares = 1.0 - then / now
            # The remaining share of each variance, weighted by its present size.
            total = float((deviations**2) @ shares / max(float((deviations**2).sum()), 1e-12))
            most = int(np.argmax(shares * deviations**2))
            candidates.append(Next(load.name, total, self.screened.unknowns.numbers[most].name, float(shares[most])))
        best = max(candidates, key=lambda candidate: candidate.total, default=None)
        return best if best is not None and best.value_share >= WORTH else None


@dataclass(frozen=True)
class Next:
    """A useful next measurement: the share by which it reduces the sum of the variances, the value that gains most, and
    the share by which the variance of that falls."""

    load: str
    total: float
    value: str
    value_share: float
