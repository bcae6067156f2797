"""Cells: one load for a time; and rounds of them as the workloads that are run.

On a model a round is one run with one step per cell, and between two cells a step without streams until all I/Os
complete (128 I/Os of 1 MiB keep a SATA drive busy for a quarter of a second), because a tool that is started for every
cell waits, too. On hardware a cell is a run, so that little is lost when a suite is stopped. Idle times are steps
without streams on a model; on hardware no I/O is issued during them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hotband.data.documents.workload import PhaseTable, StreamTable, WorkloadTable
from hotband.questions.review.asked import INTERVAL, KIB

IDLE, DRAIN = "idle before ", "after "


@dataclass(frozen=True)
class Cell:
    """One load: its name among those of a round, the share of reads, the size of an I/O, the number of threads,
    the I/Os that each keeps outstanding, and the time. `ios`, if it is not 0, ends it after this many I/Os instead; no
    I/O is issued during the `idle_s` before it."""

    name: str
    read_pct: int
    block_bytes: int
    random: bool
    threads: int
    depth: int
    seconds: float
    ios: int = 0
    idle_s: float = 0.0

    def shorter(self, by: float) -> Cell:
        """Return the same for a part of its time."""
        return replace(self, seconds=self.seconds / by, idle_s=self.idle_s / by)


@dataclass(frozen=True)
class Extent:
    """Range that loads may access, from the beginning of the address space."""

    bytes: int
    whole: bool = True

    def range(self) -> list[str]:
        """Text as in a stream."""
        return ["0 B", f"{self.bytes} B"]


def mix_text(read_pct: int) -> str:
    """Reads and writes as the specification writes them."""
    return f"{read_pct}/{100 - read_pct}"


def kib_text(block_bytes: int) -> str:
    """Return a size of I/O: "0.5 KiB", "128 KiB"."""
    return f"{block_bytes / KIB:g} KiB"


def cell_name(read_pct: int, block_bytes: int) -> str:
    """Return the usual name of a cell: "65/35 64 KiB"."""
    return f"{mix_text(read_pct)} {kib_text(block_bytes)}"


def seconds_text(seconds: float) -> str:
    """Return a time as a workload says it, to the nanosecond."""
    return f"{max(math.floor(seconds * 1e9), 1)} ns" if seconds < 1 else f"{seconds:.9g} s"


def stream_of(cell: Cell, extent: Extent) -> StreamTable:
    """Return the load of a cell in a separate stream."""
    made: StreamTable = {
        "name": cell.name,
        "read_pct": cell.read_pct,
        "random_pct": 100 if cell.random else 0,
        "size": f"{cell.block_bytes} B",
        "load": {"closed": {"threads": cell.threads, "depth": cell.depth}},
    }
    return made if extent.whole else {**made, "range": extent.range()}


def phases_of(cell: Cell, *, alone: bool) -> list[PhaseTable]:
    """Return the step of a cell, after a step of rest if it has one. If other cells follow, a step comes last that
    waits until all I/Os complete."""
    step: PhaseTable = {"name": cell.name, "measure": True, "streams": [cell.name]}
    phases: list[PhaseTable] = [
        {**step, "ios": cell.ios} if cell.ios else {**step, "duration": seconds_text(cell.seconds)}
    ]
    if cell.idle_s:
        rest: PhaseTable = {"name": f"{IDLE}{cell.name}", "measure": True, "streams": []}
        phases = [{**rest, "duration": seconds_text(cell.idle_s)}, *phases]
    if not alone:
        phases.append({"name": f"{DRAIN}{cell.name}", "measure": True, "streams": [], "until": "drained"})
    return phases


def workload_of(
    title: str, source: str, cells: Sequence[Cell], extent: Extent, interval: str = INTERVAL, *, drained: bool = True
) -> WorkloadTable:
    """Return a workload of cells one after the other. Cells of the same load share a stream, so that a sequential
    one continues where it stopped; the load does not pause between cells that are not `drained`."""
    streams: dict[tuple[object, ...], StreamTable] = {}
    phases: list[PhaseTable] = []
    for cell in cells:
        asked = (cell.read_pct, cell.block_bytes, cell.random, cell.threads, cell.depth)
        stream = streams.setdefault(asked, stream_of(cell, extent))
        phases += [_on(phase, stream["name"]) for phase in phases_of(cell, alone=len(cells) == 1 or not drained)]
    made: WorkloadTable = {"title": title, "source": source, "interval": interval}
    return {**made, "streams": list(streams.values()), "phases": phases}


def _on(phase: PhaseTable, stream: str) -> PhaseTable:
    return {**phase, "streams": [stream]} if phase["streams"] else phase


def total_seconds(cells: Iterable[Cell]) -> float:
    """Return the time of cells that end by time, with the rests before them."""
    return sum(cell.idle_s + (0.0 if cell.ios else cell.seconds) for cell in cells)
