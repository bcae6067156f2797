"""Who is given every run as it is finished, besides whoever asked for it: chosen once, where a command or a block of a
program begins. Runs that only serve another figure (draws of intervals, steps of a search) are of experiments without a
name, and are not given away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.data.inputs.values import Coordinate
    from hotband.data.record.finished import Finished

Taker = Callable[[str, "Finished", Mapping[str, "Coordinate"]], None]
"""Takes a run: what it belongs to, the run, its coordinates; in any thread."""
UNNAMED = "an experiment"
"""What experiments are called that have no name of their own."""

_taker: ContextVar[Taker | None] = ContextVar("taker", default=None)


@contextmanager
def given_to(taker: Taker) -> Iterator[None]:
    """Within it, in this thread, experiments with a name give every run to `taker`."""
    token = _taker.set(taker)
    try:
        yield
    finally:
        _taker.reset(token)


def taker_of(what: str) -> Taker | None:
    """Who is given the runs of an experiment of this name; None if nobody is."""
    return None if what == UNNAMED else _taker.get()
