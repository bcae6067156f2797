"""Streaming: one reader or writer that continues from the beginning of the volume, in small and in large blocks, four
outstanding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.questions.review.asked import KIB, MIB, Ask, between, closed, step, steps_of, stream, warming, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import StreamingDoc
    from hotband.data.documents.workload import PhaseTable, StreamTable

BLOCKS = {"small": 4 * KIB, "large": 256 * KIB}
DEPTH = 4
# The counted bytes.
BYTES = {"small": 32 * MIB, "large": 256 * MIB}
# Writes are counted once the write caches are full: bytes written before, per drive and in all. Disks use up to
# 32 MB of their memory for writes, and drain them at two thirds of the rate at which 4 KiB blocks arrive.
BEFORE_OF_DRIVE, BEFORE_MOST = 128 * MIB, 1536 * MIB
NEEDS = 3 * sum(BYTES.values())


def bytes_before(target: Target, op: str, blocks: str) -> int:
    """Return the uncounted bytes before the counted ones, in whole blocks of both sizes."""
    if op == "read":
        return BYTES[blocks] // 4
    wanted = min(BEFORE_OF_DRIVE * len(target.drives), BEFORE_MOST, target.capacity_bytes // 12)
    return wanted // BLOCKS["large"] * BLOCKS["large"]


def asks(target: Target) -> list[Ask]:
    """Return one run: reads small and large, writes small and large, each in a separate part of the volume."""
    streams: list[StreamTable] = []
    phases: list[PhaseTable] = []
    at = 0
    for op in ("read", "write"):
        for blocks, block in BLOCKS.items():
            name, before = f"{op} {blocks}", bytes_before(target, op, blocks)
            end = at + before + BYTES[blocks]
            streams.append(stream(name, op, block, False, range=between(at, end)))
            phases.append(warming(name, before // block, streams=[name]))
            phases.append(step(name, target.ios(BYTES[blocks] // block), streams=[name]))
            at = end
    return [Ask("streaming", workload("streaming", streams, phases, load=closed(DEPTH)), at)]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> list[StreamingDoc]:
    """Return the bandwidth of each."""
    steps = steps_of(records["streaming"])
    return [
        {
            "op": op,
            "blocks": blocks,
            "block_bytes": block,
            "queue_depth": DEPTH,
            "bandwidth_bytes_per_s": steps[f"{op} {blocks}"]["bandwidth_bytes_per_s"],
        }
        for op in ("read", "write")
        for blocks, block in BLOCKS.items()
    ]
