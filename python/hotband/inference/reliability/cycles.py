"""Mean time to data loss by simulating the Markov chain: directly, or by cycles with failure biasing.

Loss is rare: an array of RAID 6 fails, repairs and repairs again a million times before it loses anything. The state
"nothing failed, nothing on order" is a point of regeneration, so MTTDL = E[length of a cycle] / P[loss in a cycle],
where a cycle ends at loss or at that state. The first is simulated without biasing, the second with failures made
as likely as repairs (balanced failure biasing) and every cycle weighted with the ratio of its true chance to the one it
was drawn with: Goyal, Shahabuddin, Heidelberger, Nicola, Glynn, "A unified framework for simulating Markovian models of
highly dependable systems", IEEE Trans. Computers 41(1), 1992; Shahabuddin, "Importance sampling for the simulation of
highly reliable Markovian systems", Management Science 40(3), 1994 (its relative error stays bounded as failures get
rare).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hotband.base.arrays import Floats, Indices
from hotband.base.errors import UserError
from hotband.inference.reliability.chain import CAUSES, FAILURE, Chain
from hotband.inference.reliability.estimate import Estimate, mean, quotient

# Chance of a failure where a repair is possible too; Goyal et al. take 0.5.
BIAS = 0.5
# The most steps of a direct simulation, which take about a minute.
MOST_STEPS = 5e8


@dataclass(frozen=True)
class Jumps:
    """The chain as tables [state, transition] of targets, true and biased chances, and the mean time in each state."""

    target: Indices
    true: Floats
    biased: Floats
    sojourn: Floats


@dataclass(frozen=True)
class LossTime:
    """Mean hours to loss (None if no loss occurred), the share of each cause, and the simulation behind them: its
    method, the number of cycles or arrays, and their hours."""

    hours: Estimate | None
    shares: Floats
    method: str
    count: int
    hours_simulated: float


def jumps(chain: Chain) -> Jumps:
    """Return the chances of the chain's transitions."""
    states = range(len(chain.states))
    of_state = [[step for step in chain.transitions if step.source == state] for state in states]
    widest = max(len(steps) for steps in of_state)
    shape = (len(of_state), widest)
    target, true, biased = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    sojourn = np.zeros(len(of_state))
    for state, steps in enumerate(of_state):
        total = sum(step.rate for step in steps)
        failures = sum(step.kind == FAILURE for step in steps)
        repairs = sum(step.rate for step in steps if step.kind != FAILURE)
        bias = BIAS if repairs and failures else float(failures > 0)
        sojourn[state] = 1.0 / total
        for index, step in enumerate(steps):
            target[state, index], true[state, index] = step.target, step.rate / total
            fails = step.kind == FAILURE
            biased[state, index] = bias / failures if fails else (1.0 - bias) * step.rate / repairs
    return Jumps(target, true, biased, sojourn)


def walk(
    tables: Jumps, rng: np.random.Generator, count: int, biased: bool, cycles: bool
) -> tuple[Floats, Indices, Floats]:
    """Simulate `count` walks from state 0 to loss, or with `cycles` to loss or state 0; return weights, ends, hours."""
    chances = tables.biased if biased else tables.true
    bounds = chances.cumsum(axis=1)[:, :-1]
    ratio = np.divide(tables.true, chances, out=np.zeros_like(chances), where=chances > 0)
    state, weight, hours = np.zeros(count, dtype=np.int64), np.ones(count), np.zeros(count)
    going = np.arange(count)
    while len(going):
        here = state[going]
        hours[going] += tables.sojourn[here] * rng.standard_exponential(len(going))
        target = (rng.random(len(going))[:, None] >= bounds[here]).sum(axis=1)
        weight[going] *= ratio[here, target]
        state[going] = tables.target[here, target]
        ended = state[going] < 0
        going = going[~(ended | (state[going] == 0))] if cycles else going[~ended]
    return weight, state, hours


def by_cycles(chain: Chain, rng: np.random.Generator, count: int) -> LossTime:
    """Return the MTTDL from `count` cycles for each of its two means."""
    tables = jumps(chain)
    _, _, hours = walk(tables, rng, count, biased=False, cycles=True)
    weight, end, _ = walk(tables, rng, count, biased=True, cycles=True)
    lost = np.where(end < 0, weight, 0.0)
    method = "regenerative cycles, balanced failure biasing"
    return LossTime(quotient(hours, lost), shares(end, lost), method, count, float(hours.sum()))


def direct(chain: Chain, rng: np.random.Generator, count: int, expected_hours: float) -> LossTime:
    """Return the MTTDL from `count` arrays, each simulated until it loses data, after about `expected_hours`.

    Raise UserError if that takes too long.
    """
    tables = jumps(chain)
    # Every failure is followed by a repair.
    needed = 2.0 * count * max(1.0, expected_hours / tables.sojourn[0])
    if needed > MOST_STEPS:
        events = f"about {needed:.1g} failures and repairs"
        accepted = f"{count:,} arrays would take {events} until all have lost data: expected biased"
        raise UserError("question.method", "", "direct", accepted)
    weight, end, hours = walk(tables, rng, count, biased=False, cycles=False)
    return LossTime(mean(hours), shares(end, weight), "arrays, each until it lost data", count, float(hours.sum()))


def shares(end: Indices, weight: Floats) -> Floats:
    """Return the share of each cause in all losses; zero without losses."""
    sums = np.array([weight[end == cause].sum() for cause in CAUSES])
    total = sums.sum()
    return sums / total if total > 0 else sums
