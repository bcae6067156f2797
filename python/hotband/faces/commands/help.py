"""`hotband help`: all commands, the help of one of them, and short topics."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hotband.base.text.nearest import unknown_name
from hotband.faces.commands.front import all_commands
from hotband.faces.commands.manual import manual

TOPICS = Path(__file__).parent / "topics"


def help_(
    context: typer.Context,
    topic: Annotated[list[str] | None, typer.Argument(metavar="[TOPIC|COMMAND]", help="What to explain.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="List all commands, as without a topic.")] = False,
    man: Annotated[bool, typer.Option("--man", help="Print the manual page as roff.")] = False,
) -> None:
    """List all commands, show the help of a command, or explain a topic such as machines or units."""
    root: Any = context.find_root()
    if man:
        sys.stdout.write(manual(root.command, root))
    elif not topic:
        sys.stdout.write(everything_listed())
    else:
        sys.stdout.write(explained(root, topic))


def topics() -> list[str]:
    """Return the names of the topics."""
    return sorted(path.stem for path in TOPICS.glob("*.txt"))


def everything_listed() -> str:
    """Return all commands and topics."""
    return f"{all_commands()}\n\nTopics: hotband help {' | '.join(topics())}\n"


def explained(root: Any, words: list[str]) -> str:
    """Return the text of a topic, or the help of a command. Raises UserError for an unknown one."""
    group, context = root.command, root
    if len(words) == 1 and words[0] in topics():
        return (TOPICS / f"{words[0]}.txt").read_text(encoding="utf-8")
    for at, word in enumerate(words):
        command = group.get_command(context, word)
        if command is None:
            raise unknown_name("topic", " ".join(words[: at + 1]), sorted({*topics(), *group.list_commands(context)}))
        context, group = typer.Context(command, info_name=word, parent=context), command
    return f"{group.get_help(context)}\n"
