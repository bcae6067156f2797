"""Sections that a page of records and a page of a study share: latency, time series, use of time."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import cast

from hotband.base.heavy import pl
from hotband.base.text.numbers import ABSENT, cell, counted, finite, millis, number, rate
from hotband.data.documents.record import FiguresDoc, RecordDoc, SpecDoc
from hotband.data.record import frames
from hotband.data.record.load import LoadedRecord
from hotband.views.draw import charts
from hotband.views.draw.charts import SECONDS, Clock
from hotband.views.draw.strokes import Strokes
from hotband.views.report.page import Block, Cell, Chart, Charts, Fold, Group, Section, Table
from hotband.views.report.repair import mark_frame

# Most runs in one chart; with more, the reader chooses one, and another for comparison.
OVERLAID = 4

PERCENTILE_CAPTION = (
    "Each labelled step to the right from 90 % is ten times rarer. "
    f"A line ends where {frames.SUPPORT} I/Os are left beyond it: further out the sample is too small."
)
PRINTED_CAPTION = (
    "Points are percentiles that a source printed, or edges of its coarse histogram; lines only guide the eye."
)


def percentile_caption(frame: pl.DataFrame) -> str:
    """Return the caption of a chart of latencies by percentile."""
    return f"{PERCENTILE_CAPTION} {PRINTED_CAPTION}" if bool(frame["printed"].any()) else PERCENTILE_CAPTION


RESULT_COLUMNS = (
    "", "IOPS", "Bandwidth", "Mean latency", "p50", "p99", "p99.9", "Max", "Queue depth", "I/Os", "Errors",
)  # fmt: skip


def result_row(name: str, figures: FiguresDoc | None, muted: bool = False) -> list[Cell]:
    """Return one row under `RESULT_COLUMNS`, without figures if there are none."""
    summary = cast("Mapping[str, object]", figures or {})
    latencies = ("mean", "p50", "p99", "p999", "max")
    texts = [number(summary.get("iops")), rate(summary.get("bandwidth_bytes_per_s"))]
    texts += [millis(summary.get(f"latency_{key}_ns")) for key in latencies]
    texts += [
        number(summary.get("queue_depth_mean")),
        whole(summary.get("count")),
        whole(summary.get("errors")),
    ]
    return [Cell(name, muted=muted), *(Cell(text, numeric=True, muted=muted) for text in texts)]


def whole(value: object) -> str:
    """Format a count in full."""
    count = finite(value)
    return ABSENT if count is None else number(count)


def run_sections(
    records: Mapping[str, LoadedRecord], strokes: Strokes | None = None, clock: Clock = SECONDS
) -> list[Section]:
    """Return the sections that need only runs; a section without content is left out."""
    # The same choice is above both kinds of chart, so that a page has one chosen run.
    chosen = tuple(records) if len(records) > OVERLAID else ()
    sections = [_distribution(records, chosen, strokes), _series(records, chosen, strokes, clock), _time(records)]
    return [section for section in sections if section is not None]


def _distribution(
    records: Mapping[str, LoadedRecord], chosen: tuple[str, ...], strokes: Strokes | None
) -> Section | None:
    frame = frames.percentile_frame(records)
    if frame.is_empty():
        return None
    drawn = charts.percentile_chart(frame, strokes=strokes)
    chart = Chart("Latency by percentile", drawn, percentile_caption(frame))
    return Section("latency", "Latency distribution", [Charts([chart], width=1000, runs=chosen)])


def _series(
    records: Mapping[str, LoadedRecord], chosen: tuple[str, ...], strokes: Strokes | None, clock: Clock
) -> Section | None:
    frame, width_s = frames.series_frame(records)
    if frame.is_empty():
        return None
    marks = mark_frame(records)
    each = f"One point covers up to {number(width_s)} s"
    captions = {
        "iops": f"{each}.",
        "latency_mean_ms": "Weighted by the I/Os of each interval.",
        "latency_p99_ms": "If a point covers several intervals, it shows the worst.",
        "queue_depth": "Mean outstanding I/Os.",
    }
    drawn = [
        Chart(f"{title} over time", charts.series_chart(frame, value, marks, strokes, clock), captions[value])
        for value, title in frames.SERIES.items()
        if frame[value].is_not_null().any()
    ]
    return Section("series", "Over time", [Charts(drawn, width=460, runs=chosen)])


def _time(records: Mapping[str, LoadedRecord]) -> Section | None:
    frame = frames.time_frame(records)
    if frame.is_empty():
        return None
    most = max(frame["parts"].to_list())
    caption = "The rest of each bar is idle time."
    if most > 1:
        caption += f" Each bar is a mean over the parts of one kind (up to {most})."
    chart = Chart("Share of the time by activity", charts.time_chart(frame), caption)
    return Section("time", "What the parts were doing", [Charts([chart], width=1000)])


def parts_table(record: RecordDoc, name: str) -> Table | None:
    """Return every counter of every part, folded."""
    parts = [part for part in record["parts"] if part.get("counters")]
    keys = list(dict.fromkeys(key for part in parts for key in part["counters"]))
    if not keys:
        return None
    rows = [
        [Cell(str(part.get("id", ""))), Cell(str(part.get("kind", "")))]
        + [Cell(cell(part["counters"].get(key)), numeric=True) for key in keys]
        for part in parts
    ]
    return Table(["Part", "Kind", *keys], [Group(rows)], caption=f"Counters of every part: {name}", folded=True)


def notes_blocks(records: Mapping[str, LoadedRecord]) -> list[Block]:
    """Return notes of records on parts that could not be carried over, read or drawn."""
    rows = []
    for label, loaded in records.items():
        texts = [
            *(loaded.record.get("notes") or []),
            *loaded.remarks,
            *frames.histogram_remarks(loaded.record),
        ]
        rows += [[Cell(label), Cell(str(text))] for text in texts]
    return [Table(["Run", "Note"], [Group(rows)], caption=f"Notes ({len(rows)})", folded=True)] if rows else []


def spec_folds(records: Mapping[str, LoadedRecord]) -> list[Fold]:
    """Return the texts from which records were made, folded; those of runs that differ only in their seed once."""
    labels: dict[str, list[str]] = {}
    for label, loaded in records.items():
        labels.setdefault(_spec_text(loaded.record.get("spec") or {}), []).append(label)
    return [Fold(f"What {_first_of(runs)} made from", text) for text, runs in labels.items() if text]


def _first_of(labels: Sequence[str]) -> str:
    first, *others = labels
    return f"{first} and {counted(len(others), 'other run')} were" if others else f"{first} was"


def _spec_text(spec: SpecDoc) -> str:
    """Return all texts of a record, each below its name."""
    drives, settings = spec.get("drives") or {}, spec.get("set") or {}
    named = {"workload": spec.get("workload"), "machine": spec.get("machine")}
    texts = {key: str(text) for key, text in named.items() if text}
    texts |= {f"drive {name}": str(text) for name, text in drives.items()}
    if settings:
        texts["set"] = "\n".join(f"{key} = {value}" for key, value in settings.items())
    if happened := events(spec):
        texts["options of hotband run"] = "\n".join(happened)
    return "\n\n".join(f"--- {name} ---\n{text.strip()}" for name, text in texts.items())


def events(spec: SpecDoc) -> list[str]:
    """Return the planned events of a run as options of `hotband run`: failing drives, their repair, a power loss."""
    options: list[tuple[str, str | int | None]] = []
    if repair := spec.get("repair"):
        options += [("fail", drive) for drive in repair.get("fail") or []]
        options += [("spares", repair.get("spare") or None), ("rebuild-rate", repair.get("rebuild_rate"))]
        options.append(("rebuild-after", repair.get("rebuild_after")))
    options.append(("power-loss", spec.get("power_loss")))
    options += [("event", event) for event in spec.get("events") or []]
    return [f"--{name} {shlex.quote(str(value))}" for name, value in options if value is not None]


def versions(records: Mapping[str, LoadedRecord], further: object = None) -> str:
    """Return the versions of all programs that contributed, each once."""
    sources = [loaded.record.get("versions") for loaded in records.values()]
    pairs = [pair for document in [further, *sources] if isinstance(document, dict) for pair in document.items()]
    return ", ".join(dict.fromkeys(f"{name} {version}" for name, version in pairs)) or "not recorded"
