"""`trace show`: what a trace is like, of a file to the answer."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.arguments import public
from hotband.base.engine import user_error
from hotband.base.errors import UserError
from hotband.base.foreign import json_text
from hotband.base.text.html import frame_html
from hotband.base.text.numbers import size
from hotband.base.text.quantities import size_bytes
from hotband.base.text.table import Table, column
from hotband.base.text.write import expect_page
from hotband.data.traces.files import IO_LOG, expect_file, format_of, is_trace, make_rows
from hotband.inference.traces.convert import asked_of
from hotband.inference.traces.properties import (
    BLOCK,
    SAMPLE,
    SCHEMA,
    SCHEMA_VERSION,
    Properties,
    properties_of,
)
from hotband.views.report.page import write_report
from hotband.views.traces.frames import curve_frame
from hotband.views.traces.told import answers_of, rows_of

if TYPE_CHECKING:
    import polars as pl

    from hotband.base.text.values import Json


SMALLEST, LARGEST = 512, 2**30
"""Blocks: a sector, and the longest transfer that is looked at."""


@dataclass(frozen=True)
class TraceShown:
    """What a trace is like, and as which format it was read."""

    source: Path
    format: str
    properties: Properties

    def to_dict(self) -> dict[str, Json]:
        """As `hotband trace show --json` prints it."""
        head: dict[str, Json] = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION}
        return {**head, "source": str(self.source), "format": self.format, **self.properties.to_dict()}

    def to_json(self) -> str:
        """The same as text."""
        return json_text(self.to_dict())

    @property
    def answer(self) -> list[str]:
        """What the trace is, in sentences."""
        return answers_of(self.properties)

    @property
    def frame(self) -> pl.DataFrame:
        """Its miss-ratio curve, a row a point: cache_bytes, miss_ratio, read_miss_ratio (of one), error (standard)."""
        return curve_frame(self.properties)

    @public
    def write_html(self, path: str | Path, *, beside: Sequence[TraceShown] = ()) -> Path:
        """Writes the page, one HTML file, of this trace and of others `beside` it; returns its path. Raises UserError
        where the path is wrong, OSError."""
        return write_page([self, *beside], path)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div>{''.join(f'<p>{escape(line)}</p>' for line in self.answer)}{frame_html(self.frame)}</div>"

    def __repr__(self) -> str:
        return f"<TraceShown {str(self.source)!r}: {self.properties.ios:,} I/Os>"


def write_page(shown: Sequence[TraceShown], path: str | Path) -> Path:
    """Writes one page of one trace or several. Raises UserError where the path is wrong, OSError."""
    from hotband.views.traces.page import trace_page

    expect_page("path", Path(path))
    return write_report(Path(path), trace_page(shown))


def block_of(text: str) -> int:
    """Bytes of a block, as "4 KiB" says it. Raises UserError."""
    bytes_of = size_bytes(text)
    if bytes_of is None or not SMALLEST <= bytes_of <= LARGEST or not bytes_of.is_integer():
        raise UserError("question.block", "", text, "expected a size from 512 B to 1 GiB, such as 4 KiB")
    return int(bytes_of)


def show_trace(source: Path, keys: Mapping[str, object], block: int = BLOCK, sample: int = SAMPLE) -> TraceShown:
    """What the trace `source` is like, of which `keys` (those of `[trace]`) take some: in blocks of `block` bytes, at
    most `sample` of which are followed. Raises UserError, OSError."""
    asked = asked_of(source, keys)
    expect_file("question.source", source)
    if asked.format is None and not is_trace(source):
        accepted = f"is no trace of a known format; expected one of {', '.join([IO_LOG, *_core.trace_formats()])}"
        raise UserError("question.source", "", str(source), f"{accepted}; of any CSV say question.columns")
    format_ = asked.format or format_of(source) or ""
    return TraceShown(source, format_, properties_of(_counted(source, format_, asked, block, sample)))


def _counted(source: Path, format_: str, asked: _core.TraceAsked, block: int, sample: int) -> str:
    """What the core finds: of text as it is read, else of rows."""
    try:
        text = None if format_ == IO_LOG else asked.properties(source, str(source), block, sample)
    except _core.SpecError as error:
        raise user_error(error) from None
    if text is not None:
        return text
    with tempfile.TemporaryDirectory(prefix="hotband-traces-") as folder:
        rows = Path(folder) / "0.rows"
        make_rows(source, asked, str(source), rows)
        return _core.trace_properties(rows, block, sample)


def properties(source: Path, *, block: int = BLOCK, sample: int = SAMPLE, **keys: object) -> Properties:
    """The same without its file; keys as in `[trace]` (`from_` and `for_` are times)."""
    return show_trace(source, {key.rstrip("_"): value for key, value in keys.items()}, block, sample).properties


def closing_of(shown: TraceShown) -> list[str]:
    """How it was read and counted, and what is to be said of it."""
    found = shown.properties
    if found.is_exact:
        how = "every block was followed: exact"
    else:
        how = f"{found.sample_blocks:,} blocks, one in {round(1 / found.sample_rate):,}, were followed (SHARDS)"
    head = f"Read as {shown.format}; blocks of {size(found.block_bytes)}, {how}."
    return [head, *(f"note: {note}" for note in found.notes)]


def table_of(shown: Sequence[TraceShown]) -> Table:
    """A row a figure, a column a trace."""
    heads = [one.source.name if len(shown) > 1 else "" for one in shown]
    table = Table("", [column(""), *map(column, heads)], bare=len(shown) == 1)
    rows = [dict(rows_of(one.properties)) for one in shown]
    names = list(dict.fromkeys(name for of in rows for name in of))
    for name in names:
        table.add(name, *(of.get(name) for of in rows))
    return table
