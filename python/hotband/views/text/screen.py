"""The screen of an answer: one sentence, a table, the state, remarks, and the next command; at most 24 lines.

A view returns a `Screen` for a terminal. `hotband COMMAND --details` prints the evidence below it, and CSV and Markdown
have only the evidence, because their tables are for programs and pages, which have room.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted
from hotband.base.text.table import Cell, Column, Table, View

if TYPE_CHECKING:
    from rich.text import Text

    from hotband.base.question import Question

LINES = 24
"""Most lines of an answer on a terminal of `WIDTH` columns."""
WIDTH = 80
DETAILS = "--details"
"""The option that prints the evidence."""
REMARK = "! "
"""Prefix of a remark that changes what to do."""
NEXT = "Next: "
"""Prefix of the line with the next command."""
Verdict = Literal["yes", "likely", "no", ""]
COLOURS: dict[Verdict, str] = {"yes": "green", "likely": "yellow", "no": "red", "": ""}
SIGNS: dict[Verdict, str] = {"yes": "✓", "likely": "~", "no": "✗", "": ""}


@dataclass(frozen=True, kw_only=True)
class Screen:
    """Display of an answer on a terminal: `answer` is a sentence, in the colour of its `verdict`; `more` belongs to it;
    `state` describes the run and its certainty in a line or two; `remarks` change what to do; `next` is a command, as
    text or as its question; if the question is the same, it shows the `details`, which are the evidence."""

    answer: str
    verdict: Verdict = ""
    more: Sequence[View] = ()
    body: Sequence[View] = ()
    state: Sequence[View] = ()
    remarks: Sequence[str] = ()
    next: str | Question = ""
    details: Sequence[View] = ()

    def views(self, with_details: bool = False, written: Sequence[str] = ()) -> list[View]:
        """Return the printed output in order. Blank lines separate the answer from the tables, and these from the
        notes, which end with the `written` files and the next command."""
        head: list[View] = [marked(f"[bold {COLOURS[self.verdict]}]{{answer}}[/]", answer=self.answer), *self.more]
        body = list(self.body)
        notes: list[View] = [*self.state]
        notes += [marked("[yellow]![/] {remark}", remark=remark) for remark in self.remarks]
        notes += written
        if self.next and not with_details:
            notes.append(marked(f"{NEXT}[bold]{{command}}[/]", command=self.next))
        repeated = {text_of(view) for view in [*head, *body, *notes] if text_of(view)}
        evidence = [view for view in self.details if text_of(view) not in repeated] if with_details else []
        parts = [head, body, notes, evidence]
        shown = [part for part in parts if part]
        return [view for at, part in enumerate(shown) for view in ([""] if at else []) + part]


def text_of(view: View) -> str:
    """Return the words of a line; none for a table."""
    return "" if isinstance(view, Table) else str(getattr(view, "plain", view))


def yes_or_no(holds: bool) -> Cell:
    """Return the cell of a condition that holds or does not."""
    return with_sign("yes", "yes") if holds else with_sign("no", "no")


def with_sign(text: str, verdict: Verdict) -> Cell:
    """Return a cell with the sign and the colour of a verdict: `✓ yes`."""
    return Cell(f"{SIGNS[verdict]} {text}".strip(), COLOURS[verdict])


def signed(text: str, is_better: bool | None) -> Cell:
    """Return a cell with the direction of a change: `▲ faster`, `▼ slower`; no sign if it is uncertain."""
    if is_better is None:
        return Cell(f"= {text}")
    return Cell(f"{'▲' if is_better else '▼'} {text}", "green" if is_better else "red")


def screen_table(columns: Sequence[Column], title: str = "") -> Table:
    """Return an empty table of a screen: no borders, one line per row."""
    return Table(title, list(columns), borderless=True)


def with_hidden(lines: Sequence[str], most: int, noun: str = "more note") -> list[str]:
    """Return the first lines, and one that counts those that only the evidence has."""
    hidden = len(lines) - most
    return [*lines[:most], *([f"{counted(hidden, noun)}: {DETAILS}"] if hidden > 0 else [])]


def shortened(table: Table, most: int, noun: str = "more row") -> Table:
    """Return the table with its first rows; a caption counts those that only the evidence has."""
    hidden = len(table.rows) - most
    if hidden > 0:
        table.rows = table.rows[:most]
        table.caption = f"{counted(hidden, noun)}: {DETAILS}"
    return table


def indent_below(line: str) -> int:
    """Return the additional indent of a continuation line: it starts below the text that follows a label and two
    blanks, the sign of a remark or an arrow."""
    text = line.lstrip()
    label = re.match(r"\S+(?: \S+)* {2,}", text)
    return len(label[0]) if label else next((len(sign) for sign in (REMARK, "-> ") if text.startswith(sign)), 0)


def lines_of(views: Iterable[View], width: int = WIDTH) -> int:
    """Return the number of lines that the views need."""
    return sum(_table_lines(view, width) if isinstance(view, Table) else folded(view, width) for view in views)


def _table_lines(table: Table, width: int) -> int:
    title = folded(table.title, width) if table.title else 0
    return title + (not table.bare) + len(table.rows) + bool(table.caption)


def folded(line: Text | str, width: int = WIDTH) -> int:
    """Return the number of lines that a text needs after wrapping."""
    text = text_of(line)
    below = len(text) - len(text.lstrip()) + indent_below(text)
    return max(len(textwrap.wrap(text, width, subsequent_indent=" " * below)), 1)


def command(name: str, *arguments: object, **fields: object) -> str:
    """Return a command as typed in a shell: its arguments, then its fields as options; a field with several values is
    repeated, one that is None or False is left out, and one that is True is a flag."""
    words = [*name.split(), *map(str, arguments)]
    for field, given in fields.items():
        values = given if isinstance(given, list | tuple) else [] if given in (None, False) else [given]
        option = f"--{field.replace('_', '-')}"
        words += [word for value in values for word in ([option] if value is True else [option, str(value)])]
    return shlex.join(["hotband", *words])
