"""Requests to end a served machine: the first ends it, later ones do not stop its record from being kept."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from hotband.execution.runs.signals import ENDING, PATIENCE_S, exit_code, interrupted

WAITS = f"hotband: the record is being written; an interrupt after {PATIENCE_S} s ends it without the record\n"
ENDS = "hotband: interrupted again; ended at once, without the record\n"


class Ending:
    """Effect of a request to end. Until the machine is served it is a KeyboardInterrupt; afterwards the first request
    is one, and later ones wait for the record."""

    at_work: Ending | None = None
    """The one that takes the signals now."""

    def __init__(self) -> None:
        self._is_served = False
        self._since: float | None = None
        self.late: int | None = None
        """The last request that waited."""
        self._is_told = False

    def served(self) -> None:
        """From now on there is something to keep."""
        self._is_served = True

    def closes(self) -> None:
        """Note that only saving the record is left."""
        if self._since is None:
            self._since = time.monotonic()

    @classmethod
    @contextmanager
    def closing(cls) -> Iterator[None]:
        """A block that keeps a record: a request meanwhile waits, and does at the end what it would have done."""
        if cls.at_work is not None:
            cls.at_work.closes()
            yield
            return
        ending = cls()
        ending.closes()
        with ending.taken():
            yield
        if ending.late is not None:
            signal.raise_signal(ending.late)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take the signals that ask for an end. Signals can be taken in the main thread alone."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # The interpreter writes to it even while the main thread is in native code, where no handler can run.
        read, written = socket.socketpair()
        written.setblocking(False)
        with read, written:
            watching = threading.Thread(target=self._watch, args=(read,), name="ending", daemon=True)
            watching.start()
            fd_before = signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
            before = {number: signal.signal(number, self._asked) for number in ENDING}
            Ending.at_work = self
            try:
                yield
            finally:
                Ending.at_work = None
                for number, handler in before.items():
                    signal.signal(number, handler)
                signal.set_wakeup_fd(fd_before)
                written.shutdown(socket.SHUT_WR)
                watching.join()

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self._since is None:
            if self._is_served:
                self.closes()
            return interrupted(number, frame)
        self.late = number
        if not self._is_told:
            self._is_told = True
            _say(WAITS)
        return None

    def _watch(self, signals: socket.socket) -> None:
        """End the process where it does not end by itself."""
        requests = 0
        while some := signals.recv(64):
            requests += len(some)
            if requests > 1 and self._since is not None and time.monotonic() - self._since > PATIENCE_S:
                _say(ENDS)
                os._exit(exit_code())


def _say(line: str) -> None:
    """To stderr as it is: a handler may run in the midst of another line, and nobody may read it."""
    with suppress(OSError):
        os.write(2, line.encode())
