"""One record from an imported run, in the shape of docs/guides/records.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from hotband.base.claim import Claim, broken
from hotband.base.errors import UserError
from hotband.base.guess import Guess
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
class ImportedRun:
    """An imported run. Percentiles by scope (`all`, `read`, `write`) are those the tool printed.

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
    guesses: list[Guess] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


def binned(bins: Sequence[tuple[int | None, int]], largest_ns: int | None) -> Histogram:
    """Return a histogram of (upper edge or None, count) as a tool prints them. The last bin in use ends at the largest
    latency, so that no percentile is above it."""
    edges = sorted(edge for edge, _ in bins if edge is not None)
    open_end = max(largest_ns or 0, edges[-1] if edges else 0)
    counts: dict[int, int] = {}
    for edge, count in bins:
        key = open_end if edge is None else edge
        counts[key] = counts.get(key, 0) + count
    buckets = [[edge, counts[edge]] for edge in sorted(counts) if counts[edge]]
    if buckets and largest_ns is not None:
        below = [edge for edge in edges if edge < buckets[-1][0]]
        if max(below, default=0) < largest_ns < buckets[-1][0]:
            buckets[-1][0] = largest_ns
    return {"kind": "bins", "buckets": buckets}


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
    """Raise UserError for a time that a record cannot hold: 64 bits of nanoseconds are 584 years."""
    latest = max([duration_ns, *(series["time_ns"] if series is not None else [])])
    if latest > LATEST_MS * NS_PER_MS:
        raise UserError(file, "", f"{latest / 1e9:.4g} s", "accepted: times of less than 285 years")


def build(imported_run: ImportedRun) -> Imported:
    """Return the record and its series. Raises UserError if the I/O has no duration."""
    sides: list[Mapping[Direction, Side]] = [both for _, both in imported_run.streams]
    if imported_run.duration_ns <= 0 and any(side["count"] for both in sides for side in both.values()):
        raise UserError(
            imported_run.source["file"], imported_run.name, "", "the I/O has no duration; accepted: runs that took time"
        )
    summary = summary_of(sides, imported_run.duration_ns, percentiles=imported_run.percentiles or None)
    check_times(imported_run.source["file"], imported_run.duration_ns, imported_run.series)
    if not imported_run.counts_known:
        _forget_counts(summary, sides, imported_run.duration_ns)
    if not imported_run.sizes_known:
        for block in (summary, summary["read"], summary["write"]):
            block["bytes"] = block["bandwidth_bytes_per_s"] = None
    tool, version = imported_run.source["tool"], imported_run.source["version"]
    series = (
        None if imported_run.series is None else {"interval_ns": imported_run.interval_ns, "file": "series.parquet"}
    )
    source = imported_run.source
    if imported_run.guesses:
        source = {**source, "guesses": [guess.to_dict() for guess in imported_run.guesses]}
    if contradictions := broken(imported_run.claims):
        source = {**source, "contradictions": contradictions}
    record = {
        "schema": "hotband-record",
        "schema_version": SCHEMA_VERSION,
        "versions": {"hotband": __version__} | ({tool: version} if version else {}),
        "name": imported_run.name,
        "target": {"kind": tool, "machine": imported_run.machine},
        "source": source,
        "seed": imported_run.source["asked"]["seed_text"],
        "spec": imported_run.spec,
        "duration_ns": imported_run.duration_ns,
        "concurrency": imported_run.concurrency,
        "summary": summary,
        "streams": [{"name": name, **both} for name, both in imported_run.streams],
        "parts": [],
        **imported_run.further,
        "series": series,
        "notes": imported_run.notes,
    }
    return Imported(cast("RecordDoc", record), imported_run.series)


def _forget_counts(summary: SummaryDoc, sides: Sequence[Mapping[Direction, Side]], duration_ns: int) -> None:
    """Reduce the summary of uncounted I/Os to bytes and bandwidth."""
    for scope, block in (("", summary), ("read", summary["read"]), ("write", summary["write"])):
        scoped = [both[d] for both in sides for d in DIRECTIONS if scope in ("", d)]
        if all(side["count"] is not None for side in scoped):
            continue
        volume = sum(side["bytes"] for side in scoped)
        block["count"] = block["iops"] = block["queue_depth_mean"] = None
        block["bytes"], block["bandwidth_bytes_per_s"] = volume, volume * NANOSECONDS_PER_SECOND / duration_ns
