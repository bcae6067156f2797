"""A modelled machine that stays as the last run left it, as hardware does: an executor of points one after the other.

It forgets when its process ends. Runs that were kept by then are run again, and their results dropped, before the next
one that is requested: the same texts and seeds bring the machine to where it was.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.data.record.written import record_text
from hotband.execution.experiment import Cancelled, Point, Progress, Tick
from hotband.execution.experiment.executor import Done
from hotband.execution.runs.run import Prepared, prepare, sequence_of

TICK_SECONDS = 0.1


@dataclass
class ModelDevice:
    """An executor (`hotband.execution.experiment.Executor`) on one machine. `line` has all runs in their order, those
    that were kept before too; whoever requests a run appends it first (`expect`)."""

    line: list[RunSpec] = field(default_factory=list)
    _last: Prepared | None = None
    _template: Prepared | None = None
    _executed: int = 0
    _cancelled: threading.Event = field(default_factory=threading.Event)

    def expect(self, specs: Sequence[RunSpec]) -> None:
        """Append the next runs on the machine, whether they are run now or were kept."""
        self.line += specs

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """See `Executor`. Raises UserError, Cancelled."""
        self._cancelled.clear()
        places = {spec.id: place for place, spec in enumerate(self.line)}
        for number, point in enumerate(points):
            place = places[point.id]
            while self._executed < place:
                self._run(self.line[self._executed], number, len(points), tick)
            done(point, self._run(point.spec, number, len(points), tick))
        tick(Progress(1.0, 0, len(points), len(points)))

    def cancel(self) -> None:
        """See `Executor`."""
        self._cancelled.set()
        if self._last is not None:
            self._last.run.stop()

    def _run(self, spec: RunSpec, done: int, of: int, tick: Tick) -> Finished:
        """Return the next run, on what the last one left."""
        before, self._last = self._last, self._next(spec)
        task = _Task(self._last, None if before is None else before.run)
        thread = threading.Thread(target=task, name="run", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(TICK_SECONDS)
                share, ios = self._last.run.progress()
                tick(Progress((done + min(share, 1.0)) / of, ios, done, of, self._last.run.phase() or ""))
        finally:
            if thread.is_alive():
                self._last.run.stop()
                thread.join()
        place, self._executed = self._executed, self._executed + 1
        if self._cancelled.is_set() and task.failure is not None:
            raise Cancelled from None
        return self._finished(spec, task.result(), place)

    def _next(self, spec: RunSpec) -> Prepared:
        """Checks a run that begins on the machine of the first; a first one that is never run tells which that is."""
        prepared = prepare(spec, is_followed=True)
        if self._template is None:
            self._template = prepare(spec, is_followed=True)
        else:
            try:
                prepared.run.follow(self._template.run)
            except _core.SpecError as error:
                raise user_error(error) from None
        return prepared

    def _finished(self, spec: RunSpec, left: _core.Output, place: int) -> Finished:
        """Return the record of a run, with the state before it. Its first run names the whole line, because the
        number of further runs is not known yet."""
        record = json.loads(left.record)
        first = self.line[0]
        named = json.dumps([first.machine, first.set, first.seed, first.workload_text])
        said = sequence_of(self.line[: place + 1], place)
        record["sequence"] = {**said, "id": hashlib.sha256(named.encode()).hexdigest()[:12], "seeds": "fresh"}
        return Finished(spec, record, record_text(record), left.tables, left.ios)


class _Task:
    """One run in a thread of its own: signals are for the main one."""

    def __init__(self, prepared: Prepared, before: _core.Run | None) -> None:
        self.prepared, self.before = prepared, before
        self.output: _core.Output | None = None
        self.failure: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.output = self.prepared.run.execute(self.before, True)
        except BaseException as error:  # told to the thread that waits, whatever it is
            self.failure = error

    def result(self) -> _core.Output:
        """Return the record of the run. Raises its errors, mistakes as UserError, Cancelled if it was stopped."""
        if isinstance(self.failure, _core.SpecError):
            raise user_error(self.failure) from None
        if isinstance(self.failure, _core.Interrupted):
            raise Cancelled from None
        if self.failure is not None:
            raise self.failure
        assert self.output is not None, "a run leaves a result or fails"
        return self.output
