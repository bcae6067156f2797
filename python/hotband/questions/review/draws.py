"""Samples of a review: repeat every run with sampled uncertain values of its machine, and make the same documents of
them (docs/guides/review.md, "Intervals").

Compared machines share samples: a value of a drive that both have is the same in both. Two reviews with other seeds
show the effect of chance.

Left out: screening of values. Samples are as long as the review, so no figure comes from a shorter run. Write caches
are on or off as the head of the review states, even if the catalog estimates that, because they change the figures.
Energy and the ends of desktop applications are not sampled: they are ranges themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotband.base.errors import UserError
from hotband.base.text.values import read_json
from hotband.base.text.write import write_file
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.data.record.writable import check_writable
from hotband.execution.experiment import Experiment, Progress, Say, Tick, cores, points_of
from hotband.execution.experiment.lines import lines_of
from hotband.execution.experiment.point import key_of_all
from hotband.execution.experiment.ranges import renamed
from hotband.execution.runs.run import refusal
from hotband.inference.interval.of_run import TRIES, Asked
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.short import STEPS_TRIED, takes_steps
from hotband.inference.interval.uncertain import Uncertain, of_run, with_values
from hotband.questions.review.applications import END
from hotband.questions.review.suite import Plan, assemble
from hotband.questions.study.intervals.lines import SEEDS

if TYPE_CHECKING:
    from hotband.data.documents.review import ReviewDoc

FOLDER = "draws"
"""Name of the folder of the samples' documents, in the folder of a machine."""
RANGES = ("energy",)
"""Parts whose figures have ranges instead of intervals."""
SAID = ("wce", "awc")
"""Switches that the head of a review states."""
RUNS_EACH = 4
"""Concurrent runs per core, so that no core waits for the longest run of a sample."""


@dataclass(frozen=True)
class Again:
    """A repeated review: with another seed, or with sampled values, each at a share (0 to 1) of its distribution."""

    name: str
    seeds_on: int = 0
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """A machine under review: its repeated runs, and the uncertain values of each of these runs by its id."""

    plan: Plan
    specs: tuple[RunSpec, ...]
    values: Mapping[str, Sequence[Uncertain]]

    @classmethod
    def of(cls, plan: Plan) -> Machine:
        """Select the parts of a plan that have intervals. Raises UserError if there are none."""
        parts = {
            name: [ask for ask in asks if END not in ask.name]
            for name, asks in plan.parts.items()
            if name not in RANGES
        }
        if not parts:
            accepted = f"{' and '.join(RANGES)} of {plan.target.name} has ranges instead of intervals"
            raise UserError("question.interval", "", "", f"{accepted}: expected other parts as well")
        drawn = replace(plan, parts=parts)
        specs = tuple(drawn.specs())
        values = {spec.id: [value for value in of_run(spec) if value.range.key not in SAID] for spec in specs}
        return cls(drawn, specs, values)

    def run_again(self, again: Again) -> list[RunSpec]:
        """Return its runs with the sampled values."""
        return [_run(spec, again, self.values[spec.id]) for spec in self.specs]


def _run(spec: RunSpec, again: Again, values: Sequence[Uncertain]) -> RunSpec:
    spec = replace(renamed(spec, f"{again.name}: "), seed=(spec.seed + again.seeds_on) % 2**64)
    return with_values(
        spec, [(value, value.at(again.shares[value.name])) for value in values if value.name in again.shares]
    )


@dataclass
class Draws:
    """The repeated runs of all machines of a review. `values` are the sampled values, `refused` counts samples that the
    model refused and that were replaced."""

    machines: list[Machine]
    again: list[Again] = field(default_factory=list)
    values: list[Uncertain] = field(default_factory=list)
    refused: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """Number of runs of all machines."""
        return sum(len(machine.specs) for machine in self.machines) * len(self.again)

    def names_of(self, machine: Machine) -> list[str]:
        """Return the sampled values of a machine."""
        names = {value.name for values in machine.values.values() for value in values}
        return [value.name for value in self.values if value.name in names]

    def told(self) -> str:
        """Describe the runs that follow."""
        draws = len(self.again) - SEEDS
        each = " + ".join(str(len(machine.specs)) for machine in self.machines)
        drawn = f"{draws} samples of {len(self.values)} uncertain values and" if self.values else "no uncertain values;"
        return f"intervals, after the review: {drawn} {SEEDS} other seeds, each of {each} runs: {self.runs:,} runs"


def draws_of(plans: Sequence[Plan], request: Asked) -> Draws:
    """Sample the values of the machines of some plans. Raises UserError."""
    draws = Draws([Machine.of(plan) for plan in plans])
    draws.again = [Again(f"seed {number}", number) for number in range(1, SEEDS + 1)]
    specs = {name: spec for machine in draws.machines for spec in machine.specs for name in _names(machine, spec)}
    values = {
        value.name: value
        for machine in draws.machines
        for values_of_run in machine.values.values()
        for value in values_of_run
    }
    seed = plans[0].target.seed
    tried = Sampler(list(values.values()), seed).shares(STEPS_TRIED)
    steps = [
        name
        for (name, uncertain_value), shares in zip(values.items(), tried.T, strict=True)
        if takes_steps(uncertain_value, specs[name], list(shares))
    ]
    if steps:
        draws.notes.append(f"not sampled, because the model changes only in steps: {', '.join(steps)}")
    draws.values = [value for name, value in values.items() if name not in steps]
    if draws.values:
        _draw(draws, request.draws, seed)
    return draws


def _names(machine: Machine, spec: RunSpec) -> list[str]:
    return [value.name for value in machine.values[spec.id]]


def _draw(drawing: Draws, draws: int, seed: int) -> None:
    """Sample values; a sample that the model refuses for one of the machines is replaced."""
    sampler = Sampler(drawing.values, seed)
    names = [value.name for value in drawing.values]
    for _ in range(TRIES * draws):
        number = len(drawing.again) - SEEDS
        if number == draws:
            return
        shares = dict(zip(names, map(float, sampler.shares(1)[0]), strict=True))
        again = Again(f"draw {number + 1}", 0, shares)
        if all(refusal(machine.run_again(again)) is None for machine in drawing.machines):
            drawing.again.append(again)
        else:
            drawing.refused += 1
    drawing.notes.append(
        f"the model refused {drawing.refused} samples: {len(drawing.again) - SEEDS} of {draws} were run"
    )


@dataclass
class Drawn:
    """The documents of a machine with other seeds, and of its samples; I/Os of all of them."""

    seeds: list[ReviewDoc] = field(default_factory=list)
    draws: list[ReviewDoc] = field(default_factory=list)
    ios: int = 0


def run_draws(
    draws: Draws,
    machine: Machine,
    jobs: int | None = None,
    folder: Path | None = None,
    fresh: bool = False,
    say: Say = lambda text: None,
    tick: Tick | None = None,
) -> Drawn:
    """Run the samples of a machine. A `folder` stores the document of each; stored ones of the same runs and version
    are not made again, unless `fresh`. Raises UserError, OSError, RunsInterrupted."""
    made: dict[str, Kept] = {}
    specs = {again.name: machine.run_again(again) for again in draws.again}
    keys = (
        {name: key_of_all(lines_of(specs_of_draw)) for name, specs_of_draw in specs.items()}
        if folder is not None
        else {}
    )
    if folder is not None and not fresh:
        stored = {name: _kept(folder, name, keys[name]) for name in specs}
        made = {name: result for name, result in stored.items() if result is not None}
        if made:
            say(f"{len(made)} of {len(specs)} samples of {machine.plan.target.name} were there already")
    missing = [name for name in specs if name not in made]
    together = _together(len(machine.specs), jobs)
    for first in range(0, len(missing), together):
        batch = missing[first : first + together]
        shown = None if tick is None else _within(tick, first, len(batch), len(missing), len(machine.specs))
        experiment = Experiment(points_of([spec for name in batch for spec in specs[name]]))
        finished = experiment.run(jobs=jobs, progress=shown).finished
        for name in batch:
            made[name] = _document(machine, name, finished)
            if folder is not None:
                _keep(folder, name, keys[name], made[name])
    results = [made[name] for name in specs]
    documents = [result.document for result in results]
    return Drawn(documents[:SEEDS], documents[SEEDS:], sum(result.ios for result in results))


def _together(runs: int, jobs: int | None) -> int:
    """Return the number of concurrent samples."""
    return -(-RUNS_EACH * cores(jobs) // runs)


def _within(tick: Tick, first: int, batch: int, total: int, runs: int) -> Tick:
    """Convert progress of some samples to progress of all."""

    def shown(state: Progress) -> None:
        tick(
            replace(state, share=(first + state.share * batch) / total, done=first * runs + state.done, of=total * runs)
        )

    return shown


@dataclass(frozen=True)
class Kept:
    """The document of a sample, and the I/Os of its runs."""

    document: ReviewDoc
    ios: int


def _document(machine: Machine, name: str, finished: Sequence[Finished]) -> Kept:
    """Make the document of a sample, from its runs with their names in the review."""
    prefix = f"{name}: "
    runs = [run for run in finished if run.spec.id.startswith(prefix)]
    named = [replace(run, spec=replace(run.spec, id=run.spec.id.removeprefix(prefix))) for run in runs]
    return Kept(assemble(machine.plan, named), sum(run.ios for run in runs))


def _path(folder: Path, name: str) -> Path:
    return folder / FOLDER / f"{name}.json"


def _kept(folder: Path, name: str, key: str) -> Kept | None:
    """Return a stored sample of the same runs, None without one."""
    table = read_json(_path(folder, name))
    if table is None or table.get("key") != key:
        return None
    document, ios = table.get("review"), table.get("ios")
    return Kept(cast("ReviewDoc", document), ios) if isinstance(document, dict) and isinstance(ios, int) else None


def _keep(folder: Path, name: str, key: str, result: Kept) -> None:
    check_writable(folder / FOLDER)
    text = json.dumps({"key": key, "ios": result.ios, "review": result.document}, ensure_ascii=False)
    write_file(_path(folder, name), text + "\n")
