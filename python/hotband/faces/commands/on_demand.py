"""Commands that are loaded when they are requested: loading all modules and building all options with typer would take
far longer than a short command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand

C = TypeVar("C", bound=Callable[..., Any])


def with_epilog(text: str) -> Callable[[C], C]:
    """Return a decorator that sets the text at the end of a command's help."""

    def marked(command: C) -> C:
        vars(command)["epilog"] = text
        return command

    return marked


class OnDemand(Mapping[str, Any]):
    """Commands by name, from a table with the location of each ("module:function", or "module:group") and the first
    paragraph of its help. Each is made once."""

    def __init__(self, table: Mapping[str, tuple[str, str]]) -> None:
        self._table = dict(table)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = made(name, loaded(self._table[name][0]))
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def get(self, name: str, default: Any = None) -> Any:
        """Return a command, or `default` for an unknown name; errors in a command's module are not caught."""
        return self[name] if name in self._table else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def outlines(self) -> dict[str, TyperCommand]:
        """Return outlines for a list of commands: names and first paragraphs, no options."""
        return {name: TyperCommand(name, short_help=text) for name, (_, text) in self._table.items()}


def plain_epilog(text: str) -> str:
    """Return the text at the end of a help page without markup; commands and lists keep their lines, prose is
    wrapped."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", re.sub(r"\[/?(?:bold)?\]", "", text).strip()):
        if paragraph.startswith("hotband "):
            line = " ".join(paragraph.split())
            follows = bool(lines) and lines[-1].startswith("\b\n")
            lines[-1:] = [f"{lines[-1]}\n{line}"] if follows else [*lines[-1:], f"\b\n{line}"]
        elif "  " in paragraph or len(paragraph) < 30:
            lines.append(f"\b\n{paragraph}")
        else:
            lines.append(paragraph)
    return "\n\n".join(lines)


def loaded(where: str) -> Any:
    """Return the function of a command, or a group of commands, by "module:name"."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def help_of(command: Any) -> str:
    """Return the first paragraph of the help of a command's function, or of a group."""
    text = inspect.cleandoc(str(command.info.help) if isinstance(command, typer.Typer) else command.__doc__ or "")
    return " ".join(text.partition("\n\n")[0].split())


def made(name: str, command: Any) -> Any:
    """Return a command or a group, with its options."""
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    if not isinstance(command, typer.Typer):
        settings = getattr(command, "context_settings", None)
        holder.command(name, epilog=getattr(command, "epilog", None), context_settings=settings)(command)
        return typer.main.get_command(holder)
    holder.add_typer(command, name=name)
    group: Any = typer.main.get_command(holder)
    return group.commands[name]
