"""Properties of traces on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, share, size
from hotband.base.text.table import BYTES, MS, SHARE, Table, View, column, numeric
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, command, screen_table, shortened, with_hidden
from hotband.views.traces.told import CACHES, rows_of

if TYPE_CHECKING:
    from hotband.inference.traces.properties import Properties
    from hotband.inference.traces.show import ShowTraceQuestion, TraceShown

BAR = 20
DISK = "exos-15e900-512n"
"""Disk of the suggested replay."""
MOST_ROWS = 16
MOST_REMARKS = 3


def terminal(shown: TraceShown, question: ShowTraceQuestion) -> Screen:
    """Return the screen of a trace, or of several."""
    traces = [shown, *shown.others]
    remarks = [note for trace in traces for note in trace.properties.notes]
    details = list(evidence(traces))
    if shown.others:
        ios = sum(trace.properties.ios for trace in traces)
        return Screen(
            answer=f"{len(traces)} traces have {counted(ios, 'I/O')}.",
            body=[shortened(_traces_table(traces), MOST_ROWS, "more trace")],
            remarks=with_hidden(remarks, MOST_REMARKS),
            next=question,
            details=details,
        )
    first, *more = shown.answer
    properties = shown.properties
    return Screen(
        answer=first,
        more=more,
        body=[_directions_table(properties), *_caches(properties)],
        state=[closing_of(shown)[0]],
        remarks=with_hidden(remarks, MOST_REMARKS),
        next=_next(shown, question),
        details=details,
    )


def _next(shown: TraceShown, question: ShowTraceQuestion) -> str | ShowTraceQuestion:
    """Return the replay of a trace on a disk; for a trace that is read by further keys, its details."""
    is_plain = not any(value for key, value in question.keys().items() if key != "unpack")
    return command("run", str(shown.source), on=DISK) if is_plain else question


def _directions_table(properties: Properties) -> Table:
    """Return a row per direction: its share, amount and sizes, and the recorded latency."""
    has_latency = bool(properties.latency)
    sizes = [numeric("bytes", BYTES), numeric("p50 size", BYTES), numeric("mean size", BYTES)]
    times = [numeric("mean", MS), numeric("p99", MS)] if has_latency else []
    table = screen_table([column(""), numeric("I/Os"), numeric("share", SHARE), *sizes, *times])
    for direction in properties.directions:
        latency = properties.latency_of(direction.direction)
        measured = ([None, None] if latency is None else [latency.mean, latency.p99]) if has_latency else []
        sizes_of = [direction.bytes, direction.size.p50, direction.size.mean] if direction.bytes else [None, None, None]
        table.add(direction.direction, direction.ios, direction.ios / properties.ios, *sizes_of, *measured)
    return table


def _caches(properties: Properties) -> list[View]:
    """Return the misses of LRU caches of some sizes, with bars."""
    if not properties.reuse.accesses:
        return []
    whole = properties.footprint.bytes
    misses = {part: properties.reuse.curve.at(part * whole) for part in CACHES} | {1.0: properties.reuse.first}
    table = screen_table([column("LRU cache"), numeric("size", BYTES), numeric("misses", SHARE), bar_column(BAR)])
    for (part, missed), drawn in zip(misses.items(), bars(list(misses.values()), BAR), strict=True):
        table.add(f"{share(part)} of the touched data", part * whole, missed, drawn)
    return ["", table]


def _traces_table(traces: Sequence[TraceShown]) -> Table:
    """Return a row per trace: I/Os, rate, share of reads, sequentiality, footprint."""
    shares = [numeric("reads", SHARE), numeric("sequential", SHARE)]
    table = screen_table([column(""), numeric("I/Os"), numeric("IOPS"), *shares, numeric("touched", BYTES)])
    for trace in traces:
        properties = trace.properties
        shares_of = (properties.read_share, properties.runs.in_streams if properties.runs.ios else None)
        table.add(trace.source.name, properties.ios, properties.rate, *shares_of, properties.footprint.bytes or None)
    return table


def evidence(traces: Sequence[TraceShown]) -> Iterator[View]:
    """Yield a description of each trace, a table of all, and how each was read."""
    several = len(traces) > 1
    for trace in traces:
        head = f"{trace.source}: " if several else ""
        yield from (f"{head}{trace.answer[0]}", *trace.answer[1:])
    yield table_of(traces)
    for trace in traces:
        head = f"{trace.source.name}: " if several else ""
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
