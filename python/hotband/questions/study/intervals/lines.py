"""The lines of a study: its runs by the machine that they share, with the uncertain values of each and what they do.

A line is a configuration under one load, or under all loads of its sequence. It is run as a whole: nominal and with two
other seeds, with each value at its ends, and with all values drawn together. How much of that a line gets follows from
how many I/Os its runs take, so that a study ends in minutes; the figures of a comparison follow from those of its
sides.

What it leaves out: figures that conclusions add, which are not run again for every draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.heavy import np
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment import Experiment, Tick, points_of
from hotband.execution.experiment.lines import lines_of as specs_by_machine
from hotband.execution.experiment.point import key_of_all
from hotband.execution.experiment.ranges import End, renamed
from hotband.execution.runs.run import refusal
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.figures import log_of
from hotband.inference.interval.short import shortened, takes_steps, with_shorter_warm_up
from hotband.inference.interval.uncertain import Uncertain, of_run, with_values
from hotband.questions.study.definition import Study
from hotband.questions.study.runs import Pair, collect, run_id_of, specs_of, with_sequences

SEEDS = 2
FEW_DRAWS = 8
"""Of a line whose runs are long."""
ENOUGH_IOS = 5_000
LEAST_SHARE = 1 / 32
WARM_UP_SHARE = 1 / 8
"""Draws of a study are shorter than those of a run: there are a hundred times as many."""
MOST_ENDS_IOS = 8_000_000
MOST_DRAWS_IOS = 12_000_000
"""I/Os that the ends and the draws of one line may take: about ten seconds each. Beyond, only one end is run, or none,
and fewer draws. The ends are what shares are computed from, the draws what the interval is."""
MOST_ENDS = 60
"""Beyond, one end of each value is run: solid-state drives have fifty values, and filling them counts as no I/O."""
DIGITS = 4
"""Of log-ratios that are kept: a hundredth of a percent."""

Ratios = dict[str, float]


@dataclass(frozen=True)
class Line:
    """Runs of a study on one machine, and the values that are uncertain in them."""

    id: str
    pairs: tuple[Pair, ...]
    values: tuple[Uncertain, ...]


@dataclass
class LineResult:
    """What was run of a line: log-ratios of its figures to those of its nominal run. `ends` by "NAME low" and "NAME
    high"; a draw that the model refused is None; `seed` has standard deviations of the whole runs. `key` is the digest
    of all specs, with the build of the engine: equal keys have equal results."""

    key: str
    values: list[str]
    seed: Ratios = field(default_factory=dict)
    ends: dict[str, Ratios] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    draws: list[Ratios | None] = field(default_factory=list)
    runs: int = 0
    ios: int = 0
    notes: list[str] = field(default_factory=list)


def lines_of(study: Study) -> list[Line]:
    """The lines of a study's figures: what-ifs are compared with nothing, and have no intervals."""
    sides = {(config, comparison.load) for comparison in study.comparisons for config in comparison.sides}
    wanted = [
        (config, load)
        for config, load in study.pairs()
        if not (config.what_if or load.what_if) or (config.id, load.id) in sides
    ]
    found: dict[str, list[Pair]] = {}
    for config, load in with_sequences(study, wanted):
        name = config.id if load.id in config.sequence else run_id_of(config, load.id)
        found.setdefault(name, []).append((config, load))
    return [Line(name, tuple(pairs), tuple(values_of(study, pairs))) for name, pairs in found.items()]


def values_of(study: Study, pairs: Sequence[Pair]) -> list[Uncertain]:
    """The assumptions of the study that some pairs have a part in, and what is uncertain of their machines and loads.
    A key that an assumption is about is not drawn twice."""
    found: dict[str, Uncertain] = {}
    for pair in pairs:
        config, load = pair
        # As swings are: without loads of its own an assumption is of the loads that are swung.
        reach = [
            (swing, swing.loads or study.swing_loads)
            for swing in study.swings
            if not swing.configs or config.id in swing.configs
        ]
        own = [one for one, loads in reach if not loads or load.id in loads]
        keys = {one.key for one in own if one.of == "set"}
        for one in own:
            distribution = distribution_of(one)
            if distribution is not None:
                source = next((a["source"] for a in study.assumptions if f"{a['part']}: {a['key']}" == one.name), "")
                found[one.name] = Uncertain(one, distribution, "study", source, "", one.name)
        for value in of_run(specs_of(study, pair, None, study.seed)[0]):
            if value.range.key not in keys:
                found.setdefault(value.name, value)
    return list(found.values())


@dataclass(frozen=True)
class ShortRun:
    """A shortened run: its spec, what is left of the measured time, and about how many I/Os it takes."""

    spec: RunSpec
    left: float
    ios: float


@dataclass(frozen=True)
class Plan:
    """What is run of a line: its shortened runs, and sets of them by name (`seed 1.`, `NAME low.`, `draw 3.`)."""

    line: Line
    short: tuple[ShortRun, ...]
    sets: Mapping[str, list[RunSpec]]
    notes: tuple[str, ...]

    @property
    def key(self) -> str:
        """Digest of all that its results follow from."""
        return key_of_all(specs_by_machine([spec for specs in self.sets.values() for spec in specs]))

    @property
    def ios(self) -> float:
        """About how many I/Os all of it takes."""
        return sum(one.ios for one in self.short) * len(self.sets)


def short_run(spec: RunSpec, whole: Finished) -> ShortRun:
    """A run of a study as its draws have it."""
    spec = replace(spec, out=None)
    found = shortened(spec, whole.record, ios=ENOUGH_IOS, share=LEAST_SHARE)
    warm = with_shorter_warm_up(found, WARM_UP_SHARE)
    measured = float(whole.record["summary"]["count"] or 0)
    left = 1.0
    if found.duration != spec.duration:
        steps = len(whole.record.get("steps", [])) or 1
        left = min(1.0, _core.quantity("time", str(found.duration)) * 1e9 * steps / (whole.record["duration_ns"] or 1))
    before = max(whole.ios - measured, 0.0) * (WARM_UP_SHARE if warm is not found else 1.0)
    return ShortRun(warm, left, before + measured * left)


def plan_of(study: Study, line: Line, whole: Mapping[str, Finished], shares: Mapping[str, Sequence[float]]) -> Plan:
    """What to run of a line. `whole` has the finished whole runs of the study by id, `shares` the draws of each value
    by its name."""
    specs = [spec for pair in line.pairs for spec in specs_of(study, pair, None, study.seed)]
    short = tuple(short_run(spec, whole[spec.id]) for spec in specs)
    ios = sum(one.ios for one in short)
    ends, notes = _ends(line, ios)
    sets = {"nominal.": [renamed(one.spec, "nominal.") for one in short]}
    for number in range(1, SEEDS + 1):
        name = f"seed {number}."
        sets[name] = [replace(renamed(one.spec, name), seed=(study.seed + number) % 2**64) for one in short]
    for one, end in ends:
        name = f"{one.name} {end}."
        sets[name] = [_with(run.spec, name, [(one, one.range.at(end))]) for run in short]
    draws = (DRAWS_OF_MANY if ios * DRAWS_OF_MANY <= MOST_DRAWS_IOS else FEW_DRAWS) if line.values else 0
    held = {value.name for value in line.values if takes_steps(value, short[0].spec, shares[value.name][:draws])}
    for number in range(draws):
        row = [(value, value.at(shares[value.name][number])) for value in line.values if value.name not in held]
        sets[f"draw {number}."] = [_with(run.spec, f"draw {number}.", row) for run in short]
    notes += (f"not drawn, because the model takes steps only: {', '.join(sorted(held))}",) if held else ()
    return Plan(line, short, sets, notes)


def _ends(line: Line, ios: float) -> tuple[list[tuple[Uncertain, End]], tuple[str, ...]]:
    """Which ends are run: both, or of each value the one that is further from nominal (the other is taken to do the
    opposite), or none."""
    both = [(value, end) for value in line.values for end in value.range.moves()]
    if ios * len(both) <= MOST_ENDS_IOS and len(both) <= MOST_ENDS:
        return both, ()
    one_each = [(value, _further(value)) for value in line.values]
    if ios * len(one_each) <= MOST_ENDS_IOS:
        return one_each, ("each value at one end only",)
    return [], ("values are drawn together only, because its runs are long",)


def _further(one: Uncertain) -> End:
    """The end that is further from the nominal value."""
    of = one.distribution
    if of.kind == "choice":
        return one.range.moves()[-1]
    return "high" if abs(of.place(1.0)) > 0 and of.high - of.nominal >= of.nominal - of.low else "low"


def _with(spec: RunSpec, prefix: str, values: Sequence[tuple[Uncertain, Any]]) -> RunSpec:
    return with_values(renamed(spec, prefix), values)


def run_line(study: Study, plan: Plan, jobs: int | None, tick: Tick | None) -> LineResult:
    """Runs a line. Raises UserError where its nominal runs are refused, and RunsInterrupted."""
    refused: dict[str, str] = {}
    sets = dict(plan.sets)
    try:
        finished = _run(sets, jobs, tick)
    except UserError:
        # Two values of a drive that do not fit together, for one: those sets are left out.
        told = {name: why for name, specs in sets.items() if (why := refusal(specs)) is not None}
        if not told or "nominal." in told:
            raise
        refused, sets = told, {name: specs for name, specs in sets.items() if name not in told}
        finished = _run(sets, jobs, tick)
    found = {name: _logs(study, plan.line, finished, name) for name in sets}
    base = found.pop("nominal.")
    ratios = {name: _ratios(base, logs) for name, logs in found.items()}
    draws = [ratios.get(name) for name in plan.sets if name.startswith("draw ")]
    seeds = [of for name, of in ratios.items() if name.startswith("seed ")]
    ends = {name.removesuffix("."): of for name, of in ratios.items() if not name.startswith(("draw ", "seed "))}
    return LineResult(
        plan.key,
        [value.name for value in plan.line.values],
        {name: _seed_spread([of.get(name, 0.0) for of in seeds], left) for name, left in _lefts(plan, base).items()},
        {name: {figure: ratio for figure, ratio in of.items() if ratio} for name, of in ends.items()},
        {name.removesuffix("."): why for name, why in refused.items()},
        draws,
        len(finished),
        sum(one.ios for one in finished),
        list(plan.notes),
    )


def _run(sets: Mapping[str, Sequence[RunSpec]], jobs: int | None, tick: Tick | None) -> list[Finished]:
    specs = [spec for of in sets.values() for spec in of]
    return Experiment(points_of(specs)).run(progress=tick, jobs=jobs).finished


def figure_key(config: str, load: str, measure: str) -> str:
    """What a figure of a cell is called here: its id would name a published row."""
    return f"{config}/{load}/{measure}"


def _logs(study: Study, line: Line, finished: Sequence[Finished], prefix: str) -> dict[str, float]:
    """Logarithms of the figures of a line's cells in one of its sets."""
    cells = collect(study, line.pairs, finished, prefix).cells
    found = {}
    for (config, load), cell in cells.items():
        for name in cell.load.measures:
            logarithm = log_of(cell.value(study.measure(name)).number)
            if logarithm is not None:
                found[figure_key(config, load, name)] = logarithm
    return found


def _ratios(base: Mapping[str, float], logs: Mapping[str, float]) -> Ratios:
    """Log-ratios, rounded to what is kept."""
    return {name: round(logs[name] - value, DIGITS) + 0.0 for name, value in base.items() if name in logs}


def _lefts(plan: Plan, base: Mapping[str, float]) -> dict[str, float]:
    """What was left of the measured time, by figure: of the first run of its load."""
    lefts = {one.spec.id: one.left for one in plan.short}
    found: dict[str, float] = {}
    for config, load in plan.line.pairs:
        first = next(left for name, left in lefts.items() if name.startswith(run_id_of(config, load.id)))
        found |= {figure_key(config.id, load.id, name): first for name in load.measures}
    return {name: found[name] for name in base}


def _seed_spread(ratios: Sequence[float], left: float) -> float:
    """The standard deviation that the seed makes of a whole run, from shortened ones."""
    return float(np.std([0.0, *ratios], ddof=1)) * math.sqrt(left)
