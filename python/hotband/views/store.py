"""What a store has, as tables and lines."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hotband.base.text import numbers
from hotband.base.text.formats import PRINTED
from hotband.base.text.numbers import counted
from hotband.base.text.table import IOPS, MS, Table, View, column, numeric
from hotband.data.store.columns import COLUMNS
from hotband.data.store.listed import Listed, RunsListed, plain
from hotband.data.store.manifest import snapshot
from hotband.data.store.place import Place, opened
from hotband.views.run import run_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hotband.data.record.record import Record
    from hotband.data.store.check import Checked
    from hotband.data.store.compact import Compacted
    from hotband.data.store.folders import Added
    from hotband.questions.store import (
        AddQuestion,
        CheckQuestion,
        CompactQuestion,
        ListQuestion,
        ShowQuestion,
        SqlQuestion,
    )

KEY_SHOWN = 10
"""Digits of a key that a list shows: of a million runs two begin alike with a chance of a third, and any beginning will
do that is unique."""
MOST_FACTORS = 6
"""Columns of factors in a list, those that most of its runs have; a terminal has 80 characters, JSON has all."""


MOST_ROWS = 200
"""Rows of a statement that a terminal gets; every other format gets all."""


def runs(found: RunsListed, _: ListQuestion) -> Iterator[View]:
    """Yield the runs, and how much the store has."""
    if found.rows:
        yield runs_table(found)
    more = f"; {len(found.rows):,} of {found.of:,} that were asked for are shown" if len(found.rows) < found.of else ""
    none = "no run meets the condition; " if found.where and not found.rows else ""
    yield f"{none}{of_store(found.place)}{more}"


def record(found: Record, question: ShowQuestion) -> Iterator[View]:
    """Return a run, and where its record was written."""
    return run_views(found.document, question.out)


def added(done: Added, _: AddQuestion) -> list[str]:
    """Return how many runs were added, and how many were there."""
    there = f"; {counted(done.there, 'run')} {'was' if done.there == 1 else 'were'} there already" if done.there else ""
    return [f"Added: {counted(done.new, 'run')}{there}"]


def compacted(done: Compacted, question: CompactQuestion) -> list[str]:
    """Return how many parts there were, and are."""
    return [f"Parts: {done.before:,} before, {done.after:,} now; {of_store(opened(question.path))}"]


def checked(done: Checked, _: CheckQuestion) -> list[str]:
    """Return what was read, what is damaged, and what is in no part."""
    damaged = f"{len(done.damaged):,} damaged" if done.damaged else "all as they were written"
    files = f"{counted(done.runs, 'run')} in {counted(done.files, 'file')}, {damaged}"
    return [files, *done.damaged, *(f"in no part: {file}" for file in done.strange)]


def selected(found: Listed, _: SqlQuestion) -> Iterator[View]:
    """Yield the rows, as many as the format takes."""
    most = MOST_ROWS if PRINTED.form == "table" else len(found.rows)
    yield table_of(Listed(found.names, found.rows[:most], found.of))
    if most < len(found.rows):
        yield f"{most:,} of {len(found.rows):,} rows; the format csv has all"


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
        name: sum(row[index] is not None for row in found.rows)
        for index, name in enumerate(found.names)
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
