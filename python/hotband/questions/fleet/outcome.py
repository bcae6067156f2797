"""Results of the repetitions of a group: its figures by month, [repetitions, months]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hotband.base.arrays import Floats
from hotband.data.documents.fleet import FigureDoc
from hotband.inference.reliability.estimate import Z95
from hotband.questions.fleet.drawn import GroupDraws
from hotband.questions.fleet.repetition import COLUMNS, TOTALS
from hotband.questions.fleet.service import Service
from hotband.questions.fleet.spec import Group, Spec
from hotband.questions.fleet.values import MONTH_HOURS

ENDS = (2.5, 97.5)
"""Percentiles between which 95 % of the repetitions lie."""


def figure(values: npt.NDArray[np.floating]) -> FigureDoc:
    """Summarise a figure from its values, one per repetition."""
    numbers = np.asarray(values, dtype=float)
    mean = float(numbers.mean())
    error = float(numbers.std(ddof=1)) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0
    low, high = np.percentile(numbers, ENDS)
    return {
        "mean": mean,
        "mean_low": max(mean - Z95 * error, min(mean, 0.0)),
        "mean_high": mean + Z95 * error,
        "low": float(low),
        "high": float(high),
    }


@dataclass(frozen=True)
class Costs:
    """Costs of a group by month [repetitions, months]; None for parts without a price."""

    drives: Floats
    machines: Floats | None
    replacements: Floats
    energy: Floats | None
    losses: Floats | None

    @property
    def total(self) -> Floats:
        """Costs of all parts that have a price."""
        parts = [self.drives, self.machines, self.replacements, self.energy, self.losses]
        return np.asarray(np.sum([part for part in parts if part is not None], axis=0))

    def plus(self, other: Costs) -> Costs:
        """Add the costs of two groups; a part with a price in only one of them counts."""

        def both(first: Floats | None, two: Floats | None) -> Floats | None:
            return two if first is None else first if two is None else first + two

        return Costs(
            self.drives + other.drives,
            both(self.machines, other.machines),
            self.replacements + other.replacements,
            both(self.energy, other.energy),
            both(self.losses, other.losses),
        )


@dataclass(frozen=True)
class Outcome:
    """A group and the results of its repetitions: `months` [repetitions, months, columns], `totals` [repetitions,
    totals].

    Energy, cost and the remaining share of endurance are [repetitions, months], None if not stated.
    """

    group: Group
    draws: GroupDraws
    service: Service | None
    months: npt.NDArray[np.float32]
    totals: npt.NDArray[np.float32]
    energy_kwh: Floats | None
    costs: Costs | None
    endurance_left: Floats | None

    def column(self, name: str) -> Floats:
        """Return a column by month [repetitions, months]."""
        return np.asarray(self.months[:, :, COLUMNS.index(name)], dtype=float)

    def total(self, name: str) -> Floats:
        """Return a total [repetitions]."""
        return np.asarray(self.totals[:, TOTALS.index(name)], dtype=float)

    @property
    def losses(self) -> Floats:
        """Expected losses of data by month, by either cause."""
        return self.column("loss_failure") + self.column("loss_sector")

    @property
    def repetitions(self) -> int:
        """Number of repetitions."""
        return len(self.months)

    def bytes_lost(self) -> Floats:
        """Return the expected bytes lost over the whole time [repetitions]."""
        array = self.group.plan.array
        sector = self.group.subject.conditions.sector_loss_bytes(array)
        by_failure, by_sector = (self.column(name).sum(axis=1) for name in ("loss_failure", "loss_sector"))
        return np.asarray(by_failure * array.group_bytes + by_sector * sector)


def outcome_of(
    spec: Spec, group: Group, draws: GroupDraws, service: Service | None,
    months: npt.NDArray[np.float32], totals: npt.NDArray[np.float32],
) -> Outcome:  # fmt: skip
    """Return the outcome with energy, cost and wear of the finished repetitions."""
    count = len(months)
    energy = energy_of(spec, group, draws, count)
    left = Outcome(group, draws, service, months, totals, energy, None, wear_left(group, draws, count))
    costs = costs_of(spec, left) if no_cost(spec) is None else None
    return Outcome(group, draws, service, months, totals, energy, costs, left.endurance_left)


def energy_of(spec: Spec, group: Group, draws: GroupDraws, count: int) -> Floats | None:
    """Return kWh of the site by month: machines and drives times PUE. None if the power of a drive is unknown."""
    if draws.watts is None:
        return None
    watts = group.plan.array.drives * draws.watts[:count] + draws.machine_watts[:count]
    pue = spec.power.pue.draws(spec.seed, count)
    return np.outer(watts * pue / 1000.0, group.plan.machine_hours())


def wear_left(group: Group, draws: GroupDraws, count: int) -> Floats | None:
    """Return the share of endurance left at the end of each month, averaged over machines in service; replaced drives
    count as old as the others. None if wear is unknown."""
    if draws.written is None or draws.endurance is None:
        return None
    plan = group.plan
    ends = np.arange(1, plan.months + 1) * MONTH_HOURS
    born, machines = np.unique(plan.born, return_counts=True)
    rate = draws.written[:count] / draws.endurance[:count]
    most = 1.0 if group.wear.limit is None else group.wear.limit
    left = np.zeros((count, plan.months))
    serving = np.zeros(plan.months)
    for begin, number in zip(born, machines, strict=True):
        serves = (ends > begin) & (ends <= plan.gone[0] + 1e-6)
        used = np.outer(rate, np.clip(ends - begin, 0.0, None) + plan.age)
        used = np.mod(used, most) if group.wear.limit is not None else np.minimum(used, 1.0)
        left += number * (1.0 - used) * serves
        serving += number * serves
    return np.divide(left, serving, out=np.full_like(left, np.nan), where=serving > 0)


def no_cost(spec: Spec) -> str | None:
    """Return why there is no cost; None if there is one."""
    products = sorted({product for group in spec.groups for product in group.products})
    missing = [product for product in products if product not in spec.prices.drives]
    if not spec.prices.drives and spec.prices.machine is None and spec.power.price is None:
        return "no prices are given"
    return f"no price of {', '.join(missing)}" if missing else None


def costs_of(spec: Spec, left: Outcome) -> Costs:
    """Return cost by month: drives and machines when they begin (with the stock of spares), replacements of failed and
    worn drives, energy, and data loss."""
    group, count = left.group, left.repetitions
    plan, prices = group.plan, spec.prices
    price = np.mean([prices.drives[name].draws(spec.seed, count) for name in group.products], axis=0)
    begins = np.bincount(np.rint(plan.born / MONTH_HOURS).astype(int), minlength=plan.months).astype(float)
    machine = None if prices.machine is None else np.outer(prices.machine.draws(spec.seed, count), begins)
    energy = None
    if left.energy_kwh is not None and spec.power.price is not None:
        energy = left.energy_kwh * spec.power.price.draws(spec.seed, count)[:, None]
    loss = None if prices.loss is None else left.losses * prices.loss.draws(spec.seed, count)[:, None]
    replaced = (left.column("failures") + left.column("worn")) * price[:, None]
    return Costs(np.outer(price, plan.drives_bought()), machine, replaced, energy, loss)
