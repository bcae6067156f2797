"""Groups of commands, each built from the declarations of its questions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import typer

from hotband.faces.commands.declared import line_of
from hotband.faces.commands.group import Commands
from hotband.faces.commands.on_demand import OnDemand
from hotband.faces.questions import GROUPS

MEANT = {"drives": "show", "import": "auto", "store": "list", "workloads": "show"}
"""The command that a group runs if its first argument is not a command (`hotband store DIR`)."""
WITHOUT_ARGUMENTS = ("drives", "workloads")
"""Groups that run this command also without arguments."""
OF_FILES = ("import",)
"""Groups that run it only for an existing file or folder."""


@cache
def __getattr__(name: str) -> Any:
    """Return a group by its name."""
    if name not in GROUPS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    text, words = GROUPS[name]
    return group_of(name, text, {word: line_of(f"{name} {word}") for word in words})


def group_of(name: str, text: str, table: Mapping[str, tuple[str, str]]) -> typer.Typer:
    """Return the group of the commands in a table (see `OnDemand`), each loaded on first use."""

    class Group(Commands):
        """A group whose commands are made when one of them is used."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = OnDemand(table)  # type: ignore[assignment]

        def parse_args(self, ctx: Any, args: list[str]) -> Any:
            first = args[0] if args else "" if name in WITHOUT_ARGUMENTS else "--help"
            is_meant = name not in OF_FILES or Path(first).exists()
            if name in MEANT and first not in table and first != "--help" and is_meant:
                args = [MEANT[name], *args]
            return super().parse_args(ctx, args)

    return typer.Typer(cls=Group, no_args_is_help=True, help=text)
