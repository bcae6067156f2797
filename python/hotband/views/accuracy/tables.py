"""The account of all studies as tables for the terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.formats import Figure, as_rows

if TYPE_CHECKING:
    from rich.table import Table

    from hotband.data.documents.study import AccountDoc, ClassErrorsDoc, ErrorsDoc, GoalDoc

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
"""What is of figures that were seen while the models were built, and of those predicted blind, then and now."""


def percent(value: float | None) -> str:
    """An error in percent, two significant digits or whole."""
    return Figure(NOTHING if value is None else f"{value:.1f}" if abs(value) < 9.95 else f"{value:,.0f}", value)


def error_cells(of: ErrorsDoc, count: bool = True) -> list[str]:
    """How many, the median and the largest."""
    cells = [percent(of["median_pct"]), percent(of["largest_pct"])]
    return [str(of["measurements"] or NOTHING), *cells] if count else cells


def class_cells(of: ClassErrorsDoc) -> list[str]:
    """One class in the columns of the tables."""
    inside = of["coverage"]
    covered = "" if inside is None else f"{inside['inside']}/{inside['intervals']}"
    return [
        of["figure_class"],
        *error_cells(of["seen"]),
        *error_cells(of["blind"]),
        *error_cells(of["now"], False),
        covered,
    ]


def blocks(account: AccountDoc) -> list[tuple[str, Sequence[ClassErrorsDoc]]]:
    """The studies, and at last all together."""
    found = [(name, one["classes"]) for name, one in account["studies"].items()]
    return [*found, (TOTAL, account["totals"])]


def has_intervals(account: AccountDoc) -> bool:
    """Whether any prediction has an interval: without, there is no column of what lies inside."""
    return any(one["coverage"] is not None for one in account["totals"])


def accuracy_table(account: AccountDoc) -> Table:
    """Errors by study and class: of figures seen, and of those predicted blind, then and now."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = COLUMNS if has_intervals(account) else COLUMNS[:-1]
    title = "Errors, either way, in percent"
    # Ten columns in 80: a blank between them, and nothing at the edges.
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=0, show_edge=False)
    for over, name in shown:
        table.add_column(f"{over}\n{name}", justify="left" if name == "figures" else "right", no_wrap=True)
    for name, classes in blocks(account):
        table.add_section()
        if not as_rows():
            table.add_row(name, style="bold")
        for of in classes:
            own = class_cells(of)[: len(shown)]
            table.add_row(f"{name}: {own[0]}" if as_rows() else f" {own[0]}", *own[1:])
    return table


def goals_table(goals: Iterable[GoalDoc]) -> Table:
    """What is to be reached beside what is."""
    from rich.table import Table

    table = Table(title="Seen and blind together, to be reached", title_justify="left")
    for name in ("figures", "n", "error", "at most", "reached", ""):
        table.add_column(name, justify="left" if name in ("figures", "error", "") else "right")
    for goal in goals:
        table.add_row(*goal_cells(goal))
    return table


def goal_cells(goal: GoalDoc) -> list[str]:
    """A goal in the columns of its table."""
    holds = NOTHING if goal["holds"] is None else "yes" if goal["holds"] else "no"
    most, reached = goal["most_pct"], goal["reached_pct"]
    value = percent(reached)
    shown = value if value == NOTHING else f"{value} %"
    bounds = [Figure(f"{most:.0f} %", most, "%"), Figure(shown, reached, "%")]
    return [goal["figures"], str(goal["measurements"]), goal["statistic"], *bounds, holds]
