"""When drives fail, are worn, and are there again: the events of one group in one repetition.

Drives are drawn generation by generation: those that are there from the beginning, those that replace them, and so on
until no replacement fails before the end. Of the first generation only those that fail are looked at any further: a
drive fails before the end if its exponential number is below the hazard that it meets until then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hotband.base.arrays import Flags, Floats, Indices
from hotband.questions.fleet.plan import Drawn, Plan, Stock

BLOCK = 1 << 18
"""Drives drawn at a time: what fits into the caches of a processor."""


@dataclass
class Events:
    """Drives that leave their slot, in the order of generations: `slot` is the place in the group, `at` the hour,
    `back` when the next one is whole there, `born` and `age` when the one that left began and the hours that it had
    served before, `z` its batch's factor and `z_next` that of the next; `parent` is the event that brought it, -1 for
    none, `failed` False for a worn drive that was replaced in time."""

    slot: Indices
    at: Floats
    back: Floats
    born: Floats
    age: Floats
    z: Floats
    z_next: Floats
    parent: Indices
    failed: Flags

    def __len__(self) -> int:
        return len(self.slot)

    def chosen(self, which: Flags | Indices) -> Events:
        """Some of them. Their parents stay places in the whole."""
        return Events(
            self.slot[which],
            self.at[which],
            self.back[which],
            self.born[which],
            self.age[which],
            self.z[which],
            self.z_next[which],
            self.parent[which],
            self.failed[which],
        )


FIELDS = ("slot", "at", "back", "born", "age", "z", "z_next", "parent", "failed")


def joined(parts: list[Events]) -> Events:
    """One after the other."""
    return Events(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


def batch_factors(plan: Plan, drawn: Drawn, rng: np.random.Generator) -> Floats | None:
    """The factor of every drive of the first generation [drives]; None where all are one."""
    if drawn.lives.variance == 0.0:
        return None
    count = -(-plan.drives // plan.batch)
    slots = np.arange(plan.drives)
    batch = slots % count if plan.mixed else slots // plan.batch
    return np.asarray(drawn.lives.batches(rng, count)[batch])


def events_of(plan: Plan, drawn: Drawn, rng: np.random.Generator, z: Floats | None) -> Events:
    """All events of a group, in no order of time."""
    generations = [first_generation(plan, drawn, rng, z)]
    before = 0
    while len(generations[-1]):
        last = generations[-1]
        numbers = before + np.arange(len(last))
        before += len(last)
        generations.append(next_generation(plan, drawn, rng, last, numbers))
    return joined(generations)


def first_generation(plan: Plan, drawn: Drawn, rng: np.random.Generator, z: Floats | None) -> Events:
    """Drives that are there when their machine begins."""
    width = plan.array.drives
    rows = max(1, BLOCK // width)
    parts = []
    for begin in range(0, plan.machines, rows):
        machines = slice(begin, min(begin + rows, plan.machines))
        parts.append(first_block(plan, drawn, rng, z, machines))
    return joined(parts)


def first_block(plan: Plan, drawn: Drawn, rng: np.random.Generator, z: Floats | None, machines: slice) -> Events:
    """The same of some machines."""
    width, lives = plan.array.drives, drawn.lives
    born, gone = plan.born[machines], plan.gone[machines]
    worn_at = born + max(drawn.wear - plan.age, 0.0)
    stop = np.minimum(gone, worn_at)
    before = float(lives.cumulative(np.array(plan.age)))
    meets = lives.cumulative(plan.age + stop - born) - before
    drew = rng.standard_exponential(len(born) * width).reshape(-1, width)
    factors = None if z is None else z[machines.start * width : machines.stop * width].reshape(-1, width)
    fails = drew < (meets[:, None] if factors is None else meets[:, None] * factors)
    leaves = fails | (worn_at < gone)[:, None]
    row, column = np.nonzero(leaves)
    factor = np.ones(len(row)) if factors is None else factors[row, column]
    failed = fails[row, column]
    at = born[row] - plan.age + lives.age(before + drew[row, column] / factor)
    at = np.where(failed, at, worn_at[row])
    slot = (machines.start + row) * width + column
    age, parent = np.full(len(row), plan.age), np.full(len(row), -1)
    return left(plan, drawn, rng, Leaving(slot, at, born[row], age, factor, parent, failed))


@dataclass
class Leaving:
    """Drives that leave, before it is known when the next ones are there; columns as in `Events`."""

    slot: Indices
    at: Floats
    born: Floats
    age: Floats
    z: Floats
    parent: Indices
    failed: Flags

    def chosen(self, which: Flags) -> Leaving:
        """Some of them."""
        slot, at, born, age = self.slot[which], self.at[which], self.born[which], self.age[which]
        return Leaving(slot, at, born, age, self.z[which], self.parent[which], self.failed[which])


def next_generation(plan: Plan, drawn: Drawn, rng: np.random.Generator, last: Events, parents: Indices) -> Events:
    """Drives that came for those of `last`, whose places in the whole are `place`. They are new, and each from a batch
    of its own."""
    lives = drawn.lives
    machine = last.slot // plan.array.drives
    gone = plan.gone[machine]
    serves = last.back < gone
    slot, born, gone = last.slot[serves], last.back[serves], gone[serves]
    z, parent = last.z_next[serves], parents[serves]
    worn_at = born + drawn.wear
    stop = np.minimum(gone, worn_at)
    drew = rng.standard_exponential(len(slot))
    failed = drew < z * lives.cumulative(stop - born)
    leaves = failed | (worn_at < gone)
    at = np.where(failed, born + lives.age(drew / z), worn_at)
    leaving = Leaving(slot, at, born, np.zeros(len(slot)), z, parent, failed)
    return left(plan, drawn, rng, leaving.chosen(leaves))


def left(plan: Plan, drawn: Drawn, rng: np.random.Generator, leaving: Leaving) -> Events:
    """With the hour at which the next drive is whole: after delay and rebuild, or at once where a worn one was copied
    while it still worked."""
    count = len(leaving.slot)
    rebuild = np.full(count, float(drawn.rebuild))
    if not plan.rebuild_constant:
        rebuild *= rng.standard_exponential(count)
    back = leaving.at + np.where(leaving.failed, drawn.delay + rebuild, 0.0)
    z_next = drawn.lives.batches(rng, count)
    return Events(
        leaving.slot, leaving.at, back, leaving.born, leaving.age, leaving.z, z_next, leaving.parent, leaving.failed
    )


def waits_of(stock: Stock, delivery: float, at: Floats) -> Floats:
    """Hours that each failure waits for a drive; `at` is in the order of time.

    Drives of the stock go to failures first come first served. Whenever `order` of them are gone as many are ordered,
    and are there `delivery` later: the first `on_site` failures have one at once, and failure k after them the drive
    that was ordered when (k - on_site) drives, in whole orders, were gone.
    """
    count, wait = len(at), np.zeros(len(at))
    later = np.arange(stock.on_site, count)
    # Orders are numbered from 0; the order of number j was made at failure (j + 1) * order, counted from 1.
    made = ((later - stock.on_site) // stock.order + 1) * stock.order - 1
    arrives = at[np.minimum(made, count - 1)] + delivery
    wait[later] = np.maximum(arrives - at[later], 0.0)
    return wait


def spares_for_no_wait(stock_order: int, delivery: float, at: Floats) -> int:
    """The smallest stock with which no failure waits: the most drives that are gone and not yet delivered again."""
    if not len(at):
        return 0
    gone = np.arange(1, len(at) + 1)
    delivered = np.searchsorted(at, at - delivery, side="right") // stock_order * stock_order
    return int((gone - delivered).max())
