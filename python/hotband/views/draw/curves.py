"""Charts that set variants of a machine next to each other: response curves, filling caches, parts of latency.

As in `hotband.views.draw.charts`, no chart computes a result, and every chart is a single view whose width follows its
container. A variant has the same colour in all charts of a page that receive the same list of variants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.questions.study.cellrows import TIMES
from hotband.views.draw.charts import (
    INK,
    LOG_SPAN,
    MINUTES,
    MUTED,
    NUMBER,
    PALETTE,
    WIDE_CHARS,
    Clock,
    ScaleAndAxis,
    dress,
    extent,
    legend,
    log_axis,
    log_steps,
    overlay,
    rate_axis,
)
from hotband.views.draw.lines import WIDTH, below, coincident
from hotband.views.draw.named_rows import Rows

# The same colours as `charts.TIME_COLORS` for common stages; waiting is grey, because no part works then.
IO_TIME_COLORS = {
    "queue": "#b8c1cc",
    "overhead": PALETTE[5],
    "seek": PALETTE[0],
    "rotation": PALETTE[1],
    "transfer": PALETTE[2],
    "flash": PALETTE[3],
    "link": PALETTE[4],
}
assert tuple(IO_TIME_COLORS) == TIMES, "the colours follow the path of an I/O"
PUBLISHED = "published"
# Space left of the plot in every panel of a stack, so that their time axes align (px).
STACKED_MARGIN = 64


def variant_scale(variants: Sequence[str]) -> alt.Scale:
    """Return a colour for every variant, in their order."""
    return alt.Scale(domain=list(variants), range=[PALETTE[n % len(PALETTE)] for n in range(len(variants))])


def _dashes(variants: Sequence[str]) -> dict[str, alt.StrokeDash]:
    """Return dashes for variants beyond the palette, whose colours repeat; nothing for fewer variants."""
    if len(variants) <= len(PALETTE):
        return {}
    dashes = [[1, 0] if n < len(PALETTE) else [5, 3] for n in range(len(variants))]
    return {"strokeDash": alt.StrokeDash("variant:N", scale=alt.Scale(domain=list(variants), range=dashes))}


def response_chart(
    points: pl.DataFrame, rules: Sequence[float], published: pl.DataFrame, variants: Sequence[str]
) -> View:
    """Return a chart of mean latency over IOPS, a line per variant through its steps in order of concurrency.

    `points`: variant, point, concurrency, order, iops, latency_mean_ms. `rules` are latencies (ms) at which a line is
    drawn. `published`: variant, point, iops, latency_mean_ms; drawn as large diamonds.
    """
    latencies = pl.concat([points["latency_mean_ms"], published["latency_mean_ms"], pl.Series(rules, dtype=pl.Float64)])
    x = alt.X("iops:Q", **rate_axis(pl.concat([points["iops"], published["iops"]]), "IOPS"))
    y = alt.Y("latency_mean_ms:Q", **_response_axis(latencies, "Mean latency (ms)"))
    color = alt.Color("variant:N", scale=variant_scale(variants), legend=legend(pl.Series(list(variants)), WIDE_CHARS))
    tooltip = [
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("point:N", title="Point"),
        alt.Tooltip("iops:Q", title="IOPS", format=",.4~g"),
        alt.Tooltip("latency_mean_ms:Q", title="Mean latency (ms)", format=",.4~g"),
    ]
    line = alt.Chart(points).mark_line(strokeWidth=WIDTH, point=alt.OverlayMarkDef(size=34, filled=True, strokeWidth=0))
    layers: list[Any] = [_latency_rules(rules)] if rules else []
    groups = coincident(points, "variant", "order", ["iops", "latency_mean_ms"])
    layers += below(points, "variant", groups, x=x, y=y, color=color, order=alt.Order("order:Q"))
    layers.append(line.encode(x=x, y=y, color=color, order=alt.Order("order:Q"), tooltip=tooltip, **_dashes(variants)))
    if not published.is_empty():
        shape = alt.Shape("kind:N", scale=alt.Scale(domain=[PUBLISHED], range=["diamond"]), legend=_shape_legend())
        marks = alt.Chart(published.with_columns(kind=pl.lit(PUBLISHED)))
        marks = marks.mark_point(size=230, strokeWidth=2.4, filled=False, opacity=1)
        layers.append(marks.encode(x=x, y=y, color=color, shape=shape, tooltip=tooltip))
    return dress(overlay(*layers), width="container", height=380)


def _response_axis(latencies: pl.Series, title: str) -> ScaleAndAxis:
    """Return an axis from zero, so that a straight line between two points gives the IOPS at a latency; log over
    decades."""
    low, high = extent(latencies) or (1.0, 10.0)
    if high / low > LOG_SPAN:
        return log_axis(latencies, title) | {"scale": _tight_log(latencies)}
    scale = alt.Scale(domain=[0.0, high * 1.08], nice=False)
    return {"scale": scale, "axis": alt.Axis(title=title, format=NUMBER, tickCount=6)}


def _shape_legend() -> alt.Legend:
    return alt.Legend(symbolStrokeColor=INK, symbolFillColor="transparent")


def _latency_rules(rules: Sequence[float]) -> View:
    """Return dashed lines across the plot, each labelled with its latency."""
    rows = alt.InlineData(values=[{"latency_mean_ms": at, "text": f"{at:g} ms"} for at in rules])
    base = alt.Chart(rows).encode(y=alt.Y("latency_mean_ms:Q"))
    rule = base.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.2)
    text = base.mark_text(align="left", baseline="bottom", dx=4, dy=-3, fontSize=11, fontWeight=600, color=INK)
    return overlay(rule, text.encode(x=alt.value(0), text=alt.Text("text:N")))


def stacked_chart(
    lines: pl.DataFrame,
    value: str,
    title: str,
    variants: Sequence[str],
    *,
    span_min: float,
    rules: pl.DataFrame | None = None,
    first: bool = True,
    last: bool = True,
    stepped: bool = False,
    clock: Clock = MINUTES,
    colors: alt.Scale | None = None,
) -> View:
    """Return one panel of several over a common time axis, a line per variant; the first has the legend, the last the
    axis.

    `lines`: variant, time_min and `value`, which is `stepped` if it is a count. `rules`: variant and time_min of single
    events.
    """
    drawn = clock.told(lines.filter(pl.col(value).is_not_null()), "time_min", 60.0)
    axis = alt.Axis(title=clock.title if last else None, format=NUMBER, grid=False, labels=last, tickCount=10)
    ends = [0, span_min * 60.0 / clock.seconds]
    x = alt.X("time:Q", scale=alt.Scale(domain=ends, nice=False), axis=axis)
    shown = legend(pl.Series(list(variants)), WIDE_CHARS) if first else None
    color = alt.Color("variant:N", scale=colors or variant_scale(variants), legend=shown)
    y = alt.Y(f"{value}:Q", **_panel_axis(drawn[value], value, title))
    tooltip = [
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("time:Q", title=clock.title, format=NUMBER),
        alt.Tooltip(f"{value}:Q", title=title, format=",.4~g"),
    ]
    line = alt.Chart(drawn).mark_line(strokeWidth=1.7, strokeCap="round", clip=True)
    if stepped:
        line = alt.Chart(drawn).mark_line(strokeWidth=1.7, clip=True, interpolate="step-after")
    layers: list[Any] = below(
        drawn, "variant", coincident(drawn, "variant", "time_min", [value]), x=x, y=y, color=color
    )
    layers.append(line.encode(x=x, y=y, color=color, tooltip=tooltip))
    if rules is not None and not rules.is_empty():
        rule = alt.Chart(clock.told(rules, "time_min", 60.0)).mark_rule(strokeDash=[4, 3], strokeWidth=1.4)
        layers.append(rule.encode(x=x, color=color, tooltip=tooltip[:2]))
    return dress(overlay(*layers), width="container", height=130)


def _panel_axis(values: pl.Series, value: str, title: str) -> ScaleAndAxis:
    """Return scale and axis of a panel: a latency on a log axis, a share from 0 to 100, others from zero."""
    room: dict[str, Any] = {"title": title, "format": NUMBER}
    room |= {"minExtent": STACKED_MARGIN, "maxExtent": STACKED_MARGIN}
    if value.startswith("latency"):
        steps = log_steps(*(extent(values) or (1.0, 10.0)))
        axis = alt.Axis(values=steps, labelOverlap="greedy", **room)
        return {"scale": _tight_log(values), "axis": axis}
    highest = 100.0 if value.endswith("_pct") else 1.08 * (extent(values) or (0.0, 1.0))[1]
    scale = alt.Scale(domain=[0.0, highest], nice=False)
    return {"scale": scale, "axis": alt.Axis(tickCount=4, **room)}


def _tight_log(values: pl.Series) -> alt.Scale:
    """Return a log scale that ends a little beyond the values, not at the next power of ten."""
    low, high = extent(values) or (1.0, 10.0)
    return alt.Scale(type="log", domain=[low / 1.25, high * 1.25], nice=False)


def io_time_chart(times: pl.DataFrame) -> View:
    """Return a stacked bar per row of the stages of the mean I/O, in ms.

    `times`: row, activity (one of `TIMES`), order, ms. Order and legend are the same in every chart.
    """
    names = list(IO_TIME_COLORS)
    scale = alt.Scale(domain=names, range=[IO_TIME_COLORS[name] for name in names])
    rows = times["row"].unique(maintain_order=True).to_list()
    named = Rows({row: row for row in rows}, 18)
    base = alt.Chart(times).encode(y=alt.Y("row:N", scale=alt.Scale(domain=rows), axis=named.axis()))
    longest = max(times.group_by("row").agg(pl.col("ms").sum())["ms"].to_list())
    bars = base.mark_bar().encode(
        x=alt.X(
            "ms:Q",
            stack="zero",
            scale=alt.Scale(domain=[0.0, longest * 1.08], nice=False),
            axis=alt.Axis(title="Mean time of an I/O (ms)", format=NUMBER, tickCount=8),
        ),
        color=alt.Color("activity:N", scale=scale, legend=alt.Legend(columns=len(names), symbolStrokeWidth=0)),
        order=alt.Order("order:Q"),
        tooltip=[
            alt.Tooltip("row:N", title="Run"),
            alt.Tooltip("activity:N", title="Spent on"),
            alt.Tooltip("ms:Q", title="Mean (ms)", format=",.4~g"),
        ],
    )
    text = base.mark_text(align="left", dx=5, fontSize=11, color=MUTED).encode(
        x=alt.X("sum(ms):Q", stack=None), text=alt.Text("sum(ms):Q", format=",.3~r")
    )
    layered = overlay(bars, text)
    return dress(layered, width="container", height=named.height, usermeta={"narrow": named.narrow()})
