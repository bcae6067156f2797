"""Describe a trace, from a file to the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import hotband._core as _core
from hotband.base.arguments import public
from hotband.base.engine import user_error
from hotband.base.errors import UserError
from hotband.base.foreign import json_text
from hotband.base.heavy import pl
from hotband.base.question import Way, asks
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.html import frame_html
from hotband.base.text.quantities import size_bytes
from hotband.base.text.values import Json
from hotband.base.views import view_of
from hotband.data.inputs.kinds import Paths
from hotband.data.traces.files import IO_LOG, format_of, make_rows
from hotband.inference.traces.asked import TOO_MUCH, TraceQuestion
from hotband.inference.traces.convert import asked_of, expect_trace
from hotband.inference.traces.properties import (
    BLOCK,
    SAMPLE,
    SCHEMA,
    SCHEMA_VERSION,
    Properties,
    properties_of,
)

SMALLEST, LARGEST = 512, 2**30
"""Least and largest block: a sector, and the longest transfer that is counted."""


@dataclass(frozen=True)
class TraceShown:
    """Properties of a trace, and its format; `others` are further traces of the question."""

    source: Path
    format: str
    properties: Properties
    others: tuple[TraceShown, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON that `hotband trace show --json` prints."""
        head: dict[str, Json] = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION}
        return {**head, "source": str(self.source), "format": self.format, **self.properties.to_dict()}

    def to_json(self) -> str:
        """Return the JSON as text."""
        return json_text(self.to_dict())

    @property
    def answer(self) -> list[str]:
        """The description of the trace, in sentences."""
        sentences: list[str] = view_of(self, "sentences")(self.properties)
        return sentences

    @property
    def frame(self) -> pl.DataFrame:
        """Its miss-ratio curve, one row per point: cache_bytes, miss_ratio, read_miss_ratio (of one), error
        (standard)."""
        frame: pl.DataFrame = view_of(self, "frame")(self.properties)
        return frame

    @public
    def write_html(self, path: str | Path, *, beside: Sequence[TraceShown] = ()) -> Path:
        """Write the page, one HTML file, of this trace, its `others` and those in `beside`; return its path. Raises
        UserError for a wrong path, OSError."""
        page: Path = view_of(self, "page")([self, *self.others, *beside], path)
        return page

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div>{''.join(f'<p>{escape(line)}</p>' for line in self.answer)}{frame_html(self.frame)}</div>"

    def __repr__(self) -> str:
        return f"<TraceShown {str(self.source)!r}: {self.properties.ios:,} I/Os>"


def block_of(text: str) -> int:
    """Read the bytes of a block, such as "4 KiB". Raises UserError."""
    bytes_of = size_bytes(text)
    if bytes_of is None or not SMALLEST <= bytes_of <= LARGEST or not bytes_of.is_integer():
        raise UserError("question.block", "", text, "expected a size from 512 B to 1 GiB, such as 4 KiB")
    return int(bytes_of)


@dataclass(frozen=True, kw_only=True)
class ShowTraceQuestion(TraceQuestion):
    """Describe traces: sizes, bursts, sequentiality, working set, popularity, cache hit ratios.

    The result has `properties` (typed; sizes in bytes, times in ns, shares of one), `answer` in sentences, a `frame`
    (the miss-ratio curve of an LRU cache), and `others` if there are several traces. Counts by block follow every
    block if there are no more than the sample. Raises UserError for a mistake, such as the first line
    that is wrong; OSError.
    """

    name = "trace show"
    schema = "hotband-trace-properties"
    answers = "hotband.inference.traces.show:TraceShown"
    has_page = True

    source: Paths = asks("Traces, plain or compressed by gzip or zstd.", metavar="FILE...", positional=True)
    block: str = asks("Block size for counts of accesses.", default="4 KiB", metavar="SIZE", unit="B")
    sample: int | None = asks("Most blocks to follow.", default=None, metavar="N", least=1024, most=2**26)

    def traces(self) -> list[tuple[Path, Mapping[str, object]]]:
        """Return the traces that it reads, with the keys of `[trace]` for each."""
        return [(path, self.keys()) for path in self.source]

    def document(self, shown: TraceShown) -> tuple[object, str]:
        """Return the JSON: an object for one trace, a list for several."""
        if not shown.others:
            return shown.to_dict(), self.schema
        return [trace.to_dict() for trace in (shown, *shown.others)], ""


def answer(question: ShowTraceQuestion, _: Way) -> TraceShown:
    """Return the description of the first trace, with the others. Raises UserError, OSError."""
    block, sample = block_of(question.block), SAMPLE if question.sample is None else question.sample
    first, *others = (show_trace(file, question.keys(), block, sample) for file in question.source)
    return replace(first, others=tuple(others))


def show_trace(source: Path, keys: Mapping[str, object], block: int = BLOCK, sample: int = SAMPLE) -> TraceShown:
    """Count the properties of the part of the trace `source` that `keys` (those of `[trace]`) select, in blocks of
    `block` bytes, at most `sample` of which are followed. Raises UserError, OSError."""
    request = asked_of(source, keys)
    expect_trace("question.source", source, request)
    format_ = request.format or format_of(source) or ""
    return TraceShown(source, format_, properties_of(_counted(source, format_, request, block, sample)))


def with_way_out(error: UserError) -> UserError:
    """Add to an error the option that avoids it: `skip_bad` for a wrong line, and `unpack` for a compressed file that
    reached the limit, at whichever line."""
    if (limit := re.search(rf"{TOO_MUCH} unpack = (\d+)", error.accepted)) is not None:
        accepted = f"{TOO_MUCH} {limit[1]} times its size, or half of the available memory; expected a larger "
        return UserError(error.where, "", "", f"{accepted}question.unpack, or an unpacked file")
    if not error.key.startswith("line ") or "question.skip_bad" in error.accepted:
        return error
    accepted = f"{error.accepted}. question.skip_bad N leaves out N such lines"
    return UserError(error.where, error.key, error.value, accepted)


def _counted(source: Path, format_: str, request: _core.TraceAsked, block: int, sample: int) -> str:
    """Return the properties that the core counts: while it reads a text, else from rows."""
    try:
        text = None if format_ == IO_LOG else request.properties(source, str(source), block, sample)
    except _core.SpecError as error:
        raise with_way_out(user_error(error)) from None
    if text is not None:
        return text
    with TemporaryFolder("traces") as folder:
        rows = Path(folder) / "0.rows"
        make_rows(source, request, str(source), rows)
        return _core.trace_properties(rows, block, sample)


def properties(source: Path, *, block: int = BLOCK, sample: int = SAMPLE, **keys: object) -> Properties:
    """Return the properties of a trace; keys as in `[trace]` (`from_` and `for_` are times)."""
    return show_trace(source, {key.rstrip("_"): value for key, value in keys.items()}, block, sample).properties
