"""The contents of a store for terminals and as tables."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from hotband.base.foreign import console
from hotband.base.text import numbers
from hotband.base.text.formats import PRINTED
from hotband.base.text.numbers import counted
from hotband.base.text.table import IOPS, MS, Table, View, column, numeric
from hotband.data.record.record import Record
from hotband.data.store.check import Checked
from hotband.data.store.columns import COLUMNS
from hotband.data.store.compact import Compacted
from hotband.data.store.folders import Added
from hotband.data.store.listed import Listed, RunsListed, plain
from hotband.data.store.manifest import snapshot
from hotband.data.store.store_folder import StoreFolder, opened
from hotband.questions.store import (
    LISTED,
    AddQuestion,
    CheckQuestion,
    CompactQuestion,
    ListQuestion,
    ShowQuestion,
    SqlQuestion,
)
from hotband.views.run import run_views
from hotband.views.text.screen import DETAILS, Screen, command, screen_table, shortened, with_hidden

KEY_SHOWN = 10
"""Digits of a key in a list: among a million runs, two share them with a probability of a third. Commands accept any
unique beginning."""
MOST_FACTORS = 6
"""Most columns of factors in a list, in order of frequency; a terminal has 80 characters, JSON has all."""
MOST_DIFFERENT = 3
"""Most columns of a screen for differences between runs: with key, rate and latencies they are seven."""
MOST_COLUMNS = 7
MOST_ON_SCREEN = 16
"""Most rows on a terminal, unless the user sets a number of runs."""
MOST_FILES = 12
"""Most damaged files that a screen names."""
MOST_ROWS = 200
"""Most rows of a statement in the evidence on a terminal; other formats have all."""


def runs(listed: RunsListed, question: ListQuestion) -> Screen:
    """Return the screen of the runs that were added last."""
    stored = f"The store has {of_store(listed.store)}."
    evidence: list[View] = [*([runs_table(listed)] if listed.rows else []), *_limited(listed), stored]
    if not listed.rows:
        answer = "No run meets the condition." if listed.where else stored
        return Screen(answer=answer, state=[stored] if listed.where else [], details=evidence)
    key = str(listed.rows[0][listed.names.index("run")])[:KEY_SHOWN]
    most = _room() if question.limit == LISTED else question.limit
    differ, alike = _compared(listed)
    meets = "meets" if listed.total == 1 else "meet"
    return Screen(
        answer=f"{counted(listed.total, 'run')} {meets} the condition." if listed.where else stored,
        body=[shortened(_differences_table(listed, differ[:MOST_DIFFERENT]), most, "more run")],
        state=[
            *([f"All: {', '.join(f'{name} {value}' for name, value in alike)}"] if alike else []),
            *([f"Differ also in {', '.join(more)}: {DETAILS}"] if (more := differ[MOST_DIFFERENT:]) else []),
            *_limited(listed),
        ],
        next=command("store show", question.path, key),
        details=evidence,
    )


def record(stored: Record, question: ShowQuestion) -> Iterator[View]:
    """Return a run, and the path of its written record."""
    return run_views(stored.document, question.out)


def _room() -> int:
    """Return the number of rows on a screen; piped output has at most the rows of the evidence."""
    return MOST_ON_SCREEN if console().is_terminal else MOST_ROWS


def _limited(listed: RunsListed) -> list[str]:
    return [f"The last {len(listed.rows):,} of {listed.total:,} are listed."] if len(listed.rows) < listed.total else []


def _compared(listed: RunsListed) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the columns in which the runs differ, and the other columns with their value."""
    differ: list[str] = []
    alike: list[tuple[str, str]] = []
    for name in ("target", "workload", *_factors(listed), "seed"):
        values = dict.fromkeys(_text(row[listed.names.index(name)]) or numbers.ABSENT for row in listed.rows)
        if len(values) > 1:
            differ.append(name)
        else:
            alike.append((name, next(iter(values))))
    return differ, alike


def _differences_table(listed: RunsListed, differ: Sequence[str]) -> Table:
    """Return a row per run: its key, its differences from the others, rate and latencies."""
    names = [*differ, "iops", "latency_mean_ns", "latency_p99_ns"]
    places = [listed.names.index(name) for name in names]
    # As a number, a seed of up to 20 digits would be rounded.
    of_numbers = [listed.names[at] != "seed" and all(_is_number(row[at]) for row in listed.rows) for at in places]
    titles = [{"target": "machine"}.get(name, name) for name in differ]
    head = [(numeric if is_number else column)(title) for title, is_number in zip(titles, of_numbers, strict=False)]
    table = screen_table([column("run"), *head, numeric("IOPS", IOPS), numeric("mean", MS), numeric("p99", MS)])
    for row in listed.rows:
        cells = [(_number if is_number else _text)(row[at]) for at, is_number in zip(places, of_numbers, strict=True)]
        table.add(str(row[listed.names.index("run")])[:KEY_SHOWN], *cells)
    return table


def added(done: Added, question: AddQuestion) -> Screen:
    """Return the screen of the additions."""
    present = f"; {done.present:,} {_was(done.present)} already in the store" if done.present else ""
    answer = f"{counted(done.new, 'run')} {_was(done.new)} added{present}."
    return Screen(answer=answer, verdict="yes", next=command("store list", question.path), details=[answer])


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def compacted(done: Compacted, question: CompactQuestion) -> Screen:
    """Return the screen of how many parts were merged."""
    merged = done.after < done.before
    answer = f"{counted(done.before, 'part')} became {done.after:,}." if merged else "No parts were merged."
    stored = f"The store has {of_store(opened(question.path))}."
    return Screen(
        answer=answer,
        verdict="yes",
        state=[stored],
        next=command("store check", question.path),
        details=[answer, stored],
    )


def checked(done: Checked, question: CheckQuestion) -> Screen:
    """Return the screen of damaged files, and files that belong to no part."""
    read = f"{counted(done.runs, 'run')} in {counted(done.files, 'file')}"
    whole = f"The store is as it was written: {read}."
    strange = [f"in no part: {file}" for file in done.strange]
    return Screen(
        answer=f"{counted(len(done.damaged), 'file')} of the store {_is(done)} damaged: {read}."
        if done.damaged
        else whole,
        verdict="no" if done.damaged else "yes",
        body=[*with_hidden(done.damaged, MOST_FILES, "more file")],
        remarks=with_hidden(strange, 3, "more file"),
        next=question if done.damaged or strange else command("store list", question.path),
        details=[*done.damaged, *strange],
    )


def _is(done: Checked) -> str:
    return "is" if len(done.damaged) == 1 else "are"


def selected(listed: Listed, question: SqlQuestion) -> Screen:
    """Return the screen of the rows of a statement."""
    hidden = listed.names[MOST_COLUMNS:]
    first = Listed(listed.names[:MOST_COLUMNS], [row[:MOST_COLUMNS] for row in listed.rows], listed.total)
    table = table_of(first)
    table.borderless = True
    return Screen(
        answer=f"The statement returns {counted(len(listed.rows), 'row')} of {counted(len(listed.names), 'column')}.",
        body=[shortened(table, _room())] if listed.rows else [],
        state=[f"{counted(len(hidden), 'more column')}: {DETAILS}"] if hidden and listed.rows else [],
        next=question if len(listed.rows) > _room() or hidden else "",
        details=list(_rows_views(listed)),
    )


def _rows_views(listed: Listed) -> Iterator[View]:
    """Yield the rows that the format shows."""
    most = MOST_ROWS if PRINTED.form == "table" else len(listed.rows)
    yield table_of(Listed(listed.names, listed.rows[:most], listed.total))
    if most < len(listed.rows):
        yield f"{most:,} of {len(listed.rows):,} rows; the csv format has all"


def runs_table(listed: Listed) -> Table:
    """Return a row per run: its key, workload and machine, its factors, rate and latency."""
    store = {name: number for number, name in enumerate(listed.names)}
    factors = _factors(listed)
    of_numbers = {name: all(_is_number(row[store[name]]) for row in listed.rows) for name in factors}
    columns = [column("target"), column("workload")]
    columns += [(numeric if of_numbers[name] else column)(name) for name in factors]
    figures = [numeric("IOPS", IOPS), numeric("mean ms", MS), numeric("p99 ms", MS)]
    table = Table("Runs", [column("run"), *columns, column("seed"), *figures])
    for row in listed.rows:
        values = [row[store[name]] for name in ("iops", "latency_mean_ns", "latency_p99_ns")]
        head = [str(row[store["run"]])[:KEY_SHOWN], row[store["target"]], row[store["workload"]]]
        cells = [(_number if of_numbers[name] else _text)(row[store[name]]) for name in factors]
        table.add(*head, *cells, str(row[store["seed"]]), *values)
    return table


def _factors(listed: Listed) -> list[str]:
    """Return the factors that most runs have; settings with units as text."""
    names = [name for name in listed.names if name not in COLUMNS]
    have = {
        name: sum(row[index] is not None for row in listed.rows)
        for index, name in enumerate(listed.names)
        if name in names and not any(name.startswith(f"{other}_") for other in names)
    }
    chosen = sorted((name for name, count in have.items() if count), key=lambda name: -have[name])[:MOST_FACTORS]
    return [name for name in names if name in chosen]


def table_of(listed: Listed) -> Table:
    """Return the rows of a statement, unchanged."""
    is_number = [all(_is_number(row[at]) for row in listed.rows) for at in range(len(listed.names))]
    table = Table(
        "",
        [(numeric if is_numeric else column)(name) for name, is_numeric in zip(listed.names, is_number, strict=True)],
    )
    for row in listed.rows:
        table.add(
            *(_number(cell) if is_numeric else _text(cell) for cell, is_numeric in zip(row, is_number, strict=True))
        )
    return table


def _is_number(cell: object) -> bool:
    return cell is None or (isinstance(cell, int | float | Decimal) and not isinstance(cell, bool))


def _number(cell: int | float | Decimal | None) -> int | float | None:
    """Return a cell of a numeric column."""
    return float(cell) if isinstance(cell, Decimal) else cell if cell is None or math.isfinite(cell) else None


def _text(cell: Any) -> str | None:
    """Return a cell of a text column, unchanged even if it holds a number."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat(" ", "seconds") if isinstance(cell, datetime.datetime) else str(plain(cell))


def of_store(store: StoreFolder) -> str:
    """Describe the size of a store."""
    now = snapshot(store)
    size = sum(file.size for part in now.parts for file in part.files)
    each = f", {numbers.size(size / now.runs)} per run" if now.runs else ""
    return f"{counted(now.runs, 'run')} in {counted(len(now.parts), 'part')}{each}"
