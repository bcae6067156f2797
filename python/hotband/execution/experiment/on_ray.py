"""Runs on a cluster of Ray: lines of runs in tasks of half a second, a few more tasks than cores under way.

A task gets the specs of its runs and returns their results (`parcel`, `ray_task`). Finished runs are reported as their
task ends; after a worker died, each line of its task is run again, alone. The cluster has no actor and no state: Ray
decides where a task runs.

Left out: progress within a run, a worker's own cores (a run has one), and machines that do not fit into the
memory of the computer that submits the runs.
"""

from __future__ import annotations

import errno
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from hotband.base import memory
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.execution.experiment.executor import TICK_SECONDS, Cancelled, Done, Progress, Tick
from hotband.execution.experiment.lines import lines_of
from hotband.execution.experiment.parcel import Packing, Read, Returned, Told, unpacked
from hotband.execution.experiment.point import Point
from hotband.execution.experiment.ray_cluster import (
    Connection,
    address_of,
    connect,
    expect_ray,
    expect_reachable,
    release,
)
from hotband.execution.experiment.ray_task import build, checked, run_lines

T = TypeVar("T")

TASK_S = 0.5
"""Seconds of work of a task: Ray takes about a millisecond for one, and a worker that dies loses no more than this."""
MOST_LINES = 500
"""Most lines of a task, even if their runs are short."""
AHEAD = 2
"""Tasks in progress for each core: one runs, one is ready when it ends."""
CHECKED_HERE = 64
"""Different runs that are checked before a cluster is requested: a mistake in the first is reported at once."""
TRIES, TRIES_OF_MEMORY = 25, 5
"""Attempts at a line, each but the first alone: most workers die for other reasons (killed, a machine is gone), and a
run that ends its worker each time is finally reported; sooner if Ray reports a lack of memory."""
LEAST_MEMORY = 1 << 28
"""Smallest memory request of a task in bytes; larger requests are doublings of it: equal requests share workers."""


class OnRay:
    """A cluster of Ray as an `Executor`. It is connected, or started, when runs are first executed; `close` ends the
    connection and the processes started for it."""

    def __init__(self, address: str | None = None, jobs: int | None = None) -> None:
        """`address` is HOST:PORT of a cluster (None: that of RAY_ADDRESS, else one is started here, of `jobs`
        processes); of a cluster that runs at most `jobs` cores are used. Raises UserError if Ray is not installed
        or nothing answers there."""
        expect_ray()
        self.address, self._jobs = address_of(address), jobs
        if self.address is not None and ":" in self.address:
            expect_reachable(self.address)
        self._connection: Connection | None = None
        self._cancelled = threading.Event()

    def __enter__(self) -> OnRay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def jobs(self) -> int:
        """Return how many runs execute at a time. Connects first if needed."""
        cores = self._connected().cores
        return max(1, min(self._jobs or cores, cores))

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """See `Executor`. Runs that come one after the other on one machine are told when the last of them ends."""
        self.read(points, Returned.of, lambda point, run: done(point, run.finished(point.spec)), tick)

    def read(
        self, points: Sequence[Point], read: Callable[[Finished], T], took: Callable[[Point, T], None], tick: Tick
    ) -> None:
        """Run like `execute`, but return only the result of `read`, a function of a Hotband module, applied where the
        run executed."""
        self._cancelled.clear()
        work = _Work(points)
        self._check(work, tick)

        def take(line: int, reply: Told) -> None:
            work.take(line, reply, took)

        tick(work.progress())
        self._dispatch(work, read, range(len(work.lines)), take, lambda: tick(work.progress()))
        tick(work.progress())

    def cancel(self) -> None:
        """See `Executor`."""
        self._cancelled.set()

    def close(self) -> None:
        """Let go of the cluster, once for all; one that was started ends."""
        if self._connection is not None:
            release(self._connection)
            self._connection = None

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = connect(self.address, self._jobs)
        return self._connection

    def _check(self, work: _Work, tick: Tick) -> None:
        """Find mistakes before anything runs: the first different runs here, the others on the cluster."""
        first = work.different()
        for line in first[:CHECKED_HERE]:
            work.check(line, checked(work.lines[line]))
        rest = first[CHECKED_HERE:]
        if not rest:
            return
        total, seen = len(work.points), len(first) - len(rest)

        def took(line: int, reply: Told) -> None:
            nonlocal seen
            seen += 1
            work.check(line, reply)

        def shown() -> None:
            tick(Progress(0.0, 0, 0, total, f"checking {seen:,} of {len(first):,}"))

        self._dispatch(work, None, rest, took, shown)

    def _dispatch(
        self,
        work: _Work,
        read: Read | None,
        lines: Iterable[int],
        took: Callable[[int, Told], None],
        shown: Callable[[], None],
    ) -> None:
        """Run lines on the cluster, or only check them if no result is to be read."""
        tasks, at = _Tasks(self._connected(), work, read, deque(lines), self.jobs), 0.0
        try:
            while not tasks.over(TICK_SECONDS, took):
                if self._cancelled.is_set():
                    raise Cancelled
                if time.monotonic() - at >= TICK_SECONDS:
                    at = time.monotonic()
                    shown()
        finally:
            tasks.stop()


class _Work:
    """Points by line, ready to be sent, and the finished ones."""

    def __init__(self, points: Sequence[Point]) -> None:
        """The heaviest lines first. Raises UserError for what cannot travel."""
        by_id, packing = {point.id: point for point in points}, Packing()
        specs = lines_of([point.spec for point in points])
        specs.sort(key=lambda line: -sum(spec.weight for spec in line))
        self.points = points
        self.lines = [packing.line(line) for line in specs]
        self.of_line = [[by_id[spec.id] for spec in line] for line in specs]
        self.weights = [sum(spec.weight for spec in line) for line in specs]
        # Lines that differ in their seeds and names alone are of one kind: they are checked once.
        self.first: dict[tuple[RunSpec, ...], int] = {}
        self.kind = [self.first.setdefault(line.alike(), number) for number, line in enumerate(self.lines)]
        self.needs: dict[int, int] = {}
        self.whole = sum(self.weights) or 1.0
        self.finished, self.share, self.ios = 0, 0.0, 0

    def different(self) -> list[int]:
        """The first line of each kind."""
        return list(self.first.values())

    def check(self, line: int, reply: Told) -> None:
        """Raise UserError for a mistake in a line."""
        if reply.mistake is not None:
            raise self._named(line, reply.mistake)
        self.needs[line] = reply.memory

    def _named(self, line: int, mistake: UserError) -> UserError:
        """Return the error for a refused value, with the machine's name if there are several machines."""
        machine = self.of_line[line][0].spec.machine
        if mistake.where != "question.settings" or len({point.spec.machine for point in self.points}) == 1:
            return mistake
        return UserError(mistake.where, mistake.key, mistake.value, f"on {machine}: {mistake.accepted}")

    def memory(self, line: int) -> int:
        """Return the memory that a task with this line requests."""
        needs, request = self.needs.get(self.kind[line], 0), LEAST_MEMORY
        while request < needs:
            request *= 2
        return request

    def take(self, line: int, reply: Told, took: Callable[[Point, Any], None]) -> None:
        """Pass on the data read from the runs of a line. Raises the mistake that ended it."""
        if reply.mistake is not None:
            raise reply.mistake
        for point, run in zip(self.of_line[line], reply.runs, strict=True):
            took(point, run)
        self.ios += reply.ios
        self.finished += len(reply.runs)
        self.share += self.weights[line]

    def progress(self) -> Progress:
        """By what is finished."""
        return Progress(min(self.share / self.whole, 1.0), self.ios, self.finished, len(self.points))


class _Tasks:
    """Tasks under way, and the lines that wait for one."""

    def __init__(self, to: Connection, work: _Work, read: Read | None, waiting: deque[int], slots: int) -> None:
        self.to, self.work, self.read, self.waiting, self.slots = to, work, read, waiting, slots
        self.under_way: dict[Any, list[int]] = {}
        self.begun: dict[int, int] = {}
        # Seconds of a unit of weight; not known before the first task ended.
        self.pace: float | None = None
        # A task is not repeated by Ray, but here: alone, so that what kills its worker is found.
        self.remote = to.ray.remote(num_cpus=1, max_retries=0)(run_lines)

    def over(self, seconds: float, took: Callable[[int, Told], None]) -> bool:
        """Wait for a task for at most `seconds`, and return whether all lines are done. Raises what a line raised."""
        self._send()
        if not self.under_way:
            return True
        ready, _ = self.to.ray.wait(list(self.under_way), num_returns=1, timeout=seconds)
        for task in ready:
            self._take(task, took)
        return not (self.under_way or self.waiting)

    def stop(self) -> None:
        """End running tasks together with their workers, because a run cannot be interrupted."""
        for task in self.under_way:
            self.to.ray.cancel(task, force=True)
        self.under_way.clear()

    def _send(self) -> None:
        while self.waiting and len(self.under_way) < AHEAD * self.slots:
            lines = self._next()
            for line in lines:
                self.begun[line] = self.begun.get(line, 0) + 1
            needs = max(self.work.memory(line) for line in lines)
            self._expect_room(needs, lines[0])
            packed = [self.work.lines[line] for line in lines]
            self.under_way[self.remote.options(memory=needs).remote(build(), packed, self.read)] = lines

    def _next(self) -> list[int]:
        """The lines of the next task: half a second of work, the less the fewer are left; one before the pace is known,
        and one that was begun before."""
        lines = [self.waiting.popleft()]
        if self.pace is None or self.begun.get(lines[0]):
            return lines
        most = min(MOST_LINES, len(self.waiting) // (AHEAD * self.slots))
        seconds = self._seconds(lines[0])
        while len(lines) < most and not self.begun.get(self.waiting[0]):
            seconds += self._seconds(self.waiting[0])
            if seconds > TASK_S:
                break
            lines.append(self.waiting.popleft())
        return lines

    def _seconds(self, line: int) -> float:
        return (self.pace or 0.0) * self.work.weights[line]

    def _expect_room(self, needs: int, line: int) -> None:
        """Raise UserError for a run that would wait for ever."""
        if needs > LEAST_MEMORY and needs > self.to.largest:
            most = memory.in_gigabytes(int(self.to.largest))
            accepted = f"needs up to {memory.in_gigabytes(needs)} of memory, but the largest node offers a task {most}"
            raise UserError("question.on", "", self.work.of_line[line][0].spec.machine, accepted)

    def _take(self, task: Any, took: Callable[[int, Told], None]) -> None:
        errors, lines = self.to.ray.exceptions, self.under_way.pop(task)
        try:
            reply = unpacked(self.to.ray.get(task))
        except errors.RayTaskError as error:
            raise _of_task(error) from None
        except errors.RayError as error:
            return self._again(lines, error)
        if reply.other:
            accepted = f"has Hotband {reply.other} there, {build()} here; expected the same on every node"
            raise UserError("question.executor", "", reply.node, accepted)
        weight = sum(self.work.weights[line] for line in lines)
        now = sum(line_reply.seconds for line_reply in reply.told) / (weight or 1.0)
        self.pace = now if self.pace is None else (self.pace + now) / 2
        # What came behind a mistake was not run; the mistake ends all.
        for line, line_reply in zip(lines, reply.told, strict=False):
            took(line, line_reply)

    def _again(self, lines: Sequence[int], error: Exception) -> None:
        """Lines of a task whose worker died wait again, in front."""
        most = TRIES_OF_MEMORY if isinstance(error, self.to.ray.exceptions.OutOfMemoryError) else TRIES
        for line in lines:
            if self.begun[line] >= most:
                name = self.work.of_line[line][0].id
                why = f"its worker died {self.begun[line]} times: {type(error).__name__}"
                raise OSError(errno.ECHILD, why, name) from None
        self.waiting.extendleft(reversed(lines))


def _of_task(error: Any) -> Exception:
    """Return the error of a task: Hotband is missing there, a failure of its host, or a fault of Hotband, unchanged."""
    cause = error.cause if isinstance(error.cause, Exception) else error
    text = str(error)
    if "No module named 'hotband" in text or "failed to import" in text:
        return UserError(
            "question.executor", "", "ray", "a worker has no hotband: expected pip install hotband on every node"
        )
    return cause
