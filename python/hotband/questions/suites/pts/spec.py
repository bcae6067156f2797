"""Requirements of the specification: its two classes of drives, mixes, sizes, times; and the part that `--quick` keeps.

Numbers are those of PTS 2.0.2 in the section next to them. If the specification leaves a value to the operator,
Hotband uses the value of the specification's sample reports, and prints that it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hotband.base.errors import UserError
from hotband.base.text.quantities import span_ns
from hotband.data.documents.record import KIND_REAL
from hotband.questions.review.asked import GIB, KIB
from hotband.questions.suites.cells import Cell, Extent, cell_name
from hotband.questions.suites.target import SuiteTarget

VERSION = "2.0.2"
DriveClass = Literal["enterprise", "client"]
MINUTE = 60.0

# Section 7.2: an outer loop over the share of reads, an inner one over sizes.
IOPS_MIXES = (100, 95, 65, 50, 35, 5, 0)
IOPS_SIZES = tuple(int(size * KIB) for size in (1024, 128, 64, 32, 16, 8, 4, 0.5))
# Section 7.2: the cells whose IOPS are followed to steady state, all three.
IOPS_TRACKED = ((0, 4 * KIB), (65, 64 * KIB), (100, 1024 * KIB))
# Section 8.2.
THROUGHPUT_SIZES = (1024 * KIB, 128 * KIB)
# Section 9.2.
LATENCY_MIXES = (100, 65, 0)
LATENCY_SIZES = tuple(int(size * KIB) for size in (8, 4, 0.5))
HISTOGRAM_S = 20 * MINUTE
# Section 3.3: the drive is written twice, in order, in 128 KiB.
FILLS = 2.0
FILL_BLOCK = 128 * KIB
# Section 2 (definitions): rounds at most before steady state is given up; the engine's rule has the same number.
MOST_ROUNDS = 25


@dataclass(frozen=True)
class Demand:
    """Number of threads, and of outstanding I/Os per thread."""

    threads: int
    depth: int

    def text(self) -> str:
        """Return the text as in the specification."""
        return f"T{self.threads}Q{self.depth}"


SINGLE = Demand(1, 1)
SEQUENTIAL = Demand(1, 32)
"""Demand of sequential loads (sections 8 and 12)."""


@dataclass(frozen=True)
class Rules:
    """One class of drives: the write cache, the share of the addresses that loads may touch (ActiveRange) and the bytes
    of it that they do (ActiveAmount; None: all), and the demand of random loads where the operator says nothing."""

    name: DriveClass
    write_cache: Literal["off", "on"]
    active_range: float
    active_bytes: int | None
    demand: Demand


# Sections 7.1, 9.1, 10.1: enterprise drives with the write cache disabled on all addresses, client drives with it
# enabled on 8 GiB within the first 75 %. Threads and depth are the operator's; these are the sample reports'.
RULES: dict[DriveClass, Rules] = {
    "enterprise": Rules("enterprise", "off", 1.0, None, Demand(4, 32)),
    "client": Rules("client", "on", 0.75, 8 * GIB, Demand(2, 16)),
}


@dataclass(frozen=True)
class Plan:
    """The rules of a class on a target. `demand` may be the operator's own; `minute_s`, if given, is the length in
    seconds of a minute of the specification, and scales all other times alike."""

    target: SuiteTarget
    rules: Rules
    demand: Demand
    quick: bool
    seed: int
    minute_s: float | None = None

    def seconds(self, of: float) -> float:
        """Return a time of the specification as it is run: a model that is a 64th of a drive has a 64th of the time."""
        if self.minute_s is not None:
            return of * self.minute_s / MINUTE / self.target.scale
        whole = of / self.target.scale
        return max(whole / QUICK_TIME, min(whole, LEAST_S)) if self.quick else whole

    def cell(self, read_pct: int, block_bytes: int, demand: Demand | None = None, *, random: bool = True) -> Cell:
        """Return a minute of one load."""
        of = demand or self.demand
        name = cell_name(read_pct, block_bytes)
        return Cell(name, read_pct, block_bytes, random, of.threads, of.depth, self.seconds(MINUTE))

    def sizes(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Return those that the target accepts; for a quick run only those in `QUICK_SIZES`."""
        taken = tuple(size for size in wanted if self.target.takes(size))
        if not self.quick or len(taken) <= len(QUICK_SIZES):
            return taken
        return tuple(size for size in taken if size in QUICK_SIZES)

    def mixes(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Return the mixes of a test; a quick run has three."""
        return tuple(mix for mix in wanted if mix in LATENCY_MIXES) if self.quick else wanted

    def loops(self, number: int) -> int:
        """Repeats of something as they are run: of a quick run a thirtieth."""
        return max(number // 30, 3) if self.quick else number

    @property
    def fills(self) -> float:
        """Times that the active range is written before."""
        return 1.0 if self.quick else FILLS

    @property
    def extent(self) -> Extent:
        """Return what loads touch: the active amount as one range from the first address on."""
        part = self.rules.active_range * self.target.bytes
        if self.rules.active_bytes is not None:
            part = min(part, self.rules.active_bytes / self.target.scale)
        blocks = max(int(part) // (1024 * KIB), 1)
        whole = self.rules.active_range == 1.0 and self.rules.active_bytes is None
        return Extent(self.target.bytes if whole else blocks * 1024 * KIB, whole)


QUICK_TIME = 10.0
"""A quick run's times are a tenth."""
LEAST_S = 0.2
"""Seconds below which a quick run does not shorten a time of a small model: 32 outstanding I/Os of 128 KiB take a SATA
drive 8 ms, in which a cell measures nothing."""
LEAST_MINUTE_S = 0.05
"""Shortest time of a cell: fio checks the clock every few milliseconds."""
QUICK_SIZES = tuple(int(size * KIB) for size in (1024, 64, 4))


def departures(plan: Plan) -> list[str]:
    """Return the departures of a plan from the specification, one line each."""
    target, rules = plan.target, plan.rules
    found = []
    if target.kind != KIND_REAL:
        found.append("simulated: a model completed the I/Os, not a device")
    if target.scale > 1:
        found.append(f"the model has 1/{target.scale} of the drive's capacity, and every time is as much shorter")
    if target.media == "disk":
        found.append("a disk: the specification is for solid-state storage")
    if rules.active_bytes is not None:
        found.append("the active amount is one range, not segments spread over the active range")
    if plan.minute_s is not None:
        found.append(f"short: a minute took {plan.minute_s:g} s, and every other time was as much shorter")
    if plan.quick:
        times = "" if plan.minute_s is not None else "a tenth of every time, "
        found.append(f"quick: {times}fewer sizes and mixes, one fill before instead of two")
        if not target.is_model:
            found.append("quick: random writes may be those of a drive that is not in steady state")
    left_out = [size for size in (*IOPS_SIZES, *LATENCY_SIZES) if not target.takes(size)]
    if left_out:
        found.append(f"0.5 KiB left out: the target takes {target.block_bytes} B or more")
    return found


def minute_of(text: str | None) -> float | None:
    """Seconds that a minute of the specification is to take. Raises UserError."""
    if text is None:
        return None
    span = span_ns(text)
    if span is None or not LEAST_MINUTE_S <= span / 1e9 <= MINUTE:
        raise UserError("question.minute", "", text, f'expected a time from "{1000 * LEAST_MINUTE_S:g} ms" to "1 min"')
    return None if span / 1e9 == MINUTE else span / 1e9


def demand_of(rules: Rules, threads: int | None, depth: int | None) -> Demand:
    """Return the operator's demand, or the class's. Raises UserError."""
    for option, value in (("question.threads", threads), ("question.depth", depth)):
        if value is not None and not 1 <= value <= 1024:
            raise UserError(option, "", str(value), "expected a number from 1 to 1024")
    return Demand(threads or rules.demand.threads, depth or rules.demand.depth)
