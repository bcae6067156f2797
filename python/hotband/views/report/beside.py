"""Records next to each other: bars of rate and latency, and a table with the difference from the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.base.text.numbers import finite, number, percent
from hotband.base.text.table import MBS, MS
from hotband.data.record.intervals import figure_interval
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.rules import contradicted
from hotband.views.draw.review import Lines, amounts
from hotband.views.interval import said
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Table
from hotband.views.report.review_topics import bar, bar_frame

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.record.load import LoadedRecord
    from hotband.views.draw.strokes import Strokes
    from hotband.views.report.answer import Answer
    from hotband.views.report.naming import Naming
    from hotband.views.report.review_intervals import Row

# Ratio from which a multiple reads better than a percentage.
MULTIPLE = 2.0
# Most records for which bars are useful.
MOST_BARS = 24
BARS = (
    ("iops", "IOPS", 1.0),
    ("latency_mean_ns", "Mean latency (ms)", 1e6),
    ("latency_p99_ns", "p99 latency (ms)", 1e6),
)
COLUMNS = (
    "Run", "IOPS", "Against the first", "MB/s", "Mean (ms)", "p50 (ms)", "p99 (ms)", "p99.9 (ms)", "Max (ms)", "Errors",
)  # fmt: skip
LATENCIES = ("mean", "p50", "p99", "p999", "max")


def bars_blocks(records: Mapping[str, LoadedRecord], strokes: Strokes) -> list[Block]:
    """Return bars of rate, mean and p99 latency by record; none if there are too many, or nothing was measured."""
    if len(records) > MOST_BARS:
        return []
    lines = Lines("Run", {label: strokes.colors[label] for label in records})
    charts = []
    for key, title, unit in BARS:
        bars = [
            made for label, loaded in records.items() if (made := _bar(label, loaded.record, key, unit)) is not None
        ]
        if len(bars) > 1:
            charts.append(Chart(title, amounts(bar_frame(bars), title, lines, wide=False)))
    return [Charts(charts, width=300)] if charts else []


def _bar(label: str, record: RecordDoc, key: str, unit: float) -> Row | None:
    value = finite(record["summary"].get(key))
    return bar(key, key, value / unit, label, ends=_ends(record, key, unit)) if value else None


def _ends(record: RecordDoc, key: str, unit: float) -> Row | None:
    """Return the interval of a figure; None if the record has none."""
    interval = figure_interval(record, key)
    return None if interval is None else {"low": interval["low"] / unit, "high": interval["high"] / unit}


def comparison_table(naming: Naming, answer: Answer, states: Mapping[str, str], lines: Mapping[str, str]) -> Table:
    """Return one row per record: its figures, the difference of its rate from that of the first, and the state of its
    drives, printed once for the points of a line and for repeats."""
    by_line = {line: states[label] for label, line in lines.items()}
    together = len(by_line) < len(states) and all(by_line[lines[label]] == state for label, state in states.items())
    alike = len(set(states.values())) == 1
    with_change = bool(answer.against) and not answer.unlike
    columns = [name for name in COLUMNS if with_change or name != "Against the first"]
    sides = {label: name for name, labels in naming.sides().items() for label in reversed(labels)}
    firsts = {labels[0] for labels in naming.sides().values()}
    rows = []
    for label in answer.curve.labels if answer.curve else naming.records:
        loaded = naming.records[label]
        summary = loaded.record["summary"]
        cells = [Cell(label, under="" if alike or together else states[label]), _rate(loaded, label)]
        # Repeats share everything that the first of them shows.
        cells += [_change(answer, sides[label] if label in firsts else "")] if with_change else []
        cells.append(Cell(MBS.bare(summary.get("bandwidth_bytes_per_s")), numeric=True))
        cells += [Cell(MS.bare(summary.get(f"latency_{key}_ns")), numeric=True) for key in LATENCIES]
        rows.append([*cells, Cell(number(summary.get("errors")), numeric=True)])
    caption = f"State of the drives in all runs: {next(iter(states.values()))}." if alike else ""
    if together and not alike:
        caption = f"State of the drives: {'; '.join(f'{line}: {state}' for line, state in by_line.items())}."
    if with_change:
        caption = f"{caption} Differences of IOPS with their 95 % interval.".strip()
    return Table(columns, [Group(rows)], caption=caption, tight=True)


def _rate(loaded: LoadedRecord, label: str) -> Cell:
    """Return the rate, with its interval below it if it has one; a mark if figures of the result contradict it."""
    record = loaded.record
    if contradicted(Audited(label, record, loaded.series, over_time=loaded.over_time)):
        return Cell(f"! {number(record['summary'].get('iops'))}", numeric=True, under="contradicts itself")
    interval = figure_interval(record, "iops")
    under = "" if interval is None else f"({said(interval)})"
    return Cell(number(record["summary"].get("iops")), numeric=True, under=under)


def _change(answer: Answer, label: str) -> Cell:
    """Return the difference from the first, with the interval."""
    comparison = answer.against.get(label)
    rate = None if comparison is None else comparison.difference("IOPS")
    if rate is None:
        return Cell("", numeric=True)
    large = rate.change_pct >= 100 * (MULTIPLE - 1)
    changed = f"{number(1 + rate.change_pct / 100, 3)} times" if large else percent(rate.change_pct)
    if rate.low_pct is None or rate.high_pct is None:
        return Cell(changed, numeric=True, under=rate.verdict)
    ends = [number(1 + end / 100, 3) if large else percent(end) for end in (rate.low_pct, rate.high_pct)]
    return Cell(changed, numeric=True, under=" to ".join(ends))
