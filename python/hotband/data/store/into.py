"""A store that receives the runs of a command or a call as they finish: `--into DIR`, `into=`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path


@contextmanager
def into_store(folder: str | PathLike[str] | None, *, at_end: bool = False) -> Iterator[None]:
    """Add every run of a named experiment in this thread to the store as it finishes, however the block ends; `at_end`
    adds them at its end, with the intervals calculated meanwhile. Without a folder nothing is added. Raises UserError
    for a folder that is not a store."""
    if folder is None:
        yield
        return
    from hotband.data.store.results_store import ResultsStore

    with ResultsStore(Path(folder)) as store, store.taking(at_end=at_end):
        yield
