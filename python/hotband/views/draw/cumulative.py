"""Cumulative distributions of two sets of latencies in one chart."""

from __future__ import annotations

from hotband.base.heavy import alt, pl
from hotband.base.views import View
from hotband.views.draw.charts import NUMBER, PALETTE, dress, tight_log_axis

DASH = [7, 3]
"""Dashes of the second line, so that the first shows through its gaps if they coincide."""
HEIGHT = 300


def cumulative_chart(points: pl.DataFrame, order: tuple[str, str]) -> View:
    """Return the share of the I/Os (%) that took at most a latency (ms, log axis), for two lines.

    `points`: line (one of `order`), share_pct, latency_ms.
    """
    # Zero has no position on a log axis.
    drawn = points.filter(pl.col("latency_ms") > 0)
    scale = alt.Scale(domain=list(order), range=list(PALETTE[: len(order)]))
    dashes = alt.Scale(domain=list(order), range=[[1, 0], DASH])
    shown = alt.Legend(symbolType="stroke")
    chart = (
        alt.Chart(drawn)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("latency_ms:Q", **tight_log_axis(drawn["latency_ms"], "Latency (ms)")),
            y=alt.Y(
                "share_pct:Q",
                scale=alt.Scale(domain=[0, 100], nice=False),
                axis=alt.Axis(title="I/Os that took no longer (%)", format=NUMBER, tickCount=6),
            ),
            order=alt.Order("share_pct:Q"),
            color=alt.Color("line:N", sort=list(order), scale=scale, legend=shown),
            strokeDash=alt.StrokeDash("line:N", sort=list(order), scale=dashes, legend=shown),
            tooltip=[
                alt.Tooltip("line:N", title="Trace"),
                alt.Tooltip("share_pct:Q", title="I/Os (%)", format=".6~g"),
                alt.Tooltip("latency_ms:Q", title="Latency (ms)", format=",.4~g"),
            ],
        )
    )
    return dress(chart, width="container", height=HEIGHT)
