"""A record as a notebook shows it: a table of its figures and a small chart, drawn by `hotband.views.draw`.

The chart is a static SVG inside an image, so it needs no script and stays in a saved notebook, and a record's names
cannot inject anything into the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.numbers import number
from hotband.data.record.frames import PERCENTILE_POINTS, percentile_frame, series_frame
from hotband.views.draw.charts import percentile_chart, series_chart
from hotband.views.draw.picture import picture

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.data.record.record import Figures, Plot, Record

# The charts of `Record.plot` over time, with the column of each chart's frame.
OVER_TIME = {
    "iops": "iops",
    "latency_mean": "latency_mean_ms",
    "latency_p99": "latency_p99_ms",
    "queue_depth": "queue_depth",
}
WIDTH, HEIGHT = 460, 170
# Points of a line of the small chart, which a notebook stores.
POINTS = 40
CELL = "text-align:right;padding:2px 10px"


def chart(record: Record, kind: Plot, points: int = PERCENTILE_POINTS) -> View:
    """Return the chart of `kind`, with about this many points per line. Raises UserError for an unknown kind, or if
    there is nothing to draw."""
    records = {record.name: record.loaded()}
    if kind == "latency":
        frame = percentile_frame(records, points)
        if frame.is_empty():
            raise UserError("kind", "", kind, "the record has neither histograms nor percentiles")
        return percentile_chart(frame, width=WIDTH, height=HEIGHT)
    if kind not in OVER_TIME:
        raise UserError("kind", "", str(kind), f"expected one of latency, {', '.join(OVER_TIME)}")
    frame, _ = series_frame(records)
    if frame.is_empty():
        raise UserError("kind", "", kind, "the record has no series, so there are no charts over time")
    drawn: View = series_chart(frame, OVER_TIME[kind]).properties(width=WIDTH, height=HEIGHT)
    return drawn


def html(record: Record) -> str:
    """Return the notebook's view: name, figures of all, reads and writes, notes, and latency by percentile."""
    rows = [("all", record.summary), ("read", record.read), ("write", record.write)]
    shown = [(name, figures) for name, figures in rows if name == "all" or figures.count or figures.errors]
    notes = "".join(f"<li>{escape(note)}</li>" for note in record.notes)
    try:
        image = picture(chart(record, "latency", POINTS))
    except UserError:
        # Nothing was measured, as the table shows.
        image = ""
    return (
        f"<div><strong>{escape(record.name)}</strong> "
        f"<span>measured for {escape(str(record.duration))}</span>{table(shown)}{image}"
        f"{f'<ul>{notes}</ul>' if notes else ''}</div>"
    )


def table(rows: Sequence[tuple[str, Figures]]) -> str:
    """Return rates and latencies, one row each."""
    heads = ("", "IOPS", "bandwidth", "mean", "p50", "p99", "p99.9", "max", "outstanding", "errors")
    head = "".join(f'<th style="{CELL}">{name}</th>' for name in heads)
    lines = ("".join(f'<td style="{CELL}">{cell}</td>' for cell in cells(*row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cells(name: str, figures: Figures) -> list[str]:
    """Return the texts of a row."""
    latencies = (figures.mean, figures.p50, figures.p99, figures.p999, figures.max)
    return [
        escape(name),
        "–" if figures.iops is None else number(figures.iops),
        "–" if figures.bandwidth is None else str(figures.bandwidth),
        *("–" if latency is None else str(latency) for latency in latencies),
        "–" if figures.queue_depth is None else number(figures.queue_depth),
        f"{figures.errors:,}",
    ]
