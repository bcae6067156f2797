"""Issues the I/Os of a trace on the wall clock, from one thread, and records when each was issued and completed.

fio is not used: 3.33 counts the time to an I/O of a log from the issue of the one before, so that delays add up, and
its engine for NBD waits for a completion where it should wait for the time of the next I/O.
"""

from __future__ import annotations

import errno
import gc
import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic_ns, time
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.execution.replay.ports import MOST_OUTSTANDING, Port

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.execution.replay.schedule import Schedule

LOOK_EVERY_NS = 200_000_000
MOST_SILENCE_NS = 60_000_000_000
"""Time without a completion, while I/Os are outstanding, after which a target is taken not to respond."""
SPIN_NS = 100_000
"""Time before an I/O is due in which the thread does not sleep: the kernel wakes it up to 50 us late
(PR_SET_TIMERSLACK), and a core that slept takes longer."""
NEVER = -1
"""Stands for an I/O that was not issued, or has not completed, in the arrays of times."""


@dataclass(frozen=True, slots=True)
class Io:
    """An I/O as it is issued: the number of its port, operation (as in a row of a trace), place, and FUA."""

    port: int
    op: int
    offset: int
    size: int
    fua: bool


@dataclass(frozen=True)
class Times:
    """When each I/O was due, issued and completed, in ns since the replay began, and whether it failed. `began_s` is
    the wall-clock time at which it began, in seconds since 1970."""

    due: NDArray[np.int64]
    issued: NDArray[np.int64]
    completed: NDArray[np.int64]
    failed: NDArray[np.bool_]
    began_s: float


class _Limits:
    """Reasons to end a replay before all I/Os are issued: its duration, or a target that does not respond."""

    def __init__(self, duration_ns: int | None, unmeasured: int) -> None:
        self._duration_ns, self._unmeasured = duration_ns, unmeasured
        self._end_ns = None if unmeasured else duration_ns
        self.answered_ns = 0

    def is_over(self, at_ns: int) -> bool:
        """Return whether nothing is issued at a time any longer."""
        return self._end_ns is not None and at_ns >= self._end_ns

    def issued(self, index: int, now: int, outstanding: int) -> None:
        """Note that an I/O is issued while others are outstanding."""
        if not outstanding:
            self.answered_ns = now
        if self._end_ns is None and self._duration_ns is not None and index >= self._unmeasured:
            self._end_ns = now + self._duration_ns

    def expect_answers(self, now: int, outstanding: int) -> None:
        """Raise OSError if the target does not respond."""
        silence = now - self.answered_ns
        if outstanding and silence > MOST_SILENCE_NS:
            raise TimeoutError(errno.ETIMEDOUT, f"no I/O completed for {silence / 1e9:.0f} s")


def issue(
    ios: Sequence[Io],
    schedule: Schedule,
    ports: Sequence[Port],
    look: Callable[[float, int], None] = lambda *_: None,
    duration_ns: int | None = None,
    unmeasured: int = 0,
) -> Times:
    """Issue the I/Os until all have completed; no more are issued once `duration_ns` has passed since the measured time
    began: with the replay, or when the first I/O after the first `unmeasured` ones was issued. `look` receives the
    seconds so far and the completed I/Os a few times per second; whatever it raises ends the replay. Raises OSError,
    also for a target that does not respond."""
    all_due, issued, completed = (np.full(len(ios), NEVER, np.int64) for _ in range(3))
    failed = np.zeros(len(ios), np.bool_)
    outstanding = done = 0
    limits = _Limits(duration_ns, unmeasured)
    began_s = time()
    begin = look_at = monotonic_ns()
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        while True:
            now = monotonic_ns() - begin
            due = schedule.next_time() if outstanding < MOST_OUTSTANDING else None
            if due is not None and limits.is_over(max(due, now)):
                due = None
            if due is None and not outstanding:
                break
            wait = 0 if due is None else max(0, due - now - SPIN_NS)
            unsent = [port for port in ports if port.has_unsent]
            timeout = (wait if due is not None else LOOK_EVERY_NS) / 1e9
            readable, writable, _ = select.select(ports, unsent, [], min(timeout, LOOK_EVERY_NS / 1e9))
            for port in writable:
                port.send()
            for port in readable:
                for index, error in port.completed():
                    completed[index] = limits.answered_ns = now = monotonic_ns() - begin
                    failed[index] = error
                    outstanding, done = outstanding - 1, done + 1
                    schedule.completed(index, now)
            if begin + now >= look_at:
                look(now / 1e9, done)
                look_at = monotonic_ns() + LOOK_EVERY_NS
                limits.expect_answers(now, outstanding)
            now = monotonic_ns() - begin
            if due is not None and due <= now:
                index = schedule.take()
                io = ios[index]
                all_due[index], issued[index] = due, now
                limits.issued(index, now, outstanding)
                ports[io.port].submit(index, io)
                outstanding += 1
    finally:
        if was_collecting:
            gc.enable()
    return Times(all_due, issued, completed, failed, began_s)
