"""`Fleet`: the result as frames by month and by year, a summary, sentences, a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from hotband.base.arguments import public
from hotband.base.arrays import Floats
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.write import write_file
from hotband.base.views import Report, View, self_contained, view_of
from hotband.data.documents.fleet import FigureDoc, FleetDoc
from hotband.questions.fleet.outcome import Outcome, figure
from hotband.questions.fleet.spec import Spec
from hotband.questions.fleet.values import MONTH_HOURS

WHOLE = "fleet"
"""Name of rows of all groups together."""
ALWAYS = ("failures", "worn", "bought", "rebuilds", "degraded_share", "losses", "waited")
SOMETIMES = ("energy_kwh", "endurance_left", "cost", "cost_so_far")


@dataclass(frozen=True)
class Fleet:
    """A simulated fleet: `outcomes` has the results of each group, `repetitions` the number of finished ones."""

    spec: Spec
    outcomes: tuple[Outcome, ...]
    repetitions: int
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether all repetitions are finished."""
        return self.repetitions == self.spec.repetitions

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per group and month (and `fleet`, all groups together): `group`, `month` (from 0), `machines`,
        `drives`, `usable_bytes`, then for each figure its mean and, as `_low` and `_high`, the ends between which 95 %
        of the repetitions lie: `failures`, `worn` (drives replaced because their endurance was used), `bought` (drives
        of new machines, stock, and replacements of failed or worn ones), `rebuilds` (in progress on average),
        `degraded_share` (of the machines' time), `losses` (expected events), `waited` (failures that waited for a
        drive), `energy_kwh`, `endurance_left` (a share), `cost`, `cost_so_far`. Unknown figures are null."""
        return self._frame(1)

    @cached_property
    def years(self) -> pl.DataFrame:
        """The frame by year; `year` counts from 1."""
        return self._frame(12)

    @cached_property
    def summary(self) -> FleetDoc:
        """The figures over the whole time, and their basis (docs/guides/fleet.md)."""
        from hotband.questions.fleet.summary import summary_of

        return summary_of(self)

    @property
    def answers(self) -> list[str]:
        """The result in two or three sentences."""
        return list(view_of(self, "answers")(self.summary))

    def to_dict(self) -> FleetDoc:
        """Return the JSON that `hotband fleet --json` prints."""
        return self.summary

    @public
    def report(self, path: str | Path) -> Path:
        """Write the page of the fleet, one HTML file; return its path. Raises UserError for a wrong path, OSError."""
        report: Report = view_of(self, "report")(self)
        return report.save(path)

    @public
    def write_frame(self, path: str | Path) -> None:
        """Write the frame as Parquet. Raises UserError, OSError."""
        import io

        buffer = io.BytesIO()
        self.frame.write_parquet(buffer)
        write_file(Path(path), buffer.getvalue())

    @public
    def plot(self, y: str = "failures") -> View:
        """Plot a figure of the frame by month (altair), one line per group, with the band of 95 % of the repetitions.
        Raises UserError for an unknown figure, or one without values."""
        known = [name for name in (*ALWAYS, *SOMETIMES) if self.frame[name].drop_nulls().len()]
        if y not in known:
            raise UserError("y", "", str(y), f"expected one of {', '.join(known)}")
        drawn: View = view_of(self, "chart")(self.frame, y, y)
        return self_contained(drawn)

    def __repr__(self) -> str:
        drives = sum(outcome.group.plan.drives for outcome in self.outcomes)
        return f"<Fleet {self.spec.name}: {drives:,} drives, {self.repetitions:,} repetitions>"

    def _repr_html_(self) -> str:
        return str(view_of(self, "html")(self))

    def _frame(self, step: int) -> pl.DataFrame:
        """Return rows of `step` months each."""
        rows = [Rows(outcome.group.name, self.spec.months, step).of([outcome]) for outcome in self.outcomes]
        if len(self.outcomes) > 1:
            rows.append(Rows(WHOLE, self.spec.months, step).of(self.outcomes))
        whole = {"group": pl.String, "month": pl.Int64, "year": pl.Int64}
        kinds = {name: whole.get(name, pl.Float64) for name in rows[0]}
        return pl.concat(pl.DataFrame(row, schema=kinds) for row in rows)


Columns = dict[str, list[str] | list[int] | list[float] | list[float | None]]


@dataclass(frozen=True)
class Rows:
    """Rows of one group, or of several together, `step` months each."""

    name: str
    months: int
    step: int

    def of(self, outcomes: Sequence[Outcome]) -> Columns:
        """Return the columns of the rows."""
        count = -(-self.months // self.step)
        hours = np.sum([outcome.group.plan.machine_hours() for outcome in outcomes], axis=0)
        by_drives = [outcome.group.plan.machine_hours() * outcome.group.plan.array.drives for outcome in outcomes]
        by_bytes = [outcome.group.plan.machine_hours() * outcome.group.plan.array.usable_bytes for outcome in outcomes]
        length = self._sum(np.full(self.months, MONTH_HOURS))
        columns: Columns = {
            "group": [self.name] * count,
            ("month" if self.step == 1 else "year"): [n if self.step == 1 else n + 1 for n in range(count)],
            "machines": (self._sum(hours) / length).tolist(),
            "drives": (self._sum(np.sum(by_drives, axis=0)) / length).tolist(),
            "usable_bytes": (self._sum(np.sum(by_bytes, axis=0)) / length).tolist(),
        }
        served = np.maximum(self._sum(hours), 1e-9)
        self._add(columns, "failures", self._all(outcomes, "failures"))
        self._add(columns, "worn", self._all(outcomes, "worn"))
        bought = [
            outcome.group.plan.drives_bought() + outcome.column("failures") + outcome.column("worn")
            for outcome in outcomes
        ]
        self._add(columns, "bought", self._sum(np.sum(bought, axis=0)))
        self._add(columns, "rebuilds", self._all(outcomes, "repair_hours") / length)
        self._add(columns, "degraded_share", self._all(outcomes, "degraded_hours") / served)
        self._add(columns, "losses", self._sum(np.sum([outcome.losses for outcome in outcomes], axis=0)))
        self._add(columns, "waited", self._all(outcomes, "waited"))
        self._add(columns, "energy_kwh", self._known([outcome.energy_kwh for outcome in outcomes]))
        alone = outcomes[0].endurance_left if len(outcomes) == 1 else None
        self._add(columns, "endurance_left", None if alone is None else alone[:, self._last()])
        cost = self._known([None if outcome.costs is None else outcome.costs.total for outcome in outcomes])
        self._add(columns, "cost", cost)
        self._add(columns, "cost_so_far", None if cost is None else np.cumsum(cost, axis=1))
        return columns

    def _last(self) -> list[int]:
        return [min(month, self.months) - 1 for month in range(self.step, self.months + self.step, self.step)]

    def _sum(self, values: Floats) -> Floats:
        """Return sums over the months of each row."""
        return np.asarray(np.add.reduceat(values, np.arange(0, self.months, self.step), axis=-1))

    def _all(self, outcomes: Sequence[Outcome], column: str) -> Floats:
        return self._sum(np.sum([outcome.column(column) for outcome in outcomes], axis=0))

    def _known(self, parts: Sequence[Floats | None]) -> Floats | None:
        known = [part for part in parts if part is not None]
        return self._sum(np.sum(known, axis=0)) if len(known) == len(parts) else None

    def _add(self, table: Columns, name: str, values: Floats | None) -> None:
        """Add mean and ends of [repetitions, rows]; unknown values and months without machines are null."""
        count = -(-self.months // self.step)
        columns: tuple[Floats, Floats, Floats]
        if values is None:
            for key in (name, f"{name}_low", f"{name}_high"):
                table[key] = list[float | None]([None] * count)
            return
        low, high = np.percentile(values, (2.5, 97.5), axis=0)
        columns = (values.mean(axis=0), low, high)
        for key, column in zip((name, f"{name}_low", f"{name}_high"), columns, strict=True):
            table[key] = [float(number) if np.isfinite(number) else None for number in column]


def sum_of(outcomes: Sequence[Outcome], column: str) -> FigureDoc:
    """Return the figure of a column over the whole time and several groups."""
    return figure(np.sum([outcome.column(column).sum(axis=1) for outcome in outcomes], axis=0))
