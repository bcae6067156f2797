"""An experiment: points and measures in, one frame out; complete runs in its folder are not repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.data.record.finished import Finished
from hotband.data.record.lock import Lock
from hotband.data.record.writable import check_writable
from hotband.data.store.taken import UNNAMED, Taker, taker_of
from hotband.execution.experiment.chosen import chosen
from hotband.execution.experiment.executor import Cancelled, Executor, Local, Progress, Tick
from hotband.execution.experiment.lines import lines_of
from hotband.execution.experiment.point import Point, keys_of
from hotband.execution.experiment.store import Store
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import save

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.execution.experiment import Progress

Value = str | int | float | None
Measure = Callable[[Finished], Value]
"""Value read from a run; None if the run does not have it."""
Say = Callable[[str], None]


@dataclass
class Outcome:
    """Result of an experiment: its finished runs in the order of its points; `kept` of them existed already."""

    experiment: Experiment
    finished: list[Finished]
    kept: int = 0

    @property
    def frame(self) -> pl.DataFrame:
        """The frame of its runs."""
        return self.experiment.frame(self.finished)


class Experiment:
    """Runs and the measures of each. `what` names it in its folder, which holds one experiment."""

    def __init__(
        self, points: Sequence[Point], measures: Mapping[str, Measure] | None = None, *, what: str = UNNAMED
    ) -> None:
        self.points = list(points)
        self.measures = dict(measures or {})
        self.what = what

    def run(
        self,
        *,
        out: Path | Lock | None = None,
        fresh: bool = False,
        executor: Executor | None = None,
        jobs: int | None = None,
        progress: Tick | None = None,
        say: Say | None = None,
    ) -> Outcome:
        """Run the missing points: on `executor`, the one that `using` chose, or the cores of this computer.

        With `out`, a folder or one whose lock is held, every run is kept there as it finishes, and one that is there,
        whole and of the same spec, seed and version, is not run again; `fresh` starts over. `progress` is called about
        ten times per second, `say` with sentences for the user. All points are checked before the first begins. Raises
        UserError, OSError, and RunsInterrupted, with the runs that were finished, where the user interrupts or the
        executor is cancelled.
        """
        with _store(out, self.what, self.points, fresh) as store:
            work = _Work.of(self.points, store, self.what)
            if store is not None and say is not None:
                for line in work.told(store):
                    say(line)
            tick = _shifted(progress, work.already, len(self.points))
            try:
                (executor or chosen() or Local(jobs)).execute(work.missing, work.done, tick)
            except (KeyboardInterrupt, Cancelled):
                raise RunsInterrupted(work.in_order(self.points)) from None
            return Outcome(self, work.in_order(self.points), work.already)

    def frame(self, finished: Sequence[Finished]) -> pl.DataFrame:
        """A row for each finished run, in the order of the points: coordinates, then measures. Coordinates have the
        values that they were given, so that whole numbers stay whole; one that only some points have is null in the
        others."""
        by_id = {run.spec.id: run for run in finished}
        rows: list[dict[str, Value]] = []
        for point in self.points:
            run = by_id.get(point.id)
            if run is not None:
                measured = {name: measure(run) for name, measure in self.measures.items()}
                rows.append({**point.at, **measured})
        names = list(dict.fromkeys(name for point in self.points for name in point.at)) + list(self.measures)
        return pl.DataFrame({name: _column([row.get(name) for row in rows]) for name in names}, strict=False)


def _column(values: list[Value]) -> list[Value]:
    """Values of one kind: numbers as they are, texts where one of them is a text."""
    if any(isinstance(value, str) for value in values):
        return [None if value is None else str(value) for value in values]
    return values


@contextmanager
def _store(out: Path | Lock | None, what: str, points: Sequence[Point], fresh: bool) -> Iterator[Store | None]:
    """The folder's runs while this process alone writes there; None without a folder."""
    if out is None:
        yield None
        return
    with nullcontext(out) if isinstance(out, Lock) else Lock(out) as held:
        keys = keys_of(lines_of([point.spec for point in points]))
        yield Store.open(held.folder, what, points, keys, fresh)


@dataclass
class _Work:
    """Points that are finished, points to run, and the finished runs."""

    missing: list[Point]
    store: Store | None
    what: str = UNNAMED
    taker: Taker | None = None
    finished: dict[str, Finished] = field(default_factory=dict)
    already: int = 0
    again: int = 0

    @classmethod
    def of(cls, points: Sequence[Point], store: Store | None, what: str) -> _Work:
        """A line is there when all of its runs are: the machine that a run leaves to the next is not kept."""
        work = cls([], store, what, taker_of(what))
        by_id = {point.id: point for point in points}
        for line in lines_of([point.spec for point in points]):
            stored = [] if store is None else [run for spec in line if (run := store.kept(by_id[spec.id])) is not None]
            if len(stored) == len(line):
                work.finished |= {run.spec.id: run for run in stored}
                work.already += len(stored)
                for run in stored:
                    work.give(by_id[run.spec.id], run)
            else:
                work.again += len(stored)
        work.missing = [point for point in points if point.id not in work.finished]
        return work

    def give(self, point: Point, finished: Finished) -> None:
        """Pass a run to the function that receives those of this experiment."""
        if self.taker is not None:
            self.taker(self.what, finished, point.at)

    def done(self, point: Point, finished: Finished) -> None:
        """Store a run; from any thread."""
        self.give(point, finished)
        if self.store is not None:
            self.store.keep(point, finished)
        elif point.spec.out is not None:
            check_writable(point.spec.out)
            save(finished, point.spec.out)
        self.finished[point.id] = finished

    def in_order(self, points: Sequence[Point]) -> list[Finished]:
        """Return the finished runs in the order of the points."""
        return [self.finished[point.id] for point in points if point.id in self.finished]

    def told(self, store: Store) -> list[str]:
        """Return the lines for the user about existing runs."""
        parts = []
        total = self.already + len(self.missing)
        if self.already:
            parts.append(f"{self.already} of {total} runs were there already")
        if self.again:
            parts.append(f"{self.again} more run again, because the machine that they pass on is not stored")
        if store.changed:
            parts.append(f"{len(store.changed)} had another spec and run again ({_some(store.changed)})")
        if store.others:
            parts.append(f"{len(store.others)} others in {store.out} stay unchanged ({_some(list(store.others))})")
        return parts


def _some(names: Sequence[str]) -> str:
    """Names, or the first of many."""
    listed = ", ".join(names[:3])
    return listed if len(names) <= 3 else f"{listed}, ..."


def _shifted(progress: Tick | None, already: int, total: int) -> Tick:
    """Progress that counts the runs that were there."""
    if progress is None:
        return lambda progress_: None
    tick: Tick = progress

    def shown(current: Progress) -> None:
        share = (already + current.share * (total - already)) / (total or 1)
        tick(replace(current, share=share, done=current.done + already, of=total))

    return shown


def execute(
    specs: Sequence[RunSpec],
    progress: Callable[[Progress], None] | None = None,
    jobs: int | None = None,
) -> list[Finished]:
    """Executes runs on all cores and returns them in the order asked: an experiment without measures, every run saved
    at the path in its spec. Raises UserError, OSError, or RunsInterrupted (with the runs that were finished)."""
    from hotband.execution.experiment import Experiment, points_of

    return Experiment(points_of(specs)).run(progress=progress, jobs=jobs).finished
