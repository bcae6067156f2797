"""The manual page, made from the definitions of the commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from hotband.base.version import __version__
from hotband.faces.commands.front import ONE_LINE


def manual(group: Any, context: Any) -> str:
    """Return the manual page of all commands in roff, for `man -l`."""
    lines = [
        f'.TH HOTBAND 1 "" "Hotband {__version__}" "User Commands"',
        ".SH NAME",
        f"hotband \\- {escaped(ONE_LINE)}",
        ".SH SYNOPSIS",
        ".B hotband",
        "COMMAND [OPTIONS] [ARGUMENTS]",
        ".SH COMMANDS",
    ]
    for words, command in commands(group, context, "hotband"):
        lines += [f".SS {escaped(words)}", *described(command)]
    return "\n".join(lines) + "\n"


def commands(group: Any, context: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Yield the words and the command of each command of a group, including those of its groups, in order."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = typer.Context(command, info_name=name, parent=context)
        if hasattr(command, "commands"):
            yield from commands(command, inner, f"{before} {name}")
        else:
            yield f"{before} {name}", command


def described(command: Any) -> Iterator[str]:
    """Yield the help of a command and of each of its parameters."""
    yield from (escaped(line) for line in (command.help or "").splitlines() if line.strip())
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        yield ".TP"
        is_option = parameter.param_type_name == "option"
        yield f".B {escaped(', '.join(parameter.opts) if is_option else parameter.metavar or parameter.name.upper())}"
        yield escaped(" ".join((getattr(parameter, "help", None) or "").split())) or "\\&"


def escaped(text: str) -> str:
    """Escape text for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
