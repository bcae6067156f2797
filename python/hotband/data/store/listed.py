"""Rows of a statement on a store, and of its runs."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hotband.base.text.values import Json
from hotband.data.store.results_store import condition
from hotband.data.store.store_folder import StoreFolder
from hotband.data.store.views import query, rows


@dataclass(frozen=True)
class Listed:
    """Rows of a statement: names of columns, and cells; `total` counts all rows if they were limited."""

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: int

    def to_dict(self) -> list[dict[str, Json]]:
        """Return the rows as JSON: times as text, numbers that are not finite as null."""
        return [{name: plain(cell) for name, cell in zip(self.names, row, strict=True)} for row in self.rows]


def plain(cell: Any) -> Json:
    """Return a cell of DuckDB as JSON."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, Decimal):
        return float(cell)
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, list | tuple):
        return [plain(item) for item in cell]
    if isinstance(cell, Mapping):
        return {str(key): plain(item) for key, item in cell.items()}
    return cell.hex() if isinstance(cell, bytes) else str(cell)


@dataclass(frozen=True)
class RunsListed(Listed):
    """Runs of a store that meet a condition, with column names."""

    store: StoreFolder
    where: str


def listed(store: StoreFolder, where: str, limit: int) -> RunsListed:
    """Return the runs that meet a condition, up to `limit`, the newest first. Raises UserError."""
    of_all = f"runs{condition(where)}"
    last = f"order by added_utc desc, run limit {limit}"
    sql = f"select *, (select count(*) from {of_all}) as runs_in_all from {of_all} {last}"
    names, selected = query(store, sql, rows, argument=("question.where", where) if where else None)
    total = int(selected[0][-1]) if selected else 0
    return RunsListed(names[:-1], [row[:-1] for row in selected], total, store, where)
