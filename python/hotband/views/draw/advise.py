"""The chart of an advice: latency over the cost of candidates, with intervals as whiskers."""

from __future__ import annotations

from html import escape
from typing import Any

from hotband.base.heavy import alt, pl
from hotband.base.text.html import frame_html
from hotband.base.views import View
from hotband.questions.advise.advice import Advice
from hotband.views.draw.charts import INK, dress, legend, log_axis, overlay, rate_axis
from hotband.views.draw.curves import variant_scale
from hotband.views.draw.picture import picture

CHARS = 110


def front_chart(advice: Advice) -> View:
    """Return one point per candidate, coloured by layout, the recommended one filled and larger, and a dashed line at
    the bound of the objective. The cost is money, or the number of drives if there are no prices."""
    priced = any(point.cost is not None for point in advice.front)
    title = f"Cost ({advice.currency})" if advice.currency else "Cost" if priced else "Drives"
    rows = pl.DataFrame(
        [
            {
                "candidate": point.name,
                "layout": point.layout,
                "x": point.cost.value if point.cost is not None else float(point.drives),
                "latency": 1e3 * point.latency.value,
                "low": 1e3 * (point.latency.low or point.latency.value),
                "high": 1e3 * (point.latency.high or point.latency.value),
                "watts": None if point.watts is None else point.watts.value,
                "chosen": advice.recommended is not None and point.name == advice.recommended.name,
            }
            for point in advice.front
        ],
        infer_schema_length=None,
    )
    # The axis includes the bound as well as the ends of the whiskers.
    bound = [] if advice.bound is None else [1e3 * advice.bound]
    ends = pl.Series([*rows["low"].to_list(), *rows["high"].to_list(), *bound])
    layouts = rows["layout"].unique(maintain_order=True).to_list()
    y: Any = log_axis(ends, f"{advice.figure} (ms), worst workload")
    color = alt.Color("layout:N", scale=variant_scale(layouts), legend=legend(rows["layout"], CHARS))
    base = alt.Chart(rows).encode(x=alt.X("x:Q", **rate_axis(rows["x"], title)), color=color)
    points = base.mark_point(strokeWidth=2, opacity=1).encode(
        y=alt.Y("latency:Q", **y),
        fill=alt.FillValue(**alt.condition("datum.chosen", alt.value(INK), alt.value("white"))),
        size=alt.SizeValue(**alt.condition("datum.chosen", alt.value(190), alt.value(70))),
        tooltip=[
            alt.Tooltip("candidate:N", title="Candidate"),
            alt.Tooltip("x:Q", title=title, format=",.6~r"),
            alt.Tooltip("latency:Q", title=f"{advice.figure} (ms)", format=".4~g"),
            alt.Tooltip("low:Q", title="from (ms)", format=".3~g"),
            alt.Tooltip("high:Q", title="to (ms)", format=".3~g"),
            alt.Tooltip("watts:Q", title="Watts", format=".4~g"),
        ],
    )
    layers: list[Any] = [
        base.mark_rule(strokeWidth=1.5, opacity=0.5).encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q")),
        points,
    ]
    if bound:
        line = alt.Chart(alt.InlineData(values=[{"at": bound[0]}]))
        layers.append(line.mark_rule(color=INK, strokeDash=[4, 3]).encode(y=alt.Y("at:Q", **y)))
    return dress(overlay(*layers), width="container", height=380)


def advice_html(advice: Advice) -> str:
    """Return what a notebook shows: the answer, the chart, the first points."""
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in [*advice.answer, *advice.rests_on])
    if not advice.front:
        return f"<div>{paragraphs}</div>"
    return f"<div>{paragraphs}{picture(front_chart(advice))}{frame_html(advice.frame)}</div>"
