"""Simulate all repetitions of a fleet on threads: numpy releases the interpreter's lock while it samples and sorts.

A repetition is a function of (fleet, seed, its number), so results do not depend on the number of threads. Repetitions
run in chunks, which are stored when they are finished.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hotband.base.errors import UserError
from hotband.base.text import numbers
from hotband.execution.experiment import Progress, Tick
from hotband.questions.fleet.drawn import GroupDraws
from hotband.questions.fleet.kept import Chunk, Kept
from hotband.questions.fleet.repetition import COLUMNS, Left, repeat
from hotband.questions.fleet.spec import Group, Spec
from hotband.questions.fleet.values import generator

CHUNK = 16
"""Repetitions per chunk: seconds of work at most, so that an interruption loses little."""
MOST_CELLS = 400_000_000
"""Most numbers of all months of all repetitions: 1.6 GB."""
MOST_FAILURES = 50_000_000
"""Most drives, approximately, that leave in one repetition of a group; each takes some hundred bytes."""
TICK_SECONDS = 0.1


@dataclass
class Simulated:
    """Results of the repetitions by group: [repetitions, months, columns] and [repetitions, totals]. `done` of them are
    finished, the first ones without a gap."""

    months: list[np.ndarray]
    totals: list[np.ndarray]
    done: int
    interrupted: bool = False


def expect_room(spec: Spec) -> None:
    """Raise UserError if the months of all repetitions would need too much memory."""
    cells = spec.repetitions * spec.months * len(spec.groups) * len(COLUMNS)
    if cells > MOST_CELLS:
        most = MOST_CELLS * spec.repetitions // cells
        accepted = f"expected at most {most:,} repetitions of {len(spec.groups)} groups over {spec.months} months"
        raise UserError(spec.file, "repetitions", str(spec.repetitions), accepted)


def expect_time(spec: Spec, draws: Sequence[GroupDraws]) -> None:
    """Raise UserError if drives leave so often that a repetition would need too much memory."""
    for group, drawn in zip(spec.groups, draws, strict=True):
        plan = group.plan
        for lives in (drawn.lives[0], group.law.middle):
            met = float(lives.cumulative(np.array(plan.age + plan.horizon))) * max(1.0, lives.variance)
            leave = plan.drives * (met + plan.horizon / drawn.at(group, 0).wear)
            if leave > MOST_FAILURES:
                accepted = (
                    f"expected fewer drives that fail or are replaced: about {numbers.number(leave)} in one repetition"
                )
                raise UserError(spec.file, f"{group.table_key}.machines", str(plan.machines), accepted)


def simulate(
    spec: Spec, draws: Sequence[GroupDraws], store: Kept | None, jobs: int | None, tick: Tick | None
) -> Simulated:
    """Simulate all repetitions, or those finished before an interrupt. Raises OSError if one cannot be stored."""
    expect_time(spec, draws)
    sizes = [min(CHUNK, spec.repetitions - begin) for begin in range(0, spec.repetitions, CHUNK)]
    chunks: dict[int, Chunk] = {}
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number, size in enumerate(sizes):
        chunk = None if store is None else store.load(number, len(spec.groups), size)
        if chunk is None:
            waiting.put(number)
        else:
            chunks[number] = chunk
    work = _Work(spec, draws, sizes, store, waiting, chunks)
    interrupted = work.run(min(jobs or os.cpu_count() or 1, len(sizes)), tick)
    whole = next((number for number in range(len(sizes)) if number not in chunks), len(sizes))
    found_chunks = [chunks[number] for number in range(whole)]
    places = range(len(spec.groups))
    if not found_chunks:
        raise KeyboardInterrupt
    return Simulated(
        [np.concatenate([found_chunk.months[index] for found_chunk in found_chunks]) for index in places],
        [np.concatenate([found_chunk.totals[index] for found_chunk in found_chunks]) for index in places],
        sum(sizes[:whole]),
        interrupted,
    )


@dataclass
class _Work:
    """Chunks in progress."""

    spec: Spec
    draws: Sequence[GroupDraws]
    sizes: list[int]
    store: Kept | None
    waiting: queue.SimpleQueue[int]
    chunks: dict[int, Chunk]

    def run(self, jobs: int, tick: Tick | None) -> bool:
        """Run until no chunk waits; return whether the user interrupted."""
        stopping, failures = threading.Event(), list[BaseException]()
        threads = [
            threading.Thread(target=self._work, args=(stopping, failures), name=f"fleet-{number}", daemon=True)
            for number in range(jobs)
        ]
        for thread in threads:
            thread.start()
        interrupted = False
        try:
            while any(thread.is_alive() for thread in threads):
                threads[0].join(TICK_SECONDS) if threads[0].is_alive() else threads[-1].join(TICK_SECONDS)
                if tick is not None:
                    tick(self.told())
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stopping.set()
            for thread in threads:
                thread.join()
        if failures and not isinstance(failures[0], KeyboardInterrupt):
            raise failures[0]
        interrupted |= bool(failures)
        return interrupted

    def told(self) -> Progress:
        """Return the progress."""
        done = sum(self.sizes[number] for number in list(self.chunks))
        return Progress(done / self.spec.repetitions, 0, done, self.spec.repetitions, noun="repetitions")

    def _work(self, stopping: threading.Event, failures: list[BaseException]) -> None:
        while not stopping.is_set():
            try:
                number = self.waiting.get_nowait()
            except queue.Empty:
                return
            try:
                chunk = chunk_of(self.spec, self.draws, number * CHUNK, self.sizes[number], stopping.is_set)
                if chunk is None:
                    return
                if self.store is not None:
                    self.store.keep(number, chunk)
                self.chunks[number] = chunk
            except BaseException as error:  # passed to the waiting thread, whatever it is
                failures.append(error)
                stopping.set()
                return


def chunk_of(
    spec: Spec, draws: Sequence[GroupDraws], begin: int, count: int, is_stopped: Callable[[], bool]
) -> Chunk | None:
    """Simulate repetitions from `begin` on; None if they were stopped."""
    months: list[list[np.ndarray]] = [[] for _ in spec.groups]
    totals: list[list[np.ndarray]] = [[] for _ in spec.groups]
    for repetition in range(begin, begin + count):
        for index, (group, drawn) in enumerate(zip(spec.groups, draws, strict=True)):
            if is_stopped():
                return None
            left = of_group(group, drawn, spec.seed, repetition)
            months[index].append(left.months)
            totals[index].append(left.totals)
    return Chunk([np.stack(month) for month in months], [np.stack(total) for total in totals])


def of_group(group: Group, drawn: GroupDraws, seed: int, repetition: int) -> Left:
    """Simulate one repetition of one group."""
    # Repetitions count from 1 here: number 0 is used for the samples of values.
    return repeat(group.plan, drawn.at(group, repetition), generator(seed, group.name, repetition + 1))
