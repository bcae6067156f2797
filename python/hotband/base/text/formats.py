"""Tables as comma-separated values and as Markdown: any table of rich, so that a new one has every format.

A terminal shows numbers rounded and with separators. A `Figure` is such a text that still knows its value, and
`Between` one of both ends of an interval: in CSV they are plain numbers, with the unit in the heading. A number that
is only text is read back from it. Left out: Markdown shows what a terminal shows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from hotband.base.foreign import csv_cell, visible

if TYPE_CHECKING:
    from rich.table import Column, Table
    from rich.text import Text

FORMATS = ("table", "csv", "markdown", "json")
# Digits of a number in CSV: more are noise of the scaling from ns to ms.
DIGITS = 12
SIZES = {
    **{"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15},
    **{"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50},
}
QUANTITIES: tuple[Mapping[str, float], ...] = (
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    {f"{prefix}B": scale for prefix, scale in SIZES.items()},
    {f"{prefix}B/s": scale for prefix, scale in SIZES.items()},
)
"""Units of one quantity each, and how large they are: a column of CSV has one of them."""
NOTHING = ("", "–", "-")
# A number as a table shows it, with its unit: `1,234.5`, `+3.2 %`, `−1`, `39.6 ms`.
_SHOWN = re.compile(r"([+\-−]?)(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s([^\d\s][^\d]{0,11}))?")


@dataclass
class Printed:
    """How tables are printed by the command that runs; those of CSV are kept until it ends."""

    form: str = "table"
    tables: list[Table] = field(default_factory=list)


PRINTED = Printed()
"""Of the one command that a process runs at a time; `begin` makes it new."""


def begin(form: str = "table") -> None:
    """From now on tables are printed so; what was kept is forgotten."""
    PRINTED.form, PRINTED.tables = form, []


def as_rows() -> bool:
    """Whether tables are asked for, not words: what is said in lines alone belongs into one, too."""
    return PRINTED.form in ("csv", "markdown")


class Figure(str):
    """A number as a terminal shows it, with its value and unit; `style` is how rich colours it."""

    value: float | None
    unit: str
    style: str

    def __new__(cls, text: str, value: float | None, unit: str = "", style: str = "") -> Self:
        made = super().__new__(cls, text)
        made.value, made.unit, made.style = value, unit, style
        return made

    def __rich__(self) -> str | Text:
        from rich.text import Text

        return Text(str(self), self.style) if self.style else str(self)


class Estimate(Figure):
    """A number with its interval behind it, as a terminal shows both."""

    low: float
    high: float

    @classmethod
    def of(cls, text: str, figure: Figure, low: float, high: float) -> Self:
        """Of a number that is shown without it."""
        made = cls(text, figure.value, figure.unit, figure.style)
        made.low, made.high = low, high
        return made


class Between(str):
    """The ends of an interval as a terminal shows them, with their values and unit."""

    low: float | None
    high: float | None
    unit: str

    def __new__(cls, text: str, low: float | None, high: float | None, unit: str = "") -> Self:
        made = super().__new__(cls, text)
        made.low, made.high, made.unit = low, high, unit
        return made


class Repeated(str):
    """A text that a terminal leaves out where the row above has it."""

    again: bool

    def __new__(cls, text: str, again: bool) -> Self:
        made = super().__new__(cls, text)
        made.again = again
        return made

    def __rich__(self) -> str:
        return "" if self.again else str(self)


class About(str):
    """A table's title that says what its rows are of; in CSV columns of those names before all others."""

    columns: Mapping[str, str]

    def __new__(cls, text: str, columns: Mapping[str, str]) -> Self:
        made = super().__new__(cls, text)
        made.columns = columns
        return made


def plain(cell: object) -> str:
    """The text of a cell or a title, without its colours."""
    return str(getattr(cell, "plain", cell)).replace("\n", " ").strip()


@dataclass
class Values:
    """A table as values: headings and rows of text and numbers, its title, and what all rows are of."""

    headings: list[str]
    rows: list[list[str | float | None]]
    title: str
    about: Mapping[str, str]


@dataclass
class _Filled:
    """A column as values: one column of numbers or texts, or two of both ends; the unit of each row."""

    headings: list[str]
    cells: list[list[str | float | None]] = field(default_factory=list)
    units: list[str] = field(default_factory=list)

    def of_values(self) -> set[str]:
        """The units of rows that have a value."""
        known = (any(value not in (None, "") for value in own) for own in self.cells)
        return {unit for unit, has in zip(self.units, known, strict=True) if has}


def values_of(table: Table) -> Values:
    """A table's values. A unit that all of a column share stands in its heading, else in a column of its own."""
    columns = [_in_one_unit(_filled(column)) for column in table.columns]
    count = len(table.rows)
    mixed = [one for one in columns if len(one.of_values()) > 1]
    for one in columns:
        shared = one.of_values()
        if one not in mixed and any(shared):
            (unit,) = shared
            one.headings = [_with_unit(heading, unit) for heading in one.headings]
    headings = [heading for one in columns for heading in one.headings]
    rows = [[cell for one in columns for cell in one.cells[n]] for n in range(count)]
    if any(len(set(units) - {""}) > 1 for units in zip(*(one.units for one in mixed), strict=True)):
        # Units that differ within a row stand beside each value.
        headings = [heading for one in columns for heading in (*one.headings, *_unit_of(one, mixed))]
        rows = [
            [cell for one in columns for cell in (*one.cells[n], *([one.units[n]] if one in mixed else []))]
            for n in range(count)
        ]
    elif mixed:
        units = [next((one.units[n] for one in mixed if one.units[n]), "") for n in range(count)]
        place = len(columns[0].headings)
        headings.insert(place, "unit")
        for row, unit in zip(rows, units, strict=True):
            row.insert(place, unit)
    title = "" if table.title is None else plain(table.title)
    return Values(headings, rows, title, getattr(table.title, "columns", {}))


def _in_one_unit(column: _Filled) -> _Filled:
    """The same where its values have different units of one quantity, such as s and ms: all in the smallest of them."""
    units = column.of_values()
    scales = next((one for one in QUANTITIES if len(units) > 1 and units <= one.keys()), None)
    if scales is None:
        return column
    smallest = min(units, key=lambda unit: scales[unit])
    for place, unit in enumerate(column.units):
        if unit not in units:
            continue
        factor = scales[unit] / scales[smallest]
        values = column.cells[place]
        column.cells[place] = [value * factor if isinstance(value, int | float) else value for value in values]
        column.units[place] = smallest
    return column


def _unit_of(one: _Filled, mixed: Sequence[_Filled]) -> list[str]:
    """The heading of a column's own units, where it has several."""
    return [f"{one.headings[0]} unit"] if one in mixed else []


def _filled(column: Column) -> _Filled:
    """A column of rich as values."""
    heading = plain(column.header) or "of"
    cells = list(column.cells)
    if any(isinstance(cell, Between) for cell in cells):
        found = _Filled([f"{heading}, from", f"{heading}, to"])
        for cell in cells:
            ends = (cell.low, cell.high) if isinstance(cell, Between) else (None, None)
            found.cells.append([*ends])
            found.units.append(cell.unit if isinstance(cell, Between) else "")
        return found
    if any(isinstance(cell, Estimate) for cell in cells):
        found = _Filled([heading, f"{heading}, from", f"{heading}, to"])
        for cell in cells:
            value, unit = _value(cell, True)
            ends = (cell.low, cell.high) if isinstance(cell, Estimate) else (None, None)
            found.cells.append([value, *ends])
            found.units.append(unit)
        return found
    found = _Filled([heading])
    numeric = column.justify == "right"
    for cell in cells:
        value, unit = _value(cell, numeric)
        found.cells.append([value])
        found.units.append(unit)
    return found


def _value(cell: object, numeric: bool) -> tuple[str | float | None, str]:
    """What a cell holds, and its unit."""
    if isinstance(cell, Figure):
        return (cell.value, cell.unit) if cell.value is not None else (None, "")
    text = plain(cell)
    if numeric and text in NOTHING:
        return None, ""
    found = _SHOWN.fullmatch(text) if numeric else None
    if found is None:
        return ("" if text == "–" else text), ""
    number = float(found[2].replace(",", ""))
    return (-number if found[1] in ("-", "−") else number), found[3] or ""


def _with_unit(heading: str, unit: str) -> str:
    return heading if re.search(rf"(^|[\s(]){re.escape(unit)}($|[\s)])", heading) else f"{heading} ({unit})"


def number_text(value: float) -> str:
    """A number without separators: whole ones without a point."""
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}" if abs(value) < 1e15 else repr(value)


def csv_text(tables: Sequence[Table]) -> str:
    """Tables as comma-separated values. Those of the same columns are one; others follow after an empty line, and each
    row of them begins with the table's title."""
    found = [values_of(table) for table in tables]
    blocks: dict[tuple[str, ...], list[Values]] = {}
    for one in found:
        blocks.setdefault((*one.about, *one.headings), []).append(one)
    several = len(blocks) > 1
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for n, block in enumerate(blocks.values()):
        first = ["table"] if several or (len(block) > 1 and not block[0].about) else []
        if n:
            out.write("\n")
        writer.writerow([_safe(name) for name in [*first, *block[0].about, *block[0].headings]])
        for one in block:
            title = [one.title] if first else []
            for row in one.rows:
                writer.writerow([_safe(cell) for cell in [*title, *one.about.values(), *row]])
    return out.getvalue()


def _safe(cell: str | float | None) -> object:
    if cell is None:
        return ""
    return csv_cell(visible(cell)) if isinstance(cell, str) else number_text(cell)


# What begins something in GitHub's Markdown within a line (its specification, "Backslash escapes").
_MARKUP = re.compile(r"([\\`*_\[\]<>|~#])")


def markdown_escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKUP.sub(r"\\\1", visible(text).replace("&", "&amp;"))


def markdown_table(table: Table) -> str:
    """A table as GitHub shows it, under its title, with its caption below."""
    headings = [markdown_escaped(plain(column.header)) or " " for column in table.columns]
    rule = ["---:" if column.justify == "right" else "---" for column in table.columns]
    cells = [[_shown(cell) for cell in column.cells] for column in table.columns]
    rows = [[column[n] for column in cells] for n in range(len(table.rows))]
    lines = [f"| {' | '.join(row)} |" for row in (headings, rule, *rows)]
    title = [f"**{markdown_escaped(plain(table.title))}**", ""] if table.title is not None else []
    caption = ["", markdown_escaped(plain(table.caption))] if table.caption is not None else []
    return "\n".join([*title, *lines, *caption, "", ""])


def _shown(cell: object) -> str:
    text = str(getattr(cell, "plain", cell)).strip()
    return "<br>".join(markdown_escaped(line) for line in text.split("\n"))


def markdown_line(line: object) -> str:
    """A line of words as a paragraph; nothing for an empty one."""
    text = plain(line)
    return f"{markdown_escaped(text)}\n\n" if text else ""
