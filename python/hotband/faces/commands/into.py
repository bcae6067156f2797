"""`--into` of the commands whose runs a store can take: declared here, and seen by none of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, TypeVar

import typer

R = TypeVar("R")
IntoOption = Annotated[
    Path | None, typer.Option("--into", metavar="DIR", help="A store (hotband store) that takes every run, too.")
]


def into_store(command: Callable[..., R]) -> Callable[..., R]:
    """The command with `--into`: every run of it is in the store as it is finished, whatever ends the command."""

    @wraps(command)
    def called(*, into: Path | None = None, **given: object) -> R:
        if into is None:
            return command(**given)
        from hotband.data.store.into import into_store as taken

        with taken(into):
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
