"""Steps of a workload that fio ran one after the other: their figures, and streams by the names that the workload has.

fio knows a job for each stream of each step; a record of a model has each stream once, over all steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotband.expect.stages import in_turn
from hotband.jobs.tables import plain
from hotband.record.stats import DIRECTIONS, Side, idle_side, merge
from hotband.targets.asked import Asked

if TYPE_CHECKING:
    from hotband.importers.imported import SeriesColumns
    from hotband.record.document import RecordDoc, StepDoc, StreamDoc


def steps_of(asked: Asked, record: RecordDoc, result: Path) -> list[StepDoc]:
    """The figures of every step; none where there is one, or fio's stages are not the workload's steps."""
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
    """The streams of a record under the names that the workload has, each once."""
    names = names_of(asked)
    merged: dict[str, list[StreamDoc]] = {}
    for one in streams:
        merged.setdefault(names.get(one["name"], one["name"]), []).append(one)
    return [
        cast(
            "StreamDoc",
            {"name": name, **{side: merged_side([one[side] for one in alike]) for side in DIRECTIONS}},
        )
        for name, alike in merged.items()
    ]


def names_of(asked: Asked) -> dict[str, str]:
    """Names of fio's jobs, and those of their streams."""
    if len(asked.steps) < 2:
        return {plain(one.name): one.name for step in asked.steps for one in step.streams}
    return {plain(f"{step.name}-{one.name}"): one.name for step in asked.steps for one in step.streams}


def rename(asked: Asked, series: SeriesColumns) -> None:
    """Gives the rows of a series the names of the workload's streams."""
    names = names_of(asked)
    series["stream"] = [names.get(one, one) for one in series["stream"]]


def merged_side(sides: Sequence[Side]) -> Side:
    """Several sides as one: counts add up, histograms merge."""
    if len(sides) == 1:
        return sides[0]
    busy = [one for one in sides if one["count"]]
    if not busy:
        return idle_side(sides[0]["histogram"]["kind"])
    sums = [one["latency_sum_ns"] for one in busy]
    lows = [one["latency_min_ns"] for one in busy if one["latency_min_ns"] is not None]
    highs = [one["latency_max_ns"] for one in busy if one["latency_max_ns"] is not None]
    return {
        "count": sum(one["count"] for one in sides),
        "bytes": sum(one["bytes"] for one in sides),
        "errors": sum(one["errors"] for one in sides),
        "latency_sum_ns": None if None in sums else str(sum(int(one or 0) for one in sums)),
        "latency_min_ns": min(lows, default=None),
        "latency_max_ns": max(highs, default=None),
        "histogram": merge(one["histogram"] for one in busy),
    }
