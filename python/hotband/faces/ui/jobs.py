"""Jobs: waiting, running and ended calls. A job is one call of the API in its own thread: the engine does not hold
Python's lock while it runs, so the page is served meanwhile.

A job is stopped as Ctrl-C stops a command: its receiver of progress raises KeyboardInterrupt. It ends within a tenth of
a second while the engine runs, and after the current step while a result is being drawn.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypedDict

from hotband.base.errors import UserError, reason_of
from hotband.faces.ui.kept import Kept, KeptDoc

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.execution.experiment.executor import Progress
    from hotband.faces.ui.call import Call

State = Literal["waiting", "running", "done", "failed", "stopped"]
AT_A_TIME = 2
"""Most running jobs: each uses all cores if it has many runs, and a short one need not wait for a long one."""
MOST_WAITING = 50
"""Most jobs that have not ended: more are a mistake, or come from another program."""
FINE_POINTS = 20_000
"""Points of a live chart after which each new point covers twice as many intervals. An engine that simulates hours in a
second would fill memory otherwise; the record has every interval."""
WITH_POINTS = 20
"""Most ended jobs that keep their points, some 3 MB for each `FINE_POINTS`."""
Point = tuple[float, float, float | None]


class ErrorDoc(TypedDict):
    """A mistake: its field (empty if none), the key in it, and its text."""

    field: str
    key: str
    text: str


class JobDoc(TypedDict):
    """State of a job for the page; `points` are intervals not yet sent: seconds, I/Os per second, mean latency in ms
    (None if there was no I/O)."""

    id: str
    kind: str
    title: str
    command: str
    state: State
    share: float
    done: int
    of: int
    ios: int
    phase: str
    error: ErrorDoc | None
    first_point: int
    points: list[Point]


@dataclass
class Job:
    """A call and its progress. Only its thread changes it, under the lock of `Jobs`."""

    id: str
    kind: str
    title: str
    command: str
    form: Json
    call: Call = field(repr=False)
    state: State = "waiting"
    share: float = 0.0
    done: int = 0
    of: int = 0
    ios: int = 0
    phase: str = ""
    error: ErrorDoc | None = None
    points: list[Point] = field(default_factory=list)
    coming: list[Point] = field(default_factory=list, repr=False)
    """Intervals of the next point."""
    stopping: threading.Event = field(default_factory=threading.Event)
    settled: threading.Event = field(default_factory=threading.Event)
    """Set when the request is known to be runnable, when the job has ended, or when the check takes long."""
    ended: threading.Event = field(default_factory=threading.Event)
    version: int = 0

    def take(self, intervals: Iterable[tuple[int, float, float | None]]) -> None:
        """Add intervals (ns, I/Os per second, mean ns) to the points."""
        for at, iops, mean in intervals:
            self.coming.append((at / 1e9, iops, None if mean is None else mean / 1e6))
            if len(self.coming) >= 1 << len(self.points) // FINE_POINTS:
                self.points.append(merged(self.coming))
                self.coming.clear()

    def doc(self, known: int = 0) -> JobDoc:
        """Return the state for the page, without the first `known` points."""
        return {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "command": self.command,
            "state": self.state,
            "share": self.share,
            "done": self.done,
            "of": self.of,
            "ios": self.ios,
            "phase": self.phase,
            "error": self.error,
            "first_point": known,
            "points": self.points[known:],
        }


def merged(points: Sequence[Point]) -> Point:
    """Return one point for several of equal length: the mean rate, and the mean latency of their I/Os."""
    if len(points) == 1:
        return points[0]
    with_ios = [(iops, mean) for _, iops, mean in points if mean is not None]
    ios = sum(iops for iops, _ in with_ios)
    latency = sum(iops * mean for iops, mean in with_ios) / ios if ios else None
    return points[0][0], sum(iops for _, iops, _ in points) / len(points), latency


class Jobs:
    """All jobs of this start of the server; ended ones are also in the store."""

    def __init__(
        self, store: Kept, changed: Callable[[], None], explain: Callable[[UserError, Json], ErrorDoc]
    ) -> None:
        self.kept, self.changed, self.explain = store, changed, explain
        self.all: dict[str, Job] = {}
        self.version = 0
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="job")

    def start(self, kind: str, form: Json, command: str, call: Call) -> Job:
        """Begin a job, or queue it. Raises UserError if too many wait."""
        with self._lock:
            if sum(job.state in ("waiting", "running") for job in self.all.values()) >= MOST_WAITING:
                raise UserError("jobs", "", str(MOST_WAITING), "jobs are waiting already: stop some of them first")
            job = Job(self.kept.new_id(kind), kind, call.title, command, form, call)
            if sum(job.state == "running" for job in self.all.values()) >= AT_A_TIME:
                job.settled.set()  # it is queued, and no request waits for it
            self.all[job.id] = job
            self._touch(job)
        self.kept.keep(_kept_doc(job))
        self.changed()
        self._threads.submit(self._run, job)
        return job

    def drop(self, job: Job) -> None:
        """Remove the results of an ended job. Pages that saw it begin are still notified that it failed."""
        self.kept.drop(job.id)

    def stop(self, job: Job) -> None:
        """Request the end of a job; one that waits does not begin."""
        job.stopping.set()
        with self._lock:
            if job.state == "waiting":
                job.state = "stopped"
                self._touch(job)
                job.settled.set()
        self.changed()

    def close(self) -> None:
        """Stop all jobs, and wait until none is running."""
        for job in list(self.all.values()):
            job.stopping.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def since(self, version: int) -> tuple[int, list[Job]]:
        """Return the current version, and the jobs that changed since another version."""
        with self._lock:
            return self.version, [job for job in self.all.values() if job.version > version]

    def _touch(self, job: Job) -> None:
        self.version += 1
        job.version = self.version

    def _run(self, job: Job) -> None:
        if job.stopping.is_set():
            self._end(job, "stopped")
            return
        with self._lock:
            job.state = "running"
            self._touch(job)
        self.changed()
        try:
            # Runs with intervals are added once they have them.
            at_end = isinstance(job.form, dict) and bool(job.form.get("interval"))
            with self.kept.results.taking(at_end=at_end):
                shown = job.call.run(lambda progress: self._told(job, progress), self.kept.folder(job.id))
            self.kept.keep_shown(job.id, shown)
            self._end(job, "stopped" if job.stopping.is_set() else "done")
        except KeyboardInterrupt:
            self._end(job, "stopped")
        except UserError as error:
            job.error = self.explain(error, job.form)
            self._end(job, "failed")
        except OSError as error:
            text = f"{error.filename or 'a file'}: {reason_of(error)}"
            job.error = {"field": "", "key": "", "text": text}
            self._end(job, "failed")
        except Exception as error:
            # A fault of ours, not of the user: the traceback goes to the terminal, and one line to the page.
            traceback.print_exception(error)
            text = f"Hotband failed: {type(error).__name__}; the terminal of hotband ui shows the traceback"
            job.error = {"field": "", "key": "", "text": text}
            self._end(job, "failed")

    def _told(self, job: Job, progress: Progress) -> None:
        """Receive the progress of a job. Raises KeyboardInterrupt if it must end."""
        job.settled.set()
        if job.stopping.is_set():
            raise KeyboardInterrupt
        with self._lock:
            job.share, job.done, job.of, job.ios, job.phase = (
                progress.share,
                progress.done,
                progress.of,
                progress.ios,
                progress.phase,
            )
            job.take(progress.intervals)
            self._touch(job)
        self.changed()

    def _end(self, job: Job, state: State) -> None:
        with self._lock:
            job.state = state
            if state == "done":
                job.share = 1.0
            for ended in [other for other in self.all.values() if other.ended.is_set()][:-WITH_POINTS]:
                ended.points = []
            self._touch(job)
        self.kept.keep(_kept_doc(job))
        job.settled.set()
        job.ended.set()
        self.changed()


def _kept_doc(job: Job) -> KeptDoc:
    return {
        "id": job.id,
        "kind": job.kind,
        "title": job.title,
        "command": job.command,
        "state": job.state,
        "form": job.form,
        "error": None if job.error is None else job.error["text"],
        "at": int(time.time()),
    }
