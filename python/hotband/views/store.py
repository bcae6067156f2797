"""What a store has, as tables and lines."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hotband.base.text import numbers
from hotband.base.text.numbers import counted
from hotband.base.text.table import IOPS, MS, Table, column, numeric
from hotband.base.text.values import Json
from hotband.data.store.columns import COLUMNS
from hotband.data.store.manifest import snapshot
from hotband.data.store.place import Place
from hotband.data.store.results_store import condition
from hotband.data.store.views import query, rows

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
    of_all = f"runs{condition(where)}"
    last = f"order by added_utc desc, run limit {limit}"
    sql = f"select *, (select count(*) from {of_all}) as runs_in_all from {of_all} {last}"
    names, found = query(place, sql, rows, asked=("question.where", where) if where else None)
    of = int(found[0][-1]) if found else 0
    return Listed(names[:-1], [row[:-1] for row in found], of)


def runs_table(found: Listed) -> Table:
    """A row a run: its key, what ran, its factors, rate and latency."""
    place = {name: number for number, name in enumerate(found.names)}
    factors = _factors(found)
    of_numbers = {name: all(_is_number(row[place[name]]) for row in found.rows) for name in factors}
    said = [column("target"), column("workload")]
    said += [(numeric if of_numbers[name] else column)(name) for name in factors]
    figures = [numeric("IOPS", IOPS), numeric("mean ms", MS), numeric("p99 ms", MS)]
    table = Table("Runs", [column("run"), *said, column("seed"), *figures])
    for row in found.rows:
        values = [row[place[name]] for name in ("iops", "latency_mean_ns", "latency_p99_ns")]
        head = [str(row[place["run"]])[:KEY_SHOWN], row[place["target"]], row[place["workload"]]]
        own = [(_number if of_numbers[name] else _text)(row[place[name]]) for name in factors]
        table.add(*head, *own, str(row[place["seed"]]), *values)
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
    is_number = [all(_is_number(row[at]) for row in found.rows) for at in range(len(found.names))]
    table = Table("", [(numeric if of else column)(name) for name, of in zip(found.names, is_number, strict=True)])
    for row in found.rows:
        table.add(*(_number(cell) if of else _text(cell) for cell, of in zip(row, is_number, strict=True)))
    return table


def _is_number(cell: object) -> bool:
    return cell is None or (isinstance(cell, int | float | Decimal) and not isinstance(cell, bool))


def _number(cell: int | float | Decimal | None) -> int | float | None:
    """A cell of a column of numbers."""
    return float(cell) if isinstance(cell, Decimal) else cell if cell is None or math.isfinite(cell) else None


def _text(cell: Any) -> str | None:
    """A cell of a column of texts, which may hold a number: as it is."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat(" ", "seconds") if isinstance(cell, datetime.datetime) else str(plain(cell))


def of_store(place: Place) -> str:
    """How much a store has, in words."""
    now = snapshot(place)
    size = sum(file.size for part in now.parts for file in part.files)
    each = f", {numbers.size(size / now.runs)} a run" if now.runs else ""
    return f"{counted(now.runs, 'run')} in {counted(len(now.parts), 'part')}{each}"
