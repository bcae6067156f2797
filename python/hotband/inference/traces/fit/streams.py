"""The streams of a workload: I/Os of a direction, or reads and writes together, in an area, and what each requests.

Separate reads and writes have their own sizes, areas and runs; together, one continues where the other ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.data.record.iolog import DIRECTIONS
from hotband.inference.traces.fit.areas import areas_of
from hotband.inference.traces.fit.popularity import Choice, choice_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.inference.traces.fit.ios import Ios, Numbers


SECTOR = 512
"""Workloads issue whole sectors."""
LARGEST = 64 << 20
"""Largest I/O of a workload in bytes."""
MOST_SIZES = 12
"""Sizes that are named one by one: what can be read in a line or two."""


def sizes_of(lengths: Numbers) -> list[tuple[int, float]]:
    """Sizes in bytes and their shares, at most MOST_SIZES: the most frequent as they are, others together by octave
    with their mean."""
    whole = np.clip((lengths + np.uint64(SECTOR - 1)) // np.uint64(SECTOR) * np.uint64(SECTOR), SECTOR, LARGEST)
    sizes, ios = np.unique(whole, return_counts=True)
    named, counts = sizes, ios.astype("u8")
    if len(named) > MOST_SIZES:
        named, counts = _lumped(named, counts)
    order = np.argsort(named)
    return [(int(named[at]), float(counts[at] / counts.sum())) for at in order]


def _lumped(sizes_of_ios: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """The most frequent sizes, and the mean of each octave of the others, as few as MOST_SIZES."""
    octave = np.floor(np.log2(sizes_of_ios.astype(float)))
    named = set(np.argsort(counts)[::-1][: MOST_SIZES // 2].tolist())
    rest = [at for at in range(len(sizes_of_ios)) if at not in named]
    sums: dict[int, list[float]] = {int(sizes_of_ios[at]): [float(counts[at]), float(counts[at])] for at in named}
    sizes = {size: (size, count[0]) for size, count in sums.items()}
    for width in (1, 2, 4, 8, 16):
        groups: dict[int, list[int]] = {}
        for at in rest:
            groups.setdefault(int(octave[at]) // width, []).append(at)
        if len(groups) + len(named) <= MOST_SIZES:
            break
    for members in groups.values():
        weight = counts[members].sum()
        mean = round(float((sizes_of_ios[members] * counts[members]).sum() / weight) / SECTOR) * SECTOR
        before = sizes.get(mean, (mean, 0.0))[1]
        sizes[mean] = (mean, before + float(weight))
    return np.array([size for size, _ in sizes.values()], "u8"), np.array([count for _, count in sizes.values()], "u8")


WITHIN = tuple(1 << shift for shift in range(14, 41, 2))
"""Distances that are tried: 16 KiB to 1 TiB."""
LEAST = 0.03
"""Share of the jumps below which none are near: a key more for little."""
WIDEST = 0.25
"""Share of the area: beyond it near is hardly nearer than anywhere."""


@dataclass(frozen=True)
class Near:
    """A share of the jumps, and how far they go at most, in bytes."""

    ios: float
    within: int


def near_of(
    offset: Numbers, length: Numbers, begins: NDArray[np.signedinteger], align: int, width: int
) -> tuple[Near | None, NDArray[np.signedinteger]]:
    """Jumps that are near, if enough are, and which of the I/Os (`begins` are all that jump) go far, the first of all
    among them."""
    jumps = begins[begins > 0]
    if not len(jumps):
        return None, begins
    distance = np.abs(offset[jumps].astype("i8") - (offset[jumps - 1] + length[jumps - 1]).astype("i8")).astype(float)
    distance = np.maximum(distance, align)
    best, most = None, len(jumps) * np.log(1 / width)
    for within in WITHIN:
        if within <= align or within > WIDEST * width:
            continue
        inside = distance <= within
        by_chance = min(1.0, 2 * within / width)
        share = (float(inside.mean()) - by_chance) / (1 - by_chance)
        if share < LEAST:
            continue
        density = (1 - share) / width + np.where(inside, share / (2 * distance * np.log(within / align)), 0.0)
        likelihood = float(np.log(density).sum())
        if likelihood > most:
            best, most = Near(min(share, 1.0), within), likelihood
    if best is None:
        return None, begins
    return best, np.concatenate((begins[begins == 0], jumps[distance > best.within]))


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
    continue the previous one in the stream, `runs`, I/Os of a run on average, and whether all are as long; the area's
    first byte and first byte beyond, the distance of places, where it begins; what goes near the last one, how
    another place is chosen (None if nothing is chosen); share of writes with FUA, and writes to a flush."""

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
    def with_flushes(self) -> float:
        """I/Os and flushes that it issues."""
        writes = self.ios * (1 - self.reads - self.trims)
        return self.ios + (writes / self.flush_every if self.flush_every else 0.0)


def streams_of(ios: Ios, *, together: bool) -> tuple[list[Stream], NDArray[np.signedinteger]]:
    """Return the streams, and the stream's index of each I/O except flushes; reads and writes apart or together."""
    streams: list[Stream] = []
    # Numbers of streams and of I/Os are small: wider ones would double the memory of a fit.
    stream_of = np.full(len(ios), -1, "i1")
    flushes, writes = int((ios.direction == FLUSH).sum()), int((ios.direction == WRITE).sum())
    flush_every = max(1, round(writes / flushes)) if flushes and writes else 0
    groups = {"main": (READ, WRITE)} if together else {"read": (READ,), "write": (WRITE,)}
    for group, directions in {**groups, "trim": (TRIM,)}.items():
        mine = np.flatnonzero(np.isin(ios.direction, directions)).astype("i4")
        if not len(mine):
            continue
        areas = areas_of(ios.offset[mine], ios.length[mine])
        begins = np.array([low for low, _ in areas], "u8")
        area = (np.searchsorted(begins, ios.offset[mine], side="right") - 1).astype("i1")
        for number in range(len(areas)):
            here = mine[area == number]
            stream_of[here] = len(streams)
            name = group + (f"-{number + 1}" if len(areas) > 1 else "")
            streams.append(_stream(ios, here, name, flush_every if WRITE in directions else 0))
    return streams, stream_of[stream_of >= 0]


def _stream(ios: Ios, here: NDArray[np.signedinteger], name: str, flush_every: int) -> Stream:
    offset, length = ios.offset[here], ios.length[here]
    writes = here[ios.direction[here] == WRITE]
    goes_on = np.concatenate(([False], offset[1:] == offset[:-1] + length[:-1]))
    begins = np.flatnonzero(~goes_on).astype("i4")
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
    align = LARGEST_ALIGN
    while align > SECTOR and float((places % np.uint64(align) == 0).mean()) < ALIGNED:
        align //= 2
    return align


def _ends(offset: Numbers, length: Numbers, align: int, largest: int) -> tuple[int, int]:
    """The area in whole places, large enough for each size."""
    low = int(offset.min()) // align * align
    high = -(-int((offset + length).max()) // SECTOR) * SECTOR
    return low, max(high, low + largest)


def in_a_row(streams: list[Stream], stream_of: NDArray[np.signedinteger]) -> float | None:
    """Runs of a stream after which another is drawn, so that streams change as often as these follow one another: a
    draw finds another one with probability 1 - sum of the squared shares. None if each I/O is drawn independently, or
    there is only one stream."""
    if len(streams) < 2:
        return None
    shares = np.bincount(stream_of, minlength=len(streams)) / len(stream_of)
    runs = shares * np.array([stream.random or 1.0 for stream in streams])
    changes = float((stream_of[1:] != stream_of[:-1]).mean())
    if changes > ALONE * (1 - float(shares @ shares)):
        return None
    drawn = runs / runs.sum()
    return max(1.0, float(f"{runs.sum() * (1 - drawn @ drawn) / max(changes, 1 / len(stream_of)):.3g}"))
