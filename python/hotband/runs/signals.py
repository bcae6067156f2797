"""Requests to end, as interruptions: what was begun is undone, and what was measured is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""Exit code of what the user stopped: 128 and SIGINT's number, as shells have it."""
PATIENCE_S = 10
"""So long after a server was told to end it may be told again to no effect; then that ends the process, whatever is not
kept yet: an estimate of what users bear."""
_ASKED = threading.Event()
"""Set by a request to end, until the next command begins."""
# SIGINT too: a shell lets commands that it starts in the background ignore it.
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def stoppable() -> Iterator[None]:
    """Within it a request to end is a KeyboardInterrupt. Signals can be taken in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, interrupted) for one in ENDING}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def interrupted(_signal: int, _frame: FrameType | None) -> NoReturn:
    """What a signal does."""
    _ASKED.set()
    raise KeyboardInterrupt


def notice_interrupts() -> None:
    """From now on an interruption is known to `was_interrupted`, wherever it is caught. For the main thread alone."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)


def forget_interrupts() -> None:
    """A command begins."""
    _ASKED.clear()


def was_interrupted() -> bool:
    """Whether the user asked the command to end. A library may turn the KeyboardInterrupt into an exception of its own:
    rpds, by which charts are checked, raises a TypeError."""
    return _ASKED.is_set()
