"""Options of commands that read traces: how a file is read, and what of it is taken; declared here once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Annotated, TypeVar

import typer

from hotband.inference.traces.convert import columns_of

R = TypeVar("R")
Keys = Mapping[str, object]
"""Keys of `[trace]`, each with what was said of it, or None."""
NOTHING: Keys = MappingProxyType({})
Names = list[str] | None
OPTIONS: dict[str, tuple[object, object]] = {
    "format": (
        Annotated[str | None, typer.Option("--format", metavar="NAME", help="Its format, if not recognised.")],
        None,
    ),
    "columns": (
        Annotated[
            str | None,
            typer.Option(
                "--columns", metavar="KEY=COLUMN,...", help="Of any CSV: time=1:us,offset=2:sectors,size=3,op=4."
            ),
        ],
        None,
    ),
    "skip_bad": (
        Annotated[int, typer.Option("--skip-bad", min=0, metavar="N", help="Leave out up to N wrong lines.")],
        0,
    ),
    "device": (
        Annotated[Names, typer.Option("--device", metavar="NAME", help="Of this device. May be repeated.")],
        None,
    ),
    "host": (Annotated[Names, typer.Option("--host", metavar="NAME", help="Of this host. May be repeated.")], None),
    "process": (
        Annotated[Names, typer.Option("--process", metavar="NAME", help="Of this process. May be repeated.")],
        None,
    ),
    "direction": (
        Annotated[
            Names, typer.Option("--direction", metavar="NAME", help="read, write, flush or trim. May be repeated.")
        ],
        None,
    ),
    "from": (
        Annotated[str | None, typer.Option("--from", metavar="TIME", help='Since its first I/O, as "1 h".')],
        None,
    ),
    "for": (Annotated[str | None, typer.Option("--for", metavar="TIME", help="For so long.")], None),
}
"""By key: what Typer is told, and the value where nothing is said."""


def reads_traces(command: Callable[..., R]) -> Callable[..., R]:
    """The command with these options in the place of its parameter `keys`, which has what they say."""

    @wraps(command)
    def called(**given: object) -> R:
        keys = {key: given.pop(f"{key}_") for key in OPTIONS}
        columns = keys["columns"]
        keys["columns"] = columns_of(columns if isinstance(columns, str) else None)
        return command(keys=keys, **given)

    signature = inspect.signature(command, eval_str=True)
    only = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(f"{key}_", only, default=default, annotation=annotation)
        for key, (annotation, default) in OPTIONS.items()
    ]
    own = list(signature.parameters.values())
    place = next(place for place, one in enumerate(own) if one.name == "keys")
    placed = [*own[:place], *options, *own[place + 1 :]]
    called.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[one.replace(kind=only) for one in placed]
    )
    called.__annotations__ = {one.name: one.annotation for one in placed}
    return called
