"""Charts of a sweep: figures over the swept values, latency over rate, and two parameters as a matrix of colours.

As in `draw.charts`, no chart computes a result, and every chart is a single view whose width follows its container. A
line has the same colour and point shape in all charts that receive the same `Lines`; the page has one key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.views.draw.charts import DASHES, LOG_SPAN, MUTED, NUMBER, RULE, ScaleAndAxis, dress, extent, overlay
from hotband.views.draw.review import CURVE_HEIGHT, Axis, Lines

CELL = 30
"""Height of a row of a matrix (px)."""
MOST_TICKS = 16
"""Most values of an axis with a tick each; with more values, ticks are at round numbers."""


@dataclass(frozen=True)
class Steps:
    """An axis of the swept values, labelled with the texts in which they were given."""

    title: str
    texts: Sequence[str]
    numbers: Sequence[float]
    is_log: bool

    def channel(self) -> ScaleAndAxis:
        """Return scale and axis, with space at the ends for half of their labels."""
        low, high = min(self.numbers), max(self.numbers)
        if len(self.numbers) > MOST_TICKS:
            axis = alt.Axis(title=self.title, format=NUMBER, tickCount=8, labelOverlap="greedy")
        else:
            # As JavaScript writes the number of a tick.
            keys = [str(int(value)) if float(value).is_integer() else repr(value) for value in self.numbers]
            names = json.dumps(dict(zip(keys, self.texts, strict=True)))
            axis = alt.Axis(
                title=self.title,
                values=list(self.numbers),
                tickCount=60,
                labelExpr=f"({names})[datum.value] || format(datum.value, '{NUMBER}')",
                labelOverlap="greedy",
                labelSeparation=6,
            )
        scale = alt.Scale(type="linear", domain=[low, high], nice=False, padding=14)
        if self.is_log:
            scale = alt.Scale(type="log", base=2, domain=[low, high], nice=False, padding=14)
        return {"scale": scale, "axis": axis}


def swept_chart(rows: pl.DataFrame, x: Steps, y: Axis, lines: Lines, *, chosen: bool = False) -> View:
    """Return a chart with a line through the points of each of `lines`, with error bars; if a reader chooses runs, the
    second is dashed.

    `rows`: run, line, x, at (the value's text), the column of `y`, low and high (null without an error bar).
    """
    return _with_ends(rows, alt.X("x:Q", **x.channel()), y, lines, {"line": lines.title, "at": x.title}, chosen)


def hockey_chart(rows: pl.DataFrame, x: Axis, y: Axis, lines: Lines, along: str, *, chosen: bool = False) -> View:
    """Return a chart of latency over rate, a line for each of `lines` in the order of the swept values, which are in
    the column `along`.

    `rows`: as in `swept_chart`, and the column of the axis `x`.
    """
    at = alt.X(f"{x.column}:Q", **x.channel(rows))
    return _with_ends(rows, at, y, lines, {"line": lines.title, "at": along}, chosen)


def _with_ends(rows: pl.DataFrame, x: alt.X, y: Axis, lines: Lines, titles: dict[str, str], chosen: bool) -> View:
    """Return lines, points and error bars over an axis."""
    scale = y.channel(rows)
    tooltip = [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]
    for column, title in _numbers(rows, y).items():
        tooltip.append(alt.Tooltip(f"{column}:Q", title=title, format=",.4~r"))
    base = alt.Chart(rows).encode(
        x=x,
        color=alt.Color("line:N", scale=lines.scale(), legend=None),
        tooltip=tooltip,
    )
    at = alt.Y(f"{y.column}:Q", **scale)
    line = base.mark_line(strokeWidth=2, strokeJoin="round").encode(y=at, order=alt.Order("x:Q"))
    dash = alt.StrokeDash("line:N", scale=lines.dashes(), legend=None)
    if chosen:
        names = alt.Legend(columns=1, labelLimit=320)
        dash = alt.StrokeDash("run:N", scale=alt.Scale(range=[list(dash) for dash in DASHES]), legend=names)
    dashed = line.encode(strokeDash=dash)
    shape = alt.Shape("line:N", scale=lines.shapes(), legend=None)
    layers: list[Any] = [dashed, base.mark_point(filled=True, size=42, opacity=1).encode(y=at, shape=shape)]
    if bool(rows["low"].is_not_null().any()):
        ranged = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        low = alt.Y("low:Q", **scale)
        layers.append(ranged.mark_rule(strokeWidth=1.3, opacity=0.75).encode(y=low, y2=alt.Y2("high:Q")))
        for end in ("low", "high"):
            tick = ranged.mark_tick(thickness=1.3, size=7, orient="horizontal", opacity=0.75)
            layers.append(tick.encode(y=alt.Y(f"{end}:Q", **scale)))
    return dress(overlay(*layers), width="container", height=CURVE_HEIGHT)


def _numbers(rows: pl.DataFrame, y: Axis) -> dict[str, str]:
    """Return the numbers of a point in the tooltip."""
    known = {y.column: y.title, "low": "From", "high": "To"}
    others = {name: name for name in rows.columns if name not in known and name not in ("line", "x", "at", "run")}
    return {name: title for name, title in {**known, **others}.items() if rows[name].dtype.is_numeric()}


@dataclass(frozen=True)
class Matrix:
    """Two parameters as columns and rows, each with its values as texts in order, and the quantity of the colours."""

    columns: str
    column_texts: Sequence[str]
    rows: str
    row_texts: Sequence[str]
    figure: str
    values: pl.Series


def matrix_chart(cells: pl.DataFrame, matrix: Matrix) -> View:
    """Return a cell for each pair of values, coloured by `value`, which is printed in it; matrices with the same
    `values` have the same colours.

    `cells`: column, row, value, text.
    """
    low, high = extent(matrix.values) or (1.0, 1.0)
    is_log = high / low > LOG_SPAN
    middle = (low * high) ** 0.5 if is_log else (low + high) / 2
    domain = [low, high] if high > low else [low * 0.5, high * 1.5]
    scale = alt.Scale(type="log" if is_log else "linear", domain=domain, range=["#e8f1f8", "#0a3a66"])
    ticks: dict[str, Any] = {"ticks": False, "domain": False, "labelColor": MUTED}
    base = alt.Chart(cells).encode(
        x=alt.X(
            "column:N",
            sort=list(matrix.column_texts),
            axis=alt.Axis(title=matrix.columns, labelAngle=0, labelOverlap="greedy", **ticks),
        ),
        y=alt.Y("row:N", sort=list(matrix.row_texts)[::-1], axis=alt.Axis(title=matrix.rows, **ticks)),
        tooltip=[
            alt.Tooltip("column:N", title=matrix.columns),
            alt.Tooltip("row:N", title=matrix.rows),
            alt.Tooltip("text:N", title=matrix.figure),
        ],
    )
    filled = base.mark_rect(stroke=RULE, strokeWidth=0.5).encode(color=alt.Color("value:Q", scale=scale, legend=None))
    white = alt.ColorValue(**alt.condition(f"datum.value > {middle!r}", alt.value("#ffffff"), alt.value("#1f2933")))
    text = base.mark_text(fontSize=10).encode(text=alt.Text("text:N"), color=white)
    return dress(overlay(filled, text), width="container", height=CELL * len(matrix.row_texts))
