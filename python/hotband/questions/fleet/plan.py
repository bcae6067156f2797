"""The plan of one group for the simulation: its machines' months, its array, and the values of a repetition."""

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
    """Spare drives: `on_site` at the beginning; after every `order` failures as many are ordered."""

    on_site: int
    order: int = 1


@dataclass(frozen=True)
class Plan:
    """A group of equal machines. `born` and `gone` are the hours at which each begins and ends its service [machines],
    `age` the hours that its drives served before; `batch` is the number of drives per batch, and in `mixed` groups the
    neighbouring drives of a machine are from different batches. `months` is the length of the simulation. Without
    `stock`, a drive arrives after the delay, regardless of other failures; `replace_worn` states whether the `wear` of
    a sample limits a drive's life."""

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
        """Number of all machines that ever serve."""
        return len(self.born)

    @property
    def drives(self) -> int:
        """Number of drives of all machines."""
        return self.machines * self.array.drives

    @property
    def horizon(self) -> float:
        """Hours of the simulated time."""
        return self.months * MONTH_HOURS

    def drives_bought(self) -> Floats:
        """Return the drives of new machines in each month, and the stock of spares with the first of them [months]."""
        begins = np.bincount(np.rint(self.born / MONTH_HOURS).astype(int), minlength=self.months)
        bought = begins * float(self.array.drives)
        if self.stock is not None:
            bought[int(np.flatnonzero(begins)[0])] += self.stock.on_site
        return np.asarray(bought)

    def machine_hours(self) -> Floats:
        """Return the hours of service of all machines in each month [months]."""
        ends = np.arange(1, self.months + 1) * MONTH_HOURS
        served = np.clip(ends[:, None] - self.born[None, :], 0.0, None) - np.clip(
            ends[:, None] - self.gone[None, :], 0.0, None
        )
        total = served.sum(axis=1)
        return np.asarray(np.diff(total, prepend=0.0))


@dataclass(frozen=True)
class Drawn:
    """The values of one repetition; times in hours. `wear` is the age at which a drive is replaced because it is worn
    (infinite if none is), `error` the chance of a sector error in a rebuild without redundancy left."""

    lives: Lives
    rebuild: float
    delay: float = 0.0
    delivery: float = 0.0
    error: float = 0.0
    wear: float = math.inf


def months_of_service(count: int, begin: int, end: int | None, growth: float, months: int) -> tuple[Floats, Floats]:
    """Return the hours at which machines begin and end their service: `count` at the month `begin`, more by the yearly
    share `growth` in whole machines when they are due, all until `end` (None: the last month)."""
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
