"""The lines of a study: its runs by shared machine, with the uncertain values of each and their effects.

A line is a configuration under one load, or under all loads of its sequence. It is run as a whole: nominal and with two
other seeds, with each value at its ends, and with all values sampled together. The number of I/Os of its runs limits
how much of that is done, so that a study ends in minutes; the figures of a comparison follow from those of its sides.

Left out: figures that conclusions add, which are not run again for every sample.
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
"""Samples of a line whose runs are long."""
ENOUGH_IOS = 5_000
LEAST_SHARE = 1 / 32
WARM_UP_SHARE = 1 / 8
"""Samples of a study are shorter than those of a run: there are a hundred times as many."""
MOST_ENDS_IOS = 8_000_000
MOST_DRAWS_IOS = 12_000_000
"""Most I/Os of the ends and of the samples of one line: about ten seconds each. With more I/Os, only one end runs, or
none, and fewer samples. Shares are computed from the ends, the interval from the samples."""
MOST_ENDS = 60
"""Number of ends above which only one end of each value runs: solid-state drives have fifty values, and filling them
costs no I/O."""
DIGITS = 4
"""Digits of stored log-ratios: a hundredth of a percent."""

Ratios = dict[str, float]


@dataclass(frozen=True)
class Line:
    """Runs of a study on one machine, and their uncertain values."""

    id: str
    pairs: tuple[Pair, ...]
    values: tuple[Uncertain, ...]


@dataclass
class LineResult:
    """Results of a line: log-ratios of its figures to those of its nominal run. `ends` by "NAME low" and "NAME high"; a
    sample that the model refused is None; `seed` has standard deviations of the whole runs. `key` is the digest of all
    specs, with the build of the engine: equal keys have equal results."""

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
    """Return the lines of a study's figures: what-ifs are compared with nothing, and have no intervals."""
    sides = {(config, comparison.load) for comparison in study.comparisons for config in comparison.sides}
    wanted = [
        (config, load)
        for config, load in study.pairs()
        if not (config.what_if or load.what_if) or (config.id, load.id) in sides
    ]
    pairs_of: dict[str, list[Pair]] = {}
    for config, load in with_sequences(study, wanted):
        name = config.id if load.id in config.sequence else run_id_of(config, load.id)
        pairs_of.setdefault(name, []).append((config, load))
    return [Line(name, tuple(pairs), tuple(values_of(study, pairs))) for name, pairs in pairs_of.items()]


def values_of(study: Study, pairs: Sequence[Pair]) -> list[Uncertain]:
    """Return the study's assumptions that affect some pairs, and the uncertain values of their machines and loads. The
    key of an assumption is not sampled twice."""
    uncertain: dict[str, Uncertain] = {}
    for pair in pairs:
        config, load = pair
        # As in swings: an assumption without loads applies to `swing_loads`.
        reach = [
            (swing, swing.loads or study.swing_loads)
            for swing in study.swings
            if not swing.configs or config.id in swing.configs
        ]
        swings = [swing for swing, loads in reach if not loads or load.id in loads]
        keys = {swing.key for swing in swings if swing.of == "set"}
        for swing in swings:
            distribution = distribution_of(swing)
            if distribution is not None:
                source = next((a["source"] for a in study.assumptions if f"{a['part']}: {a['key']}" == swing.name), "")
                uncertain[swing.name] = Uncertain(swing, distribution, "study", source, "", swing.name)
        for value in of_run(specs_of(study, pair, None, study.seed)[0]):
            if value.range.key not in keys:
                uncertain.setdefault(value.name, value)
    return list(uncertain.values())


@dataclass(frozen=True)
class ShortRun:
    """A shortened run: its spec, the remaining share of the measured time, and its approximate number of I/Os."""

    spec: RunSpec
    left: float
    ios: float


@dataclass(frozen=True)
class Plan:
    """The plan of a line: its shortened runs, and sets of them by name (`seed 1.`, `NAME low.`, `draw 3.`)."""

    line: Line
    short: tuple[ShortRun, ...]
    sets: Mapping[str, list[RunSpec]]
    notes: tuple[str, ...]

    @property
    def key(self) -> str:
        """Digest of all inputs of its results."""
        return key_of_all(specs_by_machine([spec for specs in self.sets.values() for spec in specs]))

    @property
    def ios(self) -> float:
        """Approximate number of I/Os of all its runs."""
        return sum(run.ios for run in self.short) * len(self.sets)


def short_run(spec: RunSpec, whole: Finished) -> ShortRun:
    """Shorten a run of a study for its samples."""
    spec = replace(spec, out=None)
    shorter = shortened(spec, whole.record, ios=ENOUGH_IOS, share=LEAST_SHARE)
    warm = with_shorter_warm_up(shorter, WARM_UP_SHARE)
    measured = float(whole.record["summary"]["count"] or 0)
    left = 1.0
    if shorter.duration != spec.duration:
        steps = len(whole.record.get("steps", [])) or 1
        left = min(
            1.0, _core.quantity("time", str(shorter.duration)) * 1e9 * steps / (whole.record["duration_ns"] or 1)
        )
    before = max(whole.ios - measured, 0.0) * (WARM_UP_SHARE if warm is not shorter else 1.0)
    return ShortRun(warm, left, before + measured * left)


def plan_of(study: Study, line: Line, whole: Mapping[str, Finished], shares: Mapping[str, Sequence[float]]) -> Plan:
    """Plan the runs of a line. `whole` has the finished whole runs of the study by id, `shares` the samples of each
    value by its name."""
    specs = [spec for pair in line.pairs for spec in specs_of(study, pair, None, study.seed)]
    short = tuple(short_run(spec, whole[spec.id]) for spec in specs)
    ios = sum(run.ios for run in short)
    ends, notes = _ends(line, ios)
    sets = {"nominal.": [renamed(run.spec, "nominal.") for run in short]}
    for number in range(1, SEEDS + 1):
        name = f"seed {number}."
        sets[name] = [replace(renamed(run.spec, name), seed=(study.seed + number) % 2**64) for run in short]
    for value, end in ends:
        name = f"{value.name} {end}."
        sets[name] = [_with(run.spec, name, [(value, value.range.at(end))]) for run in short]
    draws = (DRAWS_OF_MANY if ios * DRAWS_OF_MANY <= MOST_DRAWS_IOS else FEW_DRAWS) if line.values else 0
    held = {value.name for value in line.values if takes_steps(value, short[0].spec, shares[value.name][:draws])}
    for number in range(draws):
        row = [(value, value.at(shares[value.name][number])) for value in line.values if value.name not in held]
        sets[f"draw {number}."] = [_with(run.spec, f"draw {number}.", row) for run in short]
    notes += (f"not sampled, because the model changes only in steps: {', '.join(sorted(held))}",) if held else ()
    return Plan(line, short, sets, notes)


def _ends(line: Line, ios: float) -> tuple[list[tuple[Uncertain, End]], tuple[str, ...]]:
    """Choose the ends to run, with a note: both, or for each value the end further from nominal (the other is assumed
    to have the opposite effect), or none."""
    both = [(value, end) for value in line.values for end in value.range.moves()]
    if ios * len(both) <= MOST_ENDS_IOS and len(both) <= MOST_ENDS:
        return both, ()
    one_each = [(value, _further(value)) for value in line.values]
    if ios * len(one_each) <= MOST_ENDS_IOS:
        return one_each, ("each value at one end only",)
    return [], ("values are only sampled together, because the runs are long",)


def _further(value: Uncertain) -> End:
    """Return the end that is further from the nominal value."""
    distribution = value.distribution
    if distribution.kind == "choice":
        return value.range.moves()[-1]
    return (
        "high"
        if abs(distribution.place(1.0)) > 0
        and distribution.high - distribution.nominal >= distribution.nominal - distribution.low
        else "low"
    )


def _with(spec: RunSpec, prefix: str, values: Sequence[tuple[Uncertain, Any]]) -> RunSpec:
    return with_values(renamed(spec, prefix), values)


def run_line(study: Study, plan: Plan, jobs: int | None, tick: Tick | None) -> LineResult:
    """Run a line. Raises UserError if the model refuses its nominal runs, and RunsInterrupted."""
    refused: dict[str, str] = {}
    sets = dict(plan.sets)
    try:
        finished = _run(sets, jobs, tick)
    except UserError:
        # Two values of a drive may not fit together: those sets are left out.
        refusals = {name: why for name, specs in sets.items() if (why := refusal(specs)) is not None}
        if not refusals or "nominal." in refusals:
            raise
        refused, sets = refusals, {name: specs for name, specs in sets.items() if name not in refusals}
        finished = _run(sets, jobs, tick)
    logs_of = {name: _logs(study, plan.line, finished, name) for name in sets}
    base = logs_of.pop("nominal.")
    ratios = {name: _ratios(base, logs) for name, logs in logs_of.items()}
    draws = [ratios.get(name) for name in plan.sets if name.startswith("draw ")]
    seeds = [ratios_of_set for name, ratios_of_set in ratios.items() if name.startswith("seed ")]
    ends = {
        name.removesuffix("."): ratios_of_set
        for name, ratios_of_set in ratios.items()
        if not name.startswith(("draw ", "seed "))
    }
    return LineResult(
        plan.key,
        [value.name for value in plan.line.values],
        {
            name: _seed_spread([ratios_of_set.get(name, 0.0) for ratios_of_set in seeds], left)
            for name, left in _lefts(plan, base).items()
        },
        {
            name: {figure: ratio for figure, ratio in ratios_of_set.items() if ratio}
            for name, ratios_of_set in ends.items()
        },
        {name.removesuffix("."): why for name, why in refused.items()},
        draws,
        len(finished),
        sum(run.ios for run in finished),
        list(plan.notes),
    )


def _run(sets: Mapping[str, Sequence[RunSpec]], jobs: int | None, tick: Tick | None) -> list[Finished]:
    specs = [spec for specs_of_set in sets.values() for spec in specs_of_set]
    return Experiment(points_of(specs)).run(progress=tick, jobs=jobs).finished


def figure_key(config: str, load: str, measure: str) -> str:
    """Return the key of a cell's figure: its id would name a published row."""
    return f"{config}/{load}/{measure}"


def _logs(study: Study, line: Line, finished: Sequence[Finished], prefix: str) -> dict[str, float]:
    """Return logarithms of the figures of a line's cells in one of its sets."""
    cells = collect(study, line.pairs, finished, prefix).cells
    logs = {}
    for (config, load), cell in cells.items():
        for name in cell.load.measures:
            logarithm = log_of(cell.value(study.measure(name)).number)
            if logarithm is not None:
                logs[figure_key(config, load, name)] = logarithm
    return logs


def _ratios(base: Mapping[str, float], logs: Mapping[str, float]) -> Ratios:
    """Return log-ratios, rounded for the file."""
    return {name: round(logs[name] - value, DIGITS) + 0.0 for name, value in base.items() if name in logs}


def _lefts(plan: Plan, base: Mapping[str, float]) -> dict[str, float]:
    """Return the remaining share of the measured time by figure, from the first run of its load."""
    lefts = {run.spec.id: run.left for run in plan.short}
    by_figure: dict[str, float] = {}
    for config, load in plan.line.pairs:
        first = next(left for name, left in lefts.items() if name.startswith(run_id_of(config, load.id)))
        by_figure |= {figure_key(config.id, load.id, name): first for name in load.measures}
    return {name: by_figure[name] for name in base}


def _seed_spread(ratios: Sequence[float], left: float) -> float:
    """Return the standard deviation of a whole run from its seed, estimated from shortened runs."""
    return float(np.std([0.0, *ratios], ddof=1)) * math.sqrt(left)
