"""Charts of a study: published next to predicted figures, and the sizes of the errors.

As in `draw.charts`, no chart computes a result, and every chart is a single view whose width follows its container.
"""

from __future__ import annotations

import math
from typing import Any

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.views.draw.charts import (
    INK,
    LOG_SPAN,
    MUTED,
    NUMBER,
    PALETTE,
    ScaleAndAxis,
    dress,
    extent,
    legend,
    log_axis,
    log_steps,
    overlay,
)
from hotband.views.draw.curves import variant_scale
from hotband.views.draw.rows import HEAD, row_axis, row_height

KINDS = ("published", "predicted")
SHAPES = {"published": "diamond", "predicted": "circle"}
# Most characters of a legend above a chart of the whole width, whose rows have texts left of them.
CHARS = 110
# Colour of arrows beyond the end of an axis: the page's colour for problems.
FAR = "#b34700"
# Errors up to this (%) are drawn to scale whatever the others are; and the ratio of the axis to most of them.
LEAST_REACH, REACH_OVER, MOST_OF = 10.0, 1.3, 0.9
# Extension of the axis on a side with arrows: room for an arrow and its number.
BEYOND = 1.9


def published_chart(figures: pl.DataFrame, quantity: str, rule: float | None = None) -> View:
    """Return a row per figure: published and predicted as points, joined by a rule, with the error next to them.

    `figures`: id, label, config, machine, workload, published and predicted (numbers, null if there is none),
    published_text, predicted_text, error_text. Rows of one configuration are under its name, in the order of the frame;
    each machine has a colour. `quantity` is the axis title, with its unit. `rule` is a reference value for the others.
    """
    kinds: list[Any] = [kind for kind in KINDS if figures[kind].is_not_null().any()]
    rows = figures.with_columns(right=pl.max_horizontal(*kinds))
    values = [*rows.select(kinds).unpivot()["value"].to_list(), *([] if rule is None else [rule])]
    position = _figure_axis(pl.Series(values, dtype=pl.Float64), quantity)
    names = _row_names(figures)
    base = alt.Chart(rows).encode(
        y=alt.Y("id:N", scale=alt.Scale(domain=list(names)), axis=row_axis(names)),
        tooltip=_texts("label", "config", "workload", "published_text", "predicted_text", "error_text"),
    )
    join = base.mark_rule(color="#9aa5b1", strokeWidth=2.5)
    points = base.transform_fold(kinds[::-1], as_=["kind", "value"]).transform_filter("isValid(datum.value)")
    machines = figures["machine"].unique(maintain_order=True).to_list()
    shapes = alt.Scale(domain=kinds, range=[SHAPES[kind] for kind in kinds])
    key = alt.Legend(symbolStrokeColor=INK, symbolFillColor=INK)
    points = points.mark_point(strokeWidth=2, opacity=1).encode(
        shape=alt.Shape("kind:N", scale=shapes, legend=key),
        stroke=alt.Stroke("machine:N", scale=variant_scale(machines), legend=None),
        fill=alt.Fill("machine:N", scale=variant_scale(machines), legend=None),
        fillOpacity=alt.FillOpacityValue(**alt.condition("datum.kind == 'published'", alt.value(0), alt.value(1))),
        size=alt.SizeValue(**alt.condition("datum.kind == 'published'", alt.value(150), alt.value(60))),
    )
    text = base.mark_text(align="left", dx=13, fontSize=11, color=MUTED)
    layers: list[Any] = [] if rule is None else [_marked_value(rule)]
    if len(kinds) > 1:
        join = join.transform_filter("isValid(datum.published) && isValid(datum.predicted)")
        layers.append(join.encode(x=alt.X("published:Q", **position), x2=alt.X2("predicted:Q")))
    layers += [
        points.encode(x=alt.X("value:Q", **position)),
        text.encode(x=alt.X("right:Q", **position), text=alt.Text("error_text:N")),
    ]
    return dress(overlay(*layers), width="container", height=row_height(names.values()) * len(names))


def _marked_value(at: float) -> View:
    """Return a dashed line at a value."""
    row = alt.InlineData(values=[{"at": at}])
    rule: View = alt.Chart(row).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("at:Q"))
    return rule


def _row_names(figures: pl.DataFrame) -> dict[str, str]:
    """Return the rows of a chart from the top, as key and text: each configuration as a heading, then its figures."""
    names: dict[str, str] = {}
    for row in figures.select("id", "label", "config").to_dicts():
        if row["config"]:
            names.setdefault(HEAD + row["config"], row["config"])
        names[row["id"]] = row["label"]
    return names


TOOLTIPS = {
    "label": "Figure",
    "config": "Configuration",
    "workload": "Workload",
    "published_text": "Published",
    "predicted_text": "Predicted",
    "error_text": "Error",
}


def _texts(*names: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:N", title=TOOLTIPS[name]) for name in names]


def _figure_axis(values: pl.Series, title: str) -> ScaleAndAxis:
    """Return an axis like `rate_axis`, with a domain that leaves room for the error text right of the largest value."""
    span = extent(values)
    numbers = values.drop_nulls()
    if span and span[1] / span[0] > LOG_SPAN and bool((numbers > 0).all()):
        low, high = span[0] / 1.3, span[1] * (span[1] / span[0]) ** 0.22
        axis = alt.Axis(title=title, values=log_steps(*span), tickCount=60, format=NUMBER, labelOverlap="greedy")
        return {"scale": alt.Scale(type="log", domain=[low, high], nice=False), "axis": axis}
    low, high = _bounds(numbers)
    room = 0.22 * ((high - low) or 1.0)
    scale = alt.Scale(domain=[low if low == 0 else low - room / 4, high + room], nice=False)
    return {"scale": scale, "axis": alt.Axis(title=title, format=NUMBER, tickCount=7)}


def _bounds(numbers: pl.Series) -> tuple[float, float]:
    """Return the smallest and largest number of a column, zero included."""
    bounds = [0.0, *(float(v) for v in numbers.to_list())]
    return min(bounds), max(bounds)


def depth_chart(points: pl.DataFrame, quantity: str) -> View:
    """Return a chart of published and predicted values over queue depth: one colour per machine, one dash per series,
    published values as diamonds.

    `points`: machine, series (such as "reads"), qd, published, predicted.
    """
    machines = points["machine"].unique(maintain_order=True).to_list()
    series = points["series"].unique(maintain_order=True).to_list()
    values = pl.concat([points["published"], points["predicted"]])
    depths = sorted(points["qd"].unique().to_list())
    x = alt.X(
        "qd:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=14),
        axis=alt.Axis(title="Queue depth (outstanding I/Os)", values=depths, tickCount=60, format=",d"),
    )
    wide, dashed = log_axis(values, quantity), [[1, 0], [5, 3], [2, 2]]
    color = alt.Color("machine:N", scale=variant_scale(machines), legend=legend(pl.Series(machines), CHARS))
    base = alt.Chart(points).encode(
        x=x,
        color=color,
        tooltip=[
            alt.Tooltip("machine:N", title="Machine"),
            alt.Tooltip("series:N", title="Of"),
            alt.Tooltip("qd:Q", title="Queue depth"),
            alt.Tooltip("published:Q", title="Published", format=",.4~r"),
            alt.Tooltip("predicted:Q", title="Predicted", format=",.4~r"),
        ],
    )
    dash = alt.StrokeDash(
        "series:N",
        scale=alt.Scale(domain=series, range=[dashed[n % 3] for n in range(len(series))]),
        legend=None,
    )
    line = base.transform_filter("isValid(datum.predicted)").mark_line(
        strokeWidth=2, point={"size": 34, "filled": True}
    )
    line = line.encode(y=alt.Y("predicted:Q", **wide), strokeDash=dash)
    marks = base.transform_filter("isValid(datum.published)").mark_point(size=150, strokeWidth=2.2, filled=False)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=["published"], range=["diamond"]), legend=_hollow())
    marks = marks.transform_calculate(kind="'published'").encode(y=alt.Y("published:Q", **wide), shape=shape)
    # The name of a series is above the end of its highest line.
    last = points.filter(pl.col("predicted").is_not_null()).filter(pl.col("qd") == pl.col("qd").max())
    last = last.sort("predicted", descending=True).unique("series", keep="first", maintain_order=True)
    names = alt.Chart(last).mark_text(align="right", dy=-11, dx=6, fontSize=12, fontWeight=600, color=INK)
    names = names.encode(x=x, y=alt.Y("predicted:Q", **wide), text=alt.Text("series:N"))
    return dress(overlay(line, marks, names), width="container", height=360)


def _hollow() -> alt.Legend:
    return alt.Legend(symbolStrokeColor=INK, symbolFillColor="transparent")


def reach_of(errors: list[float]) -> float:
    """Return the end (percent) of an axis of errors: the largest error or, if a few are far beyond the others, a little
    more than most."""
    sizes = sorted(abs(error) for error in errors)
    if not sizes:
        return LEAST_REACH
    typical = sizes[math.ceil(MOST_OF * len(sizes)) - 1] if len(sizes) > 2 else sizes[-1]
    most = max(LEAST_REACH, typical * REACH_OVER)
    return most if sizes[-1] > 2 * most else max(LEAST_REACH, sizes[-1] * 1.05)


def _error_ticks(reach: float) -> list[float]:
    """Return round values up to the reach in both directions; none if the axis has only arrows."""
    step = next(step for step in (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, reach) if reach / step <= 5)
    count = math.floor(reach / step)
    return [n * step for n in range(-count, count + 1)]


def beyond(errors: pl.DataFrame, reach: float) -> pl.DataFrame:
    """Return the errors beyond the axis, by quantity and side: quantity, place, side (-1 or 1), text ("+104 to 438 %
    (4)")."""
    groups: dict[tuple[str, int], list[float]] = {}
    for quantity, error in errors.select("quantity", "error_pct").iter_rows():
        if abs(error) > reach:
            groups.setdefault((quantity, 1 if error > 0 else -1), []).append(error)
    rows = [(quantity, side * reach * 1.08, side, _range_text(rows)) for (quantity, side), rows in groups.items()]
    return pl.DataFrame(rows, schema=["quantity", "place", "side", "text"], orient="row")


def _range_text(errors: list[float]) -> str:
    ordered = sorted(errors, key=abs)
    first, last = f"{ordered[0]:+,.0f}".replace("-", "−"), f"{ordered[-1]:+,.0f}".replace("-", "−")
    return f"{last} %" if len(ordered) == 1 else f"{first} to {last[1:]} % ({len(ordered)})"


def error_chart(errors: pl.DataFrame) -> View:
    """Return a chart of the errors: a circle per compared figure on one line per quantity. A value far beyond the
    others is an arrow at the end of the axis, with its number.

    `errors`: quantity, error_pct, label, config, error_text, published_text, predicted_text.
    """
    reach = reach_of(errors["error_pct"].to_list())
    order = errors["quantity"].unique(maintain_order=True).to_list()
    names = {name: name for name in order}
    inside, outside = errors.filter(pl.col("error_pct").abs() <= reach), beyond(errors, reach)
    axis = alt.Axis(
        title="Error of the prediction (%): too low to the left, too high to the right",
        labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.6~r')",
        values=_error_ticks(reach),
        labelOverlap="greedy",
    )
    sides = set(outside["side"].to_list())
    ends = [side * reach * (BEYOND if side in sides else 1.05) for side in (-1, 1)]
    scale = alt.Scale(domain=ends, nice=False)
    y = alt.Y("quantity:N", scale=alt.Scale(domain=order), axis=row_axis(names))
    circles = (
        alt.Chart(inside)
        .mark_circle(size=90, color=PALETTE[6], opacity=0.55)
        .encode(
            x=alt.X("error_pct:Q", scale=scale, axis=axis),
            y=y,
            tooltip=_texts("label", "config", "published_text", "predicted_text", "error_text"),
        )
    )
    layers: list[Any] = [alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=INK).encode(x=alt.XDatum(0)), circles]
    for side, shape in ((-1, "triangle-left"), (1, "triangle-right")):
        rows = outside.filter(pl.col("side") == side)
        if rows.is_empty():
            continue
        base = alt.Chart(rows).encode(x=alt.X("place:Q", scale=scale, axis=axis), y=y, tooltip=[alt.Tooltip("text:N")])
        layers.append(base.mark_point(shape=shape, size=110, filled=True, color=FAR, opacity=1))
        away = base.mark_text(
            align="left" if side > 0 else "right", dx=9 * side, fontSize=11, fontWeight=600, color=FAR
        )
        layers.append(away.encode(text=alt.Text("text:N")))
    height = (row_height(order) + 8) * len(order)
    return dress(overlay(*layers), width="container", height=height)
