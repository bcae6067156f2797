"""What one group of the fleet is, as the simulation takes it: its machines' months, its array, and values that a
repetition draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hotband.base.arrays import Floats
from hotband.inference.reliability.array import Array
from hotband.questions.fleet.lives import Lives
from hotband.questions.fleet.values import MONTH_HOURS


@dataclass(frozen=True)
class Stock:
    """Spare drives: `on_site` of them to begin with; every `order` failures as many are ordered."""

    on_site: int
    order: int = 1


@dataclass(frozen=True)
class Plan:
    """A group of alike machines. `born` and `gone` are the hours at which each begins and ends its service [machines],
    `age` the hours that its drives have served before; `batch` is how many drives come from one batch, and in `mixed`
    groups the neighbours of a machine are of different ones. Months are `months` long. Without `stock` a drive comes
    after the delay, whatever else failed; `replace_worn` says whether wear is told by a draw's `wear`."""

    name: str
    array: Array
    born: Floats
    gone: Floats
    months: int
    age: float = 0.0
    batch: int = 1
    mixed: bool = False
    stock: Stock | None = None
    rebuild_constant: bool = True

    @property
    def machines(self) -> int:
        """All machines that ever serve."""
        return len(self.born)

    @property
    def drives(self) -> int:
        """Drives of all of them."""
        return self.machines * self.array.drives

    @property
    def horizon(self) -> float:
        """Hours of the whole time."""
        return self.months * MONTH_HOURS

    def drives_bought(self) -> Floats:
        """Drives of machines that begin, in each month, and the stock of spares with the first of them [months]."""
        begins = np.bincount(np.rint(self.born / MONTH_HOURS).astype(int), minlength=self.months)
        bought = begins * float(self.array.drives)
        if self.stock is not None:
            bought[int(np.flatnonzero(begins)[0])] += self.stock.on_site
        return np.asarray(bought)

    def machine_hours(self) -> Floats:
        """Hours of service of all machines in each month [months]."""
        ends = np.arange(1, self.months + 1) * MONTH_HOURS
        served = np.clip(ends[:, None] - self.born[None, :], 0.0, None) - np.clip(
            ends[:, None] - self.gone[None, :], 0.0, None
        )
        total = served.sum(axis=1)
        return np.asarray(np.diff(total, prepend=0.0))


@dataclass(frozen=True)
class Drawn:
    """The values of one repetition; times in hours. `wear` is the age at which a drive is replaced because it is worn
    (infinite where none is), `error` the chance of a sector error in a rebuild without redundancy left."""

    lives: Lives
    rebuild: float
    delay: float = 0.0
    delivery: float = 0.0
    error: float = 0.0
    wear: float = math.inf


def months_of_service(count: int, begin: int, end: int | None, growth: float, months: int) -> tuple[Floats, Floats]:
    """When machines begin and end their service: `count` at the month `begin`, more by the share `growth` a year in
    whole machines at the months in which they are due, all until `end` (or later than the last)."""
    last = months if end is None else min(end, months)
    born = [np.full(count, begin * MONTH_HOURS)]
    present = count
    for month in range(begin + 1, last):
        due = math.floor(count * (1.0 + growth) ** ((month - begin) / 12) + 1e-9)
        if due > present:
            born.append(np.full(due - present, month * MONTH_HOURS))
            present = due
    begins = np.concatenate(born)
    return begins, np.full(len(begins), last * MONTH_HOURS)
