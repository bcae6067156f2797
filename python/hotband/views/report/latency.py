"""`hotband report --latency`: latency by percentile of records and of other tools' results.

Left out: percentiles with fewer than ten I/Os beyond them (see `hotband.data.record.frames`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hotband.base.errors import UserError
from hotband.base.foreign import all_visible
from hotband.base.heavy import alt, pl, vl_convert
from hotband.base.text.write import make_folder, write_file
from hotband.base.views import View
from hotband.data.documents.record import source_file
from hotband.data.importers import load, loaded
from hotband.data.importers.files import read_beginning
from hotband.data.record import frames
from hotband.data.record.files import record_file
from hotband.data.record.load import LoadedRecord, load_record
from hotband.views.draw.charts import INK, MOST_LINES, MUTED, percentile_chart
from hotband.views.report.page import library, spec_of, to_json
from hotband.views.report.sections import percentile_caption

FORMATS = (".html", ".png", ".svg")
WIDTH, HEIGHT = 860, 460
# Twice the pixels: legible on paper and on dense screens.
SCALE = 2.0
_LINE_CHARS = 150
NARROW = '<meta name="viewport" content="width=device-width, initial-scale=1">'
PAGE_STYLE = (
    f"body{{margin:16px;max-width:{WIDTH + 100}px;font-family:system-ui,sans-serif;color:{INK}}}"
    f"h1{{font-size:17px;margin:0 0 6px;overflow-wrap:anywhere}}p{{font-size:12px;color:{MUTED};margin:0 0 14px}}"
    "#vis{width:100%}"
)
DRAW = """
const spec = %s;
if (innerWidth < 600) {
  for (const { encoding } of spec.layer) {
    encoding.x.axis.title = encoding.x.axis.title.split(/(?<=,) /);
    if (encoding.color.legend) Object.assign(encoding.color.legend, { columns: 1, labelLimit: innerWidth - 120 });
  }
}
vegaEmbed("#vis", spec, { mode: "vega-lite" });
"""
"""Draws the chart; in a narrow window the legend has a line per name and the axis title one per half."""


def load_any(path: Path) -> list[LoadedRecord]:
    """Return the records behind a path: a record, a folder with one, or a result of another tool. Raises UserError."""
    if path.is_dir() and record_file(path).is_file():
        return [load_record(path)]
    if path.is_file() and _is_record(path):
        return [load_record(path)]
    return [loaded(result) for result in load(path)]


def _is_record(path: Path) -> bool:
    return b'"hotband-record"' in read_beginning(path)[:4096]


def labelled(records: Sequence[LoadedRecord]) -> dict[str, LoadedRecord]:
    """Return records by name; those that share a name are named by file, else by number."""
    names = [record.label for record in records]
    if len(set(names)) < len(names):
        stems = [Path(source_file(record.record) or record.label).stem for record in records]
        alike = [stem if names.count(name) > 1 else name for name, stem in zip(names, stems, strict=True)]
        records = [replace(record, label=label) for record, label in zip(records, alike, strict=True)]
    return frames.unique_labels(records)


def latency_chart(records: Sequence[LoadedRecord], title: str, op: str | None) -> View:
    """Return the chart; `op` is read, write or None for both. Raises UserError if there is nothing to draw, or too
    much."""
    frame = frames.percentile_frame(labelled(records))
    if op is not None:
        line = pl.col("line")
        frame = frame.filter(line.str.ends_with(f"· {op}") | (line == op))
    if frame.is_empty():
        what = "latencies" if op is None else f"latencies of {op}s"
        raise UserError("plot latency", "", "", f"no {what} in it; accepted: records with histograms or percentiles")
    words = [line.rsplit(" · ")[-1] for line in frame["line"].unique().to_list()]
    directions = f" of {words[0]}s" if len(set(words)) == 1 else ""
    if directions and len(records) > 1:
        frame = frame.with_columns(line=pl.col("run"))
    lines = frame["line"].n_unique()
    if lines > MOST_LINES:
        raise UserError(
            "plot latency", "", str(lines), f"lines on one chart; accepted: up to {MOST_LINES} (question.op read)"
        )
    chart = percentile_chart(frame, quantity=f"Latency{directions} (ms)", width=WIDTH, height=HEIGHT)
    heading = alt.Title(
        title,
        subtitle=_wrapped(percentile_caption(frame)),
        anchor="start",
        color=INK,
        subtitleColor=MUTED,
        fontSize=17,
        subtitleFontSize=12,
        subtitlePadding=6,
        offset=14,
    )
    drawn: View = chart.properties(title=heading, padding=16)
    return drawn


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, _LINE_CHARS)


def check_out(out: Path) -> None:
    """Check that a chart can be written to a path. Raises UserError."""
    if out.suffix.lower() not in FORMATS:
        raise UserError("question.out", "", str(out), f"accepted: a file that ends in {', '.join(FORMATS)}")
    if out.is_dir():
        raise UserError("question.out", "", str(out), "is a folder; accepted: a file to write")


def write_chart(chart: View, out: Path) -> None:
    """Write the chart in the format of the file's suffix: HTML (self-contained), PNG or SVG. Raises UserError,
    OSError."""
    spec = all_visible(spec_of(chart))
    kind = out.suffix.lower().removeprefix(".")
    drawn: str | bytes
    if kind == "html":
        drawn = _page(spec)
    elif kind == "png":
        drawn = vl_convert.vegalite_to_png(spec, scale=SCALE)
    else:
        drawn = vl_convert.vegalite_to_svg(spec)
    make_folder(out.parent)
    write_file(out, drawn)


def _page(spec: dict[str, Any]) -> str:
    """Return a page with only a chart, as wide as the window; its title is text, which wraps in a narrow window.
    altair's template is not used, because a name can end its script."""
    from html import escape

    title = spec["title"]
    drawn = {**{key: value for key, value in spec.items() if key != "title"}, "width": "container"}
    head = f'<meta charset="utf-8">\n<title>Latency</title>\n{NARROW}\n<style>{PAGE_STYLE}</style>'
    text = f"<h1>{escape(title['text'])}</h1>\n<p>{escape(' '.join(title['subtitle']))}</p>"
    scripts = (library(), DRAW % to_json(drawn))
    body = "".join(f"<script>{script}</script>\n" for script in scripts)
    html = f'<head>\n{head}\n</head>\n<body>\n{text}\n<div id="vis"></div>\n{body}</body>'
    return f'<!DOCTYPE html>\n<html lang="en">\n{html}\n</html>\n'
