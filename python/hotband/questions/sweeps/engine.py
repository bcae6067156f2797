"""Run the missing points of a sweep: the engine of `hotband sweep` and `hb.sweep`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hotband.base.errors import UserError, refused
from hotband.base.text.numbers import counted
from hotband.data.catalog.named import is_model
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.data.record.record import record_of
from hotband.data.results.sweep_journal import FRAME_FILE, Journal
from hotband.data.results.sweep_rows import Kept, Row, bounds_of, entry_of, kept_of, row_of_run
from hotband.data.store.taken import taker_of
from hotband.execution.experiment import Lock, Say, chosen, expect_models, expect_no_experiment, expect_out, using
from hotband.execution.experiment.executor import Cancelled, Executor, Progress, Reader, Tick
from hotband.execution.experiment.experiment import execute
from hotband.execution.experiment.point import Point, keys_of
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.inference.interval import of_record
from hotband.inference.interval.of_record import keep
from hotband.inference.interval.of_run import Asked as IntervalsAsked
from hotband.inference.interval.of_run import pinned
from hotband.questions.find.question import Condition
from hotband.questions.sweeps.estimate import expect_size
from hotband.questions.sweeps.hardware import Hardware, among, by_hardware, run_on
from hotband.questions.sweeps.plan import Grid
from hotband.questions.sweeps.sweep import Sweep
from hotband.questions.sweeps.turns import Turns

Watch = Callable[[str], AbstractContextManager[Tick | None]]
"""A progress bar with a title; yields the function that receives the progress, or None."""


@dataclass(frozen=True)
class Asked:
    """Options of a sweep in addition to its grid: the number of parallel runs, the folder, whether records are stored,
    the intervals of predictions (for the first seed of every point), the executor of runs on hardware (named by
    `real:...`), which follow one another, the executor of those on models (None: the cores of this computer), and the
    objective for each point."""

    jobs: int | None = None
    out: Path | None = None
    fresh: bool = False
    records: bool = False
    intervals: IntervalsAsked | None = None
    hardware: Hardware | None = None
    executor: str | Executor | None = None
    slo: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if self.jobs is not None and (isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs < 1):
            raise UserError("question.jobs", "", str(self.jobs), "expected a whole number, 1 or more")


def sweep(grid: Grid, request: Asked, watch: Watch, say: Say) -> Sweep:
    """Return the sweep with all runs that could be made; an interrupt leaves out the others. All runs are checked
    before the first begins. Raises UserError and OSError."""
    expect_out(request.fresh, request.out)
    expect_size(grid, request.intervals, request.jobs)
    _expect_predicted(grid, request)
    runs = _Runs(grid, request, watch, say)
    finished = runs.finish(request.fresh)
    return _sweep(runs, finished)


def _expect_predicted(grid: Grid, request: Asked) -> None:
    """Raise UserError if a hardware or emulated machine cannot run, or if intervals of predictions are requested for
    it."""
    real = next((name for name in grid.machines if not is_model(name)), None)
    if real is not None:
        expect_models(request.executor or chosen(), grid.machines)
    if real is not None and request.hardware is None:
        raise UserError(
            "question.on", "", real, "runs on the wall clock, which this function does not sweep: use hotband sweep"
        )
    if real is not None and request.intervals is not None:
        raise UserError(
            "question.interval",
            "",
            f"{request.intervals.level:g}",
            f"applies to predictions, and {real} is measured: leave it out, or sweep the model",
        )


def _sweep(runs: _Runs, finished: Mapping[int, Kept]) -> Sweep:
    rows = [finished.get(index) for index in range(len(runs.points))]
    level = None if runs.asked.intervals is None else runs.asked.intervals.level
    return Sweep(
        tuple(runs.points),
        tuple(row.record if row else None for row in rows),
        tuple(row.row if row else None for row in rows),
        level,
        runs.grid.duration,
        runs.grid.events,
        lambda before: _resumed(runs, before),
        runs.asked.slo,
    )


def _resumed(runs: _Runs, before: Mapping[int, Kept]) -> Sweep:
    """Return the sweep with its missing runs, made by the executor that it began with."""
    with using(runs.asked.executor, runs.asked.jobs):
        return _sweep(runs, runs.finish(False, before))


class _Runs:
    """The runs of a sweep, by their index in its grid."""

    def __init__(self, grid: Grid, request: Asked, watch: Watch, say: Say) -> None:
        self.grid, self.asked, self.watch, self.say = grid, request, watch, say
        self.points = grid.points()
        self.specs = [grid.spec(at) for at in self.points]
        self.keys: list[str] = []
        self.what = f"the sweep {grid.in_words()}"
        self.taker = taker_of(self.what)
        first = grid.seeds.listed[0]
        if request.intervals is not None:
            expect_intervals(self.specs)
        self.with_intervals = [n for n, at in enumerate(self.points) if request.intervals and at["seed"] == first]

    def finish(self, fresh: bool, before: Mapping[int, Kept] | None = None) -> dict[int, Kept]:
        """Return all runs that could be made, even if the user stopped it; with a folder, stored ones are reused."""
        finished = dict(before or {})
        with self._journal(fresh) as journal:
            if journal is not None:
                finished |= self._taken_over(journal)
            missing = [index for index in range(len(self.specs)) if index not in finished]
            try:
                self._run(missing, finished, journal)
                self._add_intervals(finished, journal)
            except (KeyboardInterrupt, RunsInterrupted, Cancelled):
                pass
            if journal is not None:
                _sweep(self, finished).write_frame(journal.path.with_name(FRAME_FILE))
        return finished

    @contextmanager
    def _journal(self, fresh: bool) -> Iterator[Journal | None]:
        """Yield the folder's journal, to which only this process writes; None without a folder."""
        out = self.asked.out
        if out is None:
            yield None
            return
        with Lock(out):
            expect_no_experiment(out)
            self.keys = self.keys or self._keys()
            journal = Journal(out, self.grid.in_words(), asked=self.grid.parts(), fresh=fresh)
            if journal.entries and not journal.entries.keys() & set(self.keys):
                differs = journal.differs()
                raise refused(out, f"holds another sweep, {journal.held}{f' ({differs})' if differs else ''}")
            try:
                yield journal
            finally:
                journal.close()

    def _keys(self) -> list[str]:
        by_id = keys_of([spec] for spec in self.specs)
        return [by_id[spec.id] for spec in self.specs]

    def _taken_over(self, journal: Journal) -> dict[int, Kept]:
        """Return the requested runs that the folder has, and report them to the user."""
        stored: dict[int, Kept] = {}
        for index, key in enumerate(self.keys):
            entry = journal.entries.get(key)
            held = None if entry is None else kept_of(entry, records=self.asked.records)
            if held is not None:
                stored[index] = self._as_asked(index, held)
        others = len(journal.entries.keys() - set(self.keys))
        if stored:
            self.say(f"{len(stored):,} of {len(self.specs):,} runs were there already")
        if others:
            were, they = ("was", "it stays") if others == 1 else ("were", "they stay")
            self.say(f"{counted(others, 'run')} of the folder {were} not requested; {they} in its journal")
        return stored

    def _as_asked(self, index: int, stored: Kept) -> Kept:
        """Return a row without intervals that were not requested."""
        intervals, held = self.asked.intervals, stored.row.intervals
        fits = held and intervals and (held.level, held.draws) == (intervals.level, intervals.draws)
        if held is None or (fits and index in self.with_intervals):
            return stored
        notes = tuple(note for note in stored.row.notes if of_record.CONTRADICTED not in note)
        return replace(stored, row=replace(stored.row, intervals=None, notes=notes))

    def _run(self, missing: Sequence[int], found: dict[int, Kept], journal: Journal | None) -> None:
        """Run the missing points, into `found` and the journal: models first, in parallel, then hardware."""
        executor = chosen()
        if executor is not None:
            return self._run_by(executor, missing, found, journal)
        models, real = by_hardware({index: self.specs[index] for index in missing})
        turns = Turns([self.specs[index] for index in models], self.asked.jobs)
        total, already = len(self.specs), len(self.specs) - len(missing)

        def took(index: int, finished: Finished) -> None:
            self._keep(index, row_of_run(finished), finished, found, journal)

        with self.watch("sweep") as tick:
            progress = _shifted(tick, already, total)
            if models:
                turns.check(progress)
            on_hardware = [self._executor(places) for places in real]
            if journal is not None:
                journal.open()
            if models:
                of_models = among(progress, 0, len(models), len(missing)) if real else progress
                turns.run(lambda number, finished: took(models[number], finished), of_models)
            done = len(models)
            for one, places in zip(on_hardware, real, strict=True):
                specs = {index: self.specs[index] for index in places}
                run_on(one, specs, took, among(progress, done, len(places), len(missing)))
                done += len(places)

    def _run_by(
        self, executor: Executor, missing: Sequence[int], found: dict[int, Kept], journal: Journal | None
    ) -> None:
        """Run points by a chosen executor, which checks all before the first begins. If records are not stored, an
        executor that can returns only rows."""
        total, already = len(self.specs), len(self.specs) - len(missing)
        specs = {index: self.specs[index] for index in missing}

        def took(index: int, row: Row, finished: Finished | None = None) -> None:
            if journal is not None:
                journal.open()
            self._keep(index, row, finished, found, journal)

        with self.watch("sweep") as tick:
            progress = _shifted(tick, already, total)
            if isinstance(executor, Reader) and not self.asked.records and self.taker is None:
                place_of = {spec.id: index for index, spec in specs.items()}
                points = [Point(spec) for spec in specs.values()]
                return executor.read(points, row_of_run, lambda point, row: took(place_of[point.id], row), progress)
            run_on(executor, specs, lambda index, run: took(index, row_of_run(run), run), progress)

    def _executor(self, places: Sequence[int]) -> Executor:
        assert self.asked.hardware is not None, "looked at before anything was checked"
        return self.asked.hardware([self.specs[index] for index in places])

    def _keep(
        self, index: int, row: Row, finished: Finished | None, found: dict[int, Kept], journal: Journal | None
    ) -> None:
        records = self.asked.records and finished is not None
        self._give(index, row, finished)
        if journal is not None:
            journal.keep(entry_of(self.keys[index], row, finished if records else None))
        found[index] = Kept(row, record_of(finished) if records and finished is not None else None)

    def _give(self, index: int, row: Row, finished: Finished | None) -> None:
        """Pass a run to the receiver of this sweep; if it needs intervals, only once it has them."""
        is_whole = row.intervals is not None or index not in self.with_intervals
        if self.taker is not None and finished is not None and is_whole:
            self.taker(self.what, finished, self.points[index])

    def _add_intervals(self, finished: dict[int, Kept], journal: Journal | None) -> None:
        """Make the missing intervals, one point after the other, each on all cores."""
        intervals = self.asked.intervals
        missing = [index for index in self.with_intervals if finished[index].row.intervals is None]
        if intervals is None or not missing:
            return
        total, already = len(self.with_intervals), len(self.with_intervals) - len(missing)
        with self.watch("intervals") as tick:
            for number, place in enumerate(missing, start=already):
                part = _part(tick, number, total)
                spec = self.specs[place]
                whole = execute([spec], None, self.asked.jobs)[0]
                made = of_record.intervals_of(spec, whole, intervals, self.asked.jobs, lambda _: None, part)
                if any(note.startswith("interrupted") for note in made["notes"]):
                    raise KeyboardInterrupt
                keep(whole, made)
                row = finished[place].row
                notes = (*row.notes, *(note for note in made["notes"] if of_record.CONTRADICTED in note))
                row = replace(row, intervals=bounds_of(made, intervals.draws), notes=notes)
                self._keep(place, row, whole, finished, journal)


def expect_intervals(specs: Sequence[RunSpec]) -> None:
    """Raise UserError, before hours of runs, if a machine or a workload cannot have intervals."""
    for spec in {(spec.machine, spec.workload): spec for spec in specs}.values():
        pinned(spec)


def _shifted(tick: Tick | None, already: int, total: int) -> Tick:
    """Return progress that counts the stored runs as done."""
    if tick is None:
        return lambda progress: None
    shown: Tick = tick

    def shifted(progress: Progress) -> None:
        share = (already + progress.share * (total - already)) / total
        shown(replace(progress, share=share, done=progress.done + already, of=total))

    return shifted


def _part(tick: Tick | None, number: int, total: int) -> Watch:
    """Return the progress of one point's intervals as part of that of all: half of it is the screening, half the
    samples."""

    @contextmanager
    def watch(title: str) -> Iterator[Tick | None]:
        begin = 0.5 if title == "draws" else 0.0

        def shown(progress: Progress) -> None:
            if tick is not None:
                share = (number + begin + progress.share / 2) / total
                tick(Progress(share, progress.ios, number, total, title))

        yield None if tick is None else shown

    return watch
