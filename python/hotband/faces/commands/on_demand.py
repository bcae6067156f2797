"""Commands that are made when they are asked for: typer makes all of them, with every option, before it looks at what
the user wrote, which is a fifth of what a short command takes."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, MutableMapping
from typing import Any

import typer
from typer.core import TyperCommand


def group_of(app: typer.Typer) -> Any:
    """The group of an application, whose commands are made when they are asked for. Its list of commands is plain text:
    the boxes that typer draws around it take longer to load than the rest of the list to make."""
    bare = copy.copy(app)
    bare.registered_commands, bare.registered_groups, bare.rich_markup_mode = [], [], None
    group = typer.main.get_command(bare)
    group.commands = OnDemand(app)  # type: ignore[attr-defined]
    return group


class OnDemand(MutableMapping[str, Any]):
    """The commands of an application by name, each made once."""

    def __init__(self, app: typer.Typer) -> None:
        named = ((one.name or name_of(one.callback), one) for one in app.registered_commands)
        self._commands = dict(named) | {str(one.name): one for one in app.registered_groups}
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = made(self._commands[name])
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = self._commands[name] = command

    def __delitem__(self, name: str) -> None:
        del self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)

    def told(self) -> dict[str, TyperCommand]:
        """What a list of the commands says of them: names and first paragraphs, no options."""
        return {name: TyperCommand(name, short_help=help_of(one)) for name, one in self._commands.items()}


def name_of(callback: Any) -> str:
    """The name of a command that is given none: that of its function."""
    return str(callback.__name__).lower().replace("_", "-")


def help_of(info: Any) -> str:
    """What a command or a group of them says of itself, in its first paragraph."""
    group = getattr(info, "typer_instance", None)
    said = group.info.help if group is not None else info.help
    text = inspect.cleandoc(said if isinstance(said, str) else info.callback.__doc__ or "")
    return " ".join(text.partition("\n\n")[0].split())


def made(info: Any) -> Any:
    """A command or a group of them, with its options."""
    holder = typer.Typer(add_completion=False)
    if getattr(info, "typer_instance", None) is None:
        holder.registered_commands = [info]
        return typer.main.get_command(holder)
    holder.registered_groups = [info]
    group: Any = typer.main.get_command(holder)
    return group.commands[info.name]
