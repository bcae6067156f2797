"""Charts of a study: published beside predicted, and how large the errors are.

As in `draw.charts`, no chart computes a result, and every chart is a single view whose width follows its container.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hotband.draw.charts import INK, LOG_SPAN, MUTED, NUMBER, PALETTE, dress, extent, log_steps, shorten

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from hotband.draw.charts import ScaleAndAxis, View

HEAD = "head:"


def published_chart(figures: pl.DataFrame, quantity: str) -> View:
    """One row per figure: published and predicted as points, joined by a rule, with the error beside them.

    `figures`: id, label, config, workload, published and predicted (numbers, null where there is none),
    published_text, predicted_text, error_text. Rows of one configuration stand under its name, in the order
    of the frame. `quantity` is the axis title, with its unit.
    """
    import altair as alt
    import polars as pl

    kinds: list[Any] = ["published", "predicted"]
    rows = figures.with_columns(right=pl.max_horizontal(*kinds))
    position = _figure_axis(rows.select(kinds).unpivot()["value"], quantity)
    names = _row_names(figures)
    base = alt.Chart(rows).encode(
        y=alt.Y("id:N", scale=alt.Scale(domain=list(names)), axis=_row_axis(names)),
        tooltip=_texts("label", "config", "workload", "published_text", "predicted_text", "error_text"),
    )
    rule = base.transform_filter("isValid(datum.published) && isValid(datum.predicted)")
    rule = rule.mark_rule(color="#9aa5b1", strokeWidth=2.5)
    points = base.transform_fold(kinds[::-1], as_=["kind", "value"]).transform_filter("isValid(datum.value)")
    points = points.mark_point(strokeWidth=2, opacity=1).encode(
        shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=["diamond", "circle"])),
        stroke=alt.Stroke("kind:N", scale=alt.Scale(domain=kinds, range=[PALETTE[1], PALETTE[0]])),
        fill=alt.Fill("kind:N", scale=alt.Scale(domain=kinds, range=["transparent", PALETTE[0]])),
        size=alt.condition("datum.kind == 'published'", alt.value(150), alt.value(60)),
    )
    text = base.mark_text(align="left", dx=13, fontSize=11, color=MUTED)
    layers = alt.layer(
        rule.encode(x=alt.X("published:Q", **position), x2="predicted:Q"),
        points.encode(x=alt.X("value:Q", **position)),
        text.encode(x=alt.X("right:Q", **position), text="error_text:N"),
    )
    return dress(layers.properties(width="container", height=24 * len(names)))


def _row_names(figures: pl.DataFrame) -> dict[str, str]:
    """The rows of a chart from the top: each configuration as a heading, then its figures; key and text."""
    names: dict[str, str] = {}
    for row in figures.select("id", "label", "config").to_dicts():
        if row["config"]:
            names.setdefault(HEAD + row["config"], shorten(row["config"]))
        names[row["id"]] = shorten(row["label"])
    return names


def _row_axis(names: dict[str, str]) -> alt.Axis:
    """An axis of texts, headings in bold; the texts are looked up, so that two equal ones stay two rows."""
    import altair as alt

    is_head = f"indexof(datum.value, {json.dumps(HEAD)}) == 0"
    weight = {"condition": {"test": is_head, "value": 600}, "value": 400}
    return alt.Axis(
        title=None, labelExpr=f"({json.dumps(names)})[datum.value]", labelLimit=360, labelPadding=8,
        labelColor=INK, labelFontWeight=weight, grid=True, ticks=False, domain=False,
    )  # fmt: skip


TOOLTIPS = {
    "label": "Figure",
    "config": "Configuration",
    "workload": "Workload",
    "published_text": "Published",
    "predicted_text": "Predicted",
    "error_text": "Error",
}


def _texts(*names: str) -> list[alt.Tooltip]:
    import altair as alt

    return [alt.Tooltip(f"{name}:N", title=TOOLTIPS[name]) for name in names]


def _figure_axis(values: pl.Series, title: str) -> ScaleAndAxis:
    """As `rate_axis`, with a domain that leaves room for the error text right of the largest value."""
    import altair as alt

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
    """Smallest and largest number of a column, zero included."""
    found = [0.0, *(float(v) for v in numbers.to_list())]
    return min(found), max(found)


def error_chart(errors: pl.DataFrame) -> View:
    """Every compared figure as a tick on one line per quantity: how far off, and to which side.

    `errors`: quantity, error_pct, label, config, error_text, published_text, predicted_text.
    """
    import altair as alt

    reach = max(10.0, *(abs(v) for v in errors["error_pct"].to_list())) * 1.05
    order = errors["quantity"].unique(maintain_order=True).to_list()
    x = alt.X(
        "error_pct:Q",
        scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=alt.Axis(
            title="Error of the prediction (%): too low to the left, too high to the right",
            labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.6~r')",
            tickCount=11,
        ),
    )
    axis = alt.Axis(title=None, labelLimit=260, labelPadding=8, labelColor=INK, ticks=False, grid=True)
    ticks = (
        alt.Chart(errors)
        .mark_circle(size=90, color=PALETTE[0], opacity=0.55)
        .encode(
            x=x,
            y=alt.Y("quantity:N", sort=order, axis=axis),
            tooltip=_texts("label", "config", "published_text", "predicted_text", "error_text"),
        )
    )
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=INK).encode(x=alt.datum(0))
    return dress(alt.layer(zero, ticks).properties(width="container", height=34 * len(order)))
