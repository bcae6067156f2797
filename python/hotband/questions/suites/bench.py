"""A bench: rounds of cells on one target, one after the other, until there are enough; each run is stored as it ends.

The bench checks after every round whether it has enough. A run's key holds those before it (a digest in its
workload's `source`), so that a suite continues only with runs that were measured in the same state.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from hotband.base.errors import refused
from hotband.base.text.tomltext import toml_text
from hotband.data.documents.pts import CellDoc
from hotband.data.documents.record import DriveStatesDoc
from hotband.data.documents.run import RunSpec
from hotband.data.documents.workload import PreconditionTable, WorkloadTable
from hotband.data.record.finished import Finished
from hotband.data.record.unmodelled import SHORT
from hotband.data.results.manifest import EXPERIMENT_FILE, read_manifest
from hotband.execution.experiment import (
    Executor,
    Experiment,
    Point,
    Progress,
    Tick,
    expect_no_experiment,
    expect_own_page,
)
from hotband.execution.experiment.executor import Done
from hotband.questions.review.asked import INTERVAL
from hotband.questions.suites.cells import Cell, Extent, seconds_text, workload_of
from hotband.questions.suites.device import ModelDevice
from hotband.questions.suites.figures import Round, cells_of, whole_of
from hotband.questions.suites.target import SuiteTarget

Enough = Callable[[Sequence[Round]], bool]


@dataclass(frozen=True)
class Stage:
    """Rounds of the same cells: `most` of them, or until there are `enough`."""

    name: str
    cells: tuple[Cell, ...]
    most: int = 1
    enough: Enough = lambda rounds: False


class OverTime(NamedTuple):
    """A load over its whole time, and its bytes per second in each piece of that time; a piece whose rate is not known
    is left out."""

    cell: CellDoc
    rates: list[float]


@dataclass
class Bench:
    """Runs the stages of one test. `fills` counts the sequential overwrites of a model before the first run (on
    hardware a stage does them), `random_fills` the random ones after that; `title` names the test in records, `what`
    the folder `out`; `tick` receives the progress.

    Afterwards `kept` counts the runs that existed already, `ran` the others; `state` and `context` are those of
    the first record that has them.
    """

    target: SuiteTarget
    executor: Executor
    extent: Extent
    title: str
    what: str
    fills: float = 0.0
    random_fills: float = 0.0
    seed: int = 1
    out: Path | None = None
    fresh: bool = False
    tick: Tick = lambda told: None
    kept: int = 0
    ran: int = 0
    state: DriveStatesDoc | None = None
    context: object = None
    notes: list[str] = field(default_factory=list)
    finished: list[Finished] = field(default_factory=list)
    _before: RunSpec | None = None
    _count: int = 0

    def run(self, stage: Stage) -> list[Round]:
        """Return the rounds of a stage. Raises UserError, OSError, RunsInterrupted."""
        rounds: list[Round] = []
        while len(rounds) < stage.most and not (rounds and stage.enough(rounds)):
            rounds.append(self._round(stage, len(rounds) + 1))
        return rounds

    def over_time(self, cell: Cell, pieces: int, least_ios: int) -> OverTime:
        """Return a load that runs without a pause, and its rate over time. On a model each piece lasts until at least
        `least_ios` I/Os completed in it, however short its time. Raises UserError, OSError, RunsInterrupted."""
        if self.target.is_model:
            piece = cell.shorter(pieces)
            pairs = [
                (
                    replace(piece, name=f"{cell.name}, {n}"),
                    replace(piece, name=f"{cell.name}, {n}, more", ios=least_ios),
                )
                for n in range(1, pieces + 1)
            ]
            steps = tuple(step for pair in pairs for step in pair)
            [run] = self._runs(Stage(cell.name, steps), 1, drained=False)
            measured = {step["name"]: step for step in cells_of(run.record, steps)}
            rates = [_rate([measured[step.name] for step in pair]) for pair in pairs]
        else:
            [run] = self._runs(Stage(cell.name, (cell,)), 1, seconds_text(cell.seconds / pieces))
            series = run.tables["series"].columns if "series" in run.tables else {}
            # Dividing the time may leave a fraction of a nanosecond, and so one interval more.
            known = [rate for rate in series.get("bandwidth_bytes_per_s", [])[:pieces] if rate is not None]
            rates = [float(rate) for rate in known]
        return OverTime(whole_of(run.record, cell), rates)

    def _round(self, stage: Stage, number: int) -> Round:
        runs = zip(self._runs(stage, number), self._groups(stage), strict=True)
        return {cell["name"]: cell for run, group in runs for cell in cells_of(run.record, group)}

    def _groups(self, stage: Stage) -> list[tuple[Cell, ...]]:
        """Return the cells of each run of a round."""
        return [stage.cells] if self.target.is_model else [(cell,) for cell in stage.cells]

    def _runs(self, stage: Stage, number: int, interval: str = INTERVAL, *, drained: bool = True) -> list[Finished]:
        """Return the runs of a round."""
        groups = self._groups(stage)
        points = [self._point(stage, number, group, interval, drained) for group in groups]
        executor = self.executor
        if isinstance(executor, ModelDevice):
            executor.expect([point.spec for point in points])
        elif any(cell.idle_s for cell in stage.cells):
            executor = Resting(executor, {p.id: g[0].idle_s for p, g in zip(points, groups, strict=True)})
        experiment = Experiment(points, what=self.what)
        done = experiment.run(out=self.out, fresh=self.fresh, executor=executor, progress=self._told(stage, number))
        self.fresh = False
        self.kept, self.ran = self.kept + done.kept, self.ran + len(points) - done.kept
        for finished in done.finished:
            self._look(finished)
        return list(done.finished)

    def _look(self, one: Finished) -> None:
        """Facts of a record besides its cells."""
        self.finished.append(replace(one, tables={}))
        self.state = self.state or one.record.get("drive_state")
        self.context = self.context or dict(one.record).get("context")
        # The suite itself states the length of its cells.
        self.notes += [note for note in one.record["notes"] if not note.startswith(SHORT)]

    def _point(self, stage: Stage, number: int, cells: Sequence[Cell], interval: str, drained: bool) -> Point:
        """Return the next run: it follows the previous one, and on a model the drives are filled before the first."""
        cell = "" if len(cells) > 1 or self.target.is_model else f": {cells[0].name}"
        name = f"{stage.name}, round {number}{cell}" if stage.most > 1 else f"{stage.name}{cell}"
        before = self._before
        source = "hotband" if before is None else f"hotband, after {_digest(before)}"
        title, on_device = f"{self.title}: {name}", _on_device(cells, self.target)
        asked: WorkloadTable = workload_of(title, source, on_device, self.extent, interval, drained=drained)
        if before is None and self.target.is_model and self.fills:
            full: PreconditionTable = {"sequential": self.fills}
            full = {**full, "random": self.random_fills} if self.random_fills else full
            asked = {**asked, "precondition": full}
        spec = RunSpec(
            name,
            self.target.name,
            title,
            self.target.run_set,
            self.seed + self._count,
            machine_text=self.target.text if self.target.is_model else None,
            workload_text=toml_text(asked),
            after="" if before is None or not self.target.is_model else before.id,
        )
        self._before, self._count = spec, self._count + 1
        return Point(spec, {"stage": stage.name, "round": number, "cell": cell.removeprefix(": ")})

    def _told(self, stage: Stage, number: int) -> Tick:
        """Progress with the stage and the round before it."""
        where = f"{stage.name}, round {number}" if stage.most > 1 else stage.name

        def tick(told: Progress) -> None:
            self.tick(replace(told, phase=f"{where}, {told.phase}" if told.phase else where))

        return tick


def _on_device(cells: Sequence[Cell], target: SuiteTarget) -> list[Cell]:
    """Cells as they are run: on a model a rest is a step, on hardware no I/O is issued during it."""
    return list(cells) if target.is_model else [replace(cell, idle_s=0.0) for cell in cells]


def _rate(steps: Sequence[CellDoc]) -> float:
    """Return the bytes per second of steps that follow one another."""
    return sum(step["count"] * step["block_bytes"] for step in steps) / sum(step["seconds"] for step in steps)


def _digest(spec: RunSpec) -> str:
    """Return a digest of a run and all those before it."""
    return hashlib.sha256(f"{spec.set} {spec.seed} {spec.workload_text}".encode()).hexdigest()[:16]


def each_once(notes: Sequence[str]) -> list[str]:
    """Notes of many runs; of those that differ only in numbers or in brackets, the first and their count."""
    alike: dict[str, list[str]] = {}
    for note in notes:
        alike.setdefault(re.sub(r"\([^)]*\)|\d[\d.,]*", "", note), []).append(note)
    return [f"{of[0]} ({len(of)} runs)" if len(set(of)) > 1 else of[0] for of in alike.values()]


def expect_same_suite(out: Path, asked: str, document: str) -> None:
    """Refuses a folder with runs of a suite on another machine or with other settings than `asked`, by which the names
    of its experiments end, and one with a page that is not next to `document`. Raises UserError."""
    expect_no_experiment(out)
    for file in sorted(out.glob(f"*/{EXPERIMENT_FILE}")):
        held = read_manifest(file)
        if held.begun(file.parent) and not held.what.endswith(f" {asked}"):
            raise refused(out, f"holds {held.what}, not {asked}")
    expect_own_page(out, (document,))


@dataclass
class Resting:
    """An executor that asks nothing of the device for some seconds before some runs."""

    executor: Executor
    rests_s: dict[str, float]
    sleep: Callable[[float], None] = time.sleep

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """See `Executor`."""
        for number, point in enumerate(points):
            if self.rests_s.get(point.id):
                self.sleep(self.rests_s[point.id])

            def of_all(told: Progress, number: int = number) -> None:
                tick(replace(told, share=(number + told.share) / len(points), done=number, of=len(points)))

            self.executor.execute([point], done, of_all)

    def cancel(self) -> None:
        """See `Executor`."""
        self.executor.cancel()
