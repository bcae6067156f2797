"""Workloads of a review as plain tables, from small pure functions, and what is asked of the engine with them.

Every step of a review is a number of I/Os, not a time: a step ends with a completion, so its rate has no error from
I/Os cut at its ends, and what a review costs does not depend on how fast the machine is. Warming steps are recorded
like any other (measured phases follow one another directly) and nobody looks at them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from hotband.data.documents.record import SummaryDoc

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
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
    """The figures of a step of a record, and how long it took."""

    duration_ns: int


KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
MB = 1_000_000

# One row of the series for all of it: a review looks at steps, and a series of every second costs memory.
INTERVAL = "100000 h"


@dataclass(frozen=True)
class Ask:
    """A run that a part of the review needs: a name of its own within the part, and the workload.

    `reach` is where what it touches ends, for runs that stay at the beginning of the volume; none for others. `set`
    goes before what the machine is reviewed with, and `duration` before the time that the workload says. A run `after`
    another (its name) begins on the machine as that one left it.
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
    """Bytes as a size of a workload."""
    return f"{count} B"


def stream(name: str, op: str, block_bytes: int, random: bool, **keys: Unpack[StreamKeys]) -> StreamTable:
    """A stream of reads or writes of one size; `keys` go before what follows from the others."""
    made: StreamTable = {"name": name, "read_pct": 100 if op == "read" else 0, "random_pct": 100 if random else 0}
    if "sizes" not in keys:
        made["size"] = size(block_bytes)
    return {**made, **keys}


def between(from_bytes: int, to_bytes: int) -> list[str]:
    """A range of addresses."""
    return [size(from_bytes), size(to_bytes)]


def closed(threads: int) -> LoadTable:
    """A load that keeps so many I/Os outstanding."""
    return {"closed": {"threads": threads, "depth": 1}}


def step(name: str, ios: int, **keys: Unpack[PhaseKeys]) -> PhaseTable:
    """A recorded step of so many I/Os."""
    made: PhaseTable = {"name": name, "ios": max(ios, 1), "measure": True}
    return {**made, **keys}


def warming(name: str, ios: int, **keys: Unpack[PhaseKeys]) -> PhaseTable:
    """A step before the one called `name` that nobody looks at."""
    return step(f"before {name}", ios, **keys)


def workload(
    title: str, streams: Iterable[StreamTable], phases: Iterable[PhaseTable], **keys: Unpack[WorkloadKeys]
) -> WorkloadTable:
    """A workload of these streams and steps."""
    top: WorkloadTable = {"title": title, "source": "hotband review", "interval": INTERVAL}
    return {**top, **keys, "streams": list(streams), "phases": list(phases)}


FILL_BLOCK = 128 * KIB


def filled(ask: Ask) -> WorkloadTable:
    """The workload of a run on drives that answer reads of what was never written from memory: what it touches is
    written before, once in order of address and in no time."""
    if ask.reach is None:
        return {**ask.workload, "precondition": {"sequential": 1.0}}
    blocks = -(-ask.reach // FILL_BLOCK)
    fill = stream("fill", "write", FILL_BLOCK, False, range=between(0, blocks * FILL_BLOCK), load=closed(1))
    before: PhaseTable = {"name": "fill", "untimed": True, "ios": blocks, "streams": ["fill"]}
    streams, phases = [*ask.workload["streams"], fill], [before, *ask.workload["phases"]]
    return {**ask.workload, "streams": streams, "phases": phases}


def steps_of(record: RecordDoc) -> dict[str, StepFigures]:
    """The steps of a record by their names, each as its summary with `duration_ns` beside it."""
    steps = record.get("steps")
    if steps is None:
        return {"measure": {**record["summary"], "duration_ns": record["duration_ns"]}}
    return {entry["name"]: {**entry["summary"], "duration_ns": entry["duration_ns"]} for entry in steps}
