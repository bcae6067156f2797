"""A modelled machine that keeps its state between runs, as hardware does: an executor that runs points one after the
other.

The state is lost when the process ends. The stored runs are then repeated, and their results dropped, before the next
requested run: the same texts and seeds restore the state.
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
    """An executor (`hotband.execution.experiment.Executor`) on one machine. `line` has all runs in order, including
    stored ones; a caller appends a run (`expect`) before it requests it."""

    line: list[RunSpec] = field(default_factory=list)
    _last: Prepared | None = None
    _template: Prepared | None = None
    _executed: int = 0
    _cancelled: threading.Event = field(default_factory=threading.Event)

    def expect(self, specs: Sequence[RunSpec]) -> None:
        """Append the next runs on the machine, whether they run now or are stored."""
        self.line += specs

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """See `Executor`. Raises UserError, Cancelled."""
        self._cancelled.clear()
        places = {spec.id: index for index, spec in enumerate(self.line)}
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

    def _run(self, spec: RunSpec, done: int, total: int, tick: Tick) -> Finished:
        """Return the next run, on the state that the last one left."""
        before, self._last = self._last, self._next(spec)
        task = _Task(self._last, None if before is None else before.run)
        thread = threading.Thread(target=task, name="run", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(TICK_SECONDS)
                share, ios = self._last.run.progress()
                tick(Progress((done + min(share, 1.0)) / total, ios, done, total, self._last.run.phase() or ""))
        finally:
            if thread.is_alive():
                self._last.run.stop()
                thread.join()
        index, self._executed = self._executed, self._executed + 1
        if self._cancelled.is_set() and task.failure is not None:
            raise Cancelled from None
        return self._finished(spec, task.result(), index)

    def _next(self, spec: RunSpec) -> Prepared:
        """Prepare a run that continues on the machine of the first run; if that one never runs, it still determines the
        machine."""
        prepared = prepare(spec, is_followed=True)
        if self._template is None:
            self._template = prepare(spec, is_followed=True)
        else:
            try:
                prepared.run.follow(self._template.run)
            except _core.SpecError as error:
                raise user_error(error) from None
        return prepared

    def _finished(self, spec: RunSpec, left: _core.Output, index: int) -> Finished:
        """Return the record of a run, with the state before it. The first run names the whole line, because the number
        of further runs is not known yet."""
        record = json.loads(left.record)
        first = self.line[0]
        named = json.dumps([first.machine, first.set, first.seed, first.workload_text])
        sequence = sequence_of(self.line[: index + 1], index)
        record["sequence"] = {**sequence, "id": hashlib.sha256(named.encode()).hexdigest()[:12], "seeds": "fresh"}
        return Finished(spec, record, record_text(record), left.tables, left.ios)


class _Task:
    """A run in its own thread: only the main thread receives signals."""

    def __init__(self, prepared: Prepared, before: _core.Run | None) -> None:
        self.prepared, self.before = prepared, before
        self.output: _core.Output | None = None
        self.failure: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.output = self.prepared.run.execute(self.before, True)
        except BaseException as error:  # passed to the waiting thread, whatever it is
            self.failure = error

    def result(self) -> _core.Output:
        """Return the output of the run. Raises its errors, mistakes as UserError, Cancelled if it was stopped."""
        if isinstance(self.failure, _core.SpecError):
            raise user_error(self.failure) from None
        if isinstance(self.failure, _core.Interrupted):
            raise Cancelled from None
        if self.failure is not None:
            raise self.failure
        assert self.output is not None, "a run leaves a result or fails"
        return self.output
