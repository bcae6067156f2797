"""Charts of a fleet: a figure by month, one line per group, with the band in which 95 % of the repetitions lie; and
bars of cost by part. As in `draw.charts`, no chart computes a result."""

from __future__ import annotations

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.views.draw.charts import NUMBER, WIDE_CHARS, dress, legend, overlay
from hotband.views.draw.curves import variant_scale

WIDTH, HEIGHT = 460, 200
SHARES = ("degraded_share", "endurance_left")
"""Columns that are shares, which are drawn in percent."""


def groups_of(frame: pl.DataFrame) -> list[str]:
    """Return the groups of a frame, without the last row, which has all of them together."""
    groups: list[str] = frame["group"].unique(maintain_order=True).to_list()
    return groups[:-1] if len(groups) > 1 else groups


def month_chart(frame: pl.DataFrame, name: str, title: str, width: int | str = WIDTH) -> View:
    """Return a figure of `Fleet.frame` by month: a line per group for the mean, and a band from `_low` to `_high`. All
    groups together are left out, because their sum would cover the others."""
    scale = 100.0 if name in SHARES else 1.0
    ends = [pl.col(column) * scale for column in (name, f"{name}_low", f"{name}_high")]
    rows = frame.select(
        "group", "month", *(end.alias(key) for end, key in zip(ends, ("y", "low", "high"), strict=True))
    )
    rows = rows.filter(pl.col("group").is_in(groups_of(frame))).drop_nulls()
    groups = rows["group"].unique(maintain_order=True).to_list()
    key = legend(pl.Series(groups), WIDE_CHARS)
    # A line as the band's symbol in the legend would be as pale as the band.
    key.symbolType, key.symbolOpacity = "stroke", 1
    base = alt.Chart(rows).encode(
        x=alt.X("month:Q", scale=alt.Scale(nice=False), axis=alt.Axis(title="Month", format=NUMBER, grid=False)),
        color=alt.Color("group:N", sort=groups, scale=variant_scale(groups), legend=key),
    )
    scale_of, axis = alt.Scale(zero=True), alt.Axis(title=title, format=NUMBER, tickCount=5)
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", scale=scale_of, axis=axis), y2=alt.Y2("high:Q"))
    line = base.mark_line(strokeWidth=1.8, strokeCap="round").encode(
        y=alt.Y("y:Q", scale=scale_of, axis=axis),
        tooltip=[
            alt.Tooltip("group:N", title="Group"),
            alt.Tooltip("month:Q", title="Month"),
            alt.Tooltip("y:Q", title=title, format=",.4~g"),
            alt.Tooltip("low:Q", title="95 % from", format=",.4~g"),
            alt.Tooltip("high:Q", title="95 % to", format=",.4~g"),
        ],
    )
    return dress(overlay(band, line), width=width, height=HEIGHT)
