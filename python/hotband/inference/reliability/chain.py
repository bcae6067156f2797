"""The exact Markov chain of an array: its states, mean time to data loss, and the chance of loss in a mission.

A state is (failed, ordered): drives that are not rebuilt yet, and drives on order. In RAID 10 and RAID 50 `failed`
counts groups, which are exchangeable, so the chain of counts is exact (lumped), not an approximation. In RAID 60 a
state is the number of groups with one failed drive and the number with two. Each cause of loss is an absorbing state.

Rates differ by ten orders of magnitude and more, so nothing here subtracts: mean times by the elimination of Grassmann,
Taksar and Heyman (Operations Research 33, 1985), the chance in a mission by squaring a matrix without negative entries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hotband.base.arrays import Floats
from hotband.base.errors import UserError
from hotband.inference.reliability.array import Array, Conditions

# Kinds of transitions.
FAILURE, REPAIR = 0, 1
# Absorbing states have negative numbers.
LOST_TO_FAILURE, LOST_TO_SECTOR = -1, -2
CAUSES = (LOST_TO_FAILURE, LOST_TO_SECTOR)
# A mission needs about 40 products of square matrices of this size: some seconds.
MOST_STATES = 600

State = tuple[int, ...]


@dataclass(frozen=True)
class Transition:
    """A step from state `source` to `target` (an index, or a cause of loss) at `rate` per hour; `kind` is FAILURE or
    REPAIR."""

    source: int
    target: int
    rate: float
    kind: int


@dataclass(frozen=True)
class Chain:
    """States (0 has nothing failed and nothing on order) and the transitions between them."""

    states: list[State]
    transitions: list[Transition]


def steps_of_groups(array: Array, conditions: Conditions, state: State) -> Iterator[tuple[State | int, float, int]]:
    """Yield the transitions of several groups that tolerate more than one failed drive; see `steps`.

    The state has the number of groups with one failed drive, with two, and so on.
    """

    def moved(gone: int, step: int) -> State:
        counts = [array.groups - sum(state), *state]
        counts[gone] -= 1
        counts[gone + step] += 1
        return tuple(counts[1:])

    for gone, number in enumerate([array.groups - sum(state), *state]):
        if not number:
            continue
        fails = number * (array.width - gone) / conditions.mtbf
        is_critical = gone == array.tolerated
        yield LOST_TO_FAILURE if is_critical else moved(gone, 1), fails, FAILURE
        if gone:
            done = number * gone / conditions.rebuild
            error = conditions.error_chance(array) if is_critical else 0.0
            yield moved(gone, -1), done * (1.0 - error), REPAIR
            if error:
                yield LOST_TO_SECTOR, done * error, FAILURE


def steps(array: Array, conditions: Conditions, state: State) -> Iterator[tuple[State | int, float, int]]:
    """Yield the transitions out of a state: (next state or cause of loss, rate per hour, kind)."""
    if array.has_double_groups:
        yield from steps_of_groups(array, conditions, state)
        return
    failed, ordered = state
    rate = 1.0 / conditions.mtbf
    orders = 1 if conditions.replacement > 0 else 0
    more: State = (failed + 1, ordered + orders)
    if array.groups > 1:
        if failed < array.groups:
            yield more, (array.groups - failed) * array.width * rate, FAILURE
        if failed:
            yield LOST_TO_FAILURE, failed * (array.width - 1) * rate, FAILURE
    else:
        yield more if failed < array.tolerated else LOST_TO_FAILURE, (array.width - failed) * rate, FAILURE
    rebuilding = failed - max(0, ordered - conditions.spares)
    if rebuilding:
        done = (1 if conditions.one_rebuild else rebuilding) / conditions.rebuild
        critical = array.groups > 1 or failed == array.tolerated
        error = conditions.error_chance(array) if critical else 0.0
        yield (failed - 1, ordered), done * (1.0 - error), REPAIR
        if error:
            yield LOST_TO_SECTOR, done * error, FAILURE
    if ordered:
        yield (failed, ordered - 1), ordered / conditions.replacement, REPAIR


def build(array: Array, conditions: Conditions) -> Chain:
    """Return the chain, with its states in the order in which they are reached. Raise UserError if it is too large."""
    states: list[State] = [(0,) * (array.tolerated if array.has_double_groups else 2)]
    index = {states[0]: 0}
    transitions: list[Transition] = []
    for state in states:
        for target, rate, kind in steps(array, conditions, state):
            if isinstance(target, tuple):
                if target not in index:
                    index[target] = len(states)
                    states.append(target)
                target = index[target]
            if rate > 0:
                transitions.append(Transition(index[state], target, rate, kind))
        if len(states) > MOST_STATES:
            raise UserError(
                "question.on", "", f"{array.drives} drives", f"expected a chain of at most {MOST_STATES} states"
            )
    return Chain(states, transitions)


def rates(chain: Chain) -> tuple[Floats, Floats]:
    """Return the rates between states [n, n] and to each cause of loss [n, 2]."""
    count = len(chain.states)
    between, loss = np.zeros((count, count)), np.zeros((count, len(CAUSES)))
    for step in chain.transitions:
        if step.target >= 0:
            between[step.source, step.target] += step.rate
        else:
            loss[step.source, CAUSES.index(step.target)] += step.rate
    return between, loss


def mean_time_to_loss(chain: Chain) -> tuple[float, Floats]:
    """Return the mean hours from state 0 to loss and the share of each cause, by eliminating state after state."""
    between, loss = rates(chain)
    time = np.ones(len(chain.states))
    for state in range(len(chain.states) - 1, 0, -1):
        out = between[state, :state].sum() + loss[state].sum()
        into = np.flatnonzero(between[:state, state])
        share = between[into, state] / out
        between[into, :state] += share[:, None] * between[state, :state]
        # A return to the same state only takes time.
        between[into, into] = 0.0
        loss[into] += share[:, None] * loss[state]
        time[into] += share * time[state]
    total = loss[0].sum()
    return float(time[0] / total), loss[0] / total


def loss_within(chain: Chain, hours: float) -> Floats:
    """Return the chance of loss within `hours`, by cause: the series of a short step, squared up to `hours`.

    All entries are chances, so even one of 1e-15 keeps its digits.
    """
    between, loss = rates(chain)
    count = len(chain.states)
    generator = np.zeros((count + len(CAUSES), count + len(CAUSES)))
    generator[:count, :count], generator[:count, count:] = between, loss
    out = generator.sum(axis=1)
    largest = float(out.max())
    doublings = max(0, math.ceil(math.log2(max(largest * hours, 1e-9))))
    # exp(Q t) = exp(-q t) exp((Q + q) t) with Q + q >= 0; the step is short enough for 20 terms of the series.
    step = hours / 2.0**doublings
    positive = (generator + np.diag(largest - out)) * step
    term = np.eye(len(generator))
    within = term.copy()
    for order in range(1, 21):
        term = term @ positive / order
        within += term
    within *= math.exp(-largest * step)
    for _ in range(doublings):
        within = within @ within
    return np.asarray(within[0, count:])
