"""Tables: columns with a name, a kind and a unit, and exact values.

Answers, records and listings consist of such tables, from which terminal output, CSV, Markdown, JSON, HTML and frames
follow (`formats.py`, `layout.py`, `html.py`); nothing is read back from text. Rows hold values as documents do
(nanoseconds, bytes per second, shares); the unit of a column sets the printed unit, so that a column of CSV has one
unit by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from hotband.base.heavy import pl
from hotband.base.text import numbers

if TYPE_CHECKING:
    from rich.text import Text

Kind = Literal["text", "number", "range", "estimate"]


@dataclass(frozen=True)
class Unit:
    """A unit of a table: its name, its size in terms of the cells' values, and its format."""

    name: str = ""
    size: float = 1.0
    text: Callable[[float], str] | None = None

    def of(self, value: float) -> float:
        """Return the value in this unit; a value that already has it is unchanged."""
        return value if self.size == 1.0 else value / self.size

    def bare(self, value: object) -> str:
        """Format a finite number without unit, if the heading names it."""
        # A large integer keeps its digits.
        known = value if isinstance(value, int) else numbers.finite(value)
        return numbers.ABSENT if known is None else numbers.number(self.of(known))

    def shown(self, value: float | None) -> str:
        """Format the value with its unit, or with a fitting unit of the same quantity."""
        if value is None:
            return numbers.ABSENT
        return numbers.quantity(self.of(value), self.name) if self.text is None else self.text(value)

    def ends(self, range_: Range, text: Callable[[float], str] | None = None) -> str:
        """Format both ends of an interval, with a common unit once."""
        if range_.low is None or range_.high is None:
            return numbers.ABSENT
        return numbers.between(range_.low, range_.high, text or self.shown)


PLAIN = Unit()
IOPS = Unit("IOPS")
TPS = Unit("TPS")
MBS = Unit("MB/s", 1e6, numbers.rate)
MS = Unit("ms", 1e6, numbers.span)
SECONDS = Unit("s", 1e9, numbers.span)
LATENCY = Unit("ms", 1e-3, lambda seconds: numbers.span(1e9 * seconds))
"""Unit of values in seconds."""
BYTES = Unit("B", 1.0, numbers.size)
SHARE = Unit("%", 0.01, numbers.share)
PERCENT = Unit("%", 1.0, lambda value: numbers.percent(value, signed=False))
CHANGE = Unit("%", 1.0, numbers.percent)
TIMES = Unit("times", 1.0, lambda value: f"x {numbers.number(value)}")
WATTS = Unit("W")
FIGURES = {"iops": IOPS, "bandwidth_bytes_per_s": MBS}
"""Units of the figures of a record by their keys; all others are times."""
OF_ROW = Unit("unit of the row")
"""Unit of columns with a quantity per row: each row names its own, and CSV has a column for it."""


def unit_of(figure: str) -> Unit:
    """Return the unit of a record's figure, such as `iops` or `read.latency_p99_ns`."""
    return FIGURES.get(figure.rpartition(".")[2], MS)


@dataclass(frozen=True)
class Range:
    """Both ends of an interval."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class Estimate:
    """A value with its interval."""

    value: float
    low: float
    high: float


Value: TypeAlias = str | int | float | Range | Estimate | None
Plain: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Cell:
    """A value with its format on a terminal: `style` colours it, `below` is printed on the line below."""

    value: Value
    style: str = ""
    below: str = ""


@dataclass(frozen=True)
class Column:
    """A column: on terminals, `once` leaves out a text that equals the one above; `below` puts the ends of an estimate
    on the next line; `wrap` allows folding; `width` is that of character graphics."""

    name: str
    kind: Kind = "text"
    unit: Unit = PLAIN
    once: bool = False
    below: bool = False
    wrap: bool = True
    width: int | None = None

    @property
    def says_unit(self) -> bool:
        """Return whether the name includes the unit, so that cells need not."""
        name, unit = f" {self.name} ".replace("\n", " "), self.unit.name
        return not unit or f"({unit})" in name or name.endswith(f" {unit} ") or name.startswith(f" {unit} ")

    def headings(self) -> list[str]:
        """Return the names of its columns of plain values: two for a range, three for an estimate."""
        name = self.name.replace("\n", " ") or "of"
        unit = "" if self.says_unit or self.unit is OF_ROW else f" ({self.unit.name})"
        ends = [f"{name}, from{unit}", f"{name}, to{unit}"]
        return {"range": ends, "estimate": [name + unit, *ends]}.get(self.kind, [name + unit])

    def values(self, value: Value, unit: Unit) -> list[Plain]:
        """Return a cell's plain values, in the unit."""
        if self.kind == "text" or isinstance(value, str):
            text = None if value is None else str(value).replace("\n", " ")
            return [text, *[None] * (len(self.headings()) - 1)]
        parts: Sequence[float | None]
        if isinstance(value, Estimate):
            parts = (value.value, value.low, value.high)
        elif isinstance(value, Range):
            parts = (value.low, value.high)
        else:
            parts = (value,)
        plain_parts: list[Plain] = [None if part is None else unit.of(part) for part in parts]
        return plain_parts + [None] * (len(self.headings()) - len(plain_parts))

    def text(self, value: Value, unit: Unit) -> str:
        """Format a cell for people."""
        if isinstance(value, str):
            return value
        text = unit.bare if self.says_unit and self.unit is not OF_ROW else unit.shown
        if isinstance(value, Range):
            return unit.ends(value, text)
        if isinstance(value, Estimate):
            if value.low == value.high:
                return text(value.value)
            if self.below:
                # Two digits are narrow, and the interval has no more precision.
                ends = (numbers.number(unit.of(end), 2) for end in (value.low, value.high))
                return f"{text(value.value)}\n{'–'.join(ends)}"
            return f"{text(value.value)} ({unit.ends(Range(value.low, value.high), text)})"
        return text(value)


def column(name: str, *, once: bool = False, wrap: bool = True, width: int | None = None) -> Column:
    """Return a column of texts."""
    return Column(name, once=once, wrap=wrap, width=width)


def numeric(name: str, unit: Unit = PLAIN) -> Column:
    """Return a column of numbers."""
    return Column(name, "number", unit)


def interval(name: str, unit: Unit = PLAIN) -> Column:
    """Return a column of ranges."""
    return Column(name, "range", unit)


def estimate(name: str, unit: Unit = PLAIN, *, below: bool = False) -> Column:
    """Return a column of values, some of which may have an interval."""
    return Column(name, "estimate", unit, below=below)


def bare(column: Column) -> Column:
    """Return the column with plain numbers as cells: the table's title or the column's name states their unit."""
    return replace(column, unit=replace(column.unit, text=lambda value: numbers.number(column.unit.of(value))))


@dataclass(frozen=True)
class Row:
    """A row: its cells, the unit of cells without one, and whether a rule follows."""

    cells: tuple[Cell, ...]
    unit: Unit = PLAIN
    ends: bool = False


@dataclass
class Table:
    """A table with its title; `about` describes all rows, in CSV as the first columns.

    On a terminal, `lines` draws rules between rows, `plain` only the rule below the headings, and `borderless` no
    rules, with one line per row (texts that do not fit end with "…"); `bare` omits the headings, and `tight` leaves one
    blank between columns.
    """

    title: str
    columns: list[Column]
    about: Mapping[str, str] = field(default_factory=dict)
    caption: str | None = None
    lines: bool = False
    plain: bool = False
    borderless: bool = False
    bare: bool = False
    tight: bool = False
    rows: list[Row] = field(default_factory=list)

    def add(self, *cells: Value | Cell, unit: Unit = PLAIN, ends: bool = False) -> None:
        """Append a row."""
        assert len(cells) == len(self.columns), f"{self.title}: {len(cells)} cells in {len(self.columns)} columns"
        self.rows.append(Row(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells), unit, ends))

    def values(self) -> tuple[list[str], list[list[Plain]]]:
        """Return headings and rows of plain values, each column in one unit; rows with several units name theirs."""
        headings = [heading for column in self.columns for heading in column.headings()]
        rows = [
            [
                value
                for column, cell in zip(self.columns, row.cells, strict=True)
                for value in self._plain(column, cell, row)
            ]
            for row in self.rows
        ]
        if any(column.unit is OF_ROW for column in self.columns):
            index = len(self.columns[0].headings())
            headings.insert(index, "unit")
            for plain, row in zip(rows, self.rows, strict=True):
                plain.insert(index, row.unit.name)
        return headings, rows

    @staticmethod
    def _plain(column: Column, cell: Cell, row: Row) -> list[Plain]:
        value = f"{cell.value} {cell.below}" if cell.below else cell.value
        return column.values(value, row.unit if column.unit is OF_ROW else column.unit)

    def texts(self) -> list[list[str]]:
        """Return the rows as text for people, one line per line of a cell."""
        return [
            [
                column.text(cell.value, row.unit if column.unit is OF_ROW else column.unit)
                + (f"\n{cell.below}" if cell.below else "")
                for column, cell in zip(self.columns, row.cells, strict=True)
            ]
            for row in self.rows
        ]

    def records(self) -> list[dict[str, Plain]]:
        """Return the rows as JSON objects: values by heading."""
        headings, rows = self.values()
        return [{**self.about, **dict(zip(headings, row, strict=True))} for row in rows]

    def frame(self) -> pl.DataFrame:
        """Return the rows as a frame of polars."""
        return pl.DataFrame(self.records(), infer_schema_length=None)


class Whole(str):
    """A line that is never folded, such as one that ends in a path."""


View: TypeAlias = "Table | Text | str"
"""Output of a command, in order: tables and lines of text."""


def listing(title: str, names: Iterable[str], rows: Iterable[Sequence[Value | Cell]]) -> Table:
    """Return a table of texts."""
    table = Table(title, [column(name) for name in names])
    for row in rows:
        table.add(*row)
    return table
