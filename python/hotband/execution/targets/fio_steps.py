"""Steps of a workload that fio ran one after the other: their figures, and streams by the names that the workload has.

fio knows a job for each stream of each step; a record of a model has each stream once, over all steps.
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
from hotband.data.record.stats import DIRECTIONS, idle_side, merge
from hotband.execution.targets.asked import Asked


def steps_of(asked: Asked, record: RecordDoc, result: Path) -> list[StepDoc]:
    """The figures of every step; none if there is one, or fio's stages are not the workload's steps."""
    if len(asked.steps) < 2:
        return []
    stages = in_turn(record, result)
    if len(stages) != len(asked.steps):
        return []
    steps: list[StepDoc] = []
    begin = 0
    for step, stage in zip(asked.steps, stages, strict=True):
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


def by_stream(asked: Asked, streams: Sequence[StreamDoc]) -> list[StreamDoc]:
    """The streams of a record under the names that the workload has, each once (once a host)."""
    names = names_of(asked)
    merged: dict[str, list[StreamDoc]] = {}
    for one in streams:
        merged.setdefault(stream_of(names, one["name"]), []).append(one)
    return [
        cast("StreamDoc", {"name": name, **{side: merged_side([one[side] for one in alike]) for side in DIRECTIONS}})
        for name, alike in merged.items()
    ]


def names_of(asked: Asked) -> dict[str, str]:
    """Names of fio's jobs, and those of their streams."""
    if len(asked.steps) < 2:
        return {plain(stream.name): stream.name for step in asked.steps for stream in step.streams}
    return {plain(f"{step.name}-{stream.name}"): stream.name for step in asked.steps for stream in step.streams}


def stream_of(names: Mapping[str, str], job: str) -> str:
    """The stream behind a job of a record: `JOB`, `JOB#2` of its second process, `JOB@HOST`."""
    alone, at, host = re.sub(r"#\d+$", "", job).partition("@")
    return names.get(alone, alone) + at + host


def series_of_streams(asked: Asked, series: SeriesColumns) -> SeriesColumns:
    """The rows of a series by the workload's streams: rates of processes add up, means are weighted by their I/Os, and
    p99 of several is not known."""
    names = names_of(asked)
    rows: dict[tuple[int, str, str], list[int]] = {}
    for place, (time, job, direction) in enumerate(
        zip(series["time_ns"], series["stream"], series["direction"], strict=True)
    ):
        rows.setdefault((time, stream_of(names, job), direction), []).append(place)
    made = no_rows()
    for (time, stream, direction), places in rows.items():
        made["time_ns"].append(time)
        made["stream"].append(stream)
        made["direction"].append(direction)
        for key in ("iops", "bandwidth_bytes_per_s", "queue_depth"):
            made[key].append(_sum([series[key][place] for place in places]))
        made["latency_mean_ns"].append(_mean(series, places))
        made["latency_p99_ns"].append(series["latency_p99_ns"][places[0]] if len(places) == 1 else None)
    return made


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(series: SeriesColumns, places: Sequence[int]) -> float | None:
    pairs = [(series["latency_mean_ns"][place], series["iops"][place] or 1.0) for place in places]
    known = [(mean, weight) for mean, weight in pairs if mean is not None]
    return sum(mean * weight for mean, weight in known) / sum(weight for _, weight in known) if known else None


def merged_side(sides: Sequence[Side]) -> Side:
    """Several sides as one: counts add up, histograms merge."""
    if len(sides) == 1:
        return sides[0]
    busy = [side for side in sides if side["count"]]
    if not busy:
        return idle_side(sides[0]["histogram"]["kind"])
    sums = [one["latency_sum_ns"] for one in busy]
    lows = [one["latency_min_ns"] for one in busy if one["latency_min_ns"] is not None]
    highs = [one["latency_max_ns"] for one in busy if one["latency_max_ns"] is not None]
    return {
        "count": sum(side["count"] for side in sides),
        "bytes": sum(side["bytes"] for side in sides),
        "errors": sum(side["errors"] for side in sides),
        "latency_sum_ns": None if None in sums else str(sum(int(sum_ or 0) for sum_ in sums)),
        "latency_min_ns": min(lows, default=None),
        "latency_max_ns": max(highs, default=None),
        "histogram": merge(one["histogram"] for one in busy),
    }
