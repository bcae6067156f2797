"""A sweep on the terminal: the answer, and a row a point."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.text.cells import counted
from hotband.base.text.formats import Estimate, Figure, as_rows
from hotband.base.text.numbers import ABSENT, number
from hotband.views.sweeps.curves import TITLES

if TYPE_CHECKING:
    from rich.table import Table

    from hotband.questions.sweeps.sweep import Sweep

COLUMNS = ("IOPS", "MB/s", "Mean ({unit})", "p99 ({unit})")
FIGURES = ("iops", "bandwidth_bytes_per_s", "latency_mean_ns", "latency_p99_ns")
SHOWN_NOTES = 3
SHOWN = 60
"""Rows of a table on the terminal; CSV, Markdown and the frame have all."""


@dataclass(frozen=True)
class Unit:
    """The unit of time of a whole page or table."""

    name: str
    ns: float


def time_unit(latencies: Sequence[float]) -> Unit:
    """Milliseconds, or microseconds where the largest of the latencies is below two of those."""
    return Unit("µs", 1e3) if latencies and max(latencies) < 2e6 else Unit("ms", 1e6)


def in_unit(heads: Sequence[str], unit: Unit) -> list[str]:
    """Headings with the unit of time."""
    return [head.format(unit=unit.name) for head in heads]


def cells_of(row: Mapping[str, float | None], unit: Unit) -> list[str]:
    """The figures of a point, each with what its interval adds and takes."""
    scales = (1.0, 1e6, unit.ns, unit.ns)
    return [_cell(row, name, scale) for name, scale in zip(FIGURES, scales, strict=True)]


def _cell(row: Mapping[str, float | None], name: str, scale: float) -> str:
    value = row[name]
    if value is None:
        return Figure(ABSENT, None)
    text = number(value / scale)
    figure = Figure(text, value / scale)
    for ending in ("_interval", ""):
        low, high = row.get(f"{name}{ending}_low"), row.get(f"{name}{ending}_high")
        if low is None or high is None:
            continue
        ends = f"{text} ± {number((high - low) / 2 / scale, 2)}"
        if ending:
            ends = f"{text} ({number(low / scale, 3)} to {number(high / scale, 3)})"
        return Estimate.of(ends, figure, low / scale, high / scale)
    return figure


def sweep_table(sweep: Sweep) -> Table:
    """A row a point: what differs, and its figures."""
    from rich.table import Table

    frame = sweep.means
    p99 = frame["latency_p99_ns"].drop_nulls().to_list() if frame.height else []
    unit = time_unit(p99)
    differs = [name for name in sweep.axes if name != "seed"] or ["target"]
    table = Table(title=counted(frame.height, "point"), title_justify="left")
    for name in differs:
        head = {"target": "machine"}.get(name, TITLES.get(name, name))
        is_number = frame[name].dtype.is_numeric()
        table.add_column(head, justify="right" if is_number else "left", overflow="fold")
    for head in in_unit(COLUMNS, unit):
        table.add_column(head, justify="right", no_wrap=True)
    for row in (frame if as_rows() else frame.head(SHOWN)).iter_rows(named=True):
        table.add_row(*(_coordinate(row[name]) for name in differs), *cells_of(row, unit))
    return table


def _coordinate(value: object) -> str:
    """Where a point lies on an axis."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Figure(str(value), value)
    return str(value)


def said_below(sweep: Sweep) -> list[str]:
    """What stands below the table: rows left out, what ± means, states of drives and notes that all runs share."""
    found = []
    rows = sweep.means.height
    if rows > SHOWN and not as_rows():
        found.append(f"  and {rows - SHOWN:,} more points: --json, or sweep.parquet of the folder, have all")
    if sweep.level is not None:
        found.append(f"  in brackets: {sweep.level:g} % intervals of the predictions")
    elif "seed" in sweep.axes:
        found.append("  ±: 95 % t interval of the mean over the seeds")
    found += [f"  state{f' of {name}' if name else ''}: {line}" for name, line in states_of(sweep)]
    notes = notes_of(sweep)
    found += [f"  note of {counted(count, 'run')}: {note}" for note, count in notes[:SHOWN_NOTES]]
    if len(notes) > SHOWN_NOTES:
        found.append(f"  and {len(notes) - SHOWN_NOTES} more notes, on the page")
    return found


def states_of(sweep: Sweep) -> list[tuple[str, str]]:
    """Machines with the states of their drives; no name where all are alike."""
    found: dict[str, dict[str, None]] = {}
    for at, row in zip(sweep.points, sweep.rows, strict=True):
        if row is not None:
            found.setdefault(str(at.get("target", "")), {}).update(dict.fromkeys(row.state))
    if len({tuple(lines) for lines in found.values()}) == 1:
        return [("", line) for line in next(iter(found.values()))]
    return [(name, line) for name, lines in found.items() for line in lines]


def notes_of(sweep: Sweep) -> list[tuple[str, int]]:
    """Notes with how many runs have them, the most frequent first. Those that differ in their numbers alone are one,
    with the numbers of the first."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for row in sweep.rows:
        for note in row.notes if row is not None else ():
            alike = re.sub(r"\d[\d.,]*", "0", note)
            first.setdefault(alike, note)
            counts[alike] += 1
    return [(first[alike], count) for alike, count in counts.most_common()]
