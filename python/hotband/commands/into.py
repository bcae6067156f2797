"""`--into` of the commands whose runs a store can take: declared here, and seen by none of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from hotband.find.found import Found

R = TypeVar("R")
IntoOption = Annotated[
    Path | None, typer.Option("--into", metavar="DIR", help="A store (hotband store) that takes every run, too.")
]


def into_store(command: Callable[..., R]) -> Callable[..., R]:
    """The command with `--into`: every run of it is in the store as it is finished, whatever ends the command."""
    return _with_option(command, lambda given: False)


def into_store_at_end(command: Callable[..., R]) -> Callable[..., R]:
    """The same for a command that makes intervals (`--interval`) of runs that are finished: then they are added at its
    end, with these."""
    return _with_option(command, lambda given: given.get("interval") is not None)


@contextmanager
def answers_kept(into: Path | None) -> Iterator[Callable[[Found], None]]:
    """What keeps the runs of a question's answers in a store, where one is asked for: not the steps that led to them.
    Raises UserError for a folder that is something else, before anything runs."""
    if into is None:
        yield lambda found: None
        return
    from hotband.find.question import RATE
    from hotband.store.results_store import ResultsStore

    def keep(found: Found) -> None:
        for one in found.answers:
            if one.record is not None and one.value is not None and one.axis is not None:
                value = one.value if one.axis.name == RATE else one.axis.text(one.value)
                store.append(one.record, {one.axis.name: value}, experiment=f"find: {found.question.text}")

    with ResultsStore(into) as store, store.taking():
        yield keep


def _with_option(command: Callable[..., R], is_late: Callable[[Mapping[str, object]], bool]) -> Callable[..., R]:
    @wraps(command)
    def called(*, into: Path | None = None, **given: object) -> R:
        if into is None:
            return command(**given)
        from hotband.store.into import into_store as taken

        with taken(into, at_end=is_late(given)):
            return command(**given)

    signature = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("into", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=IntoOption)
    own = list(signature.parameters.values())
    place = next((n + 1 for n, one in enumerate(own) if one.name == "out"), len(own))
    called.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in [*own[:place], option, *own[place:]]]
    )
    called.__annotations__ = {**command.__annotations__, "into": IntoOption}
    return called
