"""Executors of an experiment's runs: the cores of this computer, or those of a cluster."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, runtime_checkable

import hotband._core as _core
from hotband.base import memory
from hotband.data.record.finished import Finished
from hotband.execution.experiment.point import Point
from hotband.execution.runs import run
from hotband.execution.runs.run import Prepared, prepare, sequences

T = TypeVar("T")
TICK_SECONDS = 0.1


@dataclass(frozen=True)
class Progress:
    """Progress of an experiment: the share done (0 to 1, by the weights of the runs), I/Os, runs done of all, and the
    current step of the first active run. For a single run, `intervals` are those of its measured time that ended since
    the last report: begin (ns since the measured time began), I/Os per second, and mean latency in ns (None if there
    was no I/O). `noun` names the counted items; items other than runs have no I/Os."""

    share: float
    ios: int
    done: int
    of: int
    phase: str = ""
    intervals: tuple[tuple[int, float, float | None], ...] = ()
    noun: str = "runs"


Done = Callable[[Point, Finished], None]
"""Takes a run as soon as it is finished, in any thread."""
Tick = Callable[[Progress], None]
"""Receives the progress about ten times per second, in the thread that called."""


def unwatched(_: object) -> None:
    """Receive progress that nobody watches."""


class Cancelled(Exception):
    """`cancel` was called before all runs were finished."""


class Executor(Protocol):
    """Runs points, each on its own or, where one names another that it comes after, on the machine that that one
    left."""

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """Return when all are finished; `done` had each of them by then.

        All points are checked before the first begins. Raises UserError for the first mistake, OSError, Cancelled, or
        KeyboardInterrupt: nothing runs any longer then, and `done` received all finished runs.
        """

    def cancel(self) -> None:
        """End `execute`; from any thread."""


@runtime_checkable
class Reader(Protocol):
    """An executor that reads runs on the workers that made them, so that little is transferred."""

    def read(
        self, points: Sequence[Point], read: Callable[[Finished], T], took: Callable[[Point, T], None], tick: Tick
    ) -> None:
        """Run like `Executor.execute`; `took` receives the result of `read`, a function of a Hotband module, for each
        run."""


class Local:
    """The cores of this computer, a thread each: the engine does not hold Python's lock while it runs."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or os.cpu_count() or 1
        self._running: _Running | None = None
        self._cancelled = threading.Event()

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """See `Executor`."""
        self._cancelled.clear()
        running = self._running = _Running(points, done)
        try:
            running.start(self.jobs)
            while not running.over(TICK_SECONDS, tick):
                if self._cancelled.is_set():
                    raise Cancelled
        finally:
            running.stop()
            self._running = None

    def cancel(self) -> None:
        """See `Executor`."""
        self._cancelled.set()
        if (running := self._running) is not None:
            running.halt()


class _Running:
    """Runs that are under way, the heaviest lines first."""

    def __init__(self, points: Sequence[Point], done: Done) -> None:
        self.points, self.done = points, done
        before = {point.spec.after for point in points}
        self.prepared = [point.prepared or prepare(point.spec, is_followed=point.spec.id in before) for point in points]
        self.lines = sequences(self.prepared)
        self.lines.sort(key=lambda line: -sum(self.prepared[index].spec.weight for index in line))
        self.waiting: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        for line in self.lines:
            self.waiting.put(line)
        # One entry a finished run or a failure; a run's is None.
        self.news: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self.stopping = threading.Event()
        self.threads: list[threading.Thread] = []
        self.finished = 0
        self.shown = 0.0
        self.told = 0  # intervals of the one run, where there is one

    def start(self, jobs: int) -> None:
        """Start as many threads as are of use. They do not keep the program from ending: a second interruption that
        comes while they stop ends it at once."""
        jobs = memory.jobs_here([item.run.memory() or 0 for item in self.prepared], jobs)
        for number in range(min(jobs, len(self.lines))):
            thread = threading.Thread(target=self._work, name=f"run-{number}", daemon=True)
            self.threads.append(thread)
            thread.start()

    def over(self, seconds: float, tick: Tick) -> bool:
        """Wait at most `seconds` for news; return whether all runs are finished. Raises the error of a run."""
        if self.shown == 0.0:
            self._show(tick)
        if self.finished < len(self.points):
            try:
                failure = self.news.get(timeout=seconds)
            except queue.Empty:
                self._show(tick)
                return False
            if failure is not None:
                raise failure
            self.finished += 1
        over = self.finished == len(self.points)
        if over or time.monotonic() - self.shown >= seconds:
            self._show(tick)
        return over

    def halt(self) -> None:
        """Ask all runs to stop."""
        self.stopping.set()
        for item in self.prepared:
            item.run.stop()

    def stop(self) -> None:
        """Stop running tasks, and wait until they have ended."""
        if self.finished < len(self.points):
            self.halt()
        for thread in self.threads:
            thread.join()

    def _show(self, tick: Tick) -> None:
        self.shown = time.monotonic()
        ended = self.prepared[0].run.intervals(self.told) if len(self.prepared) == 1 else []
        self.told += len(ended)
        tick(replace(progress_of(self.prepared, self.finished), intervals=tuple(ended)))

    def _work(self) -> None:
        while not self.stopping.is_set():
            try:
                line = self.waiting.get_nowait()
            except queue.Empty:
                return
            try:
                self._run(line)
            except _core.Interrupted:
                return
            except BaseException as error:  # told to the thread that waits, whatever it is
                self.news.put(error)
                return

    def _run(self, line: Sequence[int]) -> None:
        prepared = [self.prepared[index] for index in line]
        for position, index in enumerate(line):
            if self.stopping.is_set():
                return
            self.done(self.points[index], run.execute_one(prepared, position))
            self.news.put(None)


def progress_of(prepared: Sequence[Prepared], done: int) -> Progress:
    """Return the joint progress of runs."""
    states = [item.run.progress() for item in prepared]
    weights = [item.spec.weight for item in prepared]
    share = sum(share * weight for (share, _), weight in zip(states, weights, strict=True)) / (sum(weights) or 1.0)
    return Progress(min(share, 1.0), sum(ios for _, ios in states), done, len(prepared), phase_of(prepared))


def phase_of(prepared: Sequence[Prepared]) -> str:
    """Return the current phase of the first active run; empty if none is active."""
    for item in prepared:
        if 0.0 < item.run.progress()[0] < 1.0:
            return item.run.phase() or ""
    return (prepared[0].run.phase() or "writing") if len(prepared) == 1 else ""
