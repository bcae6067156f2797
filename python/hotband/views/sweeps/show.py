"""A sweep on the terminal: the answer, and one row per point."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hotband.base.text.formats import as_rows
from hotband.base.text.numbers import counted
from hotband.base.text.table import IOPS, MBS, MS, TPS, Estimate, Table, Unit, Value, column, estimate, numeric
from hotband.questions.sweeps.frames import names_of
from hotband.questions.sweeps.sweep import Sweep
from hotband.views.sweeps.curves import TITLES

FIGURES = (
    ("IOPS", "iops", IOPS),
    ("MB/s", "bandwidth_bytes_per_s", MBS),
    ("Mean", "latency_mean_ns", MS),
    ("p99", "latency_p99_ns", MS),
)
TRANSACTIONS = (
    ("TPS", "transactions_per_s", TPS),
    ("IOPS", "iops", IOPS),
    ("Mean", "transaction_latency_mean_ns", MS),
    ("p99", "transaction_latency_p99_ns", MS),
)
"""Figures of scripts: latencies are those of transactions, for which people wait."""
COMMIT = ("commit p99", "commit_latency_p99_ns", MS)
"""Figure in place of the p99 latency of runs that flush."""
SHOWN_NOTES = 3
SHOWN = 60
"""Most rows of a table on the terminal; CSV, Markdown and the frame have all."""


def figures_shown(sweep: Sweep) -> tuple[tuple[str, str, Unit], ...]:
    """Return heading, column and unit of the figures in tables."""
    if TRANSACTIONS[0][1] in names_of(sweep):
        return TRANSACTIONS
    return (*FIGURES[:-1], COMMIT) if COMMIT[1] in names_of(sweep) else FIGURES


def figures_of(row: Mapping[str, float | None], figures: Sequence[tuple[str, str, Unit]] = FIGURES) -> list[Value]:
    """Return the figures of a point, each with its interval if it has one."""
    return [_figure(row, name) for _, name, _ in figures]


def _figure(row: Mapping[str, float | None], name: str) -> Value:
    value = row[name]
    for ending in ("_interval", ""):
        low, high = row.get(f"{name}{ending}_low"), row.get(f"{name}{ending}_high")
        if value is not None and low is not None and high is not None:
            return Estimate(value, low, high)
    return value


def sweep_table(sweep: Sweep, most: int = SHOWN) -> Table:
    """Return one row per point: its differences, and its figures."""
    frame = sweep.means
    differs = [name for name in sweep.axes if name != "seed"] or ["target"]
    heads = [(name, {"target": "machine"}.get(name, TITLES.get(name, name))) for name in differs]
    spread = any(name.endswith("_low") for name in frame.columns)
    known = figures_shown(sweep)
    if as_rows():
        known = (*known, *_tail(known[-1], frame.columns))
    figures = [(estimate if spread else numeric)(head, unit) for head, _, unit in known]
    axes = [numeric(head) if frame[name].dtype.is_numeric() else column(head) for name, head in heads]
    table = Table(counted(frame.height, "point"), [*axes, *figures])
    for row in (frame if as_rows() else frame.head(most)).iter_rows(named=True):
        table.add(*(_coordinate(row[name]) for name in differs), *figures_of(row, known))
    return table


def _tail(percentile: tuple[str, str, Unit], names: Sequence[str]) -> Iterator[tuple[str, str, Unit]]:
    """Yield the 99.9th percentile next to the 99th, for which a terminal is too narrow."""
    head, name, unit = percentile
    further = name.replace("p99", "p999")
    if further in names:
        yield head.replace("p99", "p99.9"), further, unit


def _coordinate(value: object) -> str | float:
    """Return a coordinate as a cell."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else str(value)  # type: ignore[return-value]


def said_below(sweep: Sweep) -> list[str]:
    """Return text below the table: omitted rows, the meaning of ±, states of drives and notes common to all runs."""
    lines = []
    rows = sweep.means.height
    if rows > SHOWN and not as_rows():
        lines.append(f"  and {rows - SHOWN:,} more points: --json, or sweep.parquet of the folder, have all")
    if sweep.level is not None:
        lines.append(f"  in brackets: {sweep.level:g} % intervals of the predictions")
    elif "seed" in sweep.axes:
        lines.append("  in brackets: 95 % t intervals of the mean over the seeds")
    lines += [f"  state{f' of {name}' if name else ''}: {line}" for name, line in states_of(sweep)]
    notes = notes_of(sweep)
    lines += [f"  note of {counted(count, 'run')}: {note}" for note, count in notes[:SHOWN_NOTES]]
    if len(notes) > SHOWN_NOTES:
        lines.append(f"  and {len(notes) - SHOWN_NOTES} more notes, on the page")
    return lines


def states_of(sweep: Sweep) -> list[tuple[str, str]]:
    """Return machines with the states of their drives; without names if all are identical."""
    states: dict[str, dict[str, None]] = {}
    for at, row in zip(sweep.points, sweep.rows, strict=True):
        if row is not None:
            states.setdefault(str(at.get("target", "")), {}).update(dict.fromkeys(row.state))
    if len({tuple(lines) for lines in states.values()}) == 1:
        return [("", line) for line in next(iter(states.values()))]
    return [(name, line) for name, lines in states.items() for line in lines]


def notes_of(sweep: Sweep) -> list[tuple[str, int]]:
    """Return notes with the number of their runs, in order of frequency. Notes that differ only in numbers are
    merged, with the numbers of the first."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for row in sweep.rows:
        for note in row.notes if row is not None else ():
            alike = re.sub(r"\d[\d.,]*", "0", note)
            first.setdefault(alike, note)
            counts[alike] += 1
    return [(first[alike], count) for alike, count in counts.most_common()]
