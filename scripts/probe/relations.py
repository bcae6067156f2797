"""What must hold between two runs, whatever the figures are: metamorphic relations.

A `Relation` says that the second run moves no less than the first, within what chance and the physics named in `WHY`
may take from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

Access = Literal["randread", "randwrite", "read", "write"]
ACCESSES: tuple[Access, ...] = ("randread", "randwrite", "read", "write")
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
SIZES_KIB = (4, 8, 16, 64, 256, 1024)
COUNTS = {"raid0": (2, 4, 8), "raid5": (5, 9), "raid6": (6, 10), "raid10": (4, 8, 12), "concat": (2, 4)}
"""Drives of each layout. Where there are two of data, the other one is read and not old data and parity, which saves a
turn; and of RAID-Z, a record is on all drives of a stripe, so that more of them are no faster at random places."""
SAME_DATA = (
    ("raid5:5x", "raid0:4x"), ("raid6:6x", "raid5:5x"), ("raid10:4x", "raid0:4x"), ("raid1:2x", ""),
    ("raidz2:6x", "raidz1:5x"), ("raidz3:7x", "raidz2:6x"),
)  # fmt: skip
"""Layouts that keep more parity or copies, and those that keep less, of as many drives of data. RAID-Z writes in a row
what comes at random, so that it stands beside none but itself."""
CHUNK_KIB = 64
"""What longer reads save by a failure, a command for what lies behind the parity, may be more than what they lose."""
PARITY = ("raid5", "raid6", "raidz")
WRAPPED = ("controller", "md")
WHY = {
    "depth": "a deeper queue completes no fewer I/Os",
    "size": "larger I/Os move no fewer bytes",
    "count": "smaller I/Os are no fewer a second",
    "in-a-row": "I/Os in a row are no slower than at random places",
    "drives": "more drives complete no fewer I/Os",
    "layout": "several drives read no slower than one of them",
    "redundancy": "a layout that keeps more copies or parity writes no faster",
    "cache": "a write cache makes no write slower",
    "span": "a part of a drive is no slower than all of it",
    "new": "a new drive writes no slower than one in use",
    "room": "more over-provisioning writes no slower",
    "failed": "a layout reads no faster without one of its drives",
}


class Setup(NamedTuple):
    """One run: a machine, an access as fio names it, KiB an I/O, I/Os outstanding, and values of --set."""

    machine: str
    access: Access
    kib: int = 4
    depth: int = 1
    values: tuple[tuple[str, str], ...] = ()
    fail: str = ""

    def __str__(self) -> str:
        words = [self.access, "on", self.machine, f"bs={self.kib}k", f"qd={self.depth}"]
        return " ".join(
            [*words, *(f"{key}={value}" for key, value in self.values), *([f"fail={self.fail}"] * bool(self.fail))]
        )

    def command(self, is_disk: bool) -> str:
        """The same with `hotband run`, where the machine has a short form."""
        warm, measured = times(is_disk)
        settings = {"qd": self.depth, "bs": f"'{self.kib} KiB'", "warm_up": f"'{warm}'", **dict(self.values)}
        words = " ".join(f"--set {key}={value}" for key, value in settings.items())
        fail = f" --fail {self.fail}@'0 s'" if self.fail else ""
        return f"hotband run fio-{self.access} --on {self.machine} --duration '{measured}' --seed 3 {words}{fail}"


class Relation(NamedTuple):
    """`more` must reach (1 - slack) of what `less` does, in I/Os or bytes a second."""

    name: str
    less: Setup
    more: Setup
    slack: float
    in_bytes: bool = False


def times(is_disk: bool) -> tuple[str, str]:
    """Time before the measured one, and the measured one: caches are full then, and chance is a percent or two."""
    return ("5 s", "15 s") if is_disk else ("200 ms", "400 ms")


def is_whole(setup: Setup) -> bool:
    """Whether a write is written as it comes; where parity is, a smaller one needs what is read first."""
    return not setup.access.endswith("write") or not any(layout in setup.machine for layout in PARITY)


def of_loads(one: Setup, slack: float) -> Iterator[Relation]:
    """Between loads of one machine, with the values of `one`."""
    for access in ACCESSES:
        for kib in (4, 64):
            setups = [one._replace(access=access, kib=kib, depth=depth) for depth in DEPTHS]
            yield from (Relation("depth", a, b, slack) for a, b in ladder(setups))
        for depth in (1, 32):
            setups = [one._replace(access=access, kib=kib, depth=depth) for kib in SIZES_KIB]
            yield from (Relation("size", a, b, slack, in_bytes=True) for a, b in ladder(setups))
            yield from (Relation("count", a, b, slack) for a, b in ladder(setups[::-1]) if is_whole(b))
    pairs: tuple[tuple[Access, Access], ...] = (("randread", "read"), ("randwrite", "write"))
    for random, in_a_row in pairs:
        for depth in (1, 4, 16, 32):
            for kib in (4, 64, 1024):
                setup = one._replace(kib=kib, depth=depth)
                yield Relation("in-a-row", setup._replace(access=random), setup._replace(access=in_a_row), slack)


def ladder(setups: list[Setup]) -> Iterator[tuple[Setup, Setup]]:
    """Each with the next, and the ends: small steps down may add up."""
    yield from pairwise(setups)
    if len(setups) > 2:
        yield setups[0], setups[-1]


def of_values(one: Setup, keys: set[str], slack: float) -> Iterator[Relation]:
    """Between values of a drive; `keys` are those it has."""
    for access in ACCESSES:
        for depth in (1, 32):
            whole = one._replace(access=access, kib=4, depth=depth)
            if access in ("randread", "randwrite"):
                yield Relation("span", whole, with_value(whole, "span", "5 %"), slack)
            if access.endswith("write"):
                if "wce" in keys:
                    off, on = (with_value(whole, "wce", value) for value in ("off", "on"))
                    yield Relation("cache", off, on, slack)
                if "over_provisioning" in keys:
                    yield Relation("new", whole, with_value(whole, "state", "fob"), slack)
                    yield Relation("room", whole, with_value(whole, "over_provisioning", "60 %"), slack)


def with_value(setup: Setup, key: str, value: str) -> Setup:
    """The same with one value more."""
    return setup._replace(values=(*setup.values, (key, value)))


def of_layouts(one: Setup, slack: float) -> Iterator[Relation]:
    """Between layouts of a drive with the values of `one`, and loads of them."""
    for access in ACCESSES:
        for depth in (1, 8, 64):
            for kib in (4, 64, 1024):
                load = one._replace(access=access, kib=kib, depth=depth)
                for layout, counts in COUNTS.items():
                    several = [on(f"{layout}:{count}x", load) for count in counts]
                    yield from (Relation("drives", a, b, slack) for a, b in ladder(several))
                yield from of_writes(load, slack) if access.endswith("write") else of_reads(load, slack)
    for layout in ("raid5:5x", "raid6:6x", "raid10:4x", "raid1:2x", "raidz1:5x", "controller:raid5:5x", "md:raid5:5x"):
        yield from of_loads(on(layout, one), slack)


def of_reads(load: Setup, slack: float) -> Iterator[Relation]:
    """Layouts against one drive, and against themselves without one of theirs."""
    for several in ("raid1:2x", "raid0:4x", "raid10:4x", "raid5:5x", "concat:4x"):
        yield Relation("layout", load, on(several, load), slack)
    for several in ("raid1:2x", "raid5:5x", "raid6:6x", "raid10:4x"):
        if load.kib <= CHUNK_KIB:
            # Drives in use in both: where one fails they are new where nothing else is said.
            whole = with_value(on(several, load), "state", "preconditioned")
            yield Relation("failed", whole._replace(fail="d1"), whole, slack)


def of_writes(load: Setup, slack: float) -> Iterator[Relation]:
    """Layouts with more parity or copies against those with less, and a controller's cache."""
    for more, less in SAME_DATA:
        yield Relation("redundancy", on(more, load), on(less, load), slack)
    yield Relation("cache", on("raid5:5x", load), on("controller:raid5:5x", load), slack)


def on(layout: str, load: Setup) -> Setup:
    """The load on a layout of its drive."""
    return load._replace(machine=layout + load.machine)
