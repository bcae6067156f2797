"""Steps of a workload that fio ran one after the other: their figures, and streams under the workload's names.

fio has a job for each stream of each step; a record of a model has each stream once, over all steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from hotband.data.documents.record import RecordDoc, StepDoc, StreamDoc
from hotband.data.documents.sides import Side
from hotband.data.importers.stages import in_turn
from hotband.data.jobs.tables import plain
from hotband.data.record.imported import SeriesColumns, no_rows
from hotband.data.record.stats import idle_side, merge
from hotband.execution.targets.fio_run import FioRun

SIDES = ("read", "write", "flush", "trim")
"""Kinds of I/O in a stream of a record."""


def steps_of(fio_run: FioRun, record: RecordDoc, result: Path) -> list[StepDoc]:
    """Return the figures of every step; none if there is one step, or fio's stages differ from the workload's steps."""
    if len(fio_run.steps) < 2:
        return []
    stages = in_turn(record, result)
    if len(stages) != len(fio_run.steps):
        return []
    steps: list[StepDoc] = []
    begin = 0
    for step, stage in zip(fio_run.steps, stages, strict=True):
        closed = step.streams[0].closed() if step.streams else None
        threads = step.threads or (closed[0] if closed else None)
        steps.append(
            {
                "name": step.name,
                "threads": threads,
                "clients": None,
                "begin_ns": begin,
                "duration_ns": stage["duration_ns"],
                "summary": stage["summary"],
            }
        )
        begin += stage["duration_ns"]
    return steps


def by_stream(fio_run: FioRun, streams: Sequence[StreamDoc]) -> list[StreamDoc]:
    """Return the streams of a record under the workload's names, each once (once per host)."""
    names = names_of(fio_run)
    merged: dict[str, list[StreamDoc]] = {}
    for stream in streams:
        merged.setdefault(stream_of(names, stream["name"]), []).append(stream)
    return [_stream(name, alike) for name, alike in merged.items()]


def _stream(name: str, alike: Sequence[StreamDoc]) -> StreamDoc:
    """Merge parts of one stream, with the flushes and trims of those that have them."""
    parts_of = [cast("Mapping[str, Side | None]", part) for part in alike]
    sides = {kind: [side for part in parts_of if (side := part.get(kind)) is not None] for kind in SIDES}
    return cast("StreamDoc", {"name": name, **{kind: merged_side(parts) for kind, parts in sides.items() if parts}})


def names_of(fio_run: FioRun) -> dict[str, str]:
    """Return the names of fio's jobs with those of their streams."""
    if len(fio_run.steps) < 2:
        return {plain(stream.name): stream.name for step in fio_run.steps for stream in step.streams}
    return {plain(f"{step.name}-{stream.name}"): stream.name for step in fio_run.steps for stream in step.streams}


def stream_of(names: Mapping[str, str], job: str) -> str:
    """Return the stream of a record's job: `JOB`, `JOB#2` of its second process, `JOB@HOST`."""
    alone, at, host = re.sub(r"#\d+$", "", job).partition("@")
    return names.get(alone, alone) + at + host


def series_of_streams(fio_run: FioRun, series: SeriesColumns) -> SeriesColumns:
    """Return the rows of a series by the workload's streams: rates of processes add up, means are weighted by their
    I/Os, and p99 of several is unknown."""
    names = names_of(fio_run)
    rows: dict[tuple[int, str, str], list[int]] = {}
    for index, (time, job, direction) in enumerate(
        zip(series["time_ns"], series["stream"], series["direction"], strict=True)
    ):
        rows.setdefault((time, stream_of(names, job), direction), []).append(index)
    made = no_rows()
    for (time, stream, direction), places in rows.items():
        made["time_ns"].append(time)
        made["stream"].append(stream)
        made["direction"].append(direction)
        for key in ("iops", "bandwidth_bytes_per_s", "queue_depth"):
            made[key].append(_sum([series[key][index] for index in places]))
        made["latency_mean_ns"].append(_mean(series, places))
        made["latency_p99_ns"].append(series["latency_p99_ns"][places[0]] if len(places) == 1 else None)
    return made


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(series: SeriesColumns, places: Sequence[int]) -> float | None:
    pairs = [(series["latency_mean_ns"][index], series["iops"][index] or 1.0) for index in places]
    known = [(mean, weight) for mean, weight in pairs if mean is not None]
    return sum(mean * weight for mean, weight in known) / sum(weight for _, weight in known) if known else None


def merged_side(sides: Sequence[Side]) -> Side:
    """Merge several sides into one: counts add up, histograms merge."""
    if len(sides) == 1:
        return sides[0]
    busy = [side for side in sides if side["count"]]
    if not busy:
        return idle_side(sides[0]["histogram"]["kind"])
    sums = [part["latency_sum_ns"] for part in busy]
    lows = [part["latency_min_ns"] for part in busy if part["latency_min_ns"] is not None]
    highs = [part["latency_max_ns"] for part in busy if part["latency_max_ns"] is not None]
    return {
        "count": sum(side["count"] for side in sides),
        "bytes": sum(side["bytes"] for side in sides),
        "errors": sum(side["errors"] for side in sides),
        "latency_sum_ns": None if None in sums else str(sum(int(sum_ or 0) for sum_ in sums)),
        "latency_min_ns": min(lows, default=None),
        "latency_max_ns": max(highs, default=None),
        "histogram": merge(part["histogram"] for part in busy),
    }
