"""Topics with charts and tables, for the page of one machine and the page that compares several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.numbers import ABSENT, number, size
from hotband.views.draw.charts import PALETTE
from hotband.views.draw.review import Axis, Lines, mixed
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, KeyItem, Prose, Section, Table
from hotband.views.report.review_intervals import Row, with_words

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.data.documents.review import Part
    from hotband.views.report.pictures import Drawing
    from hotband.views.report.review_rows import Machine

# Least width (px) of charts side by side: two fit on a page of 1200 px, and on paper.
HALF, WHOLE = 420, 1000
# Most rows of a table that is not folded, and of one below a chart of the same numbers.
LONG, SHORT = 24, 4


@dataclass(frozen=True)
class Looks:
    """The colours in a machine's charts: shades of the machine's colour if the page has others."""

    read: str = PALETTE[0]
    write: str = PALETTE[1]
    copy: str = PALETTE[2]
    shaded: bool = False

    @classmethod
    def of(cls, color: str) -> Looks:
        """Return shades of a colour: writes lighter, copies darker."""
        return cls(color, mixed((color, "#ffffff"), LIGHTER), mixed((color, "#000000"), LIGHTER), shaded=True)

    @property
    def read_write(self) -> Lines:
        """Return the lines of the directions."""
        return Lines("Direction", {"read": self.read, "write": self.write})

    @property
    def over_each_other(self) -> Lines:
        """Return the lines of the directions, for reads and writes that are mostly equally fast."""
        return Lines("Direction", {"read": self.read, "write": self.write}, dashed=("write",))

    @property
    def read_write_copy(self) -> Lines:
        """Return the lines of operations on files."""
        return Lines("Operation", {"read": self.read, "write": self.write, "copy": self.copy})

    @property
    def one(self) -> Lines:
        """Return the line of charts with a single one."""
        return Lines("", {"": self.read})


# Distance of a shade towards white or black: enough to distinguish three.
LIGHTER = 0.5
PLAIN = Looks()

MBPS, POSITION = "Bandwidth (MB/s)", "Position (GB)"
DEPTH, MEAN_MS, ACCESS_MS = "Queue depth (outstanding I/Os)", "Mean latency (ms)", "Access time (ms)"
BLOCK = "Block size"
SHARE = "I/Os that take no longer (%)"

# Reasons why a part of a review may be null, if the review does not state one.
ABSENT_PARTS: dict[Part, str] = {
    "linear": "the transfer over the surface",
    "access": "random access times",
    "block_sizes": "the sweep of block sizes",
    "streams": "concurrent streams",
    "patterns": "the server patterns",
    "files": "the reading, writing and copying of files",
    "streaming": "streaming",
    "defragmentation": "defragmentation",
    "applications": "the desktop applications",
    "energy": "power and energy",
    "summary": "the geometric means",
}


NOT_ASKED = "the review did not request them"
ABSENT_WHY: dict[Part, str] = {
    "energy": f"not every drive in it states its power, or {NOT_ASKED}",
    "applications": f"the catalog had no such loads, or {NOT_ASKED}",
    "summary": "there is no group of numbers above zero",
}


@dataclass(frozen=True)
class Figure:
    """One chart: `id` is the name of its files, `title` describes it, also in the picture."""

    id: str
    title: str
    view: View
    caption: str = ""


@dataclass(frozen=True)
class Topic:
    """A heading with its charts and below them the same numbers; `notes` list missing parts and reasons."""

    id: str
    title: str
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    width: int = HALF

    def section(
        self, prefix: str, drawn: Mapping[str, Drawing], lines: Lines | None = None, *, first: Sequence[str] = ()
    ) -> Section:
        """Return a section of a page; `drawn` has the charts by their ids; with `lines` they share a key. A topic that
        is not among the `first` is folded; long tables are always folded."""
        blocks: list[Block] = [Prose(list(self.notes))] if self.notes else []
        if self.figures:
            views = {figure.id: drawn[figure.id].bare() if lines else drawn[figure.id] for figure in self.figures}
            charts = [Chart(figure.title, views[figure.id], figure.caption) for figure in self.figures]
            blocks.append(Charts(charts, width=self.width, key=key_of(lines) if lines else ()))
        tables = [_folded(shown) if self.figures else shown for shown in self.tables]
        return Section(f"{prefix}-{self.id}", self.title, [*blocks, *tables], folded=self.id not in first)


def _folded(shown: Table) -> Table:
    """Fold a table of more than a few rows below a chart of the same numbers."""
    rows = sum(len(group.rows) for group in shown.groups)
    if shown.folded or rows <= SHORT:
        return shown
    return replace(shown, caption=f"{shown.caption or 'All numbers'} ({rows} rows)", folded=True)


# As `draw.review.SHAPES`.
SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "▶", "◀")


def key_of(lines: Lines) -> list[KeyItem]:
    """Return one legend for all charts of the same lines; the signs are those of their points."""
    return [
        KeyItem(name if n < len(PALETTE) else f"{name} (dashed)", color, SIGNS[n % len(SIGNS)])
        for n, (name, color) in enumerate(lines.colors.items())
    ]


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading with the unit, the key of the rows, and the format of a value."""

    title: str
    key: str
    text: Callable[[object], str] = field(default=number)
    numeric: bool = True


def table(
    rows: Iterable[Mapping[str, object]], columns: Sequence[Column], caption: str = "", *, fold: bool = False
) -> Table:
    """Return a table with one line per row; folded if it has more than `LONG` rows, or if requested."""
    cells = [
        [
            Cell(with_words(_text(row.get(column.key), column.text), row, column.key), numeric=column.numeric)
            for column in columns
        ]
        for row in rows
    ]
    folded = fold or len(cells) > LONG
    heading = f"{caption or 'All numbers'} ({len(cells)} rows)" if folded else caption
    return Table([column.title for column in columns], [Group(cells)], caption=heading, folded=folded, tight=True)


def _text(value: object, write: Callable[[object], str]) -> str:
    return ABSENT if value is None else write(value)


def block(value: object) -> str:
    """Format the bytes of a block."""
    return size(value) if isinstance(value, int) else ABSENT


def bar(row: str, label: str, value: float | None, line: str = "", text: str = "", ends: Row | None = None) -> Row:
    """Return a bar for `draw.review.amounts`; without `line` all bars belong to one line."""
    low, high = (ends["low"], ends["high"]) if ends else (None, None)
    return {
        "row": row, "label": label, "line": line, "value": value, "text": text or number(value), "low": low,
        "high": high,
    }  # fmt: skip


def bar_frame(bars: Iterable[Row]) -> pl.DataFrame:
    """Return the frame of bars. A bar without a known value keeps its row, which is empty."""
    kinds = {"row": pl.String, "label": pl.String, "line": pl.String, "value": pl.Float64, "text": pl.String,
             "low": pl.Float64, "high": pl.Float64}  # fmt: skip
    return pl.DataFrame(list(bars), schema=kinds)


def crossed(
    rows: Iterable[Mapping[str, object]],
    keys: Sequence[str],
    across: str,
    value: str,
    heads: Sequence[str],
    names: Sequence[str],
    *,
    caption: str = "",
    write: Callable[[object], str] = str,
    fold: bool = False,
) -> Table:
    """Return a table with the values of `across` (in the order `names`) as columns and the `keys` as the rows'
    beginning."""
    cells: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        # Texts stay unchanged: a number with its interval is a text.
        text = with_words("", row, value)
        cell = f"{number(row[value])}{text}" if text else row[value]
        cells.setdefault(tuple(row[key] for key in keys), {})[str(row[across])] = cell
    columns = [Column(head, key, write, numeric=False) for head, key in zip(heads, keys, strict=True)]
    columns += [Column(name, f"at {name}", _number_or_text) for name in names]
    lines = [
        dict(zip(keys, key, strict=True)) | {f"at {name}": values.get(name) for name in names}
        for key, values in cells.items()
    ]
    return table(lines, columns, caption, fold=fold)


def _number_or_text(value: object) -> str:
    return value if isinstance(value, str) else number(value)


def missing(everyone: Sequence[Machine], part: Part) -> list[str]:
    """Return the machines without results of a part, a line for each reason."""
    whys: dict[str, list[str]] = {}
    for machine in everyone:
        if not machine.has(part):
            whys.setdefault(_why(machine, part), []).append(machine.label)
    return [f"{', '.join(labels)}: no figures of {ABSENT_PARTS[part]}: {why}." for why, labels in whys.items()]


def _why(machine: Machine, part: Part) -> str:
    """Return the review's note on a missing part, else a likely reason."""
    name = part.replace("_", "-")
    notes = [note for note in machine.review.get("notes") or [] if note.startswith(f"{name}: ")]
    return "; ".join(note.removeprefix(f"{name}: ") for note in notes) or ABSENT_WHY.get(part, NOT_ASKED)


def gathered_notes(topics: Sequence[Topic]) -> list[Topic]:
    """Return the topics with content, and last the notes of the others."""
    full = [topic for topic in topics if topic.figures or topic.tables]
    notes = [note for topic in topics if topic not in full for note in topic.notes]
    return [*full, Topic("absent", "Not in this review", notes=notes)] if notes else full


def place_axis(everyone: Sequence[Machine]) -> Axis:
    """Return the axis along the surface: GB, or percent of the capacity if capacities differ too much for one axis."""
    sizes = [machine.capacity_bytes for machine in everyone]
    if max(sizes) > 3 * min(sizes):
        return Axis("pct", "Position (% of the capacity)", "share")
    return Axis("gb", POSITION, "zero")
