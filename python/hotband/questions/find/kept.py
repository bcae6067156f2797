"""The answers of a question in a store: `--into` and `into=`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.data.store.results_store import ResultsStore
from hotband.questions.find.question import RATE

if TYPE_CHECKING:
    from hotband.questions.find.found import Found


@contextmanager
def answers_kept(into: str | PathLike[str] | None) -> Iterator[Callable[[Found], None]]:
    """What keeps the runs of a question's answers in a store, where one is asked for: not the steps that led to them.
    Raises UserError for a folder that is something else, before anything runs."""
    if into is None:
        yield lambda found: None
        return

    def keep(found: Found) -> None:
        for one in found.answers:
            if one.record is not None and one.value is not None and one.axis is not None:
                value = one.value if one.axis.name == RATE else one.axis.text(one.value)
                store.append(one.record, {one.axis.name: value}, experiment=f"find: {found.question.text}")

    with ResultsStore(Path(into)) as store, store.taking():
        yield keep
