"""What a store has, as tables and lines."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hotband.base.text.cells import counted, millis, number
from hotband.base.text.formats import Figure
from hotband.data.store.columns import COLUMNS
from hotband.data.store.manifest import snapshot
from hotband.data.store.place import Place
from hotband.data.store.views import query, rows

if TYPE_CHECKING:
    from rich.table import Table

    from hotband.base.text.values import Json

KEY_SHOWN = 10
"""Digits of a key that a list shows: of a million runs two begin alike with a chance of a third, and any beginning will
do that is unique."""
MOST_FACTORS = 6
"""Columns of factors in a list, those that most of its runs have; a terminal has 80 characters, JSON has all."""


@dataclass(frozen=True)
class Listed:
    """Rows of a statement: names of columns, and cells; `of` is how many there are where they were limited."""

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    of: int

    def documents(self) -> list[dict[str, Json]]:
        """As JSON: times as text, numbers that are none as null."""
        return [{name: plain(cell) for name, cell in zip(self.names, row, strict=True)} for row in self.rows]


def plain(cell: Any) -> Json:
    """A cell of DuckDB as JSON has it."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, Decimal):
        return float(cell)
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, list | tuple):
        return [plain(one) for one in cell]
    if isinstance(cell, Mapping):
        return {str(key): plain(one) for key, one in cell.items()}
    return cell.hex() if isinstance(cell, bytes) else str(cell)


def listed(place: Place, where: str, limit: int) -> Listed:
    """The runs that meet a condition, at most so many, those added last first. Raises UserError."""
    from hotband.data.store.results_store import condition

    of_all = f"runs{condition(where)}"
    last = f"order by added_utc desc, run limit {limit}"
    sql = f"select *, (select count(*) from {of_all}) as runs_in_all from {of_all} {last}"
    names, found = query(place, sql, rows, asked=("question.where", where) if where else None)
    of = int(found[0][-1]) if found else 0
    return Listed(names[:-1], [row[:-1] for row in found], of)


def runs_table(found: Listed) -> Table:
    """A row a run: its key, what ran, its factors, rate and latency."""
    from rich.table import Table

    table = Table(title="Runs", title_justify="left")
    place = {name: number for number, name in enumerate(found.names)}
    factors = _factors(found)
    for name in ("run", "target", "workload", *factors, "seed"):
        table.add_column(name, overflow="fold")
    for name in ("IOPS", "mean ms", "p99 ms"):
        table.add_column(name, justify="right")
    for row in found.rows:
        said = [shown(row[place[name]]) for name in ("target", "workload", *factors, "seed")]
        figures = number(row[place["iops"]]), *(millis(row[place[f"latency_{name}_ns"]]) for name in ("mean", "p99"))
        table.add_row(str(row[place["run"]])[:KEY_SHOWN], *said, *figures)
    return table


def _factors(found: Listed) -> list[str]:
    """The columns of factors that say most: of settings with units the text."""
    names = [name for name in found.names if name not in COLUMNS]
    have = {
        name: sum(row[place] is not None for row in found.rows)
        for place, name in enumerate(found.names)
        if name in names and not any(name.startswith(f"{other}_") for other in names)
    }
    chosen = sorted((name for name, count in have.items() if count), key=lambda name: -have[name])[:MOST_FACTORS]
    return [name for name in names if name in chosen]


def table_of(found: Listed) -> Table:
    """Rows of a statement as they are."""
    from rich.table import Table

    table = Table()
    numbers = [
        all(isinstance(row[at], int | float | Decimal | None) for row in found.rows) for at in range(len(found.names))
    ]
    for name, is_number in zip(found.names, numbers, strict=True):
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in found.rows:
        table.add_row(*map(shown, row))
    return table


def shown(cell: Any) -> str:
    """A cell as a table has it: numbers as they are, with at most 6 digits where they are none of a count."""
    if cell is None:
        return Figure("–", None)
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return Figure(str(cell), cell)
    if isinstance(cell, float | Decimal):
        value = float(cell)
        return (
            Figure(f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.6g}", value)
            if math.isfinite(value)
            else str(value)
        )
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ", "seconds")
    said = plain(cell)
    return said if isinstance(said, str) else str(said)


def of_store(place: Place) -> str:
    """How much a store has, in words."""
    now = snapshot(place)
    size = sum(file.size for part in now.parts for file in part.files)
    each = f", {size / now.runs:,.0f} bytes a run" if now.runs else ""
    return f"{counted(now.runs, 'run')} in {counted(len(now.parts), 'part')}{each}"
