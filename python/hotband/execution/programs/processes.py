"""Processes that a program needs, all ended when the work is over."""

from __future__ import annotations

import errno
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from hotband.base.child import Child, Printed, Told, start_child
from hotband.execution.runs.signals import whole

GRACE_S = 20.0
"""Time that a process may take to end after the request to end: a database writes its checkpoint."""


class ProgramFailed(OSError):
    """A program failed: its name and the reason, in one line."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(errno.EIO, reason, name)


class Processes:
    """Started processes, ended in reverse order."""

    def __init__(self) -> None:
        self._all: list[Child] = []

    def start(
        self,
        command: Sequence[str | Path],
        *,
        user: str | None = None,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        end_signal: signal.Signals = signal.SIGTERM,
        tell: Told | None = None,
    ) -> Child:
        """Start a process, as `user` if one is given; `tell` receives each line that it prints, from another thread."""
        # An interruption while it starts waits until it is among those that are ended.
        with whole():
            child = start_child(
                command,
                output=Printed(tell),
                environment={"LC_ALL": "C.UTF-8", **(environment or {})},
                folder=folder,
                user=user,
                tied=True,
                end_signal=end_signal,
            )
            self._all.append(child)
        return child

    def wait(self, child: Child, within_s: float) -> str:
        """Return the output of a process that ended well. Raises ProgramFailed if it fails or takes too long."""
        in_time = child.ended_within(within_s)
        self.end(child)
        if not in_time:
            raise ProgramFailed(child.name, f"did not end within {within_s:,.0f} s{last_words(child)}")
        code = child.code
        if code != 0:
            ending = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise ProgramFailed(child.name, f"ended with {ending}{last_words(child)}")
        return child.text()

    def end(self, child: Child) -> None:
        """End one of them."""
        child.end(GRACE_S)
        if child in self._all:
            self._all.remove(child)

    def end_all(self) -> None:
        """End every process that was started and has not been waited for, the last one first."""
        while self._all:
            self._all[-1].end(GRACE_S)
            self._all.pop()


def last_words(child: Child) -> str:
    """The line with the reason why a process ended, else its last, for a message; after a moment, since another thread
    reads it."""
    lines = [line.strip() for line in child.text(1.0).splitlines() if line.strip()]
    # What failed is often said before the last line, and what followed from it after that.
    telling = [
        line
        for line in lines
        if any(word in line.lower() for word in ("error", "fatal", "panic", "failed", "no space", "must"))
    ]
    return f": {(telling or lines[-1:])[0]}" if lines else ""
