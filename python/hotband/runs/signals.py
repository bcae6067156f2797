"""Requests to end, as interruptions: what was begun is undone, and what was measured is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

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
    raise KeyboardInterrupt
