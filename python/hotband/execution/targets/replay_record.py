"""The record of a replay on the wall clock, with the keys of a replay on a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import hotband._core as _core
from hotband.base.heavy import np, pl
from hotband.base.temporary import TemporaryFolder
from hotband.data.documents.source import iso, nothing_asked
from hotband.data.importers.record import ImportedRun, build, side_of
from hotband.data.record.imported import Imported, SeriesColumns, no_rows
from hotband.data.record.iolog import DIRECTIONS
from hotband.data.record.stats import idle_side, rates_of
from hotband.data.traces.io_log import FAILED, STREAM, UNKNOWN
from hotband.data.traces.rows import write_rows
from hotband.execution.replay.loop import NEVER, Times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.data.documents.sides import Side

EXACT = "hdr3"
"""Kind of histograms with three significant digits, as those of models."""
PERCENTILES = {"p50_ns": 50.0, "p99_ns": 99.0}
PART = 1 << 14
"""Rows of a recording that are in memory as Python's numbers."""
COMPARED = (
    *("ios", "mean_measured_ns", "mean_replayed_ns", "mean_error_pct", "demerit_ns", "demerit_pct", "rms_ns"),
    *("percentiles", "classes", "distribution"),
)
"""Keys of a comparison of traces that a record has, too."""


@dataclass(frozen=True)
class Recording:
    """The trace as it was recorded: its rows as columns, names of its streams and of their devices, the first measured
    I/O, and the text that follows its rows."""

    rows: NDArray[np.uint64]
    streams: tuple[str, ...]
    devices: tuple[str | None, ...]
    unmeasured: int
    tail: str

    @cached_property
    def ops(self) -> NDArray[np.uint8]:
        """Return the operation of each I/O."""
        return self.rows[:, 2].astype(np.uint8)

    def has(self, bit: int) -> NDArray[np.bool_]:
        """Return whether the rows have a bit: `FUA` or `FAILED`."""
        return (self.rows[:, 2] >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)

    def each(self) -> Iterator[list[int]]:
        """Yield the rows, of which a part is in memory at once."""
        for first in range(0, len(self.rows), PART):
            yield from self.rows[first : first + PART].tolist()


@dataclass(frozen=True)
class Replayed:
    """Measured I/Os of a replay, and the time that they took. `indices` are those in the trace."""

    recording: Recording
    times: Times
    indices: NDArray[np.int64]
    begin_ns: int
    duration_ns: int

    @property
    def latencies(self) -> NDArray[np.int64]:
        latencies: NDArray[np.int64] = (self.times.completed - self.times.issued)[self.indices]
        return latencies

    @property
    def ops(self) -> NDArray[np.uint8]:
        return self.recording.ops[self.indices]

    @property
    def stream_numbers(self) -> NDArray[np.uint64]:
        numbers: NDArray[np.uint64] = self.recording.rows[self.indices, 2] >> np.uint64(STREAM)
        return numbers


def replayed_of(recording: Recording, times: Times, duration_ns: int | None) -> Replayed:
    """Return the measured I/Os: those that completed, of a run with a duration within that time."""
    first = recording.unmeasured
    issued = times.issued[first:]
    issued = issued[issued != NEVER]
    begin = int(issued.min()) if first and len(issued) else 0
    end = np.iinfo(np.int64).max if duration_ns is None else begin + duration_ns
    indices = first + np.flatnonzero((times.completed[first:] != NEVER) & (times.completed[first:] <= end))
    took = int(times.completed[indices].max(initial=begin)) - begin if duration_ns is None else duration_ns
    return Replayed(recording, times, indices, begin, max(took, 1))


def imported_of_replay(replayed: Replayed, target: str, interval_ns: int) -> Imported:
    """Return the record with its streams, and the series."""
    names = replayed.recording.streams
    began_s = replayed.times.began_s + replayed.begin_ns / 1e9
    sides = {
        (number, op): _side(replayed, (replayed.stream_numbers == number) & (replayed.ops == op))
        for number in range(len(names))
        for op in range(len(DIRECTIONS))
    }
    run = ImportedRun(
        "replay",
        target,
        {
            "tool": "hotband",
            "version": None,
            "file": "trace",
            "began": iso(began_s),
            "ended": iso(began_s + replayed.duration_ns / 1e9),
            "asked": nothing_asked(),
            "target": target,
            "host": None,
        },
        replayed.duration_ns,
        None,
        [(name, {"read": sides[number, 0], "write": sides[number, 1]}) for number, name in enumerate(names)],
        series=_series(replayed, interval_ns),
        interval_ns=interval_ns,
    )
    imported = build(run)
    for op, direction in enumerate(DIRECTIONS[2:], 2):
        of_streams = {number: sides[number, op] for number in range(len(names)) if sides[number, op]["count"]}
        for number, side in of_streams.items():
            cast("dict[str, Side]", imported.record["streams"][number])[direction] = side
        if of_streams:
            figures = rates_of(list(of_streams.values()), replayed.duration_ns)
            cast("dict[str, Any]", imported.record["summary"])[direction] = figures
    return imported


def _side(replayed: Replayed, chosen: NDArray[np.bool_]) -> Side:
    """Return the figures of some I/Os; latencies of failed I/Os count as those of others do."""
    latencies = replayed.latencies[chosen]
    if not len(latencies):
        return idle_side(EXACT)
    sizes = replayed.recording.rows[replayed.indices[chosen], 4]
    # Of a bucket with three significant digits the highest value, as in hdrhistogram.
    digits = np.frexp(np.maximum(latencies, 1).astype(float))[1].astype(np.int64)
    shift = np.maximum(digits - 11, 0)
    values, counts = np.unique(((latencies >> shift) + 1 << shift) - 1, return_counts=True)
    side = side_of(
        len(latencies),
        int(sizes.sum()),
        None,
        low_ns=int(latencies.min()),
        high_ns=int(latencies.max()),
        errors=int(replayed.times.failed[replayed.indices[chosen]].sum()),
        histogram={"kind": EXACT, "buckets": [[int(v), int(n)] for v, n in zip(values, counts, strict=True)]},
    )
    del side["percentiles"]
    return {**side, "latency_sum_ns": str(int(latencies.sum()))}


def _series(replayed: Replayed, interval_ns: int) -> SeriesColumns:
    """Return rates and latencies of reads and writes by interval and stream."""
    columns = no_rows()
    seconds = interval_ns / 1e9
    frame = pl.DataFrame(
        {
            "time": (replayed.times.completed[replayed.indices] - replayed.begin_ns) // interval_ns,
            "stream": replayed.stream_numbers,
            "op": replayed.ops,
            "latency": replayed.latencies,
            "size": replayed.recording.rows[replayed.indices, 4],
        }
    ).filter(pl.col("op") < 2)
    groups = frame.group_by("time", "stream", "op").agg(
        pl.len(),
        pl.col("size").sum(),
        mean=pl.col("latency").mean(),
        total=pl.col("latency").sum(),
        p99=pl.col("latency").quantile(0.99, "higher"),
    )
    for row in groups.sort("time", "stream", "op").iter_rows(named=True):
        part = min(interval_ns, replayed.duration_ns - row["time"] * interval_ns) / interval_ns or 1.0
        columns["time_ns"].append(row["time"] * interval_ns)
        columns["stream"].append(replayed.recording.streams[row["stream"]])
        columns["direction"].append(DIRECTIONS[row["op"]])
        columns["iops"].append(row["len"] / (seconds * part))
        columns["bandwidth_bytes_per_s"].append(row["size"] / (seconds * part))
        columns["latency_mean_ns"].append(row["mean"])
        columns["latency_p99_ns"].append(int(row["p99"]))
        columns["queue_depth"].append(row["total"] / (interval_ns * part))
    return columns


def sections_of(replayed: Replayed, trace: Mapping[str, object], *, has_times: bool) -> dict[str, object]:
    """Return the sections `trace` and `comparison`; `trace` has what the workload says. With `has_times` I/Os were due
    at known times, and the first section has the delays of their issue."""
    times, indices, rows = replayed.times, replayed.indices, replayed.recording.rows
    known = rows[indices, 1] != np.uint64(UNKNOWN)
    served = known & ~times.failed[indices] & ~replayed.recording.has(FAILED)[indices]
    recorded = rows[indices[known]]
    ends = (recorded[:, 0] + recorded[:, 1]).max(initial=0) - recorded[:, 0].min(initial=recorded[:, 0].max(initial=0))
    section: dict[str, object] = {
        **trace,
        "ios": len(indices),
        "recorded_ns": int(ends) if known.any() else None,
        "replayed_ns": int(times.completed[indices].max() - times.issued[indices].min()) if len(indices) else 0,
        "issue_error": _times((times.issued - times.due)[indices]) if has_times and len(indices) else None,
    }
    for op, direction in enumerate(DIRECTIONS):
        chosen = served & (replayed.ops == op)
        if chosen.any():
            both = {
                "recorded": _times(rows[indices[chosen], 1].astype(np.int64)),
                "replayed": _times(replayed.latencies[chosen]),
            }
            section[direction] = {"count": int(chosen.sum()), **both}
    sections: dict[str, object] = {"trace": section}
    return {**sections, "comparison": _comparison(replayed, served)} if served.any() else sections


def _times(values: NDArray[np.int64]) -> dict[str, float | int]:
    percentiles = {name: int(np.percentile(values, q, method="higher")) for name, q in PERCENTILES.items()}
    return {"mean_ns": float(values.mean()), **percentiles, "max_ns": int(values.max())}


def _comparison(replayed: Replayed, served: NDArray[np.bool_]) -> dict[str, object]:
    """Compare latencies I/O by I/O: the same rows, with the latencies of both."""
    rows = replayed.recording.rows[replayed.indices[served]]
    again = rows.copy()
    again[:, 1] = replayed.latencies[served].astype(np.uint64)
    with TemporaryFolder("replay") as folder:
        paths = [Path(folder) / name for name in ("recorded.rows", "replayed.rows")]
        for path, each in zip(paths, (rows, again), strict=True):
            write_rows(path, each, replayed.recording.tail)
        document: dict[str, object] = json.loads(_core.compare_traces(*paths))
    return {key: document[key] for key in COMPARED if key in document}
