"""Several concurrent readers or writers, each of which goes through its own file of 100 MB from end to end.

The files lie one after the other at the beginning of the volume, as an empty file system puts them; blocks of 64 KiB,
one outstanding for each reader. Each number of readers uses different files, so that none is in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.questions.review.asked import KIB, MB, Ask, between, closed, step, steps_of, stream, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import StreamsDoc
    from hotband.data.documents.workload import PhaseTable, StreamTable

MOST = 4
BLOCK = 64 * KIB
FILE = 100 * MB // BLOCK * BLOCK
NEEDS = MOST * (MOST + 1) // 2 * FILE


def name(count: int, reader: int) -> str:
    """Return the name of the stream of one of `count` readers."""
    return f"{reader + 1} of {count}"


def runs(target: Target, op: str) -> Ask:
    """Return the run of one to four at once, one step each; every step has separate streams, so that each can be
    counted."""
    streams: list[StreamTable] = []
    phases: list[PhaseTable] = []
    for count in range(1, MOST + 1):
        first = count * (count - 1) // 2
        for reader in range(count):
            at = between((first + reader) * FILE, (first + reader + 1) * FILE)
            streams.append(stream(name(count, reader), op, BLOCK, False, range=at, load=closed(1)))
        names = [name(count, reader) for reader in range(count)]
        phases.append(step(str(count), target.ios(count * FILE // BLOCK), streams=names))
    return Ask(op, workload(f"concurrent streams, {op}", streams, phases), NEEDS)


def asks(target: Target) -> list[Ask]:
    """Return the runs of this part."""
    return [runs(target, "read"), runs(target, "write")]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> list[StreamsDoc]:
    """Return the bandwidth of all together, and of the slowest."""
    rows: list[StreamsDoc] = []
    for op in ("read", "write"):
        steps = steps_of(records[op])
        moved = {figures_of_step["name"]: figures_of_step[op]["bytes"] for figures_of_step in records[op]["streams"]}
        for count in range(1, MOST + 1):
            figures_of_step = steps[str(count)]
            slowest = min(moved[name(count, reader)] for reader in range(count))
            rows.append(
                {
                    "op": op,
                    "streams": count,
                    "bandwidth_bytes_per_s": figures_of_step["bandwidth_bytes_per_s"],
                    "slowest_bytes_per_s": slowest / figures_of_step["duration_ns"] * 1e9
                    if figures_of_step["duration_ns"]
                    else None,
                }
            )
    return rows
