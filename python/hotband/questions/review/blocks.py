"""Block sizes: files read and written in order, one block at a time, over and over.

A file that fits into memory shows the rate of port and electronics, a larger one that of the media; the size of the
buffer is between them. The files lie at the beginning of the volume.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.questions.review.asked import KIB, MIB, Ask, between, closed, step, steps_of, stream, warming, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import BlockSizeDoc
    from hotband.data.documents.workload import PhaseTable, StreamTable

FILES = [128 * KIB, 512 * KIB, 2 * MIB, 8 * MIB, 32 * MIB]
BLOCKS = [512 << n for n in range(12)]
# Blocks up to 64 MiB need a file that holds several of them.
LARGE_FILE = 256 * MIB
LARGE_BLOCKS = [4 * KIB, *(64 * KIB << n for n in range(11))]
# Two passes over a file are counted, within these numbers of I/Os.
LEAST, MOST = 64, 2048
MOST_BYTES = 512 * MIB
NEEDS = FILES[0]


def cells(target: Target) -> list[tuple[int, list[int]]]:
    """Return the files that the machine holds, each with its block sizes."""
    files = [(file, [block for block in BLOCKS if block <= file]) for file in FILES]
    if not target.quick:
        files.append((LARGE_FILE, LARGE_BLOCKS))
    return [(file, target.blocks(blocks)) for file, blocks in files if file <= target.capacity_bytes]


def name(file: int, block: int) -> str:
    """Return the name of a cell."""
    return f"{file} by {block}"


def counts(target: Target, file: int, block: int) -> tuple[int, int]:
    """Return the uncounted I/Os (a pass over the file, so that its end is in memory or its beginning is not), and the
    counted ones."""
    per_pass = file // block
    least = min(LEAST, max(MOST_BYTES // block, 4))
    return min(per_pass, MOST), target.ios(min(max(2 * per_pass, least), MOST), least=min(least, 16))


def sweep(target: Target, file: int, blocks: list[int], op: str) -> Ask:
    """Return the run of one file."""
    streams: list[StreamTable] = []
    phases: list[PhaseTable] = []
    for block in blocks:
        cell = name(file, block)
        before, counted = counts(target, file, block)
        streams.append(stream(cell, op, block, False, range=between(0, file)))
        phases += [warming(cell, before, streams=[cell]), step(cell, counted, streams=[cell])]
    return Ask(f"{op} {file}", workload(f"block sizes, {op}", streams, phases, load=closed(1)), file)


def asks(target: Target) -> list[Ask]:
    """Return the runs of this part."""
    return [sweep(target, file, blocks, op) for op in ("read", "write") for file, blocks in cells(target) if blocks]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> list[BlockSizeDoc]:
    """Return bandwidth and IOPS of every cell."""
    rows: list[BlockSizeDoc] = []
    for op in ("read", "write"):
        for file, blocks in cells(target):
            steps = steps_of(records[f"{op} {file}"]) if blocks else {}
            for block in blocks:
                figures_of_cell = steps[name(file, block)]
                rows.append(
                    {
                        "file_bytes": file,
                        "op": op,
                        "block_bytes": block,
                        "queue_depth": 1,
                        "bandwidth_bytes_per_s": figures_of_cell["bandwidth_bytes_per_s"],
                        "iops": figures_of_cell["iops"],
                    }
                )
    return rows
