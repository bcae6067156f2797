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


def commit_latency(record: RecordDoc) -> dict[str, float]:
    """Return mean and p99 of a commit, a write and its flush, in the streams that flush; nothing without flushes. The
    percentiles of both are added, which bounds that of their sum where both are long at the same time."""
    streams = [stream for stream in record["streams"] if (side := stream.get("flush")) is not None and side["count"]]
    if not streams:
        return {}
    flushes = [cast("Side", stream.get("flush")) for stream in streams]
    writes = [stream["write"] for stream in streams if stream["write"]["count"]]
    figures = {
        "latency_mean_ns": _mean(flushes) + _mean(writes),
        "latency_p99_ns": _p99(flushes) + _p99(writes),
    }
    return {name: value for name, value in figures.items() if not math.isnan(value)}


def _mean(sides: Sequence[Side]) -> float:
    summed = latency_sum(sides)
    return math.nan if summed is None else summed / max(sum(side["count"] for side in sides), 1)


def _p99(sides: Sequence[Side]) -> float:
    if not sides:
        return 0.0
    value = percentile(merge(side["histogram"] for side in sides), 99)
    # A bucket may end beyond the longest latency.
    longest = max((side["latency_max_ns"] for side in sides if side["latency_max_ns"] is not None), default=math.inf)
    return math.nan if value is None else min(value, longest)
