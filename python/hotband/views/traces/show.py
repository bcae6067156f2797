"""What traces are like, on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import size
from hotband.base.text.table import Table, View, column
from hotband.views.traces.told import rows_of

if TYPE_CHECKING:
    from hotband.inference.traces.show import ShowTraceQuestion, TraceShown


def terminal(shown: TraceShown, _: ShowTraceQuestion) -> Iterator[View]:
    """Yield what each trace is in sentences, a table of all, and how each was read."""
    traces = [shown, *shown.others]
    for trace in traces:
        head = f"{trace.source}: " if shown.others else ""
        yield from (f"{head}{trace.answer[0]}", *trace.answer[1:])
    yield table_of(traces)
    for trace in traces:
        head = f"{trace.source.name}: " if shown.others else ""
        yield from (f"{head}{line}" for line in closing_of(trace))


def closing_of(shown: TraceShown) -> list[str]:
    """How it was read and counted, and what is to be said of it."""
    found = shown.properties
    if found.is_exact:
        how = "every block was followed: exact"
    else:
        how = f"{found.sample_blocks:,} blocks, one in {round(1 / found.sample_rate):,}, were followed (SHARDS)"
    head = f"Read as {shown.format}; blocks of {size(found.block_bytes)}, {how}."
    return [head, *(f"note: {note}" for note in found.notes)]


def table_of(shown: Sequence[TraceShown]) -> Table:
    """A row a figure, a column a trace."""
    heads = [one.source.name if len(shown) > 1 else "" for one in shown]
    table = Table("", [column(""), *map(column, heads)], bare=len(shown) == 1)
    rows = [dict(rows_of(one.properties)) for one in shown]
    names = list(dict.fromkeys(name for of in rows for name in of))
    for name in names:
        table.add(name, *(of.get(name) for of in rows))
    return table
