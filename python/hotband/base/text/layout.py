"""Tables that fit a terminal: numbers are never cut or folded, texts are folded between words, and if that is not
enough, the table is split into several, one below the other, that begin with the columns that distinguish rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hotband.base.foreign import visible_lines
from hotband.base.text import table as tables

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Column, Table
    from rich.text import Text

LEAST_TEXT = 10
"""Least width of a column of text, unless its text is shorter."""

MOST_WORD = 28
"""Longest word that a column keeps whole; longer ones are folded."""

BORDERLESS: dict[str, Any] = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0)}
"""Two blanks between columns, and nothing around them."""


def hanging(line: Text, width: int, deeper: int = 2) -> Text:
    """Return a line folded between words, within `width`: further lines are indented by `deeper` characters. A number
    stays next to its unit, and a word longer than the line, such as a path, is not broken."""
    import textwrap

    from rich.text import Text

    # textwrap does not break lines at no-break spaces. The number of characters is the same, so positions stay valid.
    plain = re.sub(r"(?<=\d) (?=[^\W\d_]|%)", "\N{NO-BREAK SPACE}", line.plain)
    begin = " " * (len(plain) - len(plain.lstrip()))
    folding = textwrap.TextWrapper(
        max(width, LEAST_TEXT), subsequent_indent=begin + " " * deeper, expand_tabs=False, replace_whitespace=False,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    first, *others = folding.wrap(plain) or [""]
    folded, end = [line[: len(first)]], len(first)
    for other in others:
        words = other[len(folding.subsequent_indent) :]
        start = plain.index(words, end)
        end = start + len(words)
        folded.append(Text(folding.subsequent_indent).append_text(line[start:end]))
    return Text("\n").join(folded)


def fitted(table: tables.Table, console: Console) -> list[RenderableType]:
    """Return the table under its title, or several tables that together have its columns, none wider than the
    console."""
    from rich.text import Text

    title = hanging(Text(visible_lines(table.title)), console.width)
    title.stylize("bold" if table.plain or table.borderless else "italic")
    caption = hanging(Text(visible_lines(table.caption or "")), console.width)
    caption.stylize("table.caption")
    # rich would fold a caption to the width of the table.
    return [
        *([title] if table.title else []),
        *_parts(rich_table(table), console),
        *([caption] if table.caption else []),
    ]


def rich_table(table: tables.Table) -> Table:
    """Return the table as a table of rich, without its title, which rich would fold to the width of the table."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    look: dict[str, Any] = {"box": SIMPLE_HEAD, "pad_edge": False} if table.plain else {}
    look |= {"padding": 0, "show_edge": False} if table.tight else {}
    look |= BORDERLESS if table.borderless else {}
    made = Table(show_header=not table.bare, show_lines=table.lines, **look)
    for column in table.columns:
        justify: Any = "left" if column.kind == "text" else "right"
        no_wrap = justify == "right" or not column.wrap or column.width is not None or table.borderless
        is_cut = table.borderless and justify == "left" and column.wrap
        overflow: Any = "ellipsis" if is_cut else "fold"
        made.add_column(column.name, justify=justify, no_wrap=no_wrap, overflow=overflow, width=column.width)
    above: list[str] = []
    for row, texts in zip(table.rows, table.texts(), strict=True):
        # A text that equals the one above is left out if all texts before it are equal, too.
        same = [texts[: n + 1] == above[: n + 1] for n in range(len(texts))]
        shown = [
            "" if column.once and again else _cell(text, cell)
            for column, again, text, cell in zip(table.columns, same, texts, row.cells, strict=True)
        ]
        made.add_row(*shown, end_section=row.ends)
        above = [] if row.ends else texts
    return made


def _cell(text: str, cell: tables.Cell) -> str | Text:
    """Return a cell with its colour; text below it is dim."""
    from rich.text import Text

    if not cell.style and not cell.below:
        return text
    made = Text(visible_lines(text.removesuffix(f"\n{cell.below}") if cell.below else text), cell.style)
    return made.append(f"\n{visible_lines(cell.below)}", "dim") if cell.below else made


def _parts(table: Table, console: Console) -> list[Table]:
    """Return the table unchanged, or cut into several that fit."""
    room = console.width
    natural = [natural_width(column, console) for column in table.columns]
    least = [least_width(column, width, console) for column, width in zip(table.columns, natural, strict=True)]
    every = range(len(least))
    for compact in (False, True):
        if sum(least) + frame(table, len(least), compact) <= room:
            return [part(table, every, widths(natural, least, room - frame(table, len(least), compact)), compact)]
    made: list[Table] = []
    for group in groups(table, least, room):
        own_natural, own_least = [natural[index] for index in group], [least[index] for index in group]
        left = room - frame(table, len(group), True)
        made.append(part(table, group, widths(own_natural, own_least, left), True))
    return made


def natural_width(column: Column, console: Console) -> int:
    """Return the width of the longest line of a column."""
    from rich.measure import Measurement

    options = console.options.update(width=10_000)
    return max(Measurement.get(console, options, cell).maximum for cell in [column.header, *column.cells])


def least_width(column: Column, natural: int, console: Console) -> int:
    """Return the width that a column needs: the whole width of numbers and of text that must not wrap (headings may),
    and the longest word of other texts."""
    from rich.measure import Measurement

    if column.overflow == "ellipsis":
        return min(natural, LEAST_TEXT)
    if column.justify == "right" or column.no_wrap or column.width is not None:
        options = console.options.update(width=10_000)
        cells = max((Measurement.get(console, options, cell).maximum for cell in column.cells), default=0)
        return max(cells, Measurement.get(console, options, column.header).minimum, column.width or 0)
    longest = max(Measurement.get(console, console.options, cell).minimum for cell in [column.header, *column.cells])
    return min(natural, max(LEAST_TEXT, min(longest, MOST_WORD)))


def frame(table: Table, columns: int, compact: bool) -> int:
    """Return the width of the separators between and around the columns."""
    if not compact and not any(table.padding):
        return columns - 1
    if table.box is None:
        return 2 * (columns - 1)
    if compact or not table.show_edge or not table.pad_edge:
        return 2 * (columns - 1) if compact else 3 * columns - 1
    return 3 * columns + 1


def widths(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns within `room`. If they do not fit, the widest shrink first, and those that must not
    shrink (a number wider than the console) last."""
    widths_ = list(natural)
    every = range(len(widths_))
    while sum(widths_) > room:
        giving = [index for index in every if widths_[index] > least[index]] or [n for n in every if widths_[n] > 1]
        if not giving:
            break
        widths_[max(giving, key=widths_.__getitem__)] -= 1
    return widths_


def groups(table: Table, least: Sequence[int], room: int) -> list[list[int]]:
    """Return the columns of the tables into which one is cut: the distinguishing ones in each, and as many others as
    fit."""
    made: list[list[int]] = []
    first = list(range(telling(table, least, room)))
    group = first
    for index in range(len(first), len(least)):
        wanted = [*group, index]
        if len(group) > len(first) and sum(least[n] for n in wanted) + frame(table, len(wanted), True) > room:
            made.append(group)
            wanted = [*first, index]
        group = wanted
    return [*made, group]


def telling(table: Table, least: Sequence[int], room: int) -> int:
    """Return how many of the first columns distinguish rows, such as queue depth and block size; 1 if those columns
    need more than half of the room."""
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    for count in range(1, len(cells)):
        if count > 1 and sum(least[:count]) + frame(table, count, True) > room / 2:
            break
        if len(set(zip(*cells[:count], strict=True))) == len(table.rows):
            return count
    return 1


def part(table: Table, columns: Sequence[int], widths: Sequence[int], compact: bool) -> Table:
    """Return some columns of a table with given widths."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    settings: dict[str, Any] = {"box": table.box, "pad_edge": table.pad_edge, "padding": table.padding}
    settings |= {"show_edge": table.show_edge}
    if compact and table.box is not None:
        settings = {"box": SIMPLE_HEAD, "pad_edge": False, "padding": (0, 1, 0, 0), "show_edge": False}
    made = Table(
        show_header=table.show_header,
        show_lines=table.show_lines,
        **settings,
    )
    for index, width in zip(columns, widths, strict=True):
        source = table.columns[index]
        look: dict[str, Any] = {
            "style": source.style,
            "header_style": source.header_style,
            "no_wrap": source.overflow == "ellipsis",
        }
        made.add_column(source.header, justify=source.justify, overflow=source.overflow, width=width, **look)
    cells = [list(table.columns[index].cells) for index in columns]
    for number, row in enumerate(table.rows):
        made.add_row(*(column[number] for column in cells), end_section=row.end_section, style=row.style)
    return made
