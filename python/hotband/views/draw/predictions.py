"""Measured against predicted figures of a corpus, a panel for each class, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.heavy import alt, pl
from hotband.data.corpus.loads import CLASSES
from hotband.views.draw.charts import MUTED, PALETTE, overlay

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.questions.predictions.asked import FigurePrediction

PANEL, COLUMNS = 150, 4
"""Pixels of a panel, and panels in a row."""
RATES, TIMES = ("iops", "mb_s"), ("lat_p99", "lat_p999")
UNITS = {"iops": "IOPS", "mb_s": "MB/s", "lat_p99": "µs", "lat_p999": "µs"}
STREAMS = "sequential"


def measured_against_predicted(figures: Sequence[FigurePrediction]) -> View:
    """Draw a point per predicted figure; those outside their interval have another colour. Points on the line are exact
    predictions."""
    panels = [panel for name in CLASSES if name != "other" and (panel := _panel(name, figures)) is not None]
    chart: View = alt.concat(*panels, columns=COLUMNS).configure_view(stroke=None).configure_concat(spacing=14)
    return chart


def _panel(figure_class: str, figures: Sequence[FigurePrediction]) -> View | None:
    """Return the panel of a class; None if it has no predictions."""
    metrics = TIMES if "p99" in figure_class else RATES[1:] if figure_class == STREAMS else RATES[:1]
    rows = [
        {
            "measured": figure.measured,
            "predicted": figure.predicted,
            "interval": "none" if figure.low is None or figure.high is None
            else "inside" if figure.low <= figure.measured <= figure.high else "outside",
        }
        for figure in figures
        if figure.figure_class == figure_class and figure.metric in metrics and figure.predicted and figure.measured > 0
    ]  # fmt: skip
    if not rows:
        return None
    values = [float(row[name]) for row in rows for name in ("measured", "predicted") if row[name]]
    domain = [10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))]
    powers = [10.0**power for power in range(round(math.log10(domain[0])), round(math.log10(domain[1])) + 1)]
    scale, axis = alt.Scale(type="log", domain=domain), alt.Axis(values=powers, format="~s")
    color = alt.Scale(domain=["inside", "outside", "none"], range=[PALETTE[0], PALETTE[1], MUTED])
    unit = UNITS[metrics[0]]
    points = (
        alt.Chart(pl.DataFrame(rows))
        .mark_circle(size=14, opacity=0.55)
        .encode(
            x=alt.X("measured:Q", title=f"measured ({unit})", scale=scale, axis=axis),
            y=alt.Y("predicted:Q", title=f"predicted ({unit})", scale=scale, axis=axis),
            color=alt.Color("interval:N", title="90 % interval", scale=color),
        )
    )
    ends = pl.DataFrame({"measured": domain, "predicted": domain})
    line = (
        alt.Chart(ends).mark_line(color=MUTED, strokeDash=[4, 3]).encode(x=alt.X("measured:Q"), y=alt.Y("predicted:Q"))
    )
    panel: View = overlay(line, points).properties(width=PANEL, height=PANEL, title=figure_class)
    return panel
