"""Measurements of cells, read from records.

Rates are those of the cell's step (an I/O counts in the step in which it ends), latencies those of its stream, so that
no I/O of the cell before is among them; where several cells share a stream, those of the step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hotband.data.documents.pts import CellDoc
from hotband.data.documents.record import RecordDoc
from hotband.data.documents.sides import Side
from hotband.data.record.stats import DIRECTIONS, latency_sum, merge, percentile
from hotband.questions.review.asked import StepFigures, steps_of
from hotband.questions.suites.cells import Cell

FIVE_NINES = 99.999
FIVE_NINES_IOS = 100_000
"""I/Os of which one is expected above the 99.999th percentile: of fewer it is not given."""


Round = dict[str, CellDoc]
"""The cells of a round by their names."""


def cells_of(record: RecordDoc, cells: Sequence[Cell]) -> list[CellDoc]:
    """Return the figures of the cells that a record has as its steps, or of the one that it is of."""
    steps = steps_of(record)
    streams = {stream["name"]: stream for stream in record["streams"]}
    # A stream that several cells share is named after the first of them.
    alone = Counter((cell.read_pct, cell.block_bytes, cell.random, cell.threads, cell.depth) for cell in cells)
    found = []
    for cell in cells:
        step = steps[cell.name] if cell.name in steps else next(iter(steps.values()))
        same = alone[(cell.read_pct, cell.block_bytes, cell.random, cell.threads, cell.depth)]
        stream = streams.get(cell.name) if same == 1 else None
        if len(cells) == 1 and stream is None and len(record["streams"]) == 1:
            stream = record["streams"][0]
        sides = [] if stream is None else [stream[direction] for direction in DIRECTIONS]
        found.append(_cell(cell, step, sides))
    return found


def whole_of(record: RecordDoc, cell: Cell) -> CellDoc:
    """Return the figures of a run of one load, from its first step to its last."""
    [stream] = record["streams"]
    whole: StepFigures = {**record["summary"], "duration_ns": record["duration_ns"]}
    return _cell(cell, whole, [stream[direction] for direction in DIRECTIONS])


def _cell(cell: Cell, step: StepFigures, sides: Sequence[Side]) -> CellDoc:
    mean, five, longest = step["latency_mean_ns"], None, step["latency_max_ns"]
    measured = [side for side in sides if side["count"]]
    if measured:
        waited, count = latency_sum(measured), sum(side["count"] for side in measured)
        mean = waited / count if waited is not None else mean
        longest = max((side["latency_max_ns"] or 0 for side in measured), default=0) or longest
        if count >= FIVE_NINES_IOS and len({side["histogram"]["kind"] for side in measured}) == 1:
            five = percentile(merge(side["histogram"] for side in measured), FIVE_NINES)
            # A bucket's value is its upper end.
            five = min(five, longest) if five is not None and longest else five
    return {
        "name": cell.name,
        "read_pct": cell.read_pct,
        "block_bytes": cell.block_bytes,
        "seconds": step["duration_ns"] / 1e9,
        "count": step["count"] or 0,
        "errors": step["errors"] or 0,
        "iops": step["iops"] or 0.0,
        "bandwidth_bytes_per_s": step["bandwidth_bytes_per_s"] or 0.0,
        "latency_mean_ns": mean,
        "latency_p99_999_ns": five,
        "latency_max_ns": longest,
    }
