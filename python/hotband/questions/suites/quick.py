"""A quick test of a drive in a given time: its strengths, and whether it performs as expected of its kind.

The kind of drive determines how the time is spent: a disk is tested for transfer rate and access time, a solid-state
drive for parallel random I/O and, longest, for sustained writes (a cache in front of its flash runs out in that time
or not). Left out: purge, preconditioning and steady state, which `hotband measure pts` has.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, NotRequired, TypedDict

from hotband.base.errors import UserError
from hotband.base.text.numbers import number, rate, share
from hotband.base.text.table import IOPS, MBS, MS, Unit
from hotband.base.version import __version__
from hotband.data.catalog.named import NONE, is_emulated, is_real
from hotband.data.documents.pts import CellDoc
from hotband.execution.devices.host import Host
from hotband.execution.devices.readings import reading_of
from hotband.execution.experiment import Executor, Lock, Tick, unwatched
from hotband.execution.targets.on_served import OnServedMachine
from hotband.execution.targets.outlook import in_words
from hotband.execution.targets.real_target import real_target_of
from hotband.questions.review.asked import KIB, MIB
from hotband.questions.suites.bench import Bench, Stage, each_once, expect_same_suite
from hotband.questions.suites.cells import Cell, Extent
from hotband.questions.suites.device import ModelDevice
from hotband.questions.suites.hardware import Watch, standing
from hotband.questions.suites.target import SuiteTarget, target_of
from hotband.questions.targets.expected import product_of

QUICK_FILE = "quick.json"
"""File that a quick test leaves in its folder, next to its page."""
LEAST_S, MOST_S = 60.0, 24 * 3600.0
START_S = 1.0
"""Seconds that starting fio and reading counters cost per run on hardware, as measured (docs/guides/measure.md)."""
PIECES = 10
"""Pieces of the sustained writes whose rates are measured, in a single run: between runs a write cache empties, and the
next run of fio overwrites blocks that the cache may still hold."""
LAST = 3
"""Last pieces whose mean is the sustained rate, and first ones with which it is compared: a pause of the host or of the
drive may fill much of a single piece."""
PIECE_IOS = 100
"""Least I/Os of a piece on a model, whose times are shorter: the collection of blocks makes rates of fewer uneven."""
ALIKE = 0.20
"""Share by which a figure may be off the model's prediction and be called as expected: the widest tolerance that the
models' checks against data sheets have (docs/models/ssd.md, docs/models/disk.md)."""
MODEL_S = 0.1
"""Least length of a cell: of a small model, whose times are shorter, tens of I/Os of 1 MiB still end in it."""
KEPT = 0.9
"""Share of their first rate at which sustained writes are called even."""


@dataclass(frozen=True)
class Load:
    """One figure of a quick suite: a load, its share of the time, and which figure of it counts."""

    name: str
    read_pct: int
    block_bytes: int
    random: bool
    threads: int
    depth: int
    weight: float
    figure: str

    def cell(self, seconds: float) -> Cell:
        """The load as it is run."""
        return Cell(self.name, self.read_pct, self.block_bytes, self.random, self.threads, self.depth, seconds)


class Measured(NamedTuple):
    """A load with its measurements; sustained writes have the rate of every piece, in bytes per second."""

    load: Load
    cell: CellDoc
    rates: Sequence[float] = ()

    @property
    def rate(self) -> float:
        """Return its bytes per second: of sustained writes at the end."""
        return sustained(self.rates) if self.rates else self.cell["bandwidth_bytes_per_s"]

    @property
    def value(self) -> float | None:
        """Return the figure that counts."""
        if self.load.figure == "latency":
            return self.cell["latency_mean_ns"]
        return self.cell["iops"] if self.load.figure == "iops" else self.rate


def loads_of(target: SuiteTarget, writes: bool, pictured: bool = False) -> list[Load]:
    """Return the loads of a kind of drive, in this order: reads before writes, sustained writes last; if the test
    is `pictured`, with those of the picture that are missing."""
    nvme = target.transport.startswith("nvme")
    many = (4, 32) if nvme else (1, 32)
    disk = target.media == "disk"
    all_ = [
        Load("sequential reads, 1 MiB", 100, MIB, False, 1, 4 if disk else 8, 2.0 if disk else 1.0, "bandwidth"),
        Load("random reads, one 4 KiB at a time", 100, 4 * KIB, True, 1, 1, 2.0 if disk else 1.0, "latency"),
        Load(f"random reads, {many[0] * many[1]} of 4 KiB", 100, 4 * KIB, True, *many, 1.0, "iops"),
        Load("random 70/30, 16 of 8 KiB", 70, 8 * KIB, True, 1, 16, 1.0, "iops"),
        Load("random writes, one 4 KiB at a time", 0, 4 * KIB, True, 1, 1, 1.0, "latency"),
        Load(f"random writes, {many[0] * many[1]} of 4 KiB", 0, 4 * KIB, True, *many, 1.0 if disk else 2.0, "iops"),
        Load(GOING_ON, 0, MIB, False, 1, 4 if disk else 8, 1.0 if disk else 4.0, "bandwidth"),
    ]
    last, missing = all_[-1], _missing(all_) if pictured else []
    # Sequential writes come before random ones, which leave a flash drive with work to do.
    all_ = sorted([*missing, *all_[:-1]], key=lambda load: (-load.read_pct, load.random)) if missing else all_[:-1]
    all_.append(last)
    return [load for load in all_ if writes or load.read_pct == 100]


GOING_ON = "sustained sequential writes, 1 MiB"
PICTURE_ROWS = (
    ("SEQ1M", "Q8T1", MIB, False, 8),
    ("SEQ1M", "Q1T1", MIB, False, 1),
    ("RND4K", "Q32T1", 4 * KIB, True, 32),
    ("RND4K", "Q1T1", 4 * KIB, True, 1),
)
"""Rows of the picture, which CrystalDiskMark made familiar: load, queue depth and threads, size, whether offsets are
random, depth."""
OF_PICTURE = 0.5
"""Share of the time of a load that the picture alone needs."""


def _missing(loads: Sequence[Load]) -> list[Load]:
    """Return the loads of the picture that are not among the others."""
    return [
        Load(f"{name} {queue} {'reads' if pct else 'writes'}", pct, size, random, 1, depth, OF_PICTURE, "bandwidth")
        for pct in (100, 0)
        for name, queue, size, random, depth in PICTURE_ROWS
        if not any(_is_row(load, pct, size, random, depth) for load in loads)
    ]


def _is_row(load: Load, read_pct: int, size: int, random: bool, depth: int) -> bool:
    asked = (load.read_pct, load.block_bytes, load.random, load.threads, load.depth)
    return asked == (read_pct, size, random, 1, depth)


class PictureRowDoc(TypedDict):
    """A row of the picture: bytes and I/Os per second of reads and of writes; None if nothing was written."""

    load: str
    queue: str
    read_bytes_per_s: float | None
    write_bytes_per_s: float | None
    read_iops: float | None
    write_iops: float | None


def _picture_rows(found: Sequence[Measured]) -> list[PictureRowDoc]:
    """Return the rows of the picture from what was run."""
    rows: list[PictureRowDoc] = []
    for name, queue, size, random, depth in PICTURE_ROWS:
        reads, writes = (
            next((measured.rate for measured in found if _is_row(measured.load, pct, size, random, depth)), None)
            for pct in (100, 0)
        )
        rows.append(
            {
                "load": name,
                "queue": queue,
                "read_bytes_per_s": reads,
                "write_bytes_per_s": writes,
                "read_iops": reads and reads / size,
                "write_iops": writes and writes / size,
            }
        )
    return rows


class LoadDoc(TypedDict):
    """A load's figure: its value, unit (B/s, IOPS, ns), what is expected, and in words how it compares. The value of
    sustained writes is their rate at the end; the cell has the mean of their whole time."""

    name: str
    value: float | None
    unit: str
    expected: float | None
    verdict: str
    cell: CellDoc


class QuickDoc(TypedDict):
    """A quick suite. `going_on` has the rates of the sustained writes, one per piece; `expected_of` is the drive of the
    catalog whose model makes the predictions."""

    schema: str
    schema_version: int
    hotband: str
    name: str
    title: str
    media: str
    kind: str
    seconds: float
    writes: bool
    answer: list[str]
    loads: list[LoadDoc]
    going_on: list[float]
    expected_of: str | None
    health: dict[str, float]
    notes: list[str]
    picture: NotRequired[list[PictureRowDoc]]


@dataclass(frozen=True)
class QuickAsked:
    """The options of a quick suite. Without `writes` nothing is written. `expect` is a product whose model predicts. A
    `pictured` one also runs the loads of the picture."""

    target: SuiteTarget
    seconds: float
    writes: bool = True
    expect: str | None = None
    seed: int = 1
    out: Path | None = None
    fresh: bool = False
    executor: Executor | None = None
    pictured: bool = False

    def run_by(self, executor: Executor | None) -> QuickAsked:
        """Return the same, run by somebody."""
        return replace(self, executor=executor)

    def expect_time(self) -> None:
        """Raises UserError for a time that is too short or too long."""
        if not LEAST_S <= self.seconds <= MOST_S:
            raise UserError("question.duration", "", f"{self.seconds:g} s", 'expected a time from "1 min" to "24 h"')

    def settings(self) -> str:
        """Return the target and all that changes what is run on it."""
        return (
            self.target.with_settings(f'--for "{self.seconds:g} s"')
            + ("" if self.writes else ", reads alone")
            + (", for a picture" if self.pictured else "")
        )

    def ahead(self) -> list[str]:
        """Return what is ahead on hardware, in words."""
        erased = "it is written" if is_emulated(self.target.name) else "its data is lost"
        done = erased if self.writes else "nothing is written"
        return [f"a quick look at {self.target.name}: {in_words(self.seconds)}, {done}"]


def run_quick(asked: QuickAsked, *, watch: Watch) -> QuickDoc:
    """Runs it. Raises UserError, OSError, RunsInterrupted."""
    asked.expect_time()
    out, title = asked.out, f"quick look at {asked.target.name}"
    with ExitStack() as stack:
        stack.enter_context(nullcontext() if out is None else Lock(out))
        if out is not None and not asked.fresh:
            expect_same_suite(out, asked.settings(), QUICK_FILE)
        executor = asked.executor or ModelDevice()
        executor = stack.enter_context(standing(executor, asked.seed, out, asked.fresh, watch))
        tick = stack.enter_context(watch(title))
        bench = _bench(asked, asked.target, executor, out and out / "quick", tick or unwatched)
        found = _measure(asked, bench)
        product, why_not = (asked.expect, []) if asked.expect is not None else _product(asked.target)
        product = None if product == NONE else product
        expected = _expected(asked, product) if product is not None else {}
    rows = [_row(measured, expected.get(measured.load.name)) for measured in found]
    going_on = next((list(measured.rates) for measured in found if measured.load.name == GOING_ON), [])
    health = health_of(asked.target) if is_real(asked.target.name) else {}
    invalid, delay = (executor.invalid, executor.notes) if isinstance(executor, OnServedMachine) else ((), ())
    notes = [*each_once(bench.notes), *delay, *why_not]
    if asked.target.scale > 1:
        notes.append(f"the model has 1/{asked.target.scale} of the drive's capacity, and every time is as much shorter")
        if asked.writes:
            notes.append(
                f"sustained writes continue for at least {PIECES * PIECE_IOS:,} I/Os, however short their time"
            )
    if is_real(asked.target.name):
        notes.append("reads of never-written data may complete without the media")
    if not asked.writes:
        notes.append("nothing was written: writing needs the serial number of the drive, which is erased")
    made: QuickDoc = {
        "schema": "hotband-quick",
        "schema_version": 1,
        "hotband": __version__,
        "name": asked.target.name,
        "title": asked.target.title,
        "media": asked.target.media,
        "kind": asked.target.kind,
        "seconds": asked.seconds,
        "writes": asked.writes,
        "answer": [*invalid, *answer(rows, going_on, product, health)],
        "loads": rows,
        "going_on": going_on,
        "expected_of": product,
        "health": health,
        "notes": notes,
    }
    return {**made, "picture": _picture_rows(found)} if asked.pictured else made


def _bench(asked: QuickAsked, target: SuiteTarget, executor: Executor, out: Path | None, tick: Tick) -> Bench:
    # A model holds what a drive in use holds: written over once in order, and once at random where it is flash.
    fills = 0.0 if target.media == "disk" else 1.0
    title = "quick look"
    what = f"the quick look at {asked.settings()}"
    extent = Extent(target.bytes)
    return Bench(target, executor, extent, title, what, fills, fills, asked.seed, out, asked.fresh, tick)


def _measure(asked: QuickAsked, bench: Bench) -> list[Measured]:
    """Return each load with its measurements."""
    loads = loads_of(bench.target, asked.writes, asked.pictured)
    over = 0.0 if bench.target.is_model else START_S * len(loads)
    each = max(asked.seconds - over, asked.seconds / 2) / sum(load.weight for load in loads) / bench.target.scale
    found: list[Measured] = []
    for load in loads:
        if load.name == GOING_ON:
            over_time = bench.over_time(load.cell(each * load.weight), PIECES, PIECE_IOS)
            found.append(Measured(load, over_time.cell, over_time.rates))
        else:
            [cell] = bench.run(Stage(load.name, (load.cell(max(each * load.weight, MODEL_S)),)))[0].values()
            found.append(Measured(load, cell))
    return found


def _expected(asked: QuickAsked, product: str) -> dict[str, float]:
    """Return the same loads on the model of a product."""
    is_itself = product == asked.target.machine
    target = target_of(product, asked.target.set if is_itself else ())
    model = replace(asked, target=target, executor=None, out=None)
    # Asked the same as the drive was, whatever the catalog calls its kind.
    alike = replace(target, transport=asked.target.transport, media=asked.target.media)
    bench = _bench(model, alike, ModelDevice(), None, unwatched)
    values = {measured.load.name: measured.value for measured in _measure(model, bench)}
    return {name: value for name, value in values.items() if value is not None}


def _product(target: SuiteTarget) -> tuple[str | None, list[str]]:
    """Return the model of an emulated machine, or the catalog's drive with the model number of a real device, with a
    note if the device cannot be identified."""
    if not is_real(target.name):
        return (target.machine if is_emulated(target.name) else None), []
    try:
        product = product_of(real_target_of(target.name))
    except UserError as error:
        return None, [f"no prediction: {error.worded(str)}"]
    return (None if product is None else product[0]), []


UNITS = {"bandwidth": "B/s", "iops": "IOPS", "latency": "ns"}


def _row(measured: Measured, expected: float | None) -> LoadDoc:
    load, value = measured.load, measured.value
    made: LoadDoc = {
        "name": load.name,
        "value": value,
        "unit": UNITS[load.figure],
        "expected": expected,
        "verdict": "",
        "cell": measured.cell,
    }
    if not value or not expected:
        return made
    better = expected / value if load.figure == "latency" else value / expected
    if abs(better - 1) <= ALIKE or abs(1 / better - 1) <= ALIKE:
        return {**made, "verdict": "as expected"}
    return {**made, "verdict": f"{number(better)} times as good" if better > 1 else f"{share(1 - better)} worse"}


def unit_of(row: LoadDoc) -> Unit:
    """Return the unit of a load's figure."""
    return {"B/s": MBS, "ns": MS}.get(row["unit"], IOPS)


def answer(
    rows: Sequence[LoadDoc], going_on: Sequence[float], product: str | None, health: dict[str, float]
) -> list[str]:
    """Return what it is good at, whether its writes keep their rate, and whether it is as expected and healthy."""
    figures = [f"{row['name']}: {unit_of(row).shown(row['value'])}" for row in rows if row["name"] != GOING_ON]
    said = [f"{'; '.join(figures)}."]
    if going_on:
        first, held = fmean(going_on[:LAST]), sustained(going_on)
        left = held / first if first else 0.0
        even = f"Sustained writes keep their rate ({rate(held)})"
        fell = f"Sustained writes fall from {rate(first)} to {rate(held)} ({share(1 - left)})"
        said.append(f"{even if left >= KEPT else fell}.")
    if product is not None:
        off = [f"{row['name']} {row['verdict']}" for row in rows if row["verdict"] and row["verdict"] != "as expected"]
        said.append(f"Against the model of {product}: {', '.join(off) if off else 'all as expected'}.")
    if health:
        bad = [name for name in ("media errors", "critical warnings") if health.get(name)]
        used = f", {health['endurance used (%)']:g} % of its endurance used" if "endurance used (%)" in health else ""
        said.append(f"By its own counters it {'has ' + ' and '.join(bad) if bad else 'has no media errors'}{used}.")
    return said


def sustained(rates: Sequence[float]) -> float:
    """Return the rate that writes reach at the end, from the rates of the pieces."""
    return fmean(rates[-LAST:])


def health_of(target: SuiteTarget) -> dict[str, float]:
    """Return the counters of a real device, as far as it reports them."""
    place = real_target_of(target.name)
    if place.path is None or place.kind != "block":
        return {}
    told_ = dict(reading_of(place.path, Host()))
    names = {
        "temperature (°C)": "temperature_c",
        "endurance used (%)": "percentage_used",
        "media errors": "media_errors",
        "spare left (%)": "available_spare_pct",
    }
    values = {name: told_.get(key) for name, key in names.items()}
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}
