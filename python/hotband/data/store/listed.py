"""Rows of a statement on a store, and its runs."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hotband.base.text.values import Json
from hotband.data.store.place import Place
from hotband.data.store.results_store import condition
from hotband.data.store.views import query, rows


@dataclass(frozen=True)
class Listed:
    """Rows of a statement: names of columns, and cells; `of` is how many there are where they were limited."""

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    of: int

    def to_dict(self) -> list[dict[str, Json]]:
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


@dataclass(frozen=True)
class RunsListed(Listed):
    """Runs of a store that meet a condition; the names are those of columns."""

    place: Place
    where: str


def listed(place: Place, where: str, limit: int) -> RunsListed:
    """The runs that meet a condition, at most so many, those added last first. Raises UserError."""
    of_all = f"runs{condition(where)}"
    last = f"order by added_utc desc, run limit {limit}"
    sql = f"select *, (select count(*) from {of_all}) as runs_in_all from {of_all} {last}"
    names, found = query(place, sql, rows, asked=("question.where", where) if where else None)
    of = int(found[0][-1]) if found else 0
    return RunsListed(names[:-1], [row[:-1] for row in found], of, place, where)
