"""Groups of commands, each made of the declarations of its questions."""

from __future__ import annotations

from functools import cache
from typing import Any

import typer

from hotband.faces.commands.group import Commands
from hotband.faces.commands.on_demand import OnDemand
from hotband.faces.questions import GROUPS, QUESTIONS


@cache
def __getattr__(name: str) -> Any:
    """Return a group by its name."""
    if name not in GROUPS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    text, words = GROUPS[name]
    names = {word: f"{name} {word}" for word in words}
    table = {word: (f"hotband.faces.commands.question:{of}", QUESTIONS[of].summary) for word, of in names.items()}

    class Group(Commands):
        """The commands of the group, each loaded when it is asked for."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = OnDemand(table)  # type: ignore[assignment]

    return typer.Typer(cls=Group, no_args_is_help=True, help=text)
