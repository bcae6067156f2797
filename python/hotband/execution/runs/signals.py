"""Requests to end, as interruptions: begun work is undone, and measurements are kept.

A KeyboardInterrupt that a library drops would let the command continue with a half-loaded library. Therefore a request
waits while modules are imported and within `whole`, and is repeated if Python reports that an exception was ignored (a
destructor, a callback of C). Left out: a library that catches every exception; `was_interrupted` finds that at the end
of the command.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130
"""Exit code of what the user stopped: 128 and SIGINT's number, as shells have it; `exit_code` is that of another
signal."""
PATIENCE_S = 10
"""For this time after a request to end a server, further requests have no effect; later ones end the process even if
data is not yet stored: an estimate of users' patience."""
_ASKED = threading.Event()
"""Set by a request to end, until the next command begins."""
_FIRST: list[tuple[int, float]] = []
"""The signal of the first request since then, and its time."""
IMPORTS = "<frozen importlib._bootstrap>"
"""File of the frames by which Python imports a module."""
SOON_S = 0.01
"""Time until a delayed request is repeated: too short to be noticed, long compared with a handler's run time."""


@dataclass
class _Waiting:
    """Reasons to delay a request: blocks of `whole` that are open, and imports beyond those that `notice_interrupts`
    was called from; whether one waits for the end of such a block."""

    blocks: int = 0
    imports: int = 0
    asked: bool = False


_WAITING = _Waiting()
# SIGINT too: a shell lets commands that it starts in the background ignore it.
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def stoppable() -> Iterator[None]:
    """Within it a request to end is a KeyboardInterrupt. Signals can be taken in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A command under nohup goes on when its terminal is closed.
    taken = [number for number in ENDING if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupted) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interrupted(number: int, frame: FrameType | None) -> None:
    """Action on a signal: raises KeyboardInterrupt, now or as soon as nothing can drop it. A service manager may send
    SIGTERM and SIGHUP, and a shell both again: the second must not stop the clean-up of the first."""
    if number in ENDING:
        if _FIRST and number != signal.SIGINT and time.monotonic() - _FIRST[0][1] < PATIENCE_S:
            return
        _FIRST[:] = _FIRST or [(number, time.monotonic())]
    _ASKED.set()
    if _WAITING.blocks:
        _WAITING.asked = True
    elif not (_imports(frame) > _WAITING.imports and _again()):
        raise KeyboardInterrupt


@contextmanager
def whole() -> Iterator[None]:
    """Within it a request to end waits; it is a KeyboardInterrupt at the end. For the main thread: others get none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, interrupted)
    _WAITING.blocks += 1
    try:
        yield
    finally:
        _WAITING.blocks -= 1
        if is_default:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if _WAITING.asked and not _WAITING.blocks:
            _WAITING.asked = False
            raise KeyboardInterrupt


def _imports(frame: FrameType | None) -> int:
    """Frames of imports that are under way."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename == IMPORTS
        frame = frame.f_back
    return count


def _again() -> bool:
    """Repeats a request soon; whether that is possible."""
    if signal.getsignal(signal.SIGALRM) is not _late:
        return False
    signal.setitimer(signal.ITIMER_REAL, SOON_S)
    return True


def _late(number: int, frame: FrameType | None) -> None:
    """A request that had to wait."""
    if was_interrupted():
        interrupted(number, frame)


def _ignored(exception: UnraisableHookArgs) -> None:
    """An exception that Python ignores, as the caller has no way to pass it on."""
    if not (issubclass(exception.exc_type, KeyboardInterrupt) and was_interrupted() and _again()):
        sys.__unraisablehook__(exception)


def notice_interrupts() -> None:
    """From now on an interruption is known to `was_interrupted`, wherever it is caught. For the main thread alone."""
    if signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
        signal.signal(signal.SIGALRM, _late)
        sys.unraisablehook = _ignored
        _WAITING.imports = _imports(sys._getframe())
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)
    notice_endings()


def notice_endings() -> None:
    """From now on SIGTERM and SIGHUP interrupt as Ctrl-C does, unless they are ignored or handled. For the main
    thread alone."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupted)


def exit_code() -> int:
    """Return the exit code of a command that a signal ended."""
    return 128 + _FIRST[0][0] if _FIRST else INTERRUPTED


def settle_interrupts() -> None:
    """A command ended: a request that waits is not repeated any more."""
    if signal.getsignal(signal.SIGALRM) is _late:
        signal.setitimer(signal.ITIMER_REAL, 0)


def forget_interrupts() -> None:
    """Forget all requests: a command begins, or a server ended as requested."""
    _ASKED.clear()
    _FIRST.clear()


def was_interrupted() -> bool:
    """Whether the user asked the command to end. A library may turn the KeyboardInterrupt into an exception of its own:
    rpds, by which charts are checked, raises a TypeError."""
    return _ASKED.is_set()
