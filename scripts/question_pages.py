#!/usr/bin/env python3
"""Write `docs/questions.md`: every question with its options, as its class declares them.

python scripts/question_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumMeta
from pathlib import Path

from hotband.base.question import Field, Question, ends, summary, terminal_fields_of
from hotband.faces.asked.kinds import is_settings
from hotband.faces.questions import QUESTIONS, declared

PAGE = Path(__file__).parents[1] / "docs" / "questions.md"
HEAD = """# Questions and their options

Written by `python scripts/question_pages.py` from the classes that declare them. An option of the command is an
argument of the Python function of the same name (`--rebuild-time` is `rebuild_time=`); `--set KEY=VALUE` is `set={}`.
"""


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *(line for name in sorted(QUESTIONS) for line in section(declared(name)))])


def section(question: type[Question]) -> Iterator[str]:
    """Yield the lines of a question."""
    yield f"## hotband {question.name}"
    yield f"{summary(question)}\n"
    yield "| option | takes | default | meaning |"
    yield "|---|---|---|---|"
    yield from (row(one) for one in terminal_fields_of(question))
    yield ""


def row(one: Field) -> str:
    """Return the line of a field."""
    option = "--set" if is_settings(one) else one.option
    written = one.says.metavar if one.says.positional else f"`{option}`"
    cells = [written or one.name.upper(), takes(one), default(one), one.says.text]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def takes(one: Field) -> str:
    """Return what a field takes, in words."""
    if isinstance(one.base, EnumMeta):
        return ", ".join(one.base)
    if one.base is bool:
        return "nothing"
    if one.says.least is not None or one.says.most is not None:
        return ends(one)
    return one.says.metavar or {int: "a whole number", float: "a number"}.get(one.base, "text")


def default(one: Field) -> str:
    """Return the default of a field, where it has one that says something."""
    if one.is_needed:
        return "needed"
    return "" if one.default in (None, (), "", False) else f"{one.default}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
