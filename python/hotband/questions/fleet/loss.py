"""The chance that a degraded episode ends in data loss, given the hazards of its drives at that moment.

An episode begins when a drive of a whole redundancy group fails, and ends when the group is whole again or data is
lost. Within it (hours to days) hazards are constant, and the number of failed drives is a birth-death chain: from j
failed of n to j + 1 at (n - j) λ, back at j μ, and without redundancy left a rebuild meets a sector error with the
chance h (`hotband.inference.reliability.chain` has the same chain for whole missions). To first order in λ/μ the chance
depends only on the mean of the repair, not on its distribution (the insensitivity of Erlang's loss formula:
Sevast'yanov, Theory of Probability and its Applications 2(1), 1957), so the chain also covers rebuilds of constant
duration. If another failure during the repair is likely, this does not hold, and losses are counted instead
(`hotband.questions.fleet.repetition`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from hotband.base.arrays import Flags, Floats, Indices
from hotband.inference.reliability.array import Conditions
from hotband.inference.reliability.chain import build, loss_within, mean_time_to_loss
from hotband.questions.fleet.failures import Events
from hotband.questions.fleet.plan import Plan


@dataclass(frozen=True)
class Happened:
    """For each failure, whether it exceeded the redundancy, and whether its rebuild ended without redundancy left, so
    that an unreadable sector was lost."""

    loss: Flags
    bare: Flags

    def of(self, which: Flags) -> Happened:
        """Return the outcome of some failures."""
        return Happened(self.loss & which, self.bare & which)


def happened(tolerated: int, group: Indices, failures: Events, until: Floats) -> Happened:
    """Return the outcome of each failure. `group` is the redundancy group of each, `until` the hour at which its
    machine ends its service."""
    count = len(failures)
    if tolerated == 0:
        return Happened(np.ones(count, dtype=bool), np.zeros(count, dtype=bool))
    # The number of missing drives of a group after each failure and each return. Every drive returns at some time, so
    # the sum over all groups is that of one group; in the same hour a drive returns before another fails.
    step = np.repeat([1, -1], count)
    order = np.lexsort((step, np.concatenate([failures.at, failures.back]), np.tile(group, 2)))
    missing = np.empty(2 * count, dtype=np.int64)
    missing[order] = np.cumsum(step[order])
    loss = missing[:count] == tolerated + 1
    bare = (missing[count:] == tolerated - 1) & (failures.back <= until)
    return Happened(loss, bare)


SHORTEST = 1e-3
"""Least hours of a repair, which keep rates finite."""


@dataclass(frozen=True)
class LossChance:
    """Chances that episodes end in loss, by a failure that exceeds the redundancy and by a sector error during a
    rebuild."""

    failure: Floats
    sector: Floats


def chance_of_loss(width: int, tolerated: int, hazard: Floats, repair: Floats, error: float) -> LossChance:
    """Return the chances for each episode: `hazard` is the mean failure rate of a remaining drive (per hour), `repair`
    the mean hours until a failed one is rebuilt, `error` the chance of a sector error in a rebuild without redundancy
    left."""
    if tolerated == 0:
        return LossChance(np.ones(len(hazard)), np.zeros(len(hazard)))
    up, down = (width - tolerated) * hazard, tolerated / repair
    total = up + down
    failure, sector = up / total, down * error / total
    for failed in range(tolerated - 1, 0, -1):
        up, down = (width - failed) * hazard, failed / repair
        rises = up / (up + down)
        # The chain goes up, returns, and goes up again with the remaining chance: a geometric series.
        share = rises / (1.0 - rises * (1.0 - failure - sector))
        failure, sector = share * failure, share * sector
    return LossChance(np.asarray(failure), np.asarray(sector))


@dataclass(frozen=True)
class Repair:
    """Mean hours of repairs within the remaining service, and the chance that they end in it."""

    hours: Floats
    ended: Floats


def repair_until(before: Floats, rebuild: float, constant: bool, left: Floats) -> Repair:
    """Return the repairs that take the hours `before` and a rebuild with this mean, with `left` hours of service left.

    To first order in λ/μ the chance of a loss in the remaining service is that of a whole episode whose repair takes
    these hours, and the chance of a sector error is that of an episode times the chance that the repair ends. This
    holds for constant and exponential times and for any number of tolerated failures.
    """
    within = np.maximum(left - before, 0.0)
    if constant:
        rebuilt, ended = np.minimum(within, rebuild), left >= before + rebuild
    else:
        ended = -np.expm1(-within / max(rebuild, SHORTEST))
        rebuilt = rebuild * ended
    hours = np.minimum(before, left) + rebuilt
    return Repair(np.maximum(hours, SHORTEST), np.asarray(ended, dtype=float))


def closed_form_losses(plan: Plan, mtbf: float, repair: float, error: float) -> float:
    """Return the expected losses of a group of machines with exponential independent lives and repairs: those of the
    Markov chain of `hotband reliability` over the service of each machine, per redundancy group."""
    array = replace(plan.array, groups=1)
    bits = None if error <= 0 else 8.0 * array.critical_read_bytes / -math.log1p(-error)
    chain = build(array, Conditions(mtbf, repair, bits))
    between, _ = mean_time_to_loss(chain)
    served, machines = np.unique(plan.gone - plan.born, return_counts=True)
    # A group that lost its data continues as a new one. Losses therefore follow from the chance of none in the time;
    # if that is close to zero, from the mean time between losses.
    chances = [float(loss_within(chain, float(hours)).sum()) for hours in served]
    lost = [
        -math.log1p(-chance) if chance < 0.5 else float(hours) / between
        for chance, hours in zip(chances, served, strict=True)
    ]
    return plan.array.groups * float(np.dot(machines, lost))
