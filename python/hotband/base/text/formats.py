"""Formats of tables (`hotband.base.text.table`), selected with `--format`: one function each in `FORMATS`."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hotband.base.foreign import csv_cell, visible
from hotband.base.text.table import Plain, Table


@dataclass(frozen=True)
class Format:
    """A format of tables, and of lines of text; without `words` those go to stderr, and the tables are one document."""

    tables: Callable[[Sequence[Table]], str]
    words: Callable[[str], str] | None = None


@dataclass
class Printed:
    """The format of the running command's tables; those of a document are collected until the command ends."""

    form: str = "table"
    tables: list[Table] = field(default_factory=list)


PRINTED = Printed()
"""State of the only command that a process runs at a time; `begin` resets it."""


def begin(form: str = "table") -> None:
    """Set the format of tables, and forget stored ones."""
    PRINTED.form, PRINTED.tables = form, []


def as_rows() -> bool:
    """Return whether tables are requested instead of text: the content of lines must then also be in a table."""
    return PRINTED.form in FORMATS


def plain(line: object) -> str:
    """Return the text of a line, without its colours."""
    return str(getattr(line, "plain", line)).replace("\n", " ").strip()


def number_text(value: float) -> str:
    """Format a number for a program: all of its digits, no separators, whole ones without a point. Fifteen digits are
    all that a double preserves; the sixteenth and seventeenth are noise of unit conversions."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.15g}"
    return text if "e" not in text or abs(value) < 1 else repr(value)


def csv_text(tables: Sequence[Table]) -> str:
    """Return tables as comma-separated values. Tables with the same columns are merged; others follow after an empty
    line, and each row of them begins with the table's title."""
    blocks: dict[tuple[str, ...], list[Table]] = {}
    for table in tables:
        blocks.setdefault((*table.about, *table.values()[0]), []).append(table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for n, (headings, block) in enumerate(blocks.items()):
        titled = len(blocks) > 1 or (len(block) > 1 and not block[0].about)
        if n:
            out.write("\n")
        writer.writerow([_safe(name) for name in [*(["table"] if titled else []), *headings]])
        for table in block:
            first = [*([table.title] if titled else []), *table.about.values()]
            writer.writerows([[_safe(cell) for cell in [*first, *row]] for row in table.values()[1]])
    return out.getvalue()


def _safe(cell: Plain) -> object:
    if cell is None:
        return ""
    return csv_cell(visible(cell)) if isinstance(cell, str) else number_text(cell)


# Characters that begin a construct within a line of GitHub's Markdown (its specification, "Backslash escapes").
_MARKUP = re.compile(r"([\\`*_\[\]<>|~#])")


def markdown_escaped(text: str) -> str:
    """Return text that Markdown shows unchanged."""
    return _MARKUP.sub(r"\\\1", visible(text).replace("&", "&amp;"))


def markdown_text(tables: Sequence[Table]) -> str:
    """Return tables in GitHub's Markdown, each under its title, with its caption below."""
    return "".join(map(_markdown_table, tables))


def _markdown_table(table: Table) -> str:
    headings = [markdown_escaped(column.name.replace("\n", " ")) or " " for column in table.columns]
    rule = ["---" if column.kind == "text" else "---:" for column in table.columns]
    cells = [["<br>".join(map(markdown_escaped, cell.strip().split("\n"))) for cell in row] for row in table.texts()]
    lines = [f"| {' | '.join(row)} |" for row in (headings, rule, *cells)]
    title = [f"**{markdown_escaped(table.title)}**", ""] if table.title else []
    caption = ["", markdown_escaped(table.caption)] if table.caption else []
    return "\n".join([*title, *lines, *caption, "", ""])


def markdown_line(text: str) -> str:
    """Return a line of words as a paragraph; nothing for an empty one."""
    return f"{markdown_escaped(text)}\n\n" if text else ""


FORMATS = {"csv": Format(csv_text), "markdown": Format(markdown_text, markdown_line)}
"""Formats by the value of `--format`, in addition to `table`, which fits a terminal, and `json`, which commands
write."""
