"""When the I/Os of a trace are due: at recorded times, after completions, or as fast as possible.

The rules are those of the engine (crates/workloads/src/sources/trace, `replay.rs` and `links.rs`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Protocol


class Schedule(Protocol):
    """The order of I/Os by index in the trace; times are in ns since the replay began."""

    def next_time(self) -> int | None:
        """Return when the next I/O is due; None if all others wait for completions, or were issued."""

    def take(self) -> int:
        """Return the next I/O, which is then issued."""

    def completed(self, index: int, now: int) -> None:
        """Note that an I/O completed."""


class Recorded:
    """A schedule that issues each I/O at its recorded time."""

    def __init__(self, times: Sequence[int]) -> None:
        self._times, self._next = times, 0

    def next_time(self) -> int | None:
        return self._times[self._next] if self._next < len(self._times) else None

    def take(self) -> int:
        self._next += 1
        return self._next - 1

    def completed(self, index: int, now: int) -> None:
        """No I/O waits for a completion."""


class Fast:
    """A schedule that issues the next I/O as soon as fewer than `depth` are outstanding."""

    def __init__(self, ios: int, depth: int) -> None:
        self._ios, self._depth = ios, depth
        self._next = self._outstanding = 0

    def next_time(self) -> int | None:
        return 0 if self._next < self._ios and self._outstanding < self._depth else None

    def take(self) -> int:
        self._next, self._outstanding = self._next + 1, self._outstanding + 1
        return self._next - 1

    def completed(self, index: int, now: int) -> None:
        self._outstanding -= 1


class AfterCompletion:
    """A schedule that issues an I/O when the one that completed last before it in the recording has completed, and its
    think time has passed."""

    def __init__(self, issues: Sequence[int], latencies: Sequence[int], speed: float) -> None:
        self._due: list[tuple[int, int]] = []
        self._waiting: dict[int, list[tuple[int, int]]] = {}
        outstanding: list[tuple[int, int]] = []
        last: tuple[int, int] | None = None
        for index, (issue, latency) in enumerate(zip(issues, latencies, strict=True)):
            while outstanding and outstanding[0][0] <= issue:
                last = heapq.heappop(outstanding)
            heapq.heappush(outstanding, (issue + latency, index))
            think = round((issue - (0 if last is None else last[0])) / speed)
            if last is None:
                heapq.heappush(self._due, (think, index))
            else:
                self._waiting.setdefault(last[1], []).append((think, index))

    def next_time(self) -> int | None:
        return self._due[0][0] if self._due else None

    def take(self) -> int:
        return heapq.heappop(self._due)[1]

    def completed(self, index: int, now: int) -> None:
        for think, waiting in self._waiting.pop(index, ()):
            heapq.heappush(self._due, (now + think, waiting))
