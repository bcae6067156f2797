"""Charts of drives that wear: write amplification over time and against entropy, and bars by drive and workload.

As in `draw.charts`, no chart computes a result, and every chart is a single view whose width follows its container.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.views.draw.charts import INK, MUTED, NUMBER, WIDE_CHARS, dress, legend, overlay, rate_axis
from hotband.views.draw.curves import PUBLISHED, variant_scale
from hotband.views.draw.rows import row_axis

INTERVAL, TOTAL, THEORY, MODEL = "of each interval", "since the drive was new", "theory", "model"
AMPLIFICATION = "Write amplification (flash bytes / host bytes)"


def amplification_chart(rows: pl.DataFrame, x: str, title: str, colors: alt.Scale | None = None) -> View:
    """Return write amplification over time or over the host's writes, a colour per line; the running total is dashed.

    `rows`: line, kind (`INTERVAL` or `TOTAL`), the column `x` and write_amplification.
    """
    lines = rows["line"].unique(maintain_order=True).to_list()
    kinds = [INTERVAL, TOTAL]
    axis = alt.Axis(title=title, format=NUMBER, grid=False, tickCount=8)
    dashes = alt.Scale(domain=kinds, range=[[1, 0], [4, 3]])
    chart = (
        alt.Chart(rows)
        .mark_line(strokeWidth=1.8, strokeCap="round")
        .encode(
            x=alt.X(f"{x}:Q", scale=alt.Scale(nice=False), axis=axis),
            y=alt.Y("write_amplification:Q", **rate_axis(rows["write_amplification"], AMPLIFICATION)),
            color=alt.Color(
                "line:N", scale=colors or variant_scale(lines), legend=legend(pl.Series(lines), WIDE_CHARS)
            ),
            strokeDash=alt.StrokeDash("kind:N", scale=dashes, legend=alt.Legend(symbolStrokeColor=INK)),
            tooltip=[
                alt.Tooltip("line:N", title="Drive"),
                alt.Tooltip("kind:N", title="Over"),
                alt.Tooltip(f"{x}:Q", title=title, format=",.4~g"),
                alt.Tooltip("write_amplification:Q", title="Write amplification", format=".4~g"),
            ],
        )
    )
    return dress(chart, width="container", height=300)


def entropy_chart(points: pl.DataFrame, theory: pl.DataFrame, variants: Sequence[str]) -> View:
    """Return write amplification over the entropy of the data: the model's results as points, theory as a line.

    `points` and `theory`: variant, entropy, write_amplification.
    """
    values = pl.concat([points["write_amplification"], theory["write_amplification"]])
    color = alt.Color("variant:N", scale=variant_scale(variants), legend=legend(pl.Series(list(variants)), WIDE_CHARS))
    x = alt.X(
        "entropy:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(title="Entropy of the data (share that an archive keeps)", format=".1f", tickCount=10),
    )
    y = alt.Y("write_amplification:Q", **rate_axis(values, AMPLIFICATION))
    tooltip = [
        alt.Tooltip("variant:N", title="Drive"),
        alt.Tooltip("entropy:Q", title="Entropy", format=".3~f"),
        alt.Tooltip("write_amplification:Q", title="Write amplification", format=".4~g"),
    ]
    layers: list[Any] = []
    if not theory.is_empty():
        line = alt.Chart(theory).mark_line(strokeWidth=1.8, strokeDash=[4, 3], clip=True)
        layers.append(line.encode(x=x, y=y, color=color, tooltip=tooltip))
    marks = alt.Chart(points).mark_point(size=80, filled=True, opacity=1)
    layers.append(marks.encode(x=x, y=y, color=color, tooltip=tooltip))
    return dress(overlay(*layers), width="container", height=340)


def bar_chart(rows: pl.DataFrame, title: str, variants: Sequence[str]) -> View:
    """Return one bar per drive, with its number; a published value is a diamond on it.

    `rows`: variant, value, published (null if there is none).
    """
    shown = [name for name in variants if name in set(rows["variant"].to_list())]
    y = alt.Y("variant:N", sort=shown, axis=row_axis({name: name for name in shown}))
    highest = max(float(value) for name in ("value", "published") for value in rows[name].drop_nulls().to_list())
    scale = alt.Scale(domain=[0.0, 1.7 * highest], nice=False)
    axis: dict[str, Any] = {"scale": scale, "axis": alt.Axis(title=None, format=NUMBER, tickCount=4)}
    tooltip = [
        alt.Tooltip("variant:N", title="Drive"),
        alt.Tooltip("value:Q", title=f"Predicted: {title}", format=",.4~r"),
        alt.Tooltip("published:Q", title="Published", format=",.4~r"),
    ]
    base = alt.Chart(rows).encode(y=y, tooltip=tooltip)
    color = alt.Color("variant:N", scale=variant_scale(variants), legend=None)
    bars = base.mark_bar(height=16).encode(x=alt.X("value:Q", stack=None, **axis), color=color)
    text = base.mark_text(align="left", dx=5, fontSize=11, color=MUTED)
    layers = [bars, text.encode(x=alt.X("value:Q", **axis), text=alt.Text("value:Q", format=",.4~r"))]
    marked = rows.filter(pl.col("published").is_not_null())
    if not marked.is_empty():
        shape = alt.Shape("kind:N", scale=alt.Scale(domain=[PUBLISHED], range=["diamond"]))
        marks = alt.Chart(marked.with_columns(kind=pl.lit(PUBLISHED))).encode(y=y, tooltip=tooltip)
        marks = marks.mark_point(size=130, strokeWidth=2.2, filled=False, opacity=1, stroke=INK)
        layers.append(marks.encode(x=alt.X("published:Q", **axis), shape=shape))
    return dress(overlay(*layers), width="container", height=26 * len(shown))
