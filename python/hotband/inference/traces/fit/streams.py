"""The streams of a workload: I/Os of a direction, or reads and writes together, in an area, and what each asks for.

Apart, reads and writes have sizes, areas and runs of their own; together, one goes on where the other was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.inference.traces.fit.areas import areas_of
from hotband.inference.traces.fit.ios import DIRECTIONS
from hotband.inference.traces.fit.near import Near, near_of
from hotband.inference.traces.fit.popularity import Choice, choice_of
from hotband.inference.traces.fit.sizes import SECTOR, sizes_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hotband.inference.traces.fit.ios import Ios, Numbers

READ, WRITE, FLUSH, TRIM = range(len(DIRECTIONS))
ALIGNED = 0.99
"""Share of places that are a multiple of the alignment: the others are of a partition that begins elsewhere."""
LARGEST_ALIGN = 1 << 20
"""Partitions begin at multiples of a MiB."""
CONSTANT = 0.5
"""Squared spread of the lengths of runs over that of runs which end by a coin, below which they are all as long."""
ALONE = 0.95
"""Changes of stream over those of I/Os that each draw for themselves, from which on they do."""


@dataclass(frozen=True)
class Stream:
    """I/Os in an area.

    How many there are, shares of reads and trims, sizes in bytes and their shares; `random`, the share that does not
    continue the one before in the stream, `runs`, I/Os of a run on average, and whether all are as long; the area's
    first byte and first byte beyond, the distance of places, where it begins; what goes near the last one, how
    another place is chosen (None where nothing is chosen); share of writes with FUA, and writes to a flush."""

    name: str
    ios: int
    reads: float
    trims: float
    sizes: tuple[tuple[int, float], ...]
    random: float
    runs: float
    is_constant: bool
    low: int
    high: int
    align: int
    start: float
    near: Near | None
    choice: Choice | None
    fua: float
    flush_every: int

    @property
    def asked(self) -> float:
        """I/Os that it asks for, flushes among them."""
        writes = self.ios * (1 - self.reads - self.trims)
        return self.ios + (writes / self.flush_every if self.flush_every else 0.0)


def streams_of(ios: Ios, *, together: bool) -> tuple[list[Stream], NDArray[np.int64]]:
    """The streams, and which of them each I/O is of that is no flush; reads and writes apart or together."""
    import numpy as np

    streams: list[Stream] = []
    of = np.full(len(ios), -1)
    flushes, writes = int((ios.direction == FLUSH).sum()), int((ios.direction == WRITE).sum())
    flush_every = max(1, round(writes / flushes)) if flushes and writes else 0
    groups = {"main": (READ, WRITE)} if together else {"read": (READ,), "write": (WRITE,)}
    for group, directions in {**groups, "trim": (TRIM,)}.items():
        mine = np.flatnonzero(np.isin(ios.direction, directions))
        if not len(mine):
            continue
        areas = areas_of(ios.offset[mine], ios.length[mine])
        begins = np.array([low for low, _ in areas], "u8")
        area = np.searchsorted(begins, ios.offset[mine], side="right") - 1
        for number in range(len(areas)):
            here = mine[area == number]
            of[here] = len(streams)
            name = group + (f"-{number + 1}" if len(areas) > 1 else "")
            streams.append(_stream(ios, here, name, flush_every if WRITE in directions else 0))
    return streams, of[of >= 0]


def _stream(ios: Ios, here: NDArray[np.int64], name: str, flush_every: int) -> Stream:
    import numpy as np

    offset, length = ios.offset[here], ios.length[here]
    writes = here[ios.direction[here] == WRITE]
    goes_on = np.concatenate(([False], offset[1:] == offset[:-1] + length[:-1]))
    begins = np.flatnonzero(~goes_on)
    runs = np.diff(np.append(begins, len(here)))
    # The first one begins a run wherever the stream begins: nothing was chosen.
    is_sequential = len(runs) == 1 and len(here) > 1
    jumps = offset[~goes_on]
    sizes = sizes_of(length)
    align = _align_of(jumps)
    low, high = _ends(offset, length, align, max(size for size, _ in sizes))
    mean = len(here) / len(runs)
    coin = mean * (mean - 1)
    near, far = near_of(offset, length, begins, align, high - low)
    places = (offset[far] - np.uint64(low)) // np.uint64(align)
    choice = None if is_sequential or not len(far) else choice_of(places, (high - low) // align)
    return Stream(
        name=name,
        ios=len(here),
        reads=float((ios.direction[here] == READ).mean()),
        trims=float((ios.direction[here] == TRIM).mean()),
        sizes=tuple(sizes),
        random=0.0 if is_sequential else len(runs) / len(here),
        runs=mean,
        is_constant=bool(coin > 0 and runs.var() < CONSTANT * coin),
        low=low,
        high=high,
        align=align,
        start=(int(offset[0]) - low) / (high - low),
        near=None if is_sequential else near,
        choice=choice,
        fua=float(ios.fua[writes].mean()) if len(writes) else 0.0,
        flush_every=flush_every if len(writes) else 0,
    )


def _align_of(places: Numbers) -> int:
    """The largest power of two that nearly all places are multiples of."""
    import numpy as np

    align = LARGEST_ALIGN
    while align > SECTOR and float((places % np.uint64(align) == 0).mean()) < ALIGNED:
        align //= 2
    return align


def _ends(offset: Numbers, length: Numbers, align: int, largest: int) -> tuple[int, int]:
    """The area in whole places, large enough for each size."""
    low = int(offset.min()) // align * align
    high = -(-int((offset + length).max()) // SECTOR) * SECTOR
    return low, max(high, low + largest)


def in_a_row(streams: list[Stream], of: NDArray[np.int64]) -> float | None:
    """Runs of a stream after which another is drawn, so that streams change as often as these follow one another: a
    draw finds another one with probability 1 - sum of the squared shares. None where each I/O draws for itself, or
    there is one stream only."""
    import numpy as np

    if len(streams) < 2:
        return None
    shares = np.bincount(of, minlength=len(streams)) / len(of)
    runs = shares * np.array([stream.random or 1.0 for stream in streams])
    changes = float((of[1:] != of[:-1]).mean())
    if changes > ALONE * (1 - float(shares @ shares)):
        return None
    drawn = runs / runs.sum()
    return max(1.0, float(f"{runs.sum() * (1 - drawn @ drawn) / max(changes, 1 / len(of)):.3g}"))
