"""A store that takes the runs of a command or a call as they are finished: `--into DIR`, `into=`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path


@contextmanager
def into_store(folder: str | PathLike[str] | None, *, at_end: bool = False) -> Iterator[None]:
    """Within it, in this thread, every run of an experiment with a name is in the store as it is finished, whatever
    ends the block; `at_end` they are added at its end, with the intervals that they were given meanwhile. Without a
    folder nothing is. Raises UserError for a folder that is something else."""
    if folder is None:
        yield
        return
    from hotband.data.store.results_store import ResultsStore

    with ResultsStore(Path(folder)) as store, store.taking(at_end=at_end):
        yield
