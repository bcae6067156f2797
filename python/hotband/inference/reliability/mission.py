"""Chance of data loss within a mission, by simulating every drive: lives of any Weibull shape, rebuilds of any length.

All drives are new at the beginning; a replaced one is new again. Hazards are made larger while they are sampled
(importance sampling by proportional hazards: Nicola, Heidelberger, Shahabuddin, "Uniformization and exponential
transformation", IEEE FTCS-22, 1992): of all drives until about one failure is expected in the mission, and of a group
that misses drives until a further failure within the rebuild is likely. Each array carries the ratio of its true
likelihood to the one it was drawn with. Sector errors are not drawn: each rebuild without redundancy adds its chance to
lose data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hotband.base.arrays import Floats, Indices
from hotband.base.errors import UserError
from hotband.base.text.numbers import number, span
from hotband.base.text.quantities import SPAN_UNITS
from hotband.inference.reliability.array import Array, Conditions
from hotband.inference.reliability.estimate import Estimate, mean

# Expected failures in a rebuild while hazards are raised: so few that surviving arrays keep a weight near one.
FORCED = 0.5
# Number of drives simulated side by side, which fit into the caches of a processor.
BLOCK = 200_000

WORKS, WAITS, QUEUED, REBUILDS = 0, 1, 2, 3


@dataclass(frozen=True)
class Mission:
    """The chance of loss, its parts by drive failures and by sector errors, and the mean number of bytes lost."""

    loss: Estimate
    failure: Estimate
    sector: Estimate
    bytes_lost: Estimate


@dataclass(frozen=True)
class Lives:
    """A Weibull distribution of lives with `scale` and `shape`."""

    scale: float
    shape: float

    @classmethod
    def of(cls, conditions: Conditions) -> Lives:
        """Return lives with the mean and the shape of `conditions`."""
        return cls(conditions.mtbf / math.gamma(1.0 + 1.0 / conditions.shape), conditions.shape)

    def hazard(self, age: Floats) -> Floats:
        """Return the cumulative hazard at an age."""
        return np.asarray((age / self.scale) ** self.shape)

    def age(self, hazard: Floats) -> Floats:
        """Return the age at a cumulative hazard."""
        return np.asarray(self.scale * hazard ** (1.0 / self.shape))


# Failures an array may have in its mission: each takes some steps of the simulation.
MOST_FAILURES = 10_000


def simulate(array: Array, conditions: Conditions, hours: float, rng: np.random.Generator, count: int) -> Mission:
    """Simulate `count` arrays over `hours`. Raise UserError if their drives fail too often."""
    failures = float(Lives.of(conditions).hazard(np.array(hours))) * array.drives
    if failures > MOST_FAILURES:
        accepted = f"{number(failures)} failures in the mission; expected at most {MOST_FAILURES:,}"
        raise UserError("question.mtbf", "", span(conditions.mtbf * SPAN_UNITS["h"]), accepted)
    rows = max(1, BLOCK // array.drives)
    blocks = [Block(array, conditions, hours, rng, min(rows, count - done)).run() for done in range(0, count, rows)]
    failure = np.concatenate([block[0] for block in blocks])
    sector = np.concatenate([block[1] for block in blocks])
    lost = failure * array.group_bytes + sector * conditions.sector_loss_bytes(array)
    return Mission(mean(failure + sector), mean(failure), mean(sector), mean(lost))


class Block:
    """Arrays that are simulated side by side: one row per array, one column per drive."""

    def __init__(self, array: Array, conditions: Conditions, hours: float, rng: np.random.Generator, rows: int) -> None:
        self.array, self.conditions, self.hours, self.rng = array, conditions, hours, rng
        self.lives = Lives.of(conditions)
        drives = array.drives
        self.time, self.weight = np.zeros(rows), np.ones(rows)
        self.born, self.ready = np.zeros((rows, drives)), np.full((rows, drives), np.inf)
        self.state = np.zeros((rows, drives), dtype=np.int8)
        # Drives on order: every failure orders one, and spares fill the gap.
        most = conditions.spares + array.groups * array.tolerated + 1 if conditions.replacement > 0 else 1
        self.orders = np.full((rows, most), np.inf)
        self.failure, self.sector = np.zeros(rows), np.zeros(rows)
        self.raised = self.raise_hazards()

    def raise_hazards(self) -> Floats:
        """Return the factors on the hazards of a group's drives, by the number of missing drives."""
        array, conditions = self.array, self.conditions
        each = float(self.lives.hazard(np.array(self.hours)))
        failures = each * array.drives
        factors = np.ones(array.tolerated + 1)
        factors[0] = max(1.0, 1.0 / failures)
        repair = conditions.rebuild + (0.0 if conditions.spares else conditions.replacement)
        forced = FORCED / max(1.0, failures)
        for gone in range(1, array.tolerated + 1):
            expected = (array.width - gone) * each / self.hours * repair
            factors[gone] = max(1.0, forced / expected)
        return factors

    def run(self) -> tuple[Floats, Floats]:
        """Simulate until every array has lost data or reached the end.

        Return the weights of losses by failure and by sector error.
        """
        going = np.arange(len(self.time))
        while len(going):
            going = self.step(going)
        return self.failure, self.sector

    def gone(self, rows: Indices) -> Indices:
        """Return the number of missing drives of each group."""
        array = self.array
        missing = (self.state[rows] != WORKS).reshape(len(rows), array.groups, array.width)
        return np.asarray(missing.sum(axis=2), dtype=np.int64)

    def step(self, rows: Indices) -> Indices:
        """Simulate the next event of each of `rows`, and return the rows that go on."""
        works = self.state[rows] == WORKS
        factor = np.repeat(self.raised[self.gone(rows)], self.array.width, axis=1)
        now = self.time[rows, None]
        before = self.lives.hazard(np.where(works, now - self.born[rows], 0.0))
        drawn = before + self.rng.standard_exponential(works.shape) / factor
        fails = np.where(works, self.born[rows] + self.lives.age(drawn), np.inf)
        first, done, came = fails.argmin(axis=1), self.ready[rows].argmin(axis=1), self.orders[rows].argmin(axis=1)
        line = np.arange(len(rows))
        times = np.stack(
            [fails[line, first], self.ready[rows, done], self.orders[rows, came], np.full(len(rows), self.hours)]
        )
        event, at = times.argmin(axis=0), times.min(axis=0)
        after = self.lives.hazard(np.where(works, at[:, None] - self.born[rows], 0.0))
        self.weight[rows] *= np.exp(((factor - 1.0) * (after - before)).sum(axis=1))
        self.time[rows] = at
        failed = event == 0
        self.weight[rows[failed]] /= factor[failed, first[failed]]
        lost = self.fail(rows[failed], first[failed])
        self.rebuilt(rows[event == 1], done[event == 1])
        self.arrived(rows[event == 2], came[event == 2])
        going = np.setdiff1d(rows[event != 3], lost, assume_unique=True)
        self.begin_rebuilds(going)
        return going

    def fail(self, rows: Indices, drive: Indices) -> Indices:
        """Let a drive of each of `rows` fail, and return the rows that lost data."""
        self.state[rows, drive] = QUEUED
        lost = self.gone(rows)[np.arange(len(rows)), drive // self.array.width] > self.array.tolerated
        self.failure[rows[lost]] = self.weight[rows[lost]]
        if self.conditions.replacement > 0:
            self.order(rows[~lost], drive[~lost])
        return rows[lost]

    def order(self, rows: Indices, drive: Indices) -> None:
        """Order a drive for each of `rows`; `drive` waits for it if no spare is left."""
        on_order = np.isfinite(self.orders[rows]).sum(axis=1)
        free = np.isinf(self.orders[rows]).argmax(axis=1)
        comes = self.rng.standard_exponential(len(rows)) * self.conditions.replacement
        self.orders[rows, free] = self.time[rows] + comes
        self.state[rows, drive] = np.where(on_order >= self.conditions.spares, WAITS, QUEUED)

    def rebuilt(self, rows: Indices, drive: Indices) -> None:
        """Finish a rebuild of each of `rows`, with its chance of a sector error if no redundancy was left."""
        critical = self.gone(rows)[np.arange(len(rows)), drive // self.array.width] == self.array.tolerated
        error = np.where(critical, self.conditions.error_chance(self.array), 0.0)
        self.sector[rows] += self.weight[rows] * error
        self.weight[rows] *= 1.0 - error
        self.state[rows, drive], self.ready[rows, drive] = WORKS, np.inf
        self.born[rows, drive] = self.time[rows]

    def arrived(self, rows: Indices, order: Indices) -> None:
        """Deliver an ordered drive: to a waiting member, or as a spare."""
        self.orders[rows, order] = np.inf
        waits = self.state[rows] == WAITS
        some = waits.any(axis=1)
        self.state[rows[some], waits[some].argmax(axis=1)] = QUEUED

    def begin_rebuilds(self, rows: Indices) -> None:
        """Begin the rebuilds of all drives that have a replacement; with `one_rebuild`, one at a time in each array."""
        queued = self.state[rows] == QUEUED
        if self.conditions.one_rebuild:
            idle = ~(self.state[rows] == REBUILDS).any(axis=1) & queued.any(axis=1)
            line, drive = np.flatnonzero(idle), queued[idle].argmax(axis=1)
        else:
            line, drive = np.nonzero(queued)
        takes = np.full(len(line), float(self.conditions.rebuild))
        if not self.conditions.rebuild_constant:
            takes *= self.rng.standard_exponential(len(line))
        self.state[rows[line], drive] = REBUILDS
        self.ready[rows[line], drive] = self.time[rows[line]] + takes
