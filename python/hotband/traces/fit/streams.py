"""The streams of a workload: I/Os of a direction in an area, and what each asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.traces.fit.areas import areas_of
from hotband.traces.fit.ios import DIRECTIONS
from hotband.traces.fit.popularity import Choice, choice_of
from hotband.traces.fit.sizes import SECTOR, sizes_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hotband.traces.fit.ios import Ios, Numbers

READ, WRITE, FLUSH, TRIM = range(len(DIRECTIONS))
ALIGNED = 0.99
"""Share of places that are a multiple of the alignment: the others are of a partition that begins elsewhere."""
LARGEST_ALIGN = 1 << 20
"""Partitions begin at multiples of a MiB."""
CONSTANT = 0.5
"""Squared spread of the lengths of runs over that of runs which end by a coin, below which they are all as long."""
MOSTLY = 0.5
"""Share of writes from which on all of a stream are with FUA."""


@dataclass(frozen=True)
class Stream:
    """I/Os of a direction in an area: how many there are, sizes in bytes and their shares; `random`, the share that does
    not continue the one before in the stream, `runs`, I/Os of a run on average, and whether all are as long; the area's
    first byte and first byte beyond, the distance of places, where it begins, how a place is chosen (None where nothing is
    chosen); share of writes with FUA, and writes to a flush."""

    name: str
    direction: str
    ios: int
    sizes: tuple[tuple[int, float], ...]
    random: float
    runs: float
    is_constant: bool
    low: int
    high: int
    align: int
    start: float
    choice: Choice | None
    fua: float
    flush_every: int

    @property
    def asked(self) -> float:
        """I/Os that it asks for, flushes among them."""
        return self.ios * (1 + 1 / self.flush_every) if self.flush_every else float(self.ios)


def streams_of(ios: Ios) -> tuple[list[Stream], NDArray[np.int64]]:
    """The streams, and which of them each I/O is of that is no flush."""
    import numpy as np

    streams: list[Stream] = []
    of = np.full(len(ios), -1)
    flushes, writes = int((ios.direction == FLUSH).sum()), int((ios.direction == WRITE).sum())
    flush_every = max(1, round(writes / flushes)) if flushes and writes else 0
    for direction in (READ, WRITE, TRIM):
        mine = np.flatnonzero(ios.direction == direction)
        if not len(mine):
            continue
        areas = areas_of(ios.offset[mine], ios.length[mine])
        begins = np.array([low for low, _ in areas], "u8")
        area = np.searchsorted(begins, ios.offset[mine], side="right") - 1
        for number in range(len(areas)):
            here = mine[area == number]
            of[here] = len(streams)
            name = DIRECTIONS[direction] + (f"-{number + 1}" if len(areas) > 1 else "")
            streams.append(_stream(ios, here, name, flush_every if direction == WRITE else 0))
    return streams, of[of >= 0]


def _stream(ios: Ios, here: NDArray[np.int64], name: str, flush_every: int) -> Stream:
    import numpy as np

    offset, length = ios.offset[here], ios.length[here]
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
    choice = None if is_sequential else choice_of((jumps - np.uint64(low)) // np.uint64(align), (high - low) // align)
    return Stream(
        name=name,
        direction=DIRECTIONS[int(ios.direction[here[0]])],
        ios=len(here),
        sizes=tuple(sizes),
        random=0.0 if is_sequential else len(runs) / len(here),
        runs=mean,
        is_constant=bool(coin > 0 and runs.var() < CONSTANT * coin),
        low=low,
        high=high,
        align=align,
        start=(int(offset[0]) - low) / (high - low),
        choice=choice,
        fua=float(ios.fua[here].mean()),
        flush_every=flush_every,
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
