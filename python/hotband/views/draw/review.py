"""Charts of reviews: curves over block size, queue depth or position, and amounts as bars with their numbers.

As in `draw.charts`, no chart computes a result, and every chart is a single view whose width follows its container.
Bars start at zero; amounts that span more than `LOG_SPAN` become dots on a log axis, where a bar's length would mean
nothing. A line has the same colour and point shape in all charts that receive the same `Lines`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hotband.base.heavy import alt, pl
from hotband.base.text.numbers import size
from hotband.base.views import View
from hotband.views.draw.charts import (
    DASHES,
    HALF_CHARS,
    INK,
    LOG_SPAN,
    MUTED,
    NUMBER,
    PALETTE,
    ScaleAndAxis,
    dress,
    extent,
    legend,
    log_steps,
    overlay,
    rate_axis,
    tight_log_axis,
)
from hotband.views.draw.named_rows import Rows
from hotband.views.draw.strokes import dashed

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
# Vega's viridis, cut off where it becomes too pale for a thin line on white.
RAMP = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151")
# Most points of a line that are drawn: more would run into each other.
MARKED = 40
BAR = 17
# For charts narrower than the page and as wide as it: characters of the legend, and space right of the longest bar.
CHARS = {True: 100, False: HALF_CHARS}
ROOM = {True: 0.16, False: 0.4}
CURVE_HEIGHT = 270


@dataclass(frozen=True)
class Lines:
    """Lines or bars of a chart, in order, each with its colour. Lines below `dashed` ones show through the gaps."""

    title: str
    colors: Mapping[str, str]
    dashed: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """Return the names, in order."""
        return list(self.colors)

    def scale(self) -> alt.Scale:
        """Return the colours of the names."""
        return alt.Scale(domain=self.names, range=list(self.colors.values()))

    def shapes(self) -> alt.Scale:
        """Return the point shapes of the names."""
        return alt.Scale(domain=self.names, range=[SHAPES[n % len(SHAPES)] for n in range(len(self.names))])

    def dashes(self) -> alt.Scale:
        """Return the dashes of the names."""
        return alt.Scale(domain=self.names, range=self.own_dashes())

    def own_dashes(self) -> list[list[float]]:
        """Return the strokes of the names: solid until the palette repeats its colours, except for those that are
        `dashed`."""
        rounds = [1 if name in self.dashed else n // len(PALETTE) for n, name in enumerate(self.names)]
        return [list(DASHES[n % len(DASHES)]) for n in rounds]


def palette(title: str, names: Iterable[str], first: int = 0) -> Lines:
    """Return a colour of the palette for each name, beginning with the `first`."""
    return Lines(title, {name: PALETTE[(first + n) % len(PALETTE)] for n, name in enumerate(names)})


def ramp(title: str, names: Sequence[str]) -> Lines:
    """Return colours from dark to light for names that grow; with more than five the steps are smaller."""
    last = max(1, len(names) - 1)
    return Lines(title, {name: mixed(RAMP, n / last) for n, name in enumerate(names)})


def mixed(stops: Sequence[str], at: float) -> str:
    """Return the colour at `at` (0 to 1) between evenly spaced stops."""
    position = at * (len(stops) - 1)
    left = min(int(position), len(stops) - 2)
    pairs = zip(_channels(stops[left]), _channels(stops[left + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (position - left)):02x}" for a, b in pairs)


def _channels(color: str) -> list[int]:
    return [int(color[n : n + 2], 16) for n in (1, 3, 5)]


@dataclass(frozen=True)
class Axis:
    """The quantity along an axis: its column, the title with the unit, and the scale.

    `zero`: from zero. `rate`: from zero, or log over decades. `log`: log. `depth` and `size`: steps of two, of queue
    depths and of bytes. `share`: 0 to 100 %. `within`: further numbers that the scale must include.
    """

    column: str
    title: str
    scale: Literal["zero", "rate", "log", "depth", "size", "share"] = "rate"
    within: pl.Series | None = None

    def channel(self, rows: pl.DataFrame) -> ScaleAndAxis:
        """Return scale and axis for the rows."""
        values = rows[self.column] if self.within is None else self.within
        if self.scale == "log":
            return tight_log_axis(values, self.title)
        if self.scale == "rate":
            return _rate(values, self.title)
        if self.scale == "depth":
            return _steps_of_two(values, self.title, ",d")
        if self.scale == "size":
            return _sizes(values, self.title)
        most = 100.0 if self.scale == "share" else (extent(values) or (0.0, 1.0))[1]
        return {
            "scale": alt.Scale(domain=[0.0, most], nice=False),
            "axis": alt.Axis(title=self.title, format=NUMBER, tickCount=8 if self.scale == "zero" else 5),
        }


def _rate(values: pl.Series, title: str) -> ScaleAndAxis:
    """Return an axis from zero to a little above the largest value; over decades as `tight_log_axis`."""
    low, high = extent(values) or (1.0, 1.0)
    if high / low > LOG_SPAN:
        return tight_log_axis(values, title)
    return rate_axis(values, title) | {"scale": alt.Scale(domain=[0.0, high * 1.05], nice=False)}


def _steps_of_two(values: pl.Series, title: str, form: str) -> ScaleAndAxis:
    low, high = extent(values) or (1.0, 2.0)
    first, last = math.floor(math.log2(low)), max(math.ceil(math.log2(high)), math.floor(math.log2(low)) + 1)
    ticks = [2**n for n in range(first, last + 1)]
    axis = alt.Axis(title=title, values=ticks, tickCount=60, format=form, labelOverlap="greedy")
    scale = alt.Scale(type="log", base=2, domain=[ticks[0], ticks[-1]], nice=False, padding=8)
    return {"scale": scale, "axis": axis}


def _sizes(values: pl.Series, title: str) -> ScaleAndAxis:
    steps = _steps_of_two(values, title, "")
    names = {str(tick): size(tick) for tick in steps["axis"].values}
    label = f"({json.dumps(names)})[datum.value]"
    axis = alt.Axis(
        title=title,
        values=steps["axis"].values,
        tickCount=60,
        labelExpr=label,
        labelOverlap="greedy",
        labelSeparation=8,
    )
    # Space for half of the last label, which would be cut off at the edge of the picture.
    steps["scale"].padding = 22
    return steps | {"axis": axis}


def curves(
    rows: pl.DataFrame,
    x: Axis,
    y: Axis,
    lines: Lines,
    *,
    order: str = "",
    wide: bool = False,
    points: bool = True,
) -> View:
    """Return a chart with a line through the rows of each of `lines`, in the order of x or of the column `order`, and
    with `points` if they are few.

    `rows`: line, the columns of the axes, and further ones, which the tooltip shows under their own names.
    """
    drawn = [name for name in lines.names if name in set(rows["line"].to_list())]
    longest = max((rows.filter(rows["line"] == name).height for name in drawn), default=0)
    shown = legend(rows["line"], CHARS[wide]) if len(lines.names) > 1 else None
    if shown is not None:
        shown.values = drawn
    color = alt.Color("line:N", scale=lines.scale(), legend=shown)
    base = alt.Chart(rows).encode(
        x=alt.X(f"{x.column}:Q", **x.channel(rows)),
        y=alt.Y(f"{y.column}:Q", **y.channel(rows)),
        color=color,
        tooltip=_tooltip(rows, {"line": lines.title, x.column: x.title, y.column: y.title}, hidden=order),
    )
    line = base.mark_line(strokeWidth=2, strokeJoin="round")
    dashes = _dashes(rows, x, y, lines)
    if any(dash != [1, 0] for dash in dashes):
        scale = alt.Scale(domain=lines.names, range=dashes)
        line = line.encode(strokeDash=alt.StrokeDash("line:N", scale=scale, legend=shown))
    layers: list[Any] = [line.encode(order=alt.Order(f"{order}:Q")) if order else line]
    if points and longest <= MARKED:
        # A separate legend, which merges with that of the colours: same field, same values.
        shape = alt.Shape("line:N", scale=lines.shapes(), legend=shown)
        layers.append(base.mark_point(filled=True, size=42, opacity=1).encode(shape=shape))
    return dress(overlay(*layers), width="container", height=CURVE_HEIGHT)


def _dashes(rows: pl.DataFrame, x: Axis, y: Axis, lines: Lines) -> list[list[float]]:
    """Return the strokes of the lines: as given, and dashed if a line would coincide with an earlier one."""
    given = lines.own_dashes()
    numbers = [str(n) for n in range(len(given))]
    is_log = y.scale == "log" or (y.scale == "rate" and _spans(rows[y.column]))
    dashes = dashed(rows, x.column, y.column, lines.names, numbers, is_log)
    return [dash if dash != [1, 0] else other for dash, other in zip(given, dashes, strict=True)]


def density(rows: pl.DataFrame, x: Axis, title: str, lines: Lines) -> View:
    """Return bins as overlapping bars from `from_` x to x; `rows`: line, from_ms (or the unit of x), x and share."""
    start = f"from_{x.column}"
    ends = rows.filter(pl.col(x.column) == pl.col(x.column).max().over("line"))
    closed = pl.concat([rows, ends.with_columns(pl.col(x.column).alias(start))])
    drawn = [name for name in lines.names if name in set(rows["line"].to_list())]
    shown = alt.Legend(values=drawn, symbolType="square", symbolStrokeWidth=0, symbolOpacity=1)
    at = alt.X(f"{start}:Q", **x.channel(rows))
    share = alt.Y("share:Q", scale=alt.Scale(zero=True), axis=alt.Axis(title=title, format=NUMBER, tickCount=5))
    color = alt.Color("line:N", scale=lines.scale(), legend=shown)
    tooltip = _tooltip(rows, {"line": lines.title, start: "From (ms)", x.column: "To (ms)", "share": title})
    bins = alt.Chart(rows).mark_rect(opacity=0.25)
    bins = bins.encode(x=at, x2=alt.X2(f"{x.column}:Q"), y=share, y2=alt.Y2Datum(0), color=color, tooltip=tooltip)
    outline = alt.Chart(closed).mark_line(interpolate="step-after", strokeWidth=1.8).encode(x=at, y=share, color=color)
    return dress(overlay(bins, outline), width="container", height=CURVE_HEIGHT)


def _tooltip(rows: pl.DataFrame, titles: Mapping[str, str], hidden: str = "") -> list[alt.Tooltip]:
    """Return the named columns under their titles, then all others under their names."""
    tooltips = []
    for name in [*titles, *(column for column in rows.columns if column not in titles and column != hidden)]:
        title = titles.get(name, name)
        if rows[name].dtype.is_numeric():
            tooltips.append(alt.Tooltip(f"{name}:Q", title=title, format=",.4~r"))
        else:
            tooltips.append(alt.Tooltip(f"{name}:N", title=title))
    return tooltips


def amounts(rows: pl.DataFrame, title: str, lines: Lines, *, rule: float | None = None, wide: bool = True) -> View:
    """Return a group of horizontal bars per row, one per line of `lines`, with the number at its end; from zero, or
    dots on a log axis if the values span more than `LOG_SPAN`.

    `rows`: row (a key), label (its text), line, value, text (printed at the end), and low and high (the ends of its
    uncertainty, null for none). A line is drawn at the value `rule`.
    """
    labels = dict(zip(rows["row"].to_list(), rows["label"].to_list(), strict=True))
    single = len(labels) == 1 and rows["line"].n_unique() > 1
    if single:
        # One row of many lines: the lines become rows named by their axis, which makes a legend superfluous.
        rows = rows.with_columns(row=pl.col("line"), label=pl.col("line"))
        labels = {name: name for name in lines.names if name in set(rows["line"].to_list())}
    drawn = [name for name in lines.names if name in set(rows["line"].to_list())]
    ends = pl.concat([rows[name] for name in ("value", "low", "high")]).drop_nulls()
    dots = _spans(rows["value"])
    slots = 1 if single else max(1, len(drawn))
    named = Rows(labels, slots * BAR)
    shown = None if single or len(lines.names) == 1 else legend(pl.Series(drawn), CHARS[wide])
    if shown is not None:
        shown.values, shown.symbolType, shown.symbolStrokeWidth = drawn, "circle" if dots else "square", 0
    x = _amount_axis(ends, title, dots, rule, ROOM[wide])
    base = alt.Chart(rows).encode(
        y=alt.Y(
            "row:N",
            scale=alt.Scale(type="band", domain=list(labels), paddingInner=0.28, paddingOuter=0.12),
            axis=named.axis(),
        ),
        color=alt.Color("line:N", scale=lines.scale(), legend=shown),
        tooltip=[
            alt.Tooltip("label:N", title="Of"),
            alt.Tooltip("line:N", title=lines.title),
            alt.Tooltip("text:N", title=title),
        ],
    )
    if slots > 1:
        base = base.encode(yOffset=alt.YOffset("line:N", scale=alt.Scale(domain=drawn)))
    layers = _amount_layers(base, x, dots, bool(rows["low"].is_not_null().any()))
    if rule is not None:
        at = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.3)
        layers.append(at.encode(x=alt.XDatum(rule)))
    layers.append(_numbers(base, x, dots, rule))
    layered = overlay(*layers)
    return dress(layered, width="container", height=named.height, usermeta={"narrow": named.narrow()})


def _spans(values: pl.Series) -> bool:
    """Return whether the values need a log axis."""
    bounds = extent(values)
    return bool(bounds and bounds[1] / bounds[0] > LOG_SPAN)


def _amount_layers(base: alt.Chart, x: ScaleAndAxis, dots: bool, uncertain: bool) -> list[Any]:
    """Return bars or dots, and the ranges over them."""
    at = alt.X("value:Q", **x)
    if dots:
        marks: list[Any] = [base.mark_point(filled=True, size=110, opacity=1, shape="circle").encode(x=at)]
    else:
        marks = [base.mark_bar().encode(x=at)]
    if uncertain:
        ranged = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        rule = ranged.mark_rule(strokeWidth=1.4).encode(
            x=alt.X("low:Q", **x), x2=alt.X2("high:Q"), color=alt.ColorValue(INK)
        )
        marks.append(rule)
        for end in ("low", "high"):
            tick = ranged.mark_tick(thickness=1.4, size=8).encode(x=alt.X(f"{end}:Q", **x), color=alt.ColorValue(INK))
            marks.append(tick)
    return marks


def _numbers(base: alt.Chart, x: ScaleAndAxis, dots: bool, rule: float | None) -> Any:
    """Return the number of each amount, right of the amount and its range, and of the rule if that would cross it."""
    end = "isValid(datum.high) ? max(datum.high, datum.value) : datum.value"
    if rule is not None:
        end = f"datum.value > {0.88 * rule} && datum.value < {rule} ? {rule} : {end}"
    text = base.transform_calculate(end=end).mark_text(align="left", dx=9 if dots else 5, fontSize=11)
    return text.encode(x=alt.X("end:Q", **x), text=alt.Text("text:N"), color=alt.ColorValue(MUTED))


def _amount_axis(ends: pl.Series, title: str, dots: bool, rule: float | None, room: float) -> ScaleAndAxis:
    """Return an axis with space, as a share of its length, for the number right of the largest value."""
    low, high = extent(ends) or (1.0, 1.0)
    low, high = min(low, rule or low), max(high, rule or high)
    if dots:
        axis = alt.Axis(title=title, values=log_steps(low, high), tickCount=60, format=NUMBER, labelOverlap="greedy")
        axis.labelSeparation = 6
        domain = [low / 1.25, high * (high / low) ** room]
        return {"scale": alt.Scale(type="log", domain=domain, nice=False), "axis": axis}
    scale = alt.Scale(domain=[0.0, high * (1 + room)], nice=False)
    return {"scale": scale, "axis": alt.Axis(title=title, format=NUMBER, tickCount=7 if room < ROOM[False] else 4)}
