"""A page: sections made of blocks, written as one self-contained HTML file.

Text is escaped by the template; data goes into one JSON element whose `<`, `>` and `&` are escaped; each frame is
stored once, by column, and `draw.js` passes every chart its rows.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NotRequired, Protocol, TypedDict

from hotband.base.errors import UserError
from hotband.base.folders import cache_folder
from hotband.base.heavy import alt, vl_convert
from hotband.base.text import table as tables
from hotband.base.text.regular import file_bytes
from hotband.base.text.values import Json
from hotband.base.text.write import write_file
from hotband.base.version import __version__

if TYPE_CHECKING:
    import jinja2

# Digits of a stored number: a pixel of a large screen is one part in 4000.
STORED_DIGITS = 5


@contextmanager
def unchecked() -> Iterator[None]:
    """Make charts without checking every part of them against Vega-Lite's schema, which doubles the time."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        yield


@dataclass(frozen=True)
class Prose:
    """Paragraphs; a `lead`, which has the answer, is in larger type."""

    kind: ClassVar[str] = "prose"
    paragraphs: Sequence[str]
    lead: bool = False


@dataclass(frozen=True)
class Cards:
    """Large numbers, each with its meaning."""

    kind: ClassVar[str] = "cards"
    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Cell:
    """One cell: `bar` draws a small bar from the middle (-1 to 1), `mark` is a short tag before the text, `under` a
    smaller line below it, and `color` that of a dot before it, as in the page's charts."""

    text: str
    numeric: bool = False
    mark: str = ""
    bar: float | None = None
    muted: bool = False
    under: str = ""
    color: str = ""


@dataclass(frozen=True)
class Group:
    """Rows of a table under a title and a smaller line, either of which may be empty."""

    rows: Sequence[Sequence[Cell]]
    title: str = ""
    under: str = ""


@dataclass(frozen=True)
class Table:
    """Groups of rows under one heading; a `tight` table wraps its headings, so that many columns fit."""

    kind: ClassVar[str] = "table"
    columns: Sequence[str]
    groups: Sequence[Group]
    caption: str = ""
    folded: bool = False
    tight: bool = False

    @classmethod
    def of(cls, table: tables.Table, caption: str = "", folded: bool = False) -> Table:
        """Return a table of the terminal on the page, with the same numbers."""
        numeric = [column.kind != "text" for column in table.columns]
        rows = [[Cell(text, is_number) for text, is_number in zip(row, numeric, strict=True)] for row in table.texts()]
        return cls([column.name for column in table.columns], [Group(rows)], caption, folded, tight=True)

    @property
    def numeric(self) -> list[bool]:
        """Return for each column whether it holds numbers, which decides the alignment of its heading."""
        rows = [row for group in self.groups for row in group.rows]
        return [any(row[n].numeric for row in rows) for n in range(len(self.columns))]


class Drawable(Protocol):
    """An altair chart, or another object with a Vega-Lite spec."""

    def to_dict(self) -> dict[str, Json]:
        """Return the spec, which the caller may change."""


@dataclass(frozen=True)
class Chart:
    """A chart with its title and caption."""

    title: str
    view: Drawable
    caption: str = ""


@dataclass(frozen=True)
class KeyItem:
    """The meaning of a colour and a sign."""

    text: str
    color: str
    sign: str


@dataclass(frozen=True)
class Charts:
    """Charts side by side, as many as fit with `width` (px) each.

    With `runs`, the reader chooses one of them, and another for comparison; the charts then draw only the rows of the
    chosen runs. A choice applies to all such blocks, so they should offer the same runs. A `key` is one legend for all
    of them, which then have no separate legends.
    """

    kind: ClassVar[str] = "charts"
    charts: Sequence[Chart]
    width: int = 620
    runs: Sequence[str] = ()
    key: Sequence[KeyItem] = ()


@dataclass(frozen=True)
class Claims:
    """Statements, each with whether it holds: `yes`, `no` or `open`."""

    kind: ClassVar[str] = "claims"
    items: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Fold:
    """Text as it was written (a spec, a command), folded if it is long."""

    kind: ClassVar[str] = "fold"
    title: str
    text: str
    open: bool = False


Block = Prose | Cards | Table | Charts | Claims | Heading | Fold


@dataclass(frozen=True)
class Section:
    """A part of a page that the table of contents lists. A `folded` section shows its title and, on a line next to it,
    its `gist`; its charts are drawn when a reader unfolds it."""

    id: str
    title: str
    blocks: Sequence[Block]
    folded: bool = False
    gist: str = ""


CHECKED = False
"""Whether specs are checked against Vega-Lite's schema, which takes longer than making them. Tests set it."""


def spec_of(view: Drawable) -> dict[str, Json]:
    """Return the spec of a chart, which the caller may change."""
    return view.to_dict(validate=CHECKED) if isinstance(view, alt.TopLevelMixin) else view.to_dict()


@dataclass(frozen=True)
class Part:
    """Sections under a title and one sentence with the result; in print, a part begins on a new page. A `folded` part
    shows only title and sentence."""

    id: str
    title: str
    sections: Sequence[Section]
    lead: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """The content of a report: sections, and after them parts with sections of their own."""

    title: str
    sections: Sequence[Section]
    subtitle: str = ""
    kicker: str = "Hotband report"
    parts: Sequence[Part] = ()

    @property
    def every_section(self) -> list[Section]:
        """Return the sections, including those of the parts."""
        return [*self.sections, *(section for part in self.parts for section in part.sections)]


def write_report(out: Path, page: Page) -> Path:
    """Write `page` to the file `out` and return it. Raises UserError if the path is wrong, else OSError."""
    write_file(out, render(page))
    return out


@cache
def _template() -> jinja2.Template:
    """Compile the template of all pages."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(str(__package__), "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("template.html.j2")


def render(page: Page) -> str:
    """Return the whole HTML of a page."""
    from markupsafe import Markup

    store = ChartStore()
    blocks = {
        id(block): store.add(block) for s in page.every_section for block in s.blocks if isinstance(block, Charts)
    }
    return _template().render(
        page=page,
        version=__version__,
        numbers=lambda block: blocks[id(block)],
        data=Markup(to_json(store.content())) if blocks else "",
        library=Markup(library()) if blocks else "",
    )


class ColumnDoc(TypedDict):
    """A column of a frame: its numbers, or its texts as [text, number of repetitions]."""

    name: str
    values: NotRequired[list[float | None]]
    repeats: NotRequired[list[list[Json]]]


class FrameDoc(TypedDict):
    """A frame by column, of `count` rows."""

    count: int
    columns: list[ColumnDoc]


class ChartDoc(TypedDict):
    """A chart without its rows: the names of its frames, and whether it draws only the chosen runs."""

    spec: dict[str, Json]
    frames: list[str]
    chosen: bool
    title: str


class ChartsDoc(TypedDict):
    """Data that `draw.js` reads."""

    charts: list[ChartDoc]
    frames: dict[str, FrameDoc]


class ChartStore:
    """The specs and the frames of a page's charts; a frame of several charts is stored once."""

    def __init__(self) -> None:
        self._charts: list[ChartDoc] = []
        self._frames: dict[str, FrameDoc] = {}

    def add(self, block: Charts) -> list[int]:
        """Add the charts of a block; return their numbers on the page."""
        return [self._add(chart, bool(block.runs)) for chart in block.charts]

    def _add(self, chart: Chart, chosen: bool) -> int:
        with alt.data_transformers.disable_max_rows():
            spec = spec_of(chart.view)
        datasets = spec.pop("datasets", {})
        frames = datasets if isinstance(datasets, dict) else {}
        for name, rows in frames.items():
            if name not in self._frames and isinstance(rows, list):
                self._frames[name] = pack([row for row in rows if isinstance(row, dict)])
        self._charts.append({"spec": spec, "frames": list(frames), "chosen": chosen, "title": chart.title})
        return len(self._charts) - 1

    def content(self) -> ChartsDoc:
        """Return what `draw.js` reads."""
        return {"charts": self._charts, "frames": self._frames}


def pack(rows: Sequence[Mapping[str, Json]]) -> FrameDoc:
    """Return rows by column."""
    names = list(rows[0]) if rows else []
    return {"count": len(rows), "columns": [_pack_column(name, [row[name] for row in rows]) for name in names]}


def _pack_column(name: str, values: Sequence[Json]) -> ColumnDoc:
    numbers = [
        value for value in values if value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    ]
    if len(numbers) == len(values):
        return {"name": name, "values": [_stored(value) for value in numbers]}
    return {"name": name, "repeats": [[value, len(list(same))] for value, same in groupby(values)]}


def _stored(value: float | None) -> float | int | None:
    """Return a number with the digits that a chart can show, whole numbers without a point."""
    if value is None or not math.isfinite(value):
        return None
    if value == int(value) and abs(value) < 10**9:
        return int(value)
    return float(f"{value:.{STORED_DIGITS}g}")


def to_json(value: object) -> str:
    """Return JSON that cannot end the HTML element that contains it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def library() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script, in a separate scope."""
    script = _bundle()
    return "(() => {" + script.replace("</script", "<\\/script").replace("<!--", "<\\!--") + "\n})();"


def _bundle() -> str:
    """Return the libraries as vl-convert bundles them.

    Bundling takes two seconds of processor time and always gives the same result, so the user's cache (XDG base
    folders) stores the result with its digest. Without a usable cache it is bundled again.
    """
    folder = cache_folder()
    file = folder / f"charts-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeError):
        digest, _, cached = file_bytes(file).decode().partition("\n")
        if digest == _digest(cached):
            return cached
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    with suppress(OSError, UserError):
        # Without a home folder "~" stays unchanged.
        if folder.is_absolute():
            folder.mkdir(parents=True, exist_ok=True)
            write_file(file, f"{_digest(script)}\n{script}")
    return script


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()


def plain(texts: Iterable[object]) -> list[Cell]:
    """Return cells without any formatting."""
    return [Cell(str(text)) for text in texts]
