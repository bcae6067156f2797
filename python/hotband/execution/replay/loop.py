"""Issues the I/Os of a trace on the wall clock, from one thread, and records when each was issued and completed.

fio is not used: 3.33 counts the time to an I/O of a log from the issue of the one before, so that delays add up, and
its engine for NBD waits for a completion where it should wait for the time of the next I/O.
"""

from __future__ import annotations

import gc
import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic_ns
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.execution.replay.ports import MOST_OUTSTANDING, Port

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.execution.replay.schedule import Schedule

LOOK_EVERY_NS = 200_000_000
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
    """When each I/O was due, issued and completed, in ns since the replay began, and whether it failed."""

    due: NDArray[np.int64]
    issued: NDArray[np.int64]
    completed: NDArray[np.int64]
    failed: NDArray[np.bool_]


def issue(
    ios: Sequence[Io],
    schedule: Schedule,
    ports: Sequence[Port],
    look: Callable[[float, int], None] = lambda *_: None,
    end_ns: int | None = None,
) -> Times:
    """Issue the I/Os until all have completed; after `end_ns` no more are issued. `look` receives the seconds so far
    and the completed I/Os a few times per second; whatever it raises ends the replay. Raises OSError."""
    all_due, issued, completed = (np.full(len(ios), NEVER, np.int64) for _ in range(3))
    failed = np.zeros(len(ios), np.bool_)
    outstanding = done = 0
    begin = look_at = monotonic_ns()
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        while True:
            now = monotonic_ns() - begin
            due = schedule.next_time() if outstanding < MOST_OUTSTANDING else None
            if due is not None and end_ns is not None and max(due, now) >= end_ns:
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
                    completed[index] = now = monotonic_ns() - begin
                    failed[index] = error
                    outstanding, done = outstanding - 1, done + 1
                    schedule.completed(index, now)
            if begin + now >= look_at:
                look(now / 1e9, done)
                look_at = monotonic_ns() + LOOK_EVERY_NS
            now = monotonic_ns() - begin
            if due is not None and due <= now:
                index = schedule.take()
                io = ios[index]
                all_due[index], issued[index] = due, now
                ports[io.port].submit(index, io)
                outstanding += 1
    finally:
        if was_collecting:
            gc.enable()
    return Times(all_due, issued, completed, failed)
