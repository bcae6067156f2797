"""The intervals of one run: screening, samples, model error (docs/guides/intervals.md).

A screening runs every uncertain value at both ends. Values that change a figure are sampled together, 64 times by
default. Every run has the seed of the nominal one and is compared with a nominal run of the same length.

Left out: figures of programs and scripts (op/s, boots), the longest latency, and what one step of several
does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.engine import mistakes_of, user_error
from hotband.base.errors import UserError
from hotband.base.heavy import np
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.named import expect_model
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.texts import text_of
from hotband.data.record.finished import Finished
from hotband.data.record.stats import FIGURES
from hotband.execution.experiment import Experiment, Say, Tick, points_of
from hotband.execution.experiment.ranges import ENDS, End, machine_text, renamed, workload_text
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import Prepared, attempt
from hotband.inference.interval import DRAWS, LEAST_DRAWS, LEVEL, MOST_DRAWS, check_level
from hotband.inference.interval.asked_rate import at_speed
from hotband.inference.interval.conformal import ARRAYS, POOLS
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.limits import Limits, limits_of
from hotband.inference.interval.of_corpus import Basis
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.short import STEPS_TRIED, cheaper, shortened, takes_steps
from hotband.inference.interval.uncertain import Uncertain, of_run, with_values

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from hotband.data.documents.record import RecordDoc

SEEDS = 4
"""Nominal runs with other seeds, for the effect of chance."""
NO_EFFECT = 0.002
"""A value that moves no figure by more than this share of it is not drawn. The error in a spread of 2 % is then
less than a hundredth of it, unless there are dozens of such values."""
TRIES = 4
"""A sample that the model refuses is drawn again: at most this many times the number of samples is tried."""
CLASSES = {
    "latency_p50_ns": FigureClass.P50,
    "latency_p99_ns": FigureClass.P99,
    "latency_p999_ns": FigureClass.P999,
}
Watch = Callable[[str], "AbstractContextManager[Tick | None]"]
"""A progress bar with a title; yields the receiver of an experiment's progress, or None."""


def _nowhere() -> NDArray[np.float64]:
    return np.empty((0, 0))


@dataclass(frozen=True)
class Asked:
    """The request: level in percent and number of samples. Raises UserError for values out of range."""

    level: float = LEVEL
    draws: int = DRAWS

    def __post_init__(self) -> None:
        check_level(self.level, "question.interval")
        whole = isinstance(self.draws, int) and not isinstance(self.draws, bool)
        if not whole or not LEAST_DRAWS <= self.draws <= MOST_DRAWS:
            accepted = f"expected a whole number from {LEAST_DRAWS} to {MOST_DRAWS}"
            raise UserError("question.draws", "", str(self.draws), accepted)


@dataclass
class Drawn:
    """Results of the runs: log-ratios to the nominal run by figure. `nominal` has the figures of the whole run, `base`
    those of the shortened nominal one. `ends` are those of the screening, by value and end; `draws` has one row per
    sample, as do the `places` of the sampled values; `seed` has the standard deviation that the seed causes in the
    whole run. `short` is the nominal run as it was shortened, `asked` has the ends of rates that the load requests, by
    figure. `limits` are those of the machine; `bases` has the basis of each figure's interval, by its name without a
    direction: nothing is drawn for those of the corpus."""

    nominal: Mapping[str, float]
    base: Mapping[str, float] = field(default_factory=dict)
    values: list[Uncertain] = field(default_factory=list)
    without_effect: list[str] = field(default_factory=list)
    ends: dict[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    refused_ends: dict[tuple[str, str], str] = field(default_factory=dict)
    places: NDArray[np.float64] = field(default_factory=_nowhere)
    draws: list[Mapping[str, float]] = field(default_factory=list)
    seed: Mapping[str, float] = field(default_factory=dict)
    refused: int = 0
    runs: int = 0
    ios: int = 0
    duration_ns: int = 0
    notes: list[str] = field(default_factory=list)
    short: RunSpec | None = None
    asked: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    bases: Mapping[str, Basis] = field(default_factory=dict)

    def basis(self, figure: str) -> Basis:
        """Return what the interval of a figure rests on."""
        return self.bases[figure.rpartition(".")[2]]

    def log_ratios(self, figure: str) -> NDArray[np.float64]:
        """Values of a figure, one number per sample."""
        return np.array([one.get(figure, 0.0) for one in self.draws], dtype=float)


def figures_of(record: RecordDoc) -> dict[str, float]:
    """Return the figures of a run that have intervals, by name; of reads and writes separately if there are both."""
    summary = record["summary"]
    sides = {"": summary, "read.": summary["read"], "write.": summary["write"]}
    if not (summary["read"]["count"] and summary["write"]["count"]):
        sides = {"": summary}
    found = {f"{side}{name}": of.get(name) for side, of in sides.items() for name in FIGURES}
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float) and value > 0}


def class_of_figure(name: str, rate: FigureClass, is_closed: bool) -> FigureClass:
    """Return the class of a run's figure. If a fixed number of I/Os is outstanding, the mean time is the inverse of
    the rate, and as certain."""
    name = name.rpartition(".")[2]
    return CLASSES.get(name, rate if is_closed or not name.startswith("latency") else FigureClass.TIME)


def system_of(spec: RunSpec) -> str:
    """Return whether a run is on a pool, or on drives and arrays."""
    try:
        told = _core.machine(CATALOG_DIR, spec.machine, machine_text(spec))
    except _core.SpecError as error:
        raise user_error(error) from None
    return POOLS if told["is_replicated"] else ARRAYS


def rate_class(spec: RunSpec) -> FigureClass:
    """Return the class of the rates of a run: a program's, sequential where no stream is random, else random."""
    try:
        table = _core.workload(workload_text(spec), spec.workload)["table"]
    except _core.SpecError as error:
        raise user_error(error) from None
    if any(key in table for key in ("app", "scripts", "trace")):
        return FigureClass.APPLICATION
    said = dict(spec.set).get("random_pct")
    shares = [said if said is not None else one.get("random_pct", 100) for one in table.get("streams", [])]
    is_random = any(str(share).strip(" %") != "0" for share in shares)
    return FigureClass.RANDOM if is_random or not shares else FigureClass.SEQUENTIAL


def pinned(spec: RunSpec) -> RunSpec:
    """Read the files of a run once, for it and its draws: a pipe can be read once, and a file can change. Look up
    data that intervals need besides the run. Raises UserError before anything runs."""
    expect_model(spec.machine, "intervals are of")
    spec = replace(
        spec,
        machine_text=machine_text(spec),
        workload_text=text_of(spec.workload, "workload") if spec.workload_text is None else spec.workload_text,
    )
    of_run(spec)
    rate_class(spec)
    return spec


def expect_same_drives(spec: RunSpec, record: RecordDoc) -> None:
    """Raises UserError for a drive's file that is no longer what the run read."""
    with mistakes_of(spec.machine):
        own = _core.machine(CATALOG_DIR, spec.machine, machine_text(spec))["own_drives"]
    run_with = record.get("spec", {}).get("drives", {})
    for name, text in own.items():
        if run_with.get(name, text) != text:
            raise UserError(name, "", "", "the drive's file has changed since the run: run again for its intervals")


def draw(spec: RunSpec, whole: Finished, asked: Asked, jobs: int | None, say: Say, watch: Watch) -> Drawn:
    """Runs the screening and the draws of a run that is finished as a whole. Raises UserError, and RunsInterrupted if
    the user stops it before there are enough samples."""
    spec = replace(spec, out=None, io_log=None)
    expect_same_drives(spec, whole.record)
    values = of_run(spec)
    short = cheaper(shortened(spec, whole.record), whole.ios, whole.record["summary"]["count"] or 0)
    ends = {(value.name, end): with_end(short, value, end) for value in values for end in value.range.moves()}
    say(_announced(len(ends), len(values), asked.draws, short))
    drawn = Drawn(figures_of(whole.record), short=short, limits=limits_of(spec, whole.record))
    with watch("screening") as tick:
        _screen(drawn, short, values, ends, whole, _Runner(jobs, tick))
    drawn.without_effect = [value.name for value in values if not _matters(drawn, value)]
    drawn.values = [value for value in values if value.name not in drawn.without_effect]
    if drawn.values:
        with watch("draws") as tick:
            _draw(drawn, short, asked.draws, spec.seed, _Runner(jobs, tick))
    return drawn


def _announced(ends: int, values: int, draws: int, short: RunSpec) -> str:
    """Return a sentence about the runs that follow."""
    length = f", each {short.duration} long" if short.duration is not None else ""
    screening = f"{1 + SEEDS + ends} runs screen {values} uncertain values"
    return f"intervals: {screening}, then up to {draws} sample those that matter{length}"


@dataclass
class _Runner:
    """Runs specs on all cores."""

    jobs: int | None
    tick: Tick | None

    def run(self, specs: Sequence[RunSpec], prepared: Mapping[str, Prepared] | None = None) -> list[Finished]:
        """Return the runs; `prepared` are those that were checked before, by id."""
        ready = prepared or {}
        points = [replace(point, prepared=ready.get(point.id)) for point in points_of(specs)]
        return Experiment(points).run(progress=self.tick, jobs=self.jobs).finished


def with_end(spec: RunSpec, one: Uncertain, end: End) -> RunSpec:
    """Return a run with one uncertain value at an end."""
    return with_values(renamed(spec, f"{one.name} {end}."), [(one, one.range.at(end))])


def _screen(
    drawn: Drawn,
    short: RunSpec,
    values: Sequence[Uncertain],
    ends: Mapping[tuple[str, End], RunSpec],
    whole: Finished,
    runner: _Runner,
) -> None:
    """Runs the nominal run, some with other seeds, and the ends of every value."""
    nominal = renamed(short, "nominal.")
    seeds = [replace(renamed(short, f"seed {n}."), seed=(short.seed + n) % 2**64) for n in range(1, SEEDS + 1)]
    tried = {key: attempt(spec) for key, spec in ends.items()}
    drawn.refused_ends = {key: why for key, why in tried.items() if isinstance(why, str)}
    asked = {key: spec for key, spec in ends.items() if key not in drawn.refused_ends}
    prepared = {run.spec.id: run for run in tried.values() if isinstance(run, Prepared)}
    finished = runner.run(alike_first([nominal, *seeds, *asked.values()], prepared), prepared)
    by_id = {one.spec.id: one for one in finished}
    base = figures_of(by_id[nominal.id].record)
    drawn.base = base
    drawn.ends = {key: _ratios(base, by_id[spec.id]) for key, spec in asked.items()}
    drawn.duration_ns = by_id[nominal.id].record["duration_ns"]
    left = drawn.duration_ns / whole.record["duration_ns"] if whole.record["duration_ns"] else 1.0
    drawn.seed = _seed_spread(base, [by_id[seed.id] for seed in seeds], left)
    _count(drawn, finished)


def alike_first(specs: Sequence[RunSpec], prepared: Mapping[str, Prepared]) -> list[RunSpec]:
    """Return runs in an order in which those on drives of equal contents follow one another, the largest group first:
    only some contents are stored. Runs that are not prepared yet are like the first."""
    keys = {spec.id: prepared[spec.id].run.drives_key() for spec in specs if spec.id in prepared}
    first, _ = Counter(keys.values()).most_common(1)[0] if keys else (None, 0)
    groups: dict[str | None, list[RunSpec]] = {first: []}
    for spec in specs:
        groups.setdefault(keys.get(spec.id, first), []).append(spec)
    return [spec for group in groups.values() for spec in group]


def at_speeds(
    drawn: Drawn, factors: Mapping[str, float], jobs: int | None, watch: Watch
) -> Mapping[str, Mapping[str, float]]:
    """Figures of the nominal run under its load at other speeds, by end; none if the load sets no times.
    Raises UserError, RunsInterrupted."""
    specs = {end: at_speed(drawn.short, factor) if drawn.short else None for end, factor in factors.items()}
    known = {end: spec for end, spec in specs.items() if spec is not None}
    if len(known) < len(factors):
        return {}
    with watch("the load at other speeds") as tick:
        finished = _Runner(jobs, tick).run(list(known.values()))
    _count(drawn, finished)
    by_id = {one.spec.id: one for one in finished}
    return {end: figures_of(by_id[spec.id].record) for end, spec in known.items()}


def _count(drawn: Drawn, finished: Sequence[Finished]) -> None:
    drawn.runs += len(finished)
    drawn.ios += sum(one.ios for one in finished)


def _ratios(base: Mapping[str, float], finished: Finished) -> dict[str, float]:
    """Log-ratios of a run's figures to those of the nominal one."""
    found = figures_of(finished.record)
    return {name: math.log(found[name] / value) for name, value in base.items() if name in found}


def _seed_spread(base: Mapping[str, float], others: Sequence[Finished], left: float) -> dict[str, float]:
    """Return the standard deviation that the seed makes of the whole run: that of the shortened ones, less by the root
    of what was left of their time, as means of independent times are."""
    ratios = [_ratios(base, other) for other in others]
    found = {}
    for name in base:
        logs = [0.0, *(ratio[name] for ratio in ratios if name in ratio)]
        found[name] = float(np.std(logs, ddof=1)) * math.sqrt(left) if len(logs) > 2 else 0.0
    return found


def _matters(drawn: Drawn, one: Uncertain) -> bool:
    """Return whether a value moves a figure at one of its ends."""
    moved = (drawn.ends.get((one.name, end), {}) for end in ENDS)
    return any(abs(ratio) > NO_EFFECT for ratios in moved for ratio in ratios.values())


def _draw(drawn: Drawn, short: RunSpec, draws: int, seed: int, runner: _Runner) -> None:
    """Runs draws of the values that matter; one that the model refuses is drawn again."""
    tried = Sampler(drawn.values, seed).shares(STEPS_TRIED)
    steps = [one for one, of in zip(drawn.values, tried.T, strict=True) if takes_steps(one, short, list(of))]
    if steps:
        drawn.values = [value for value in drawn.values if value not in steps]
        drawn.notes.append(
            f"not sampled, because the model changes only in steps: {', '.join(step.name for step in steps)}"
        )
    sampler = Sampler(drawn.values, seed)
    prepared: dict[str, Prepared] = {}
    rows: dict[str, NDArray[np.float64]] = {}
    for number in range(TRIES * draws):
        if len(prepared) == draws:
            break
        shares = sampler.shares(1)
        chosen = [(one, one.at(float(u))) for one, u in zip(drawn.values, shares[0], strict=True)]
        spec = with_values(renamed(short, f"draw {number}."), chosen)
        run = attempt(spec)
        if isinstance(run, Prepared):
            prepared[spec.id], rows[spec.id] = run, sampler.places(shares)[0]
        else:
            drawn.refused += 1
    try:
        finished = runner.run([run.spec for run in prepared.values()], prepared)
    except RunsInterrupted as stopped:
        if len(stopped.finished) < LEAST_DRAWS:
            raise
        finished = stopped.finished
        drawn.notes.append(f"interrupted: {len(finished)} of {draws} samples were run")
    if len(prepared) < draws:
        drawn.notes.append(f"the model refused {drawn.refused} samples: {len(prepared)} of {draws} were run")
    _count(drawn, finished)
    drawn.places = np.array([rows[one.spec.id] for one in finished])
    drawn.draws = [_ratios(drawn.base, one) for one in finished]
