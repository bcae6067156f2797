"""One record from what an importer found, in the shape of docs/guides/records.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from hotband.base.errors import UserError
from hotband.base.version import __version__
from hotband.data.documents.record import RecordDoc, SummaryDoc
from hotband.data.documents.sides import Histogram, Side
from hotband.data.documents.source import Source
from hotband.data.importers.cells import LATEST_MS, NS_PER_MS
from hotband.data.record.imported import Imported, SeriesColumns
from hotband.data.record.stats import DIRECTIONS, NANOSECONDS_PER_SECOND, Direction, idle_side, summary_of

SCHEMA_VERSION = 1
# The largest number that a record's counts and the series hold (unsigned 64 bits).
LARGEST = 2**64 - 1
NO_BUCKETS: Histogram = {"kind": "none", "buckets": []}
Sides = dict[Direction, Side]


@dataclass
class Found:
    """What an importer found of one run. Percentiles by scope (`all`, `read`, `write`) are those the tool printed.

    Without `counts_known` the sides that did I/O have a count of None.
    """

    name: str
    machine: str
    source: Source
    duration_ns: int
    concurrency: int | None
    streams: list[tuple[str, Sides]]
    spec: dict[str, object] = field(default_factory=dict)
    series: SeriesColumns | None = None
    interval_ns: int | None = None
    percentiles: dict[str, dict[str, int | None]] = field(default_factory=dict)
    sizes_known: bool = True
    counts_known: bool = True
    further: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def side_of(
    count: int,
    volume: int,
    mean_ns: float | None,
    *,
    low_ns: int | None = None,
    high_ns: int | None = None,
    errors: int = 0,
    histogram: Histogram | None = None,
    percentiles: Sequence[tuple[float, int]] = (),
) -> Side:
    """The reads or writes of one stream; the latency sum is mean x count, so that the mean stays the tool's."""
    if count == 0:
        return {**idle_side("none" if histogram is None else histogram["kind"]), "errors": errors}
    return {
        "count": count,
        "bytes": volume,
        "errors": errors,
        "latency_sum_ns": None if mean_ns is None else str(round(Fraction(mean_ns) * count)),
        "latency_min_ns": low_ns,
        "latency_max_ns": high_ns,
        "histogram": histogram or NO_BUCKETS,
        "percentiles": [[q, value] for q, value in percentiles] or None,
    }


def check_times(file: str, duration_ns: int, series: SeriesColumns | None) -> None:
    """UserError for a time that has no place in a record: 64 bits of nanoseconds are 584 years."""
    latest = max([duration_ns, *(series["time_ns"] if series is not None else [])])
    if latest > LATEST_MS * NS_PER_MS:
        raise UserError(file, "", f"{latest / 1e9:.4g} s", "accepted: times of less than 285 years")


def build(found: Found) -> Imported:
    """The record and its series. UserError where the I/O has no duration."""
    sides: list[Mapping[Direction, Side]] = [both for _, both in found.streams]
    if found.duration_ns <= 0 and any(side["count"] for both in sides for side in both.values()):
        raise UserError(found.source["file"], found.name, "", "the I/O has no duration; accepted: runs that took time")
    summary = summary_of(sides, found.duration_ns, percentiles=found.percentiles or None)
    check_times(found.source["file"], found.duration_ns, found.series)
    if not found.counts_known:
        _forget_counts(summary, sides, found.duration_ns)
    if not found.sizes_known:
        for block in (summary, summary["read"], summary["write"]):
            block["bytes"] = block["bandwidth_bytes_per_s"] = None
    tool, version = found.source["tool"], found.source["version"]
    series = None if found.series is None else {"interval_ns": found.interval_ns, "file": "series.parquet"}
    record = {
        "schema": "hotband-record",
        "schema_version": SCHEMA_VERSION,
        "versions": {"hotband": __version__} | ({tool: version} if version else {}),
        "name": found.name,
        "target": {"kind": tool, "machine": found.machine},
        "source": found.source,
        "seed": found.source["asked"]["seed_text"],
        "spec": found.spec,
        "duration_ns": found.duration_ns,
        "concurrency": found.concurrency,
        "summary": summary,
        "streams": [{"name": name, **both} for name, both in found.streams],
        "parts": [],
        **found.further,
        "series": series,
        "notes": found.notes,
    }
    return Imported(cast("RecordDoc", record), found.series)


def _forget_counts(summary: SummaryDoc, sides: Sequence[Mapping[Direction, Side]], duration_ns: int) -> None:
    """Of I/Os that were not counted the summary has bytes and bandwidth alone."""
    for scope, block in (("", summary), ("read", summary["read"]), ("write", summary["write"])):
        of = [both[d] for both in sides for d in DIRECTIONS if scope in ("", d)]
        if all(side["count"] is not None for side in of):
            continue
        volume = sum(side["bytes"] for side in of)
        block["count"] = block["iops"] = block["queue_depth_mean"] = None
        block["bytes"], block["bandwidth_bytes_per_s"] = volume, volume * NANOSECONDS_PER_SECOND / duration_ns
