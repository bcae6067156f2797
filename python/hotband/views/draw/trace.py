"""Charts of a trace's properties. As in `draw.charts`, no chart computes a result: frames arrive with their numbers."""

from __future__ import annotations

from typing import Any

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.views.draw.charts import (
    HALF_CHARS,
    INK,
    NUMBER,
    ScaleAndAxis,
    dress,
    legend,
    log_axis,
    overlay,
    tight_log_axis,
)
from hotband.views.draw.curves import variant_scale
from hotband.views.draw.lines import WIDTH

HEIGHT = 230


def from_zero(title: str) -> ScaleAndAxis:
    """Return an axis of a quantity that a length represents."""
    return {"scale": alt.Scale(zero=True, nice=True), "axis": alt.Axis(title=title, format=NUMBER, tickCount=5)}


def plain_axis(title: str) -> ScaleAndAxis:
    """Return an axis over the range of the values."""
    axis = alt.Axis(title=title, format=NUMBER, grid=False, tickCount=6, labelOverlap="greedy")
    return {"scale": alt.Scale(nice=False), "axis": axis}


def lines_chart(
    rows: pl.DataFrame, x: ScaleAndAxis, y: ScaleAndAxis, *, band: bool = False, steps: bool = False
) -> View:
    """Return lines of `rows`: line, x, y; with `band` a band from `low` to `high` around them."""
    names = rows["line"].unique(maintain_order=True).to_list()
    key = legend(rows["line"], HALF_CHARS) if len(names) > 1 else None
    if key is not None:
        key.symbolType, key.symbolOpacity = "stroke", 1
    titles = [str(axis["axis"].title) for axis in (x, y)]
    base = alt.Chart(rows).encode(
        x=alt.X("x:Q", **x), color=alt.Color("line:N", sort=names, scale=variant_scale(names), legend=key)
    )
    line = base.mark_line(strokeWidth=WIDTH, strokeCap="round", interpolate="step-after" if steps else "linear").encode(
        y=alt.Y("y:Q", **y),
        tooltip=[
            alt.Tooltip("line:N", title="Of"),
            alt.Tooltip("x:Q", title=titles[0], format=",.4~g"),
            alt.Tooltip("y:Q", title=titles[1], format=",.4~g"),
        ],
    )
    layers: list[Any] = []
    if band:
        layers.append(base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q")))
    return dress(overlay(*layers, line), width="container", height=HEIGHT)


def dispersion_chart(rows: pl.DataFrame) -> View:
    """Return variance over mean by window width: points with whiskers of two standard errors, and a line at one."""
    values = pl.concat([rows["low"], rows["high"], pl.Series([1.0])])
    y: Any = tight_log_axis(values, "Variance over mean")
    x: Any = log_axis(rows["x"], "Window (s)")
    base = alt.Chart(rows).encode(x=alt.X("x:Q", **x))
    tooltip = [
        alt.Tooltip("x:Q", title="Window (s)", format=",.4~g"),
        alt.Tooltip("y:Q", title="Variance over mean", format=",.4~g"),
        alt.Tooltip("mean:Q", title="I/Os in it on average", format=",.4~g"),
    ]
    poisson = alt.Chart(alt.InlineData(values=[{"at": 1.0}])).mark_rule(color=INK, strokeDash=[4, 3])
    layers: list[Any] = [
        poisson.encode(y=alt.Y("at:Q", **y)),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=WIDTH, point=alt.OverlayMarkDef(size=45, filled=True)).encode(
            y=alt.Y("y:Q", **y), tooltip=tooltip
        ),
    ]
    return dress(overlay(*layers), width="container", height=HEIGHT)


def bars_chart(rows: pl.DataFrame, x: str, y: str) -> View:
    """Return bars of `rows`: class, line, y; classes in the order of the rows, lines side by side."""
    names = rows["line"].unique(maintain_order=True).to_list()
    order = rows["class"].unique(maintain_order=True).to_list()
    key = legend(rows["line"], HALF_CHARS) if len(names) > 1 else None
    axis = alt.Axis(title=x, labelAngle=0 if len(order) <= 8 else -45, labelOverlap="greedy", ticks=False)
    chart = alt.Chart(rows).mark_bar()
    return dress(
        chart.encode(
            x=alt.X("class:N", sort=order, axis=axis),
            xOffset=alt.XOffset("line:N", sort=names),
            y=alt.Y("y:Q", **from_zero(y)),
            color=alt.Color("line:N", sort=names, scale=variant_scale(names), legend=key),
            tooltip=[
                alt.Tooltip("line:N", title="Of"),
                alt.Tooltip("class:N", title=x),
                alt.Tooltip("y:Q", title=y, format=",.4~g"),
            ],
        ),
        width="container",
        height=HEIGHT,
    )
