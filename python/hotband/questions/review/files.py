"""Files read, written and copied at random, small (2 to 64 KiB) and large (1 MiB), by the number in progress.

A file is one I/O. A copy reads a whole file, and then writes the same amount elsewhere; the sizes alternate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.questions.review.asked import KIB, MIB, Ask, closed, step, steps_of, stream, warming, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import FilesDoc
    from hotband.data.documents.workload import PhaseTable, ScriptStepTable, ScriptTable, StreamTable

SIZES = {"small": [2 * KIB << n for n in range(6)], "large": [MIB]}
DEPTHS = [1, 2, 4, 8, 16, 32, 64]
DEPTHS_QUICK = [1, 8, 64]
IOS = {"small": (1800, 18), "large": (600, 9)}
BEFORE_EACH = 6
NEEDS = 256 * MIB


def depths(target: Target) -> list[int]:
    """Return the numbers of concurrent files."""
    return DEPTHS_QUICK if target.quick else DEPTHS


def counts(target: Target, size: str, depth: int, factor: int = 1) -> tuple[int, int]:
    """Return uncounted and counted I/Os; a copy has two I/Os per file."""
    least, each = IOS[size]
    counted = max(least, each * depth) * factor
    return target.ios(max(least // 6, BEFORE_EACH * depth) * factor), target.ios(counted)


def moved(target: Target, op: str, size: str) -> Ask:
    """Return the run of reads or writes."""
    sizes = target.blocks(SIZES[size])
    streams = [stream("files", op, 0, True, sizes={f"{count} B": 1 for count in sizes})]
    phases: list[PhaseTable] = []
    for depth in depths(target):
        before, counted = counts(target, size, depth)
        phases += [warming(str(depth), before, threads=depth), step(str(depth), counted, threads=depth)]
    return Ask(f"{op} {size}", workload(f"{op} {size} files", streams, phases, load=closed(1)))


def copied(target: Target, size: str) -> Ask:
    """Return the run of copies: a client for each concurrent file, whose program copies a file of every size."""
    sizes = target.blocks(SIZES[size])
    streams: list[StreamTable] = []
    steps: list[ScriptStepTable] = []
    for block in sizes:
        for op in ("read", "write"):
            streams.append(stream(f"{op} {block}", op, block, True))
            steps.append({"name": f"{op} {block}", "stream": f"{op} {block}", "ios": 1})
    script: ScriptTable = {
        "name": "copy",
        "unit": "copy",
        "clients": max(depths(target)),
        "repeat": True,
        "steps": steps,
    }
    phases: list[PhaseTable] = []
    for depth in depths(target):
        before, counted = counts(target, size, depth, factor=2)
        phases += [warming(str(depth), before, clients=depth), step(str(depth), counted, clients=depth)]
    return Ask(f"copy {size}", workload(f"copy {size} files", streams, phases, scripts=[script]))


def asks(target: Target) -> list[Ask]:
    """Return the runs of this part."""
    return [ask for size in SIZES for ask in (moved(target, "read", size), moved(target, "write", size))] + [
        copied(target, size) for size in SIZES
    ]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> list[FilesDoc]:
    """Return files and bytes per second. A file is copied when it is written, so copies count their writes."""
    rows: list[FilesDoc] = []
    for size in SIZES:
        for op in ("read", "write", "copy"):
            steps = steps_of(records[f"{op} {size}"])
            for depth in depths(target):
                at_depth = steps[str(depth)]
                figures_of_step = at_depth["read"] if op == "read" else at_depth["write"]
                rows.append(
                    {
                        "op": op,
                        "size": size,
                        "queue_depth": depth,
                        "files_per_s": figures_of_step["iops"],
                        "bandwidth_bytes_per_s": figures_of_step["bandwidth_bytes_per_s"],
                    }
                )
    return rows
