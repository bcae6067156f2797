"""The product's model: predict the figures of loads at many points at once, on all cores, without repeated runs.

The loads of a point run one after the other on one machine, as they are measured on a drive: a solid-state drive is
preconditioned once. The same position in the sequence has the same seed at every point (common random numbers), so that
chance affects both sides of a difference alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes
from hotband.data.catalog.entries import product as entry
from hotband.data.catalog.named import EMULATED
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import Load
from hotband.data.inputs.specify import Named
from hotband.execution.experiment import Experiment, Point, Tick
from hotband.execution.runs.run import prepare
from hotband.questions.calibrate.figures import Seen, seen_of
from hotband.questions.calibrate.loads import Measurement
from hotband.questions.calibrate.unknowns import Setting, unknowns_of
from hotband.questions.expect.capacity import target_bytes

Watch = Callable[[str], "AbstractContextManager[Tick | None]"]
At = tuple[tuple["Setting", ...], int]
"""A point: settings, and the seed."""
IOS = 40_000
"""Measured I/Os of a predicted load: 400 lie beyond the 99th percentile. More than a disk completes in a measurement,
so that the prediction has the smaller part of the noise."""
SSD_IOS = 16_000
"""Measured I/Os on a solid-state drive, whose runs take most of the time of a fit: 160 lie beyond."""
MOST_BYTES = 1 << 28
"""Most bytes of a load, which limits large I/Os."""
LEAST_IOS = 2_000
MOST_WRITTEN = 1 << 27
"""Most bytes of a load that writes a solid-state drive in order, and of its warm-up: 7 % of the simulated size. With
twice as much it was 9 % too fast: garbage collection then meets blocks without valid data."""
SIMULATED_BYTES = 3.7e9
"""Approximate simulated bytes of a solid-state drive, which determine its model size. Filling it takes a quarter of a
second. From 1/512 to 1/64 rates and latencies agree within 1 % (`hotband.execution.runs.scale`)."""
LEAST_SPAN = 1 << 30
"""Least range of a load: write buffers hold up to 64 MB, and rewrites inside one do not reach the flash."""
SCALES = (1024, 512, 256, 128, 64, 32)
SHOWN_POINTS = 8
"""Fewer points run without a progress bar: a step of the fit takes a second."""
BATCH = 24
"""Points that run together: some hundred runs, whose records are released before the next."""
FILL = Measurement("fill", ((("name", "fill"), ("read_pct", 0), ("random_pct", 100), ("size", "4 KiB")),), seconds=1.0)
"""The first load on every simulated drive: it preconditions a drive in use, with random writes."""
FILL_IOS = 1_000


@dataclass(frozen=True)
class Product:
    """A product: a catalog name or a path, the text of its file, and settings of the user."""

    name: str
    text: str | None = None
    held: tuple[Setting, ...] = ()


def size_of(product: Product, argument: str) -> int | None:
    """Return the bytes of a product's only volume; None if it has several. Raises UserError with the name of the
    argument."""
    try:
        return target_bytes(Named(product.name, product.text))
    except UserError as error:
        if error.where != "question.on":
            raise
        raise UserError(argument, error.key, error.value, error.accepted) from None


def expect_one_volume(like: Product) -> None:
    """Raise UserError for a product with several volumes."""
    if size_of(like, "question.like") is None:
        raise UserError("question.like", "", like.name, "has several volumes: expected a product with one")


def specs_of(
    name: str, product: Product, loads: Sequence[Measurement], at: At, ios: int | None, *, one_drive: bool = True
) -> list[RunSpec]:
    """Return the runs of loads on a product at a point, each with `ios` I/Os (None: for its measured time), on one
    drive for all of them, or on a fresh drive each."""
    settings, seed = at
    specs: list[RunSpec] = []
    for index, load in enumerate((FILL, *loads) if one_drive else loads):
        count = None if ios is None else FILL_IOS if load is FILL else ios_of(load, ios)
        specs.append(
            RunSpec(
                f"{name}.{index:02d}",
                product.name,
                load.name,
                (*load.set, *product.held, *settings),
                seed + index,
                machine_text=product.text,
                workload_text=load.text(FILL_IOS if load is FILL else count),
                after=specs[-1].id if specs and one_drive else "",
                in_use=True,
            )
        )
    return specs


def ios_of(load: Measurement, ios: int) -> int:
    """Return the measured I/Os of a load in the model."""
    size = Load(load.text(), load.name).mean_bytes() or 4096.0
    if load.changes:
        return min(ios, int(MOST_WRITTEN / size))
    return max(min(ios, int(MOST_BYTES / size)), min(ios, LEAST_IOS))


def scaled(product: Product, loads: Sequence[Measurement] = ()) -> Product:
    """Return the product at the smallest model size that is large enough, also for given loads; unchanged if it has no
    model size, or the user sets one."""
    values = _values(product) or {}
    stated = values.get("scale")
    if stated is None or "scale" in dict(product.held):
        return product
    values |= dict(product.held)
    whole = size_bytes(values["capacity"]) or 0.0
    least = int(float(stated))
    sizes = [scale for scale in SCALES if whole / scale >= SIMULATED_BYTES and scale >= least] or [
        max(SCALES[-1], least)
    ]
    tried = [Product(product.name, product.text, (*product.held, ("scale", str(scale)))) for scale in sizes]
    # A block must hold a program pass, even the largest; a measured file must fit.
    given = [load for load in loads if load.given]
    return next(
        (candidate for candidate in tried if not (_refuses_a_choice(candidate) or _refuses_a_load(candidate, given))),
        tried[-1],
    )


def own_scale(target: Product) -> int:
    """Return the divisor of a simulated drive's model size from its settings or its file. 1 for a machine with several
    drives or layouts, and for hardware."""
    values = (_values(replace(target, name=target.name.removeprefix(EMULATED))) or {}) | dict(target.held)
    return int(values.get("scale", "1"))


def at_own_scale(target: Product) -> Product:
    """Fix a drive's model size to that of its file if it is not 1: otherwise each run would choose one."""
    scale = own_scale(target)
    if scale == 1 or "scale" in dict(target.held):
        return target
    return replace(target, held=(*target.held, ("scale", str(scale))))


def _values(product: Product) -> dict[str, str] | None:
    """Return the values of a drive as text; None for other products."""
    try:
        return {value["key"]: value["value"] for value in entry(product.name)["values"]}
    except UserError:
        return None


def at_scale(product: Product, loads: Sequence[Measurement]) -> tuple[Product, list[Measurement]]:
    """Return the product at its model size, and the loads on the same share of it."""
    smaller = scaled(product, loads)
    if smaller == product:
        return product, list(loads)
    return smaller, [part_of(load, int(dict(smaller.held)["scale"])) for load in loads]


def _refuses_a_load(product: Product, loads: Sequence[Measurement]) -> bool:
    return any(_why(spec) is not None for spec in specs_of("x", product, loads, ((), 1), IOS, one_drive=False))


def part_of(load: Measurement, scale: int) -> Measurement:
    """Scale the range of a load to a smaller drive, but not below the size that a cache could hold."""
    if load.span_bytes is None:
        return load
    return replace(load, span_bytes=max(load.span_bytes // scale, min(load.span_bytes, LEAST_SPAN)))


def _refuses_a_choice(product: Product) -> bool:
    """Return whether a product cannot have an option of a choice that another model size allows."""
    choices = unknowns_of(product.name, dict(product.held)).choices
    settings = [choice.at(option) for choice in choices for option in range(len(choice.options))]
    return any(why_refused(product, setting) is not None for setting in settings)


def why_refused(product: Product, settings: tuple[Setting, ...]) -> str | None:
    """Return why the product cannot have these values, else None."""
    return _why(specs_of("x", product, [], (settings, 1), IOS)[0])


def _why(spec: RunSpec) -> str | None:
    try:
        prepare(spec)
    except UserError as error:
        return error.accepted
    return None


@dataclass
class Model:
    """A product under loads, at a fraction of its size or not (`is_scaled`); `done` has finished points, `runs` counts
    runs."""

    product: Product
    loads: Sequence[Measurement]
    watch: Watch
    jobs: int | None = None
    ios: int = IOS
    done: dict[At, list[Seen]] = field(default_factory=dict)
    runs: int = 0
    is_scaled: bool = False

    def __post_init__(self) -> None:
        """Choose a model size, if the product has one and the user sets none."""
        whole = self.product
        self.product, self.loads = at_scale(whole, self.loads)
        self.is_scaled = self.product != whole

    def refusal(self, settings: tuple[Setting, ...]) -> str | None:
        """Return why the product cannot have these values, else None."""
        return why_refused(self.product, settings)

    def at(self, points: Sequence[At], title: str) -> list[list[Seen]]:
        """Return the figures of the loads at points. Raises UserError, RunsInterrupted."""
        missing = [fromkey for fromkey in dict.fromkeys(points) if fromkey not in self.done]
        for begin in range(0, len(missing), BATCH):
            more = f", {begin} of {len(missing)} points done" if len(missing) > BATCH else ""
            self._run(missing[begin : begin + BATCH], f"{title}{more}")
        return [self.done[point] for point in points]

    def _run(self, points: Sequence[At], title: str) -> None:
        lines = [specs_of(f"{n}", self.product, self.loads, at, self.ios) for n, at in enumerate(points)]
        with self.watch(title) if len(points) >= SHOWN_POINTS else nullcontext() as tick:
            experiment = Experiment([Point(spec) for line in lines for spec in line])
            finished = experiment.run(jobs=self.jobs, progress=tick).finished
        by_id = {run.spec.id: seen_of(run.record) for run in finished}
        for at, line in zip(points, lines, strict=True):
            self.done[at] = [by_id[spec.id] for spec in line[1:]]
        self.runs += len(finished)
