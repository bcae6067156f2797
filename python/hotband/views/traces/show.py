"""Properties of traces on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import size
from hotband.base.text.table import Table, View, column
from hotband.views.traces.told import rows_of

if TYPE_CHECKING:
    from hotband.inference.traces.show import ShowTraceQuestion, TraceShown


def terminal(shown: TraceShown, _: ShowTraceQuestion) -> Iterator[View]:
    """Yield the description of each trace, a table of all, and the method of each."""
    traces = [shown, *shown.others]
    for trace in traces:
        head = f"{trace.source}: " if shown.others else ""
        yield from (f"{head}{trace.answer[0]}", *trace.answer[1:])
    yield table_of(traces)
    for trace in traces:
        head = f"{trace.source.name}: " if shown.others else ""
        yield from (f"{head}{line}" for line in closing_of(trace))


def closing_of(shown: TraceShown) -> list[str]:
    """Return a line on the format and the method of counting, and notes."""
    properties = shown.properties
    if properties.is_exact:
        method = "every block was followed: exact"
    else:
        method = (
            f"{properties.sample_blocks:,} blocks, one in {round(1 / properties.sample_rate):,}, were followed (SHARDS)"
        )
    head = f"Read as {shown.format}; blocks of {size(properties.block_bytes)}, {method}."
    return [head, *(f"note: {note}" for note in properties.notes)]


def table_of(shown: Sequence[TraceShown]) -> Table:
    """Return a table with one row per figure and one column per trace."""
    heads = [trace.source.name if len(shown) > 1 else "" for trace in shown]
    table = Table("", [column(""), *map(column, heads)], bare=len(shown) == 1)
    rows = [dict(rows_of(trace.properties)) for trace in shown]
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        table.add(name, *(row.get(name) for row in rows))
    return table
