"""The page of a trace: its description, figures, then charts. Several traces are parts of one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hotband.base.text.numbers import number, plural, share, span
from hotband.base.text.table import MS
from hotband.base.text.write import expect_page
from hotband.inference.traces.show import TraceShown
from hotband.views.draw.charts import log_axis, tight_log_axis
from hotband.views.draw.trace import bars_chart, dispersion_chart, from_zero, lines_chart, plain_axis
from hotband.views.report.page import Cell, Chart, Charts, Group, Page, Part, Prose, Section, Table, write_report
from hotband.views.traces.frames import (
    dispersion_rows,
    jump_rows,
    miss_rows,
    popularity_rows,
    rate_rows,
    run_rows,
    size_rows,
    touched_rows,
    window_rows,
)
from hotband.views.traces.show import closing_of, table_of
from hotband.views.traces.told import answers_of, rows_of

WIDTH = 460
"""Width of a chart: two fit next to each other."""


def write_page(shown: Sequence[TraceShown], path: str | Path) -> Path:
    """Write the page of one trace or several; return its path. Raises UserError for a wrong path, OSError."""
    expect_page("path", Path(path))
    return write_report(Path(path), trace_page(shown))


def trace_page(shown: Sequence[TraceShown]) -> Page:
    """Return the page of one trace or of several."""
    if len(shown) == 1:
        (trace,) = shown
        sections = [
            Section("answer", "Summary", [Prose(answers_of(trace.properties), lead=True)]),
            *_sections(trace, ""),
        ]
        return Page(trace.source.name, sections, subtitle=f"{trace.source}, {trace.format}", kicker="Trace")
    beside = Section("beside", "Comparison", [_beside(shown)])
    parts = [
        Part(f"trace-{index}", trace.source.name, _sections(trace, f"-{index}"), " ".join(answers_of(trace.properties)))
        for index, trace in enumerate(shown)
    ]
    return Page(f"{len(shown)} traces", [beside], kicker="Traces", parts=parts)


def _beside(shown: Sequence[TraceShown]) -> Table:
    return Table.of(table_of(shown))


def _sections(trace: TraceShown, number: str) -> list[Section]:
    """Return figures and charts; ids of several traces end in their number, and one table has all their figures."""
    rows = [[Cell(name), Cell(text)] for name, text in rows_of(trace.properties)]
    figures = Section("figures", "Figures", [Table(["", ""], [Group(rows)], tight=True)])
    sections = [] if number else [figures]
    for key, title, charts in _charts(trace):
        sections += [Section(f"{key}{number}", title, [Charts(charts, width=WIDTH)])] * bool(charts)
    if trace.properties.latency:
        sections.append(Section(f"latency{number}", "Latency", [_latency(trace)]))
    return [*sections, Section(f"conditions{number}", "Method", [Prose(closing_of(trace))])]


def _latency(trace: TraceShown) -> Table:
    """Return a table of measured latencies by direction."""
    rows = []
    for side in trace.properties.latency:
        ns = side.ns
        values = (ns.mean, ns.p10, ns.p50, ns.p90, ns.p99, ns.p999, ns.max)
        rows.append([Cell(plural(side.direction)), *(Cell(MS.bare(value), numeric=True) for value in values)])
    heads = ["ms", "mean", "p10", "p50", "p90", "p99", "p99.9", "longest"]
    return Table(heads, [Group(rows)], caption="From the trace: latencies of the recorded drive.", tight=True)


def _charts(trace: TraceShown) -> list[tuple[str, str, list[Chart]]]:
    return [
        ("time", "Over time", _time(trace)),
        ("places", "Sizes and places", _places(trace)),
        ("blocks", "Reuse", _blocks(trace)),
    ]


def _time(trace: TraceShown) -> list[Chart]:
    properties, seconds = trace.properties, plain_axis("Time (s)")
    charts = []
    if properties.span_ns:
        view = lines_chart(rate_rows(properties), seconds, from_zero("I/Os a second"), steps=True)
        charts.append(Chart("Rate", view, f"In intervals of {span(properties.time.interval_ns)}."))
    rows = dispersion_rows(properties)
    if len(rows):
        caption = (
            "Variance over mean of the I/Os in a window. 1 (dashed): a Poisson process. Whiskers: 2 standard errors."
        )
        charts.append(Chart("Burstiness", dispersion_chart(rows), caption))
    if properties.reuse.accesses and properties.span_ns:
        view = lines_chart(touched_rows(properties, so_far=True), seconds, from_zero("Touched (MB)"), steps=True)
        charts.append(Chart("Footprint", view, "Different blocks touched since the beginning."))
        view = lines_chart(touched_rows(properties, so_far=False), seconds, from_zero("Touched (MB)"), steps=True)
        interval = number(properties.working_set.interval_ns / 1e9)
        charts.append(Chart("Working set over time", view, f"Different blocks touched in each {interval} s."))
    rows = window_rows(properties)
    if len(rows) > 1:
        axes = log_axis(rows["x"], "Window (s)"), log_axis(rows["y"], "Working set (MB)")
        charts.append(
            Chart("Working set by window", lines_chart(rows, *axes), "Different blocks in a window, on average.")
        )
    return charts


def _places(trace: TraceShown) -> list[Chart]:
    properties, charts = trace.properties, []
    if not properties.runs.ios:
        return []
    charts.append(Chart("Sizes", bars_chart(size_rows(properties), "Size", "I/Os (%)")))
    caption = "A run is a sequence of contiguous I/Os; in streams, other I/Os may come between."
    charts.append(Chart("Runs", bars_chart(run_rows(properties), "Length of the run (I/Os)", "I/Os (%)"), caption))
    rows = jump_rows(properties)
    if len(rows):
        caption = f"From this distance to four times as far; {share(properties.jumps.none)} do not jump."
        charts.append(Chart("Jumps", bars_chart(rows, "From", "I/Os (%)"), caption))
    return charts


def _blocks(trace: TraceShown) -> list[Chart]:
    properties = trace.properties
    if not properties.reuse.accesses:
        return []
    rows = miss_rows(properties)
    axes = tight_log_axis(rows["x"], "Cache (MB)"), from_zero("Misses (%)")
    caption = "Accesses by block. " + (
        "Exact." if properties.is_exact else "Shaded: two standard errors of the sample."
    )
    charts = [Chart("LRU cache", lines_chart(rows, *axes, band=not properties.is_exact), caption)]
    rows = popularity_rows(properties)
    if len(rows) > 1:
        axes = tight_log_axis(rows["x"], "Rank of the block"), tight_log_axis(rows["y"], "Touched")
        charts.append(Chart("Popularity", lines_chart(rows, *axes), "How often the block of a rank is touched."))
    return charts
