"""Streaming: one reader or writer that goes on and on from the beginning of the volume, in small and in large
blocks, four outstanding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hotband.review.asked import KIB, MIB, Ask, Table, between, closed, step, steps_of, stream, warming, workload
from hotband.review.target import Target

BLOCKS = {"small": 4 * KIB, "large": 256 * KIB}
DEPTH = 4
# What is counted, and the part of the volume that has room for it and for what comes before it.
BYTES = {"small": 32 * MIB, "large": 256 * MIB}
ROOM = {blocks: count * 3 // 2 for blocks, count in BYTES.items()}
NEEDS = 2 * sum(ROOM.values())


def asks(target: Target) -> list[Ask]:
    """One run: reads small and large, writes small and large, each in a part of the volume of its own."""
    streams: list[Table] = []
    phases: list[Table] = []
    at = 0
    for op in ("read", "write"):
        for blocks, block in BLOCKS.items():
            name, ios = f"{op} {blocks}", target.ios(BYTES[blocks] // block)
            streams.append(stream(name, op, block, False, range=between(at, at + ROOM[blocks])))
            at += ROOM[blocks]
            phases += [warming(name, ios // 4, streams=[name]), step(name, ios, streams=[name])]
    return [Ask("streaming", workload("streaming", streams, phases, load=closed(DEPTH)), NEEDS)]


def figures(target: Target, records: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Bandwidth of each."""
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
