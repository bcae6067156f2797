"""Charts: pure functions from polars frames to altair charts.

No chart computes a result: `hotband.data.record.frames` builds frames from records, and a chart only chooses marks,
scales and ticks. Every chart is a single view whose width follows its container, so that a page can put any number of
them side by side.

Axes follow the habits of the trade: latency on a log axis in ms, queue depth on log2, percentiles on a scale of nines
(90 %, 99 %, 99.9 % at equal distances), rates from zero unless they span more than `LOG_SPAN`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from hotband.base.heavy import alt, pl
from hotband.data.record.frames import ACTIVITIES, SERIES
from hotband.views.draw.lines import WIDTH, below, coincident
from hotband.views.draw.named_rows import Rows

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.views.draw.strokes import Strokes


@dataclass(frozen=True)
class Clock:
    """The unit of a page's time axes, to which columns in seconds or minutes are converted."""

    unit: str
    seconds: float

    @property
    def title(self) -> str:
        """Return the title of an axis."""
        return f"Time ({self.unit})"

    def told(self, rows: pl.DataFrame, column: str, seconds: float) -> pl.DataFrame:
        """Return the rows with a column `time` in this unit, converted from `column`, whose unit lasts `seconds`."""
        return rows.with_columns(time=rows[column] * (seconds / self.seconds))


SECONDS, MINUTES = Clock("s", 1.0), Clock("minutes", 60.0)


class ScaleAndAxis(TypedDict):
    """Scale of a quantity along x or y, for altair's `X` and `Y`."""

    scale: alt.Scale
    axis: alt.Axis


# Okabe and Ito, "Color Universal Design" (2008), reordered so that the first four remain distinguishable in print,
# without their yellow, which is illegible as a thin line on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6b6b6b", "#1a1a1a")
INK, MUTED, RULE = "#1f2933", "#52606d", "#d9dee4"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# Ratio of largest to smallest value from which a rate has a log axis: below it, small values are still visible.
LOG_SPAN = 20.0
LABEL_CHARS = 52
# The text of a tick: with thousands separators, never in powers of ten (as `g` writes 200 on an axis of few digits).
NUMBER = ",.6~r"
# Most characters of a legend above a chart of the whole, half and a third of a page's width.
WIDE_CHARS, HALF_CHARS, THIRD_CHARS = 140, 60, 38


def dress(view: View, **properties: object) -> View:
    """Set the properties of a new chart, and the style that all charts share.

    The chart is changed in place: `properties` and `configure` of altair copy a layered chart with all its layers,
    twice each.
    """
    axis: dict[str, object] = {
        "labelColor": MUTED,
        "titleColor": INK,
        "gridColor": "#e8ebef",
        "domainColor": RULE,
    }
    axis |= {
        "tickColor": RULE,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "titlePadding": 8,
    }
    legend: dict[str, object] = {
        "orient": "top",
        "title": None,
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 420,
    }
    legend |= {"symbolStrokeWidth": 2.5, "symbolSize": 120, "columns": 0, "offset": 6, "columnPadding": 18}
    for name, value in properties.items():
        view[name] = value
    view["config"] = alt.Config(
        font=FONT,
        background="#ffffff",
        axis=axis,
        legend=legend,
        view={"stroke": None},
        range={"category": list(PALETTE)},
    )
    return view


def overlay(*charts: View) -> View:
    """Layer charts, which pass their data on if all have the same.

    `alt.layer` copies each layer with all its parts three times to look for parameters and sizes, which these have not.
    """
    parts, data = [chart.copy(deep=False) for chart in charts], charts[0].data
    whole = alt.LayerChart()
    if data is not alt.Undefined and all(part.data is data for part in parts):
        whole.data = data
        for part in parts:
            part.data = alt.Undefined
    whole.layer = list(parts)
    return whole


def log_steps(low: float, high: float) -> list[float]:
    """Return the 1-2-5 values of the decades from `low` to `high` (only 1s if there are more than six decades)."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    mantissas = (1.0,) if last - first > 6 else (1.0, 2.0, 5.0)
    return [float(f"{m}e{d}") for d in range(first, last + 1) for m in mantissas if d < last or m == 1.0]


def extent(values: pl.Series) -> tuple[float, float] | None:
    """Return the smallest and largest positive number of a column; None without one."""
    numbers = [float(v) for v in values.drop_nulls().to_list() if math.isfinite(v) and v > 0]
    return (min(numbers), max(numbers)) if numbers else None


def shorten(text: str, width: int = LABEL_CHARS) -> str:
    """Return at most `width` characters, cut with an ellipsis (the tooltip has the whole text)."""
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def legend(labels: pl.Series, chars: int) -> alt.Legend:
    """Return a legend above a chart with room for `chars` characters: as many columns as fit, at least one."""
    longest = max((len(text) for text in labels.unique().to_list()), default=1)
    columns = max(1, min(4, chars // (longest + 6)))
    return alt.Legend(columns=columns, labelLimit=7 * chars)


def log_axis(values: pl.Series, title: str) -> ScaleAndAxis:
    """Return scale and axis of a positive quantity over decades."""
    span = extent(values) or (1.0, 10.0)
    axis = alt.Axis(
        title=title,
        values=log_steps(*span),
        tickCount=60,
        format=NUMBER,
        labelOverlap="greedy",
        labelSeparation=6,
    )
    return {"scale": alt.Scale(type="log", nice=True), "axis": axis}


def tight_log_axis(values: pl.Series, title: str) -> ScaleAndAxis:
    """Return an axis like `log_axis`, from the last step below the values to the first above, without empty space."""
    axis = log_axis(values, title)
    span = extent(values)
    if span is None or span[0] == span[1]:
        return axis
    steps = [float(f"{m}e{d}") for d in range(-12, 19) for m in (1, 2, 5)]
    low = max((step for step in steps if step <= span[0]), default=span[0])
    high = min((step for step in steps if step >= span[1]), default=span[1])
    return {**axis, "scale": alt.Scale(type="log", domain=[low, high], nice=False)}


def rate_axis(values: pl.Series, title: str) -> ScaleAndAxis:
    """Return scale and axis of a rate: from zero, or log if the values span more than `LOG_SPAN`."""
    span = extent(values)
    if span and span[1] / span[0] > LOG_SPAN:
        return log_axis(values, title)
    return {
        "scale": alt.Scale(zero=True, nice=True),
        "axis": alt.Axis(title=title, format=NUMBER, tickCount=6),
    }


# --- against queue depth ------------------------------------------------------------------------------------


def load_chart(curves: pl.DataFrame, value: str, title: str) -> View:
    """Return a chart of `value` (a column of `curves`) over queue depth on a log2 axis, one colour per machine.

    `curves`: machine, qd, iops, latency_mean_ms, latency_p99_ms. Latencies are drawn on a log axis.
    """
    span = extent(curves["qd"]) or (1.0, 2.0)
    depths = [2**n for n in range(math.floor(math.log2(span[0])), math.ceil(math.log2(span[1])) + 1)]
    is_latency = value.startswith("latency")
    axis = log_axis(curves[value], title) if is_latency else rate_axis(curves[value], title)
    machines = curves["machine"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=machines, range=[PALETTE[n % len(PALETTE)] for n in range(len(machines))])
    chart = (
        alt.Chart(curves)
        .mark_line(strokeWidth=WIDTH, point=alt.OverlayMarkDef(size=38, filled=True, strokeWidth=0))
        .encode(
            x=alt.X(
                "qd:Q",
                scale=alt.Scale(type="log", base=2, domain=[depths[0], depths[-1]], nice=False, padding=8),
                axis=alt.Axis(title="Queue depth (outstanding I/Os)", values=depths, tickCount=60, format=",d"),
            ),
            y=alt.Y(f"{value}:Q", **axis),
            color=alt.Color("machine:N", scale=scale, legend=legend(curves["machine"], THIRD_CHARS)),
            tooltip=[
                alt.Tooltip("machine:N", title="Machine"),
                alt.Tooltip("qd:Q", title="Queue depth"),
                alt.Tooltip("iops:Q", title="IOPS", format=",.4~g"),
                alt.Tooltip("latency_mean_ms:Q", title="Mean latency (ms)", format=",.4~g"),
                alt.Tooltip("latency_p99_ms:Q", title="p99 latency (ms)", format=",.4~g"),
            ],
        )
    )
    channels = {name: chart.encoding[name] for name in ("x", "y", "color")}
    layers = below(curves, "machine", coincident(curves, "machine", "qd", [value]), **channels)
    view = overlay(*layers, chart) if layers else chart
    return dress(view, width="container", height=250)


# --- one run or a few ---------------------------------------------------------------------------------------


# Solid, then dashed: the lines of a chart that has more lines than there are colours.
DASHES = ((1, 0), (7, 3), (2, 2))
MOST_LINES = len(PALETTE) * len(DASHES)


def natural_order(labels: Iterable[str]) -> list[str]:
    """Return each label once, sorted with numbers by value: `qd 2` before `qd 16`."""

    def key(label: str) -> list[tuple[int, int, str]]:
        pieces = re.findall(r"\d{1,18}|\D+|\d+", label)
        return [(0, int(p), "") if p.isdecimal() and len(p) <= 18 else (1, 0, p) for p in pieces]

    return sorted(dict.fromkeys(labels), key=key)


def percentile_chart(
    points: pl.DataFrame,
    *,
    quantity: str = "Latency (ms)",
    width: int | str = "container",
    height: int = 330,
    strokes: Strokes | None = None,
) -> View:
    """Return a chart of latency by percentile: x on a scale of nines, y log, one colour per line, or by run as in
    `strokes`.

    `points`: run, line (run and direction), percentile (%), nines, latency_ms, printed (true if the source gave
    percentiles or bins instead of a histogram: points, joined by a thin line that only guides the eye).
    """
    span = extent(points["nines"]) or (1.0, 1.0)
    top = max(1, math.ceil(span[1] - 1e-9))
    ticks = [0.0, _nines(0.5), *(float(n) for n in range(1, top + 1))]
    names = {f"{t:.3f}": _tick_lines(t) for t in ticks}
    label = f"({json.dumps(names)})[format(datum.value, '.3f')]"
    chars = WIDE_CHARS if isinstance(width, str) else width // 7
    shown = legend(points["line"], chars)
    order = natural_order(points["line"].to_list())
    colors = alt.Scale(range=[PALETTE[n % len(PALETTE)] for n in range(len(order))])
    dashes = alt.Scale(range=[list(DASHES[n // len(PALETTE) % len(DASHES)]) for n in range(len(order))])
    if strokes is not None:
        order, colors, dashes = strokes.scales(points, "nines", "latency_ms", log=True)
        shown.symbolType = "stroke"
    # On a page the reader chooses among the runs, and the axes follow. A picture has all runs: its axes end a hair
    # beyond the data, so that a tick at the very end has its label.
    fits = isinstance(width, str)
    base = alt.Chart(points).encode(
        x=alt.X(
            "nines:Q",
            scale=alt.Scale(domainMin=0, nice=False) if fits else alt.Scale(domain=[0, span[1] + 0.03], nice=False),
            axis=alt.Axis(
                title="Percentile of the I/Os (%), and how many are slower", values=ticks, labelExpr=label, tickCount=60
            ),
        ),
        y=alt.Y("latency_ms:Q", **(log_axis if fits else tight_log_axis)(points["latency_ms"], quantity)),
        color=alt.Color("line:N", sort=order, scale=colors, legend=shown),
        tooltip=[
            alt.Tooltip("line:N", title="Run"),
            alt.Tooltip("percentile:Q", title="Percentile (%)", format=".7~g"),
            alt.Tooltip("latency_ms:Q", title="Latency (ms)", format=",.4~g"),
        ],
    )
    # One layer of points serves both as printed points and as targets of the pointer along a line: with two
    # filtered layers, one would be empty if the chosen runs are all of one sort, and Vega warns about that.
    line = base.mark_line().encode(
        strokeWidth=alt.StrokeWidthValue(**alt.condition("datum.printed", alt.value(1.2), alt.value(2))),
        # A separate key, which merges with that of the colours if they are equal; without dashes there is none.
        strokeDash=alt.StrokeDash("line:N", sort=order, scale=dashes, legend=None if strokes is None else shown),
    )
    seen = alt.OpacityValue(**alt.condition("datum.printed", alt.value(1), alt.value(0)))
    points_layer = base.mark_circle(size=34).encode(opacity=seen)
    return dress(overlay(line, points_layer), width=width, height=height)


def _nines(fraction: float) -> float:
    """Return the position of a percentile on a scale with one step per nine: 90 % is 1, 99 % is 2."""
    return -math.log10(1.0 - fraction)


def _tick_lines(nines: float) -> list[str]:
    """Return a tick of the scale of nines in two lines: the percentile, and the share of slower I/Os as one in N."""
    if nines < 0.999:
        return [percentile_name(nines)]
    return [percentile_name(nines), f"1 in {10 ** round(nines):,}"]


def percentile_name(nines: float) -> str:
    """Name a position on the scale of nines: `0`, `50`, `90`, `99`, `99.9`."""
    return f"{100.0 - 10.0 ** (2.0 - nines):.{max(0, math.ceil(nines) - 2)}f}"


def series_chart(
    series: pl.DataFrame,
    value: str,
    marks: pl.DataFrame | None = None,
    strokes: Strokes | None = None,
    clock: Clock = SECONDS,
) -> View:
    """Return a chart of one quantity over time, one colour per line, or by run as in `strokes`.

    `series`: run, line (run, stream if there are several, direction), time_s and the columns of `SERIES`, one of which
    is `value`. `marks`: as in `marked`.
    """
    title = SERIES[value]
    axis: ScaleAndAxis
    if value.startswith("latency"):
        axis = log_axis(series[value], title)
    else:
        axis = {"scale": alt.Scale(zero=True), "axis": alt.Axis(title=title, format=NUMBER, tickCount=5)}
    shown = legend(series["line"], HALF_CHARS)
    chart = (
        alt.Chart(clock.told(series, "time_s", 1.0))
        .mark_line(strokeWidth=1.5, strokeCap="round", opacity=0.9)
        .encode(
            x=alt.X(
                "time:Q",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(title=clock.title, format=NUMBER, grid=False),
            ),
            y=alt.Y(f"{value}:Q", **axis),
            color=alt.Color("line:N", legend=shown),
            tooltip=[
                alt.Tooltip("line:N", title="Run"),
                alt.Tooltip("time:Q", title=clock.title, format=NUMBER),
                alt.Tooltip(f"{value}:Q", title=title, format=",.4~g"),
            ],
        )
    )
    if strokes is not None:
        order, colors, dashes = strokes.scales(series, "time_s", value, log=value.startswith("latency"))
        shown.symbolType = "stroke"
        chart = chart.encode(
            color=alt.Color("line:N", sort=order, scale=colors, legend=shown),
            strokeDash=alt.StrokeDash("line:N", sort=order, scale=dashes, legend=shown),
        )
    return dress(marked(chart, marks, clock), width="container", height=190)


# Dashes and colours of events in a run, in the order in which they happen to a drive.
MARK_DASHES = ([1, 0], [5, 3], [1.5, 2.5], [8, 3, 1.5, 3])
MARK_COLORS = ("#b3261e", "#6b4fa0", "#2e7d32", "#8a6d00")


def marked(chart: Any, marks: pl.DataFrame | None, clock: Clock = SECONDS) -> Any:
    """Return a chart over `time` with a line at each event, and a key that names the kinds of events.

    `marks`: run, time_s, mark (the event), kind (its name in the key).
    """
    if marks is None or marks.is_empty():
        return chart
    kinds = marks["kind"].unique(maintain_order=True).to_list()
    # A separate key of dash and colour merged, because both encode the same field.
    key = alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=400, symbolStrokeWidth=1.6)
    dashes = [list(MARK_DASHES[n % len(MARK_DASHES)]) for n in range(len(kinds))]
    colors = [MARK_COLORS[n % len(MARK_COLORS)] for n in range(len(kinds))]
    rules = (
        alt.Chart(clock.told(marks, "time_s", 1.0))
        .mark_rule(strokeWidth=1.4, opacity=0.85)
        .encode(
            x=alt.X("time:Q"),
            strokeDash=alt.StrokeDash("kind:N", scale=alt.Scale(domain=kinds, range=dashes), legend=key),
            color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colors), legend=key),
            tooltip=[alt.Tooltip("mark:N", title="Then"), alt.Tooltip("time:Q", title=clock.title, format=NUMBER)],
        )
    )
    return overlay(chart, rules).resolve_scale(color="independent", strokeDash="independent")


# The stages in which time is spent, in the order of the path of an I/O, with the same colour on every page.
TIME_COLORS = {
    "overhead": PALETTE[5],
    "seek": PALETTE[0],
    "rotation": PALETTE[1],
    "transfer": PALETTE[2],
    "program": PALETTE[3],
    "erase": PALETTE[4],
    "other busy": "#b8c1cc",
}
assert tuple(TIME_COLORS) == ACTIVITIES, "the colours follow the path of an I/O"


def time_chart(times: pl.DataFrame) -> View:
    """Return stacked bars of the shares of the measured time that a part spent on each activity, one bar per row.

    `times`: row (the run, and the kind of part if a machine has several), activity (a key of `TIME_COLORS`), order,
    share (1 = always), parts (number of parts in the mean).
    """
    names = [name for name in TIME_COLORS if name in set(times["activity"].to_list())]
    scale = alt.Scale(domain=names, range=[TIME_COLORS[name] for name in names])
    rows = times["row"].unique(maintain_order=True).to_list()
    named = Rows({row: row for row in rows}, 18)
    totals = times.group_by("row", maintain_order=True).agg(total=pl.col("share").sum())["total"].to_list()
    chart = (
        alt.Chart(times)
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q",
                scale=alt.Scale(domain=[0.0, max(1.0, *totals, 0.0)], nice=False),
                axis=alt.Axis(title="Share of the measured time, mean over the parts (%)", format="~%", tickCount=10),
            ),
            y=alt.Y("row:N", scale=alt.Scale(domain=rows), axis=named.axis()),
            color=alt.Color("activity:N", scale=scale, legend=alt.Legend(symbolStrokeWidth=0)),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("row:N", title="Run"),
                alt.Tooltip("activity:N", title="Activity"),
                alt.Tooltip("share:Q", title="Share of the time", format=".2~%"),
                alt.Tooltip("parts:Q", title="Parts"),
            ],
        )
    )
    return dress(chart, width="container", height=named.height, usermeta={"narrow": named.narrow()})
