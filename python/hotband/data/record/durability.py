"""Tell which acknowledged writes a power failure may destroy: the write cache is volatile, and the load flushes it or
writes through it. Left out: file systems and databases that acknowledge to their users without a flush."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import tomli

from hotband.base.text.words import enumerated
from hotband.data.record.states import states_of
from hotband.data.record.stats import flush_latency, latency_sum, merge, percentile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.sides import Side

FLUSHED = "no power-loss protection: acknowledged writes survive a power failure only once a later flush has completed"
WRITTEN_THROUGH = (
    "no power-loss protection: synchronous writes reach the media before they complete, so a power failure loses none "
    "of them; other acknowledged writes may be lost"
)
UNPROTECTED = (FLUSHED, WRITTEN_THROUGH)
"""Notes of machines whose write cache is volatile, under loads with syncs: flushes, or writes through the cache."""
MOST_NAMED = 3
"""Most machines that a line names."""


def durability_notes(record: RecordDoc) -> list[str]:
    """Return what survives a power failure, if the load issues flushes or writes through the cache and a drive's write
    cache is volatile; else nothing."""
    if is_protected(record) is not False:
        return []
    return [FLUSHED if flush_latency(record, "latency_p99_ns") is not None else WRITTEN_THROUGH]


def durability_lines(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line per note, with the machines that it applies to; `notes` are pairs of a machine and its note."""
    machines: dict[str, dict[str, None]] = {}
    for machine, note in notes:
        machines.setdefault(note, {})[machine] = None
    return [f"{enumerated(list(names), MOST_NAMED)}: {note}" for note, names in machines.items()]


def is_protected(record: RecordDoc) -> bool | None:
    """Return whether all acknowledged writes survive a power failure; None for a load without syncs, and for unknown
    caches."""
    states = states_of(record)
    has_syncs = flush_latency(record, "latency_p99_ns") is not None or writes_through(record)
    if states is None or not has_syncs:
        return None
    return all(drive["write_cache"] != "volatile" for drive in states["drives"])


def writes_through(record: RecordDoc) -> bool:
    """Return whether a stream of the workload writes through the cache (FUA, fio's sync=1)."""
    text = record["spec"].get("workload", "")
    # Every run of a sweep comes here, and parsing takes longer than looking for the word.
    if "fua" not in text:
        return False
    try:
        streams = tomli.loads(text).get("streams", [])
    except tomli.TOMLDecodeError:
        return False
    return any(isinstance(stream, dict) and stream.get("fua") is True for stream in streams)


COMMIT_FIGURES = {"latency_mean_ns": None, "latency_p50_ns": 50.0, "latency_p99_ns": 99.0, "latency_p999_ns": 99.9}
"""Figures of commits in the rows of a sweep, with their percentages; None for the mean."""
SHARE = "share"
"""Name of the share of I/Os that are committed, next to the names of `COMMIT_FIGURES`."""


def commit_share(record: RecordDoc) -> float:
    """Return the flushes per read and write, at most 1."""
    summary = record["summary"]
    flushes = summary.get("flush", {}).get("count") or 0
    return min(1.0, flushes / max(summary.get("count") or 0, 1))


def tells_of_commits(share: float, quantile: float | None) -> bool:
    """Return whether a percentile (or the mean) of all I/Os is that of commits where these are the slowest: a
    percentile if more of the I/Os are committed than lie above it, a mean if most are."""
    return share >= 0.5 if quantile is None else share > 1.0 - quantile / 100


def decides(commit: float | None, alone: float | None, share: float, quantile: float | None) -> bool:
    """Return whether a percentile (or the mean) of all I/Os is that of commits, which `share` of them are: they take
    longer than the I/Os `alone`."""
    return commit is not None and tells_of_commits(share, quantile) and (alone is None or commit > alone)


def commit_figures(record: RecordDoc) -> dict[str, float]:
    """Return the latencies of commits, in ns, by the names of `COMMIT_FIGURES`, and their share; nothing without
    flushes."""
    values = {name: commit_figure(record, quantile) for name, quantile in COMMIT_FIGURES.items()}
    known = {name: value for name, value in values.items() if value is not None}
    return {**known, SHARE: commit_share(record)} if known else {}


def commit_figure(record: RecordDoc, quantile: float | None) -> float | None:
    """Return a percentile (or the mean) of the latencies of commits in the streams that flush, in ns; None without
    flushes. A commit is a write with its flush. The percentiles of both are added, which bounds that of their sum where
    both are long at the same time."""
    streams = [stream for stream in record["streams"] if (side := stream.get("flush")) is not None and side["count"]]
    if not streams:
        return _of_summary(record, quantile)
    flushes = [cast("Side", stream.get("flush")) for stream in streams]
    writes = [stream["write"] for stream in streams if stream["write"]["count"]]
    value = _figure(flushes, quantile) + (_figure(writes, quantile) if writes else 0.0)
    return None if math.isnan(value) else value


def _of_summary(record: RecordDoc, quantile: float | None) -> float | None:
    """Return the figure by the summary's percentiles: results of tools may have no flushes in their streams."""
    summary = record["summary"]
    name = next((name for name, known in COMMIT_FIGURES.items() if known == quantile), None)
    flush, write = (cast("dict[str, float | None]", summary.get(side) or {}) for side in ("flush", "write"))
    if name is None or not flush.get("count"):
        return None
    values = [flush.get(name), *([write.get(name)] if write.get("count") else [])]
    return None if None in values else sum(value for value in values if value is not None)


def _figure(sides: Sequence[Side], quantile: float | None) -> float:
    if quantile is None:
        summed = latency_sum(sides)
        return math.nan if summed is None else summed / max(sum(side["count"] for side in sides), 1)
    value = percentile(merge(side["histogram"] for side in sides), quantile)
    # A bucket may end beyond the longest latency.
    longest = max((side["latency_max_ns"] for side in sides if side["latency_max_ns"] is not None), default=math.inf)
    return math.nan if value is None else min(value, longest)
