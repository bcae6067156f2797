"""Intervals on the terminal: lines of a run, tables of a study, and the sources of an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text import numbers
from hotband.base.text.numbers import counted, percent, share
from hotband.base.text.table import (
    CHANGE,
    MBS,
    MS,
    OF_ROW,
    PERCENT,
    PLAIN,
    SHARE,
    Estimate,
    Range,
    Table,
    Unit,
    Value,
    View,
    column,
    interval,
    numeric,
    unit_of,
)
from hotband.base.text.words import capitalized
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, screen_table, shortened

if TYPE_CHECKING:
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
    from hotband.inference.interval.asked import WhyQuestion
    from hotband.inference.interval.conformal import FigureSpread
    from hotband.inference.interval.explained import Why
    from hotband.questions.study.asked import StudyIntervalsQuestion, StudyWhyQuestion
    from hotband.questions.study.intervals.intervalfile import IntervalFile
    from hotband.questions.study.intervals.largest import FigureError, FigureErrors
    from hotband.questions.study.intervals.spreads import AllIntervals, Spreads

LABELS = {
    "iops": "IOPS",
    "bandwidth_bytes_per_s": "MB/s",
    "latency_mean_ns": "mean",
    "latency_p50_ns": "p50",
    "latency_p99_ns": "p99",
    "latency_p999_ns": "p99.9",
}
BAR = 10
MOST_SPREADS = 16
SHOWN = 0.005
"""Shares below half a percent are combined."""


def said(interval: IntervalDoc, unit: Unit = PLAIN) -> str:
    """Format an interval: 90 % interval 4,900 to 6,300."""
    return f"{interval['level']:g} % interval {numbers.between(interval['low'], interval['high'], unit.shown)}"


def with_ends(value: float | None, ends: BoundsDoc | None) -> Value:
    """Return a figure with its interval, if there is one: 5,580 (4,900 to 6,300)."""
    return value if value is None or ends is None else Estimate(value, ends["low"], ends["high"])


def interval_lines(intervals: RunIntervalsDoc) -> list[str]:
    """Return the intervals of a run, one line per figure, and their basis; or why there are none."""
    if not intervals["figures"] and not intervals["draws"]:
        return [f"{capitalized(note)}." for note in intervals["notes"]]
    lines = [_line(figure) for figure in intervals["figures"]]
    lines += [f"  {evidence}" for evidence in [intervals.get("rests_on")] if evidence]
    if not intervals["draws"]:
        return [*lines, *(f"  note: {note}" for note in intervals["notes"])]
    refused = f", {intervals['refused']} more refused by the model" if intervals["refused"] else ""
    drawn = (
        f"{intervals['draws']} samples of {len(intervals['values'])} uncertain values{refused}; "
        f"{len(intervals['without_effect'])} others have no effect"
        if intervals["values"]
        else "no uncertain value moves a figure"
    )
    return [
        *lines,
        f"  Rests on {drawn}, the seed, and the model's error.",
        *(f"  note: {note}" for note in intervals["notes"]),
    ]


def _line(figure: FigureIntervalDoc) -> str:
    side, _, name = figure["figure"].rpartition(".")
    unit = unit_of(name)
    values = numbers.between(figure["values_low"], figure["values_high"], unit.shown)
    words = f" of {side}s" if side else ""
    label = "" if LABELS[name] == unit.name else f" {LABELS[name]}"
    alone = "" if figure["values_low"] == figure["values_high"] else f"; {values} from parameter uncertainty alone"
    return f"{unit.shown(figure['predicted'])}{label}{words} ({said(figure, unit)}{alone})"


def intervals_table(intervals: RunIntervalsDoc) -> Table:
    """Return the intervals of a run, one row per figure, for output without words."""
    ranges = [interval("interval", OF_ROW), interval("by values alone", OF_ROW)]
    columns = [column("figure"), numeric("predicted", OF_ROW), *ranges, column("class")]
    table = Table(f"Intervals of {intervals['level']:g} %", columns)
    for figure in intervals["figures"]:
        side, _, name = figure["figure"].rpartition(".")
        table.add(
            f"{side} {LABELS[name]}".strip(),
            figure["predicted"],
            Range(figure["low"], figure["high"]),
            Range(figure["values_low"], figure["values_high"]),
            figure["figure_class"],
            unit=unit_of(name),
        )
    return table


MOST_VALUES, MOST_ERRORS = 8, 12


def terminal(result: Why, question: WhyQuestion) -> Screen:
    """Return the terminal's lines about the sources of an uncertainty."""
    document = result.to_dict()
    unit = {"ns": MS, "B/s": MBS}.get(document["unit"], Unit(document["unit"]))
    sources = {
        "model error": document["of_model"],
        "drive parameters": document["of_values"],
        "random seed": document["of_seed"],
    }
    shares = ", ".join(f"{name} {share(part)}" for name, part in sources.items())
    predicted = unit.shown(document["predicted"])
    return Screen(
        answer=f"{document['label']} is predicted at {predicted} ({said(document['interval'], unit)}).",
        more=[f"Sources of uncertainty: {shares}.", f"The model error is {document['rests_on']}."],
        body=_sources(document),
        remarks=[document["advice"]] if document["advice"] else [],
        next=question,
        details=why_views(document),
    )


def largest_terminal(errors: FigureErrors, question: StudyWhyQuestion) -> Screen:
    """Return what `study why` shows without a figure: those with the largest errors, and how to name one."""
    if not errors.rows:
        return Screen(answer=f"No published figure of {errors.study} has a prediction.")
    first = errors.rows[0]
    size = percent(first.error_pct)
    return Screen(
        answer=f"The largest error of {errors.study} is {size}: {first.label} ({first.figure}).",
        body=[shortened(_errors_screen(errors.rows), MOST_ERRORS, "more figure")],
        next=replace(question, figure=first.figure),
        details=[_errors_table(errors.rows)],
    )


def _errors_screen(rows: Sequence[FigureError]) -> Table:
    """Return one row per figure as far as a screen has room."""
    table = screen_table([column("id"), column("machine"), column("figure"), numeric("error", CHANGE)])
    for row in rows:
        table.add(row.figure, row.config, row.label.removeprefix(f"{row.config}, "), row.error_pct)
    return table


def _errors_table(rows: Sequence[FigureError]) -> Table:
    """Return one row per figure: its id, which names it, and its error."""
    table = Table(
        "Errors of figures",
        [
            *map(column, ("id", "figure", "unit")),
            *map(numeric, ("published", "predicted")),
            numeric("error", CHANGE),
        ],
    )
    for row in rows:
        table.add(row.figure, row.label, row.unit, row.published, row.predicted, row.error_pct)
    return table


def _sources(figure: WhyFigureDoc) -> list[View]:
    """Return the values that matter, with their shares as bars."""
    rows = [row for row in figure["values"] if row["total"] >= SHOWN][:MOST_VALUES]
    if not rows:
        return []
    moves = [numeric("at low", CHANGE), numeric("at high", CHANGE)]
    parts = {row["part"] for row in figure["values"]}
    owner = f" of {parts.pop()}" if len(parts) == 1 else ""
    table = screen_table([column(f"value{owner}"), bar_column(BAR), numeric("share", SHARE), *moves])
    for row, drawn in zip(rows, bars([row["total"] for row in rows], BAR), strict=True):
        table.add(
            row["key"] if owner else f"{row['part']}: {row['key']}",
            drawn,
            row["total"],
            row["low_pct"],
            row["high_pct"],
        )
    return [table]


def why_views(figure: WhyFigureDoc) -> list[View]:
    """Return the sources of an interval: a line of shares, a table of values, and what to measure."""
    unit = {"ns": MS, "B/s": MBS}.get(figure["unit"], Unit(figure["unit"]))
    head = marked(
        "[bold]{label}[/]: {value} ({interval}), class: {of}",
        label=figure["label"],
        value=unit.shown(figure["predicted"]),
        interval=said(figure["interval"], unit),
        of=figure["figure_class"],
    )
    shares = (
        f"Sources of uncertainty: model error {share(figure['of_model'])} ({figure['rests_on']}), drive parameters "
        f"{share(figure['of_values'])}, seed {share(figure['of_seed'])}"
    )
    if figure["unexplained"]:
        shares += f"; {share(figure['unexplained'])} of values acting together, not split up"
    shares_of = [numeric("alone", SHARE), numeric("total", SHARE)]
    moves = [numeric("at low", CHANGE), numeric("at high", CHANGE), numeric("narrower", PERCENT)]
    columns = [column("value"), column("range"), *shares_of, *moves]
    table = Table("Uncertain values, by their share of the effect of all values", columns)
    rows = [row for row in figure["values"] if row["total"] >= SHOWN]
    for row in rows:
        table.add(*_row(row))
    left = len(figure["values"]) - len(rows)
    more = [f"{left} more with less than half a percent each."] if left else []
    return [head, shares, *([table] if rows else []), *more, figure["advice"]]


def _row(row: ShareDoc) -> tuple[Value, ...]:
    span = f"{row['low']} .. {row['high']}" if "," not in row["key"] else "each its own range, together"
    shares = row["first"], row["total"]
    return f"{row['part']}: {row['key']}", span, *shares, row["low_pct"], row["high_pct"], row["narrower_pct"]


def coverage_table(rows: Sequence[CoverageDoc], level: float) -> Table:
    """Return the share of published figures inside their intervals."""
    counts = [numeric("n"), numeric("inside"), numeric("coverage", PERCENT), numeric("half width", PERCENT)]
    columns = [column("figures"), column("predicted"), *counts]
    table = Table(f"Coverage of {level:g} % intervals, each study left out", columns)
    for row in rows:
        values = (row["figures"], row["inside"], row["coverage_pct"], row["width_pct"])
        table.add(row["figure_class"], row["predicted"], *values)
    return table


def terms_table(rows: Sequence[ClassTermDoc]) -> Table:
    """Return the model error by class of figure."""
    counts = [numeric("n"), numeric("studies"), numeric("median", SHARE)]
    columns = [column("class"), *counts, column("quantile over")]
    table = Table("Model error by class of figure", columns)
    for row in rows:
        pooled = f"{row['pooled_with']} ({row['pooled_figures']})"
        table.add(row["figure_class"], row["figures"], row["studies"], math.expm1(row["size"]), pooled)
    return table


def all_terminal(intervals: AllIntervals, question: StudyIntervalsQuestion) -> Screen:
    """Return the output of `study intervals --all`: the share of published figures inside their intervals."""
    made = intervals.document
    rows = made["coverage"]
    figures, inside = (sum(row[key] for row in rows) for key in ("figures", "inside"))
    table = replace(coverage_table(rows, made["level"]), title="", borderless=True)
    held = f"{made['level']:g} % intervals hold {inside:,} of {counted(figures, 'published figure')}"
    return Screen(
        answer=f"{held} ({percent(100 * inside / figures, signed=False)})." if figures else f"{held}.",
        body=[shortened(table, MOST_SPREADS)],
        state=[f"Each of {len(made['studies'])} studies is left out in turn."],
        next=question,
        details=[coverage_table(rows, made["level"]), "", terms_table(made["terms"])],
    )


def spreads_terminal(spreads: Spreads, question: StudyIntervalsQuestion) -> Screen:
    """Return what `study intervals` shows: how far uncertain values move the figures of a study."""
    figures = {
        name: figure for name, figure in spreads.file.figures.items() if figure.cells and figure.predicted is not None
    }
    farthest = max(figures, key=lambda name: max(figures[name].low, figures[name].high), default=None)
    values = counted(len(spreads.file.values), "uncertain value")
    if farthest is None:
        answer = f"{values} of {spreads.file.study} are sampled, and no figure depends on them."
    else:
        down, up = (share(math.expm1(end)) for end in (figures[farthest].low, figures[farthest].high))
        answer = f"{values} of {spreads.file.study} move its figures by up to {down} down and {up} up ({farthest})."
    return Screen(
        answer=answer,
        body=[shortened(_spreads(figures), MOST_SPREADS, "more figure")] if figures else [],
        next=question,
        details=[spreads_table(spreads.file)],
    )


def _spreads(figures: Mapping[str, FigureSpread]) -> Table:
    """Return a row per figure, those that move farthest first, with a bar."""
    moves = [numeric(name, SHARE) for name in ("down", "up", "seed")]
    table = screen_table([column("figure"), numeric("predicted"), *moves, bar_column(BAR)])
    ordered = sorted(figures.items(), key=lambda pair: -max(pair[1].low, pair[1].high))
    drawn = bars([math.expm1(max(figure.low, figure.high)) for _, figure in ordered], BAR)
    for (name, figure), picture in zip(ordered, drawn, strict=True):
        table.add(name, figure.predicted, *map(math.expm1, (figure.low, figure.high, figure.seed)), picture)
    return table


def spreads_table(file: IntervalFile) -> Table:
    """Return the effects of the uncertain values and the seed on each figure of a study."""
    moves = [numeric(name, SHARE) for name in ("down", "up", "seed")]
    columns = [column("figure"), column("class"), numeric("predicted"), *moves]
    table = Table(f"{file.study}: effects of uncertain values on its figures", columns)
    for name, figure in file.figures.items():
        if figure.cells and figure.predicted is not None:
            table.add(
                name, figure.figure_class, figure.predicted, *map(math.expm1, (figure.low, figure.high, figure.seed))
            )
    return table
