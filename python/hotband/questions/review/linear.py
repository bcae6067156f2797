"""The transfer curve: sequential reads and writes at places spread over the whole surface.

At each place the machine reads (then, in a run of its own, writes) blocks of 1 MiB in order, four outstanding; the
first 48 are not counted. The surface is sampled: a disk's rate changes from zone to zone and nowhere else, so 110 MB
at each of 100 places represent reading all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.questions.review.asked import (
    MIB,
    Ask,
    StepFigures,
    between,
    closed,
    step,
    steps_of,
    stream,
    warming,
    workload,
)
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import LinearDoc, PlaceDoc

PLACES = 100
# For a quick review, and for runs with a long preparation (flash has no outer zone).
PLACES_FEW = 32
BLOCK = MIB
DEPTH = 4
# Counted blocks at a place, and those before them, during which a write cache finishes the previous place.
BLOCKS, BLOCKS_BEFORE = 64, 48
# Blocks before the first place of a run, which bring write caches to their steady level: in all, and per drive.
BLOCKS_FIRST, BLOCKS_FIRST_EACH = 512, 48
# Places of one run: its cost grows with places times steps.
TOGETHER, TOGETHER_COSTLY = 10, 32
NEEDS = 16 * MIB


def places(target: Target) -> tuple[list[int], int, int]:
    """Return the first bytes of the places, and the uncounted and counted blocks at each. A small machine has fewer of
    each."""
    wanted = PLACES_FEW if target.quick or target.costly else PLACES
    count = min(wanted, target.capacity_bytes // (2 * BLOCK))
    room = min(BLOCKS_BEFORE + BLOCKS, target.capacity_bytes // count // BLOCK)
    before = max(room * BLOCKS_BEFORE // (BLOCKS_BEFORE + BLOCKS), 1)
    last = target.capacity_bytes // BLOCK - room
    # From the first byte to the last: both ends of the surface are among the places.
    return [last * n // max(count - 1, 1) * BLOCK for n in range(count)], before, room - before


def run_name(op: str, number: int) -> str:
    """Return the name of the run of a part of a curve."""
    return f"{op} {number + 1}"


def curve(op: str, number: int, at: Sequence[int], blocks: tuple[int, int, int]) -> Ask:
    """Return the run of some places. No place is read twice, because memory would serve it. At each place the first
    blocks come one at a time, so that no I/O of the previous place remains in a drive's queue."""
    first, before, count = blocks
    alone = (before + 3) // 4
    # The blocks that fill a write cache are next to the first place, so that they are written to the media on the way.
    fill = first * BLOCK
    beside = between(at[0] - fill, at[0]) if at[0] >= fill else ["0 %", "100 %"]
    streams = [stream("before all", op, BLOCK, False, range=beside)]
    phases = [warming("all", first, streams=["before all"])]
    for offset in at:
        name = f"at {offset}"
        streams.append(stream(name, op, BLOCK, False, range=between(offset, offset + (before + count) * BLOCK)))
        phases.append(warming(f"{name}, alone", alone, streams=[name], threads=1))
        phases += [warming(name, before - alone, streams=[name]), step(name, count, streams=[name])]
    return Ask(run_name(op, number), workload(f"linear {op}", streams, phases, load=closed(DEPTH)))


def asks(target: Target) -> list[Ask]:
    """Return the runs of this part."""
    at, before, count = places(target)
    blocks = (max(BLOCKS_FIRST, BLOCKS_FIRST_EACH * len(target.drives)), before, count)
    together = TOGETHER_COSTLY if target.costly else TOGETHER
    parts = [at[first : first + together] for first in range(0, len(at), together)]
    return [curve(op, number, part, blocks) for op in ("read", "write") for number, part in enumerate(parts)]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> LinearDoc:
    """Return bandwidth at each place, and the mean over the surface: the places are evenly spaced, so it is their
    mean."""
    at, *_ = places(target)
    curves: dict[str, list[PlaceDoc]] = {}
    for op in ("read", "write"):
        steps: dict[str, StepFigures] = {}
        for name, record in records.items():
            if name.startswith(f"{op} "):
                steps |= steps_of(record)
        curves[op] = [
            {
                "offset_bytes": offset * target.scale,
                "bandwidth_bytes_per_s": steps[f"at {offset}"]["bandwidth_bytes_per_s"],
            }
            for offset in at
        ]
    means = {op: mean([point["bandwidth_bytes_per_s"] for point in curves[op]]) for op in curves}
    read, write = curves["read"], curves["write"]
    return {"read": read, "write": write, "block_bytes": BLOCK, "queue_depth": DEPTH, "mean": means}


def mean(rates: Sequence[float | None]) -> float | None:
    """Return the mean of the rates at all places; None if one of them is unknown."""
    listed = [rate for rate in rates if rate is not None]
    return sum(listed) / len(listed) if listed and len(listed) == len(rates) else None
