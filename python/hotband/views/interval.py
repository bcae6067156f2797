"""Intervals on the terminal: lines of a run, tables of a study, and where an interval comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.cells import four_digits
from hotband.base.text.formats import Between, Estimate, Figure

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hotband.data.documents.interval import (
        BoundsDoc,
        ClassTermDoc,
        CoverageDoc,
        FigureIntervalDoc,
        RunIntervalsDoc,
        ShareDoc,
        WhyFigureDoc,
    )
    from hotband.data.documents.study import IntervalDoc
    from hotband.questions.study.intervals.intervalfile import IntervalFile

LABELS = {
    "iops": "IOPS",
    "bandwidth_bytes_per_s": "MB/s",
    "latency_mean_ns": "ms mean",
    "latency_p50_ns": "ms p50",
    "latency_p99_ns": "ms p99",
    "latency_p999_ns": "ms p99.9",
}
IN_MILLIONS = 1e6
"""Bytes a second as MB/s, nanoseconds as milliseconds."""
SHOWN = 0.005
"""Shares below half a percent are summed up."""


def rounded(value: float) -> str:
    """Three significant digits, thousands separated."""
    if not value:
        return Figure("0", 0.0)
    text = f"{value:.3g}"
    return Figure(f"{float(text):,.0f}" if abs(float(text)) >= 100 else text, value)


def low_to_high(low: float, high: float) -> str:
    """Both ends in words; with four digits, as what lies between them has, where three are the same."""
    digits = rounded if rounded(low) != rounded(high) else four_digits
    return f"{digits(low)} to {digits(high)}"


def said(interval: IntervalDoc, scale: float = 1.0) -> str:
    """An interval in words: 90 %: 4,900 to 6,300."""
    return f"{interval['level']:g} %: {low_to_high(interval['low'] / scale, interval['high'] / scale)}"


def with_ends(figure: str, ends: BoundsDoc | None, scale: float = 1.0) -> str:
    """A figure of a table with its interval behind it, where there is one: 5,580 (4,900 to 6,300)."""
    if ends is None:
        return figure
    low, high = ends["low"] / scale, ends["high"] / scale
    text = f"{figure} ({rounded(low)} to {rounded(high)})"
    return Estimate.of(text, figure, low, high) if isinstance(figure, Figure) else text


def interval_lines(of: RunIntervalsDoc) -> list[str]:
    """The intervals of a run, a line a figure, and what they rest on; why there are none."""
    if not of["figures"] and not of["draws"]:
        return [f"{note[0].upper()}{note[1:]}." for note in of["notes"]]
    lines = [_line(one) for one in of["figures"]]
    refused = f", {of['refused']} more refused by the model" if of["refused"] else ""
    drawn = (
        f"{of['draws']} draws of {len(of['values'])} uncertain values{refused}; "
        f"{len(of['without_effect'])} others move nothing"
        if of["values"]
        else "no uncertain value moves a figure"
    )
    return [
        *lines,
        f"  Rests on {drawn}, the seed, and how far the studies' figures lie from their predictions.",
        *(f"  note: {note}" for note in of["notes"]),
    ]


def _line(one: FigureIntervalDoc) -> str:
    side, _, name = one["figure"].rpartition(".")
    scale = 1.0 if name == "iops" else IN_MILLIONS
    values = low_to_high(one["values_low"] / scale, one["values_high"] / scale)
    of = f" of {side}s" if side else ""
    predicted = four_digits(one["predicted"] / scale)
    return f"{predicted} {LABELS[name]}{of} ({said(one, scale)}; by its values alone {values})"


def intervals_table(of: RunIntervalsDoc) -> Table:
    """The intervals of a run, a line a figure, where words are not asked for."""
    from rich.table import Table

    table = Table(title=f"Intervals of {of['level']:g} %", title_justify="left")
    table.add_column("figure")
    for name in ("predicted", "interval", "by values alone"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("class", overflow="fold")
    for one in of["figures"]:
        side, _, name = one["figure"].rpartition(".")
        scale = 1.0 if name == "iops" else IN_MILLIONS
        unit, _, which = LABELS[name].partition(" ")
        predicted = one["predicted"] / scale
        table.add_row(
            f"{side} {which or unit}".strip(),
            Figure(f"{four_digits(predicted)} {unit}", predicted, unit),
            _ends(one["low"] / scale, one["high"] / scale, unit),
            _ends(one["values_low"] / scale, one["values_high"] / scale, unit),
            one["figure_class"],
        )
    return table


def _ends(low: float, high: float, unit: str) -> str:
    return Between(f"{rounded(low)} to {rounded(high)} {unit}", low, high, unit)


def why_views(of: WhyFigureDoc) -> list[Table | Text | str]:
    """Where an interval comes from: a line of shares, a table of values, and what to measure."""
    from rich.table import Table

    scale, unit = (IN_MILLIONS, "ms") if of["unit"] == "ns" else (1.0, of["unit"])
    if of["unit"] == "B/s":
        scale, unit = IN_MILLIONS, "MB/s"
    head = marked(
        "[bold]{label}[/]: {value} {unit} ({interval}), class: {of}",
        label=of["label"],
        value=four_digits(of["predicted"] / scale),
        unit=unit,
        interval=said(of["interval"], scale),
        of=of["figure_class"],
    )
    shares = (
        f"Squared width: what the model leaves out {percent(of['of_model'])}, uncertain values "
        f"{percent(of['of_values'])}, seed {percent(of['of_seed'])}"
    )
    if of["unexplained"]:
        shares += f"; {percent(of['unexplained'])} of values acting together, not split up"
    table = Table(title="Uncertain values, by their share of what values do", title_justify="left")
    table.add_column("value", overflow="fold", ratio=3)
    table.add_column("range", overflow="fold", ratio=2)
    for name in ("alone", "total", "at low", "at high", "narrower"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = [row for row in of["values"] if row["total"] >= SHOWN]
    for row in rows:
        table.add_row(*_row(row))
    left = len(of["values"]) - len(rows)
    more = [f"{left} more with less than half a percent each."] if left else []
    return [head, shares, *([table] if rows else []), *more, of["advice"]]


def _row(row: ShareDoc) -> tuple[str, ...]:
    moves = (row["low_pct"], row["high_pct"])
    ends = [Figure("–" if moved is None else f"{moved:+.1f} %", moved, "%") for moved in moves]
    span = f"{row['low']} .. {row['high']}" if "," not in row["key"] else "each its own, together"
    return f"{row['part']}: {row['key']}", span, percent(row["first"]), percent(row["total"]), *ends, _narrower(row)


def _narrower(row: ShareDoc) -> str:
    return Figure(f"{row['narrower_pct']:.0f} %", row["narrower_pct"], "%")


def percent(share: float) -> str:
    """A share in percent."""
    text = f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else f"{100 * share:.1f} %"
    return Figure(text, 100 * share, "%")


def _moved(spread: float, places: int) -> str:
    """What a logarithm moves, in percent."""
    return Figure(f"{100 * math.expm1(spread):.{places}f} %", 100 * math.expm1(spread), "%")


def coverage_table(rows: Sequence[CoverageDoc], level: float) -> Table:
    """How often intervals hold what was published."""
    from rich.table import Table

    table = Table(title=f"Coverage of {level:g} % intervals, each study left out", title_justify="left")
    for name in ("figures", "predicted"):
        table.add_column(name, overflow="fold")
    for name in ("n", "inside", "coverage", "half width"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        counts = (str(row["figures"]), str(row["inside"]))
        shares = (row["coverage_pct"], row["width_pct"])
        shown = (Figure(f"{share:.0f} %", share, "%") for share in shares)
        table.add_row(row["figure_class"], row["predicted"], *counts, *shown)
    return table


def terms_table(rows: Sequence[ClassTermDoc]) -> Table:
    """What the model leaves out, by class."""
    from rich.table import Table

    table = Table(title="What the model leaves out, by class of figure", title_justify="left")
    table.add_column("class", overflow="fold")
    for name in ("n", "studies", "median"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("quantile over", overflow="fold")
    for row in rows:
        pooled = f"{row['pooled_with']} ({row['pooled_figures']})"
        table.add_row(
            row["figure_class"],
            str(row["figures"]),
            str(row["studies"]),
            _moved(row["size"], 0),
            pooled,
        )
    return table


def spreads_table(of: IntervalFile) -> Table:
    """How far the uncertain values and the seed move each figure of a study."""
    from rich.table import Table

    table = Table(title=f"{of.study}: what uncertain values do to its figures", title_justify="left")
    for name in ("figure", "class"):
        table.add_column(name, overflow="fold")
    for name in ("predicted", "down", "up", "seed"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, one in of.figures.items():
        if one.cells and one.predicted is not None:
            shown = (_moved(spread, 1) for spread in (one.low, one.high, one.seed))
            table.add_row(name, one.figure_class, four_digits(one.predicted), *shown)
    return table
