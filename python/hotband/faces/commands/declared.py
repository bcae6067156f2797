"""Lines of a table of commands for questions."""

from hotband.faces.questions import QUESTIONS


def question(name: str, command: str = "") -> dict[str, tuple[str, str]]:
    """Return the line of a question in a table of commands: its command is built from its declaration. `command` is the
    name of the command if it is not that of the question."""
    return {command or name: (f"hotband.faces.commands.question:{name}", QUESTIONS[name].summary)}
