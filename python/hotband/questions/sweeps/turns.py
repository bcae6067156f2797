"""Runs of a sweep on the cores of this computer. All are checked before the first begins; each is then run and released
after its receiver took it, so that a sweep of thousands needs the memory of a few."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import hotband._core as _core
from hotband.base import memory
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment.executor import TICK_SECONDS, Progress, Tick
from hotband.execution.runs.run import Prepared, execute_one, prepare

READY = 1024
"""Checked runs that stay in memory, so that they are not read again: one is a tenth of a megabyte."""

PATIENCE_S = 1.0
"""Seconds of checking after which its progress is shown."""
Failure = tuple[int, BaseException]
News = queue.SimpleQueue[tuple[int, BaseException | None]]
"""Queue of the numbers of runs that finished, or failed with an exception."""
Took = Callable[[int, Finished], None]
"""Receives a run by its index as soon as it is finished, in any thread."""


class Turns:
    """Runs to execute, by their index. Call `check`, then `run`, once each."""

    def __init__(self, specs: Sequence[RunSpec], jobs: int | None = None) -> None:
        self.specs, self.jobs = specs, jobs or os.cpu_count() or 1
        self._ready: dict[int, Prepared] = {}
        self._running: dict[int, Prepared] = {}
        self._needs: list[int] = []
        self._ios = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def check(self, tick: Tick) -> None:
        """Read and check everything that the runs name. Runs that differ only in their seed are checked once. Raises
        UserError for the first mistake."""
        alike: dict[RunSpec, int] = {}
        for index, spec in enumerate(self.specs):
            alike.setdefault(replace(spec, id="", seed=1), index)
        first = list(alike.values())
        total = len(self.specs)

        def one(number: int) -> None:
            place = first[number]
            prepared = self._checked(self.specs[place])
            with self._lock:
                self._needs.append(prepared.run.memory() or 0)
                if len(self._ready) < READY:
                    self._ready[place] = prepared

        begin = time.monotonic()

        def shown(done: int) -> None:
            # A mistake in the first run is reported without a progress bar.
            if time.monotonic() - begin > PATIENCE_S:
                tick(Progress(0.0, 0, 0, total, f"checking {done:,} of {len(first):,}"))

        self._in_threads(len(first), self.jobs, one, shown)

    def _checked(self, spec: RunSpec) -> Prepared:
        """Return a run that is ready to execute. If one of several machines refuses a value, the error names that
        machine."""
        try:
            return prepare(spec)
        except UserError as error:
            if error.where != "question.settings" or len({other.machine for other in self.specs}) == 1:
                raise
            mistake = error.where, error.key, error.value, f"on {spec.machine}: {error.accepted}"
            raise UserError(*mistake) from None

    def run(self, took: Took, tick: Tick) -> None:
        """Execute all runs; `took` has received every one when this returns. Raises OSError, UserError or
        KeyboardInterrupt; then nothing runs any more, and `took` has received the finished runs."""

        def one(index: int) -> None:
            prepared = self._ready.pop(index, None) or prepare(self.specs[index])
            with self._lock:
                self._running[index] = prepared
            try:
                if not self._stopping.is_set():
                    finished = execute_one([prepared], 0)
                    self._ios += finished.ios
                    took(index, finished)
            finally:
                with self._lock:
                    self._running.pop(index, None)

        jobs = memory.jobs_here(self._needs, self.jobs)
        self._in_threads(len(self.specs), jobs, one, lambda done: tick(self._progress(done)))

    def _progress(self, done: int) -> Progress:
        with self._lock:
            running = dict(self._running)
        progress = [turn.run.progress() for turn in running.values()]
        total = len(self.specs)
        share = min((done + sum(share for share, _ in progress)) / (total or 1), 1.0)
        first = min(running, default=None)
        phase = "" if first is None else running[first].run.phase() or "writing"
        return Progress(share, self._ios + sum(ios for _, ios in progress), done, total, phase)

    def _in_threads(self, count: int, jobs: int, work: Callable[[int], None], shown: Callable[[int], None]) -> None:
        """Do `work` for every number below `count`, in order. Raises the failure of the lowest number."""
        numbers, news = iter(range(count)), News()
        # Daemon threads, so that a second interrupt while they stop ends the program at once.
        threads = [
            threading.Thread(target=self._turn, args=(numbers, work, news), daemon=True)
            for _ in range(min(jobs, count))
        ]
        for thread in threads:
            thread.start()
        failures: list[Failure] = []
        is_over = False
        try:
            failures = _waited(news, count, shown)
            is_over = not failures
        finally:
            if not is_over:
                self._halt()
            for thread in threads:
                thread.join()
        while not news.empty():
            number, failure = news.get()
            failures += [(number, failure)] if failure is not None else []
        if failures:
            raise min(failures, key=lambda failure: failure[0])[1]

    def _turn(self, numbers: Iterator[int], work: Callable[[int], None], news: News) -> None:
        """Do the work of a thread: one number after the other, until none is left or one failed."""
        while not self._stopping.is_set():
            with self._lock:
                number = next(numbers, None)
            if number is None:
                return
            try:
                work(number)
                news.put((number, None))
            except _core.Interrupted:
                return
            except BaseException as error:  # passed to the waiting thread, whatever it is
                news.put((number, error))
                return

    def _halt(self) -> None:
        """Ask the runs to stop."""
        self._stopping.set()
        with self._lock:
            running = list(self._running.values())
        for turn in running:
            turn.run.stop()


def _waited(news: News, count: int, shown: Callable[[int], None]) -> list[Failure]:
    """Wait until this many are done, or for the first failure; return failures."""
    done, told = 0, 0.0
    shown(0)
    while done < count:
        try:
            number, failure = news.get(timeout=TICK_SECONDS)
            if failure is not None:
                return [(number, failure)]
            done += 1
        except queue.Empty:
            pass
        if done == count or time.monotonic() - told >= TICK_SECONDS:
            told = time.monotonic()
            shown(done)
    return []
