"""Entries for questions in tables of commands."""

from hotband.faces.questions import GROUPS, QUESTIONS


def line_of(name: str) -> tuple[str, str]:
    """Return the location of a question's command, and the first paragraph of its help."""
    return f"hotband.faces.commands.question:{name}", QUESTIONS[name].summary


def question(name: str, command: str = "") -> dict[str, tuple[str, str]]:
    """Return the entry of a question, whose command is built from its declaration. `command` is the name of the command
    if it is not that of the question."""
    return {command or name: line_of(name)}


def group(name: str) -> dict[str, tuple[str, str]]:
    """Return the entry of a group of questions."""
    return {name: (f"hotband.faces.commands.groups:{name}", GROUPS[name][0])}
