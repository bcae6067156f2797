"""The errors of all studies as tables for the terminal. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.formats import as_rows
from hotband.base.text.table import PERCENT, Cell, Table, Value, column, numeric

if TYPE_CHECKING:
    from hotband.base.text.table import View
    from hotband.data.documents.study import AccountDoc, ClassErrorsDoc, ErrorsDoc, GoalDoc
    from hotband.questions.study.accounted import AllBlindErrors

TOTAL = "all studies"
NOTHING = "–"
COLUMNS = (
    ("", "figures"),
    *(("seen", name) for name in ("n", "median", "max")),
    ("blind", "n"),
    *(("then", name) for name in ("median", "max")),
    *(("now", name) for name in ("median", "max")),
    ("in its", "range"),
)
"""Columns of figures known while the models were built, and of figures predicted blind, with the errors then and
now."""


def error_cells(errors: ErrorsDoc, count: bool = True) -> list[Value]:
    """Return the number, the median and the largest of some errors."""
    cells: list[Value] = [errors["median_pct"], errors["largest_pct"]]
    return [errors["measurements"] or None, *cells] if count else cells


def class_cells(errors: ClassErrorsDoc) -> list[Value]:
    """Return the cells of one class."""
    inside = errors["coverage"]
    covered = "" if inside is None else f"{inside['inside']}/{inside['intervals']}"
    return [
        errors["figure_class"],
        *error_cells(errors["seen"]),
        *error_cells(errors["blind"]),
        *error_cells(errors["now"], False),
        covered,
    ]


def blocks(account: AccountDoc) -> list[tuple[str, Sequence[ClassErrorsDoc]]]:
    """Return the studies, and last all of them together."""
    studies = [(name, study["classes"]) for name, study in account["studies"].items()]
    return [*studies, (TOTAL, account["totals"])]


def has_intervals(account: AccountDoc) -> bool:
    """Return whether any prediction has an interval: if not, the table has no column for the share inside."""
    return any(total["coverage"] is not None for total in account["totals"])


def accuracy_table(account: AccountDoc) -> Table:
    """Return the errors by study and class: of figures seen while the models were built, and of blind predictions, then
    and now."""
    shown = COLUMNS if has_intervals(account) else COLUMNS[:-1]
    columns = [
        column(f"{over}\n{name}", wrap=False) if name in ("figures", "range") else numeric(f"{over}\n{name}")
        for over, name in shown
    ]
    table = Table("Errors, either way, in percent", columns, plain=True, tight=True)
    every = blocks(account)
    for name, classes in every:
        if not as_rows():
            table.add(Cell(name, "bold"), *[""] * (len(shown) - 1))
        for errors in classes:
            first, *others = class_cells(errors)[: len(shown)]
            ends = errors is classes[-1] and name != every[-1][0]
            table.add(f"{name}: {first}" if as_rows() else f" {first}", *others, ends=ends)
    return table


def evidence(account: AccountDoc) -> list[View]:
    """Return errors by study and class, and the goals."""
    return [accuracy_table(account), "", goals_table(account["goals"])]


def blind_table(result: AllBlindErrors) -> Table:
    """Return the errors of predictions made before the figure was seen, by study and class."""
    columns = [
        column("study"),
        column("figures"),
        numeric("n"),
        *map(numeric, ("median", "90th percentile", "largest")),
    ]
    table = Table("Errors of predictions made before the figure was seen, either way, in percent", columns)
    for errors in result.errors:
        table.add(
            errors.study, errors.figures, errors.measurements, errors.median_pct, errors.p90_pct, errors.largest_pct
        )
    return table


def goals_table(goals: Iterable[GoalDoc]) -> Table:
    """Return a table of goals and current values."""
    bounds = [numeric("at most", PERCENT), numeric("reached", PERCENT)]
    columns = [column("figures"), numeric("n"), column("error"), *bounds, column("")]
    table = Table("Targets, fitted and blind figures together", columns)
    for goal in goals:
        table.add(*goal_cells(goal))
    return table


def goal_cells(goal: GoalDoc) -> list[Value]:
    """Return the cells of a goal."""
    holds = None if goal["holds"] is None else "yes" if goal["holds"] else "no"
    return [
        goal["figures"], goal["measurements"], goal["statistic"], goal["most_pct"], goal["reached_pct"], holds
    ]  # fmt: skip
