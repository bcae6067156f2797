"""The product's model, asked what loads would measure: many points at once, on all cores, nothing run twice.

The loads of a point run one after the other on one machine, as they are measured on a drive: a solid-state drive is
written over once. The same place in the sequence has the same seed at every point (common random numbers), so that what
chance does is much the same on both sides of a difference.
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
"""A point: values that are set, and the seed."""
IOS = 40_000
"""Measured I/Os of a predicted load: 400 lie beyond the 99th percentile. More than a disk does in a measurement, so
that the noise of the prediction is the smaller part."""
SSD_IOS = 16_000
"""Of a solid-state drive, whose runs are most of the time of a fit: 160 beyond."""
MOST_BYTES = 1 << 28
"""Of large I/Os fewer."""
LEAST_IOS = 2_000
MOST_WRITTEN = 1 << 27
"""A load that writes a solid-state drive in order writes so much, and as much again before: 7 % of what is simulated.
With twice as much it was 9 % too fast: garbage collection then finds blocks of which nothing is valid."""
SIMULATED_BYTES = 3.7e9
"""Solid-state drives are simulated at the scale that leaves about this. To write one over takes a quarter of a second.
From a 512th to a 64th rates and latencies are alike within 1 % (`hotband.execution.runs.scale`)."""
LEAST_SPAN = 1 << 30
"""Write buffers hold up to 64 MB: rewrites in one are no load of the flash."""
SCALES = (1024, 512, 256, 128, 64, 32)
SHOWN_POINTS = 8
"""Fewer points are run without a bar: a step of the fit takes a second."""
BATCH = 24
"""Points that are run together: some hundred runs, whose records are let go before the next."""
FILL = Measurement("fill", ((("name", "fill"), ("read_pct", 0), ("random_pct", 100), ("size", "4 KiB")),), seconds=1.0)
"""First on every simulated drive: one in use is written over by the load that it begins with, by this one at random."""
FILL_IOS = 1_000


@dataclass(frozen=True)
class Product:
    """What is calibrated: a catalog name or a path, its text where it is a file's, and values that the user says."""

    name: str
    text: str | None = None
    held: tuple[Setting, ...] = ()


def size_of(product: Product, argument: str) -> int | None:
    """The bytes of a product's only volume; None where it has several. Raises UserError: what is wrong with its name is
    wrong with the argument that names it."""
    try:
        return target_bytes(Named(product.name, product.text))
    except UserError as error:
        if error.where != "question.on":
            raise
        raise UserError(argument, error.key, error.value, error.accepted) from None


def expect_one_volume(like: Product) -> None:
    """Raises UserError for a product with several volumes."""
    if size_of(like, "question.like") is None:
        raise UserError("question.like", "", like.name, "has several volumes: expected a product with one")


def specs_of(
    name: str, product: Product, loads: Sequence[Measurement], at: At, ios: int | None, *, one_drive: bool = True
) -> list[RunSpec]:
    """The runs of loads on a product at a point, each of so many I/Os (None: as long as it is measured); on one drive
    that goes from one to the next, or each on its own."""
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
    """Measured I/Os of a load in the model."""
    size = Load(load.text(), load.name).mean_bytes() or 4096.0
    if load.changes:
        return min(ios, int(MOST_WRITTEN / size))
    return max(min(ios, int(MOST_BYTES / size)), min(ios, LEAST_IOS))


def scaled(product: Product, loads: Sequence[Measurement] = ()) -> Product:
    """The product at the largest scale that leaves enough of it, for loads that are given, too; as it is where it has
    none, or the user says one."""
    values = _values(product) or {}
    own = values.get("scale")
    if own is None or "scale" in dict(product.held):
        return product
    values |= dict(product.held)
    whole = size_bytes(values["capacity"]) or 0.0
    least = int(float(own))
    sizes = [one for one in SCALES if whole / one >= SIMULATED_BYTES and one >= least] or [max(SCALES[-1], least)]
    tried = [Product(product.name, product.text, (*product.held, ("scale", str(scale)))) for scale in sizes]
    # A block has to hold a pass at it, also where the pass is the largest; a file that was measured has to fit.
    given = [load for load in loads if load.given]
    return next((one for one in tried if not (_refuses_a_choice(one) or _refuses_a_load(one, given))), tried[-1])


def own_scale(target: Product) -> int:
    """The scale of a simulated drive that is set or that its file says: one part in so many of it is there. 1 of a
    machine of several drives, or with layouts, and of hardware."""
    values = (_values(replace(target, name=target.name.removeprefix(EMULATED))) or {}) | dict(target.held)
    return int(values.get("scale", "1"))


def at_own_scale(target: Product) -> Product:
    """A drive at the scale that its file says, where that is another than one: its runs would each choose one."""
    own = own_scale(target)
    if own == 1 or "scale" in dict(target.held):
        return target
    return replace(target, held=(*target.held, ("scale", str(own))))


def _values(product: Product) -> dict[str, str] | None:
    """The values of one drive as text; None of what is none."""
    try:
        return {value["key"]: value["value"] for value in entry(product.name)["values"]}
    except UserError:
        return None


def at_scale(product: Product, loads: Sequence[Measurement]) -> tuple[Product, list[Measurement]]:
    """The product at that scale, and the loads on as large a part of it."""
    found = scaled(product, loads)
    if found == product:
        return product, list(loads)
    return found, [part_of(load, int(dict(found.held)["scale"])) for load in loads]


def _refuses_a_load(product: Product, loads: Sequence[Measurement]) -> bool:
    return any(_why(spec) is not None for spec in specs_of("x", product, loads, ((), 1), IOS, one_drive=False))


def part_of(load: Measurement, scale: int) -> Measurement:
    """A load on a part of the drive on the same part of a smaller one, which is no less than a cache could hold."""
    if load.span_bytes is None:
        return load
    return replace(load, span_bytes=max(load.span_bytes // scale, min(load.span_bytes, LEAST_SPAN)))


def _refuses_a_choice(product: Product) -> bool:
    """Whether a product cannot have an option of a choice, which it can have at another scale."""
    choices = unknowns_of(product.name, dict(product.held)).choices
    settings = [choice.at(option) for choice in choices for option in range(len(choice.options))]
    return any(why_refused(product, setting) is not None for setting in settings)


def why_refused(product: Product, settings: tuple[Setting, ...]) -> str | None:
    """Why the product cannot have these values, else None."""
    return _why(specs_of("x", product, [], (settings, 1), IOS)[0])


def _why(spec: RunSpec) -> str | None:
    try:
        prepare(spec)
    except UserError as error:
        return error.accepted
    return None


@dataclass
class Model:
    """A product under loads, at a fraction of its size or not (`is_scaled`); `done` is what was run before, `runs` how
    many were."""

    product: Product
    loads: Sequence[Measurement]
    watch: Watch
    jobs: int | None = None
    ios: int = IOS
    done: dict[At, list[Seen]] = field(default_factory=dict)
    runs: int = 0
    is_scaled: bool = False

    def __post_init__(self) -> None:
        """At a scale, where the product has one and the user says none."""
        whole = self.product
        self.product, self.loads = at_scale(whole, self.loads)
        self.is_scaled = self.product != whole

    def refusal(self, settings: tuple[Setting, ...]) -> str | None:
        """Why the product cannot have these values, else None."""
        return why_refused(self.product, settings)

    def at(self, points: Sequence[At], title: str) -> list[list[Seen]]:
        """What the loads measure at points. Raises UserError, RunsInterrupted."""
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
        by_id = {one.spec.id: seen_of(one.record) for one in finished}
        for at, line in zip(points, lines, strict=True):
            self.done[at] = [by_id[spec.id] for spec in line[1:]]
        self.runs += len(finished)
