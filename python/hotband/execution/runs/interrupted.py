"""The runs that the user stopped. The command line can import this without loading the code that executes runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.data.record.finished import Finished


class RunsInterrupted(Exception):
    """The user stopped the runs; `finished` were completed (and saved, if they have a folder)."""

    def __init__(self, finished: list[Finished]) -> None:
        super().__init__("interrupted")
        self.finished = finished


@contextmanager
def as_interrupt() -> Iterator[None]:
    """Within it runs that the user stopped are a KeyboardInterrupt: what Python's own functions raise then."""
    try:
        yield
    except RunsInterrupted:
        raise KeyboardInterrupt from None
