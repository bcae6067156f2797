"""Workloads of a review as plain tables, from small pure functions, and the runs with them.

Every step of a review is a number of I/Os, not a time: a step ends with a completion, so its rate has no error from
I/Os cut at its ends, and the cost of a review does not depend on how fast the machine is. Warming steps are recorded
like any other (measured phases follow one another directly) and are not used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

from hotband.data.documents.record import RecordDoc, SummaryDoc
from hotband.data.documents.workload import (
    LoadTable,
    PhaseKeys,
    PhaseTable,
    StreamKeys,
    StreamTable,
    WorkloadKeys,
    WorkloadTable,
)


class StepFigures(SummaryDoc):
    """The figures of a step of a record, and its duration."""

    duration_ns: int


KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
MB = 1_000_000

# One row for the whole series: a review reads steps, and a row per second would need much memory.
INTERVAL = "100000 h"


@dataclass(frozen=True)
class Ask:
    """A run of a part of the review: its name within the part, and its workload.

    `reach` is the end of the accessed range, for runs at the beginning of the volume; None for others. `set` replaces
    settings of the review, and `duration` the time of the workload. A run `after` another (its name) begins on the
    machine as that one left it.
    """

    name: str
    workload: WorkloadTable
    reach: int | None = None
    set: tuple[tuple[str, str], ...] = ()
    duration: str | None = None
    after: str = ""

    @property
    def ios(self) -> int:
        """I/Os of all its steps."""
        return sum(int(phase.get("ios", 0)) for phase in self.workload["phases"])


def size(count: int) -> str:
    """Format bytes as a size of a workload."""
    return f"{count} B"


def stream(name: str, op: str, block_bytes: int, random: bool, **keys: Unpack[StreamKeys]) -> StreamTable:
    """Return a stream of reads or writes of one size; `keys` replace the defaults."""
    made: StreamTable = {"name": name, "read_pct": 100 if op == "read" else 0, "random_pct": 100 if random else 0}
    if "sizes" not in keys:
        made["size"] = size(block_bytes)
    return {**made, **keys}


def between(from_bytes: int, to_bytes: int) -> list[str]:
    """Return a range of addresses."""
    return [size(from_bytes), size(to_bytes)]


def closed(threads: int) -> LoadTable:
    """Return a closed loop with `threads` outstanding I/Os."""
    return {"closed": {"threads": threads, "depth": 1}}


def step(name: str, ios: int, **keys: Unpack[PhaseKeys]) -> PhaseTable:
    """Return a recorded step of `ios` I/Os."""
    made: PhaseTable = {"name": name, "ios": max(ios, 1), "measure": True}
    return {**made, **keys}


def warming(name: str, ios: int, **keys: Unpack[PhaseKeys]) -> PhaseTable:
    """Return a warm-up step before the step `name`."""
    return step(f"before {name}", ios, **keys)


def workload(
    title: str, streams: Iterable[StreamTable], phases: Iterable[PhaseTable], **keys: Unpack[WorkloadKeys]
) -> WorkloadTable:
    """Return a workload of these streams and steps."""
    top: WorkloadTable = {"title": title, "source": "hotband review", "interval": INTERVAL}
    return {**top, **keys, "streams": list(streams), "phases": list(phases)}


FILL_BLOCK = 128 * KIB


def filled(ask: Ask) -> WorkloadTable:
    """Return the workload of a run on drives that complete reads of unwritten blocks from memory: its range is first
    written once in order of address, untimed."""
    if ask.reach is None:
        return {**ask.workload, "precondition": {"sequential": 1.0}}
    blocks = -(-ask.reach // FILL_BLOCK)
    fill = stream("fill", "write", FILL_BLOCK, False, range=between(0, blocks * FILL_BLOCK), load=closed(1))
    before: PhaseTable = {"name": "fill", "untimed": True, "ios": blocks, "streams": ["fill"]}
    streams, phases = [*ask.workload["streams"], fill], [before, *ask.workload["phases"]]
    return {**ask.workload, "streams": streams, "phases": phases}


def steps_of(record: RecordDoc) -> dict[str, StepFigures]:
    """Return the steps of a record by their names, each with its summary and `duration_ns`."""
    steps = record.get("steps")
    if steps is None:
        return {"measure": {**record["summary"], "duration_ns": record["duration_ns"]}}
    return {entry["name"]: {**entry["summary"], "duration_ns": entry["duration_ns"]} for entry in steps}
