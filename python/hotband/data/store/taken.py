"""The receiver of every finished run in addition to its caller, chosen once at the start of a command or a block of a
program. Runs that only serve another figure (samples of intervals, steps of a search) belong to experiments without a
name, and are not passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.data.inputs.values import Coordinate
    from hotband.data.record.finished import Finished

Taker = Callable[[str, "Finished", Mapping[str, "Coordinate"]], None]
"""Receives a run: its experiment, the run, its coordinates; in any thread."""
UNNAMED = "an experiment"
"""Name of experiments that have none."""

_taker: ContextVar[Taker | None] = ContextVar("taker", default=None)


@contextmanager
def given_to(taker: Taker) -> Iterator[None]:
    """Within the block, in this thread, pass every run of named experiments to `taker`."""
    token = _taker.set(taker)
    try:
        yield
    finally:
        _taker.reset(token)


def taker_of(what: str) -> Taker | None:
    """Return the receiver of the runs of an experiment of this name; None if there is none."""
    return None if what == UNNAMED else _taker.get()
