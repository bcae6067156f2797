"""Convert a trace to the format of another tool, and report what that format cannot store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import hotband._core as _core
from hotband.base.arguments import short
from hotband.base.errors import UserError
from hotband.base.fields import of_question
from hotband.base.heavy import np, pa, tomlkit
from hotband.base.question import Way, asks
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.nearest import unknown_name
from hotband.base.text.regular import opened
from hotband.base.text.schema import to_doc, with_schema
from hotband.base.text.values import Json
from hotband.base.text.write import expect_other_file, replacing
from hotband.data.importers.unread import unread
from hotband.data.record.iolog import DIRECTIONS
from hotband.data.traces.files import IO_LOG, by_headings, expect_file, format_of, is_trace, make_rows
from hotband.data.traces.io_log import UNKNOWN
from hotband.data.traces.rows import RowsHead, blocks_of, head_of
from hotband.inference.traces.asked import TraceQuestion, default_unpack

BEGINNING = 4096
"""Bytes of a file by which the tool that wrote it is recognised."""
ENDINGS = {
    ".parquet": IO_LOG,
    ".csv": "io-log-csv",
    ".spc": "spc",
    ".blkparse": "blkparse",
    ".iolog": "fio-v3",
    ".trace": "disksim-ascii",
}
"""Formats by suffix, before .gz or .zst for compression."""
PACKED = (".gz", ".zst")
SCHEMA = (
    *("number", "submit_ns", "stream", "direction", "offset_bytes", "size_bytes"),
    *("latency_ns", "error", "measured", "fua", "volume"),
)
"""Columns of a written I/O log: those of `hotband run --io-log` that a trace knows."""


@dataclass(frozen=True)
class TraceConverted:
    """A converted trace: its formats, I/Os read and written, data that the new format cannot store (with the number of
    I/Os), the largest rounding of a time in ns, and notes of the reader."""

    source: Path
    output: Path
    source_format: str
    output_format: str
    ios: int
    written: int
    lost: Mapping[str, int]
    rounded_ns: int
    notes: Sequence[str]

    def lines(self) -> list[str]:
        """Return the result as lines of text."""
        whole = f"{self.written:,} of {self.ios:,} I/Os" if self.written != self.ios else f"{self.ios:,} I/Os"
        lines = [f"{self.output}: {whole}, {self.source_format} to {self.output_format}"]
        lines += [f"  lost: {what} ({count:,} I/Os)" for what, count in self.lost.items()]
        if self.rounded_ns:
            lines.append(f"  lost: up to {self.rounded_ns:,} ns of each time")
        if len(lines) == 1:
            lines.append("  nothing is lost")
        return [*lines, *(f"  note: {note}" for note in self.notes)]

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON that `hotband trace convert --json` prints."""
        return with_schema(to_doc(self), "hotband-trace-convert")


def targets() -> list[str]:
    """Return the names of the formats that can be written."""
    return [IO_LOG, *_core.trace_targets()]


def target_of(output: Path, to: str | None) -> str:
    """Return the format of a file to write: `to`, or that of its suffix. Raises UserError."""
    if to is not None:
        if to not in targets():
            raise unknown_name("question.to", to, targets())
        return to
    endings = [ending.lower() for ending in output.suffixes]
    last = endings[-2:-1] if endings and endings[-1] in PACKED else endings[-1:]
    if not last or last[0] not in ENDINGS:
        accepted = (
            f"expected a name that ends in {', '.join(ENDINGS)} (and {' or '.join(PACKED)}), or question.to FORMAT"
        )
        raise UserError("question.output", "", str(output), accepted)
    return ENDINGS[last[0]]


def asked_of(file: Path, keys: Mapping[str, object]) -> _core.TraceAsked:
    """Return the request to read a trace, by keys of `[trace]`. Raises UserError, which names the key."""
    given = {key: value for key, value in keys.items() if value not in (None, [], {}, ())}
    if not given.keys() & {"format", "columns"}:
        given |= by_headings(file)
    given.setdefault("unpack", default_unpack(file))
    for key, value in given.items():
        try:
            tomlkit.item(value)
        except (tomlkit.exceptions.TOMLKitError, TypeError, ValueError):
            accepted = "expected text, a number, a bool, or a list or dict of them"
            raise UserError(f"question.{key}", "", short(value), accepted) from None
    text = tomlkit.dumps({"trace": {"file": str(file), **given}})
    try:
        (request,) = _core.traces_of(text, "trace")
    except _core.SpecError as error:
        _, key, value, accepted = error.args
        raise UserError(of_question(key), "", value, accepted) from None
    return request


def expect_trace(key: str, source: Path, request: _core.TraceAsked) -> None:
    """Raise UserError for a file that is not a trace of a known format, unless a format is set. `key` names the
    argument."""
    expect_file(key, source)
    if request.format is None and not is_trace(source):
        with opened(source) as file:
            tool = unread(file.read(BEGINNING).decode("utf-8", "replace"))
        if tool:
            raise UserError(key, "", str(source), tool)
        accepted = f"is not a trace of a known format; expected one of {', '.join([IO_LOG, *_core.trace_formats()])}"
        raise UserError(key, "", str(source), f"{accepted}; for other CSV files set question.columns")


@dataclass(frozen=True, kw_only=True)
class ConvertTraceQuestion(TraceQuestion):
    """Convert a trace to another format, and list what that format cannot express.

    The result has `written` I/Os, what was `lost` of how many, and `notes`. Raises UserError for a mistake, such as
    the first line that is wrong; OSError.
    """

    name = "trace convert"
    schema = "hotband-trace-convert"
    answers = "hotband.inference.traces.convert:TraceConverted"

    source: Path = asks("A trace, plain or compressed by gzip or zstd.", metavar="IN", positional=True)
    output: Path = asks("The new file; its suffix sets the format.", metavar="OUT", positional=True)
    to: str | None = asks("The new format.", default=None, metavar="FORMAT")

    def traces(self) -> list[tuple[Path, Mapping[str, object]]]:
        """Return the trace that it reads, with the keys of `[trace]`."""
        return [(self.source, self.keys())]


def answer(question: ConvertTraceQuestion, _: Way) -> TraceConverted:
    """Return the trace that was converted. Raises UserError, OSError."""
    return convert_trace(question.source, question.output, question.to, question.keys())


def convert_trace(source: Path, output: Path, to: str | None, keys: Mapping[str, object]) -> TraceConverted:
    """Convert the trace `source`, of which `keys` (those of `[trace]`) select a part, to `output`. Raises UserError,
    OSError."""
    target = target_of(output, to)
    expect_other_file("question.output", output, [source])
    request = asked_of(source, keys)
    expect_trace("question.source", source, request)
    with TemporaryFolder("traces") as folder:
        rows = Path(folder) / "0.rows"
        make_rows(source, request, str(source), rows)
        head = head_of(rows)
        written, lost, rounded = _written(rows, head, target, output)
    was = request.format or format_of(source) or ""
    return TraceConverted(source, output, was, target, head["ios"], written, lost, rounded, head["notes"])


def _written(rows: Path, head: RowsHead, target: str, output: Path) -> tuple[int, dict[str, int], int]:
    """Write the rows; return I/Os written, lost data with numbers of I/Os, and the largest rounding (ns)."""
    if target == IO_LOG:
        if output.suffix.lower() in PACKED:
            raise UserError(
                "question.output", "", str(output), "Parquet is already compressed; expected a name without that suffix"
            )
        with replacing(output) as file:
            write_log(rows, head, file)
        return head["ios"], {}, 0
    ending = output.suffix.lower().lstrip(".")
    with replacing(output) as file:
        written, lost, rounded = _core.write_trace(rows, target, Path(file.name), ending)
    return written, dict(lost), rounded


def write_log(rows: Path, head: RowsHead, file: IO[bytes]) -> None:
    """Write rows as our I/O log, Parquet. Raises OSError."""
    from pyarrow.parquet import ParquetWriter

    texts = {"stream", "direction", "error", "volume"}
    flags = {"measured", "fua"}
    kind = {**dict.fromkeys(texts, pa.string()), **dict.fromkeys(flags, pa.bool_())}
    schema = pa.schema([pa.field(name, kind.get(name, pa.uint64())) for name in SCHEMA])
    names = pa.array([stream["name"] for stream in head["streams"]], pa.string())
    volumes = pa.array([stream.get("volume") for stream in head["streams"]], pa.string())
    directions = pa.array(DIRECTIONS, pa.string())
    begin = 0
    with ParquetWriter(file, schema) as writer:
        for block in blocks_of(rows, head["ios"]):
            issue, latency, what, offset, length, _ = (np.ascontiguousarray(block[:, at]) for at in range(6))
            stream, number = pa.array(what >> np.uint64(16)), np.arange(begin, begin + len(block), dtype="u8")
            failed = (what >> np.uint64(9) & np.uint64(1)).astype(bool)
            columns = {
                "number": pa.array(number),
                "submit_ns": pa.array(issue),
                "stream": names.take(stream),
                "direction": directions.take(pa.array(what & np.uint64(0xFF))),
                "offset_bytes": pa.array(offset),
                "size_bytes": pa.array(length),
                "latency_ns": pa.array(latency, mask=latency == np.uint64(UNKNOWN)),
                "error": pa.array(np.where(failed, "failed", ""), pa.string(), mask=~failed),
                "measured": pa.array(number >= head["unmeasured"]),
                "fua": pa.array((what >> np.uint64(8) & np.uint64(1)).astype(bool)),
                "volume": volumes.take(stream),
            }
            writer.write_batch(pa.record_batch([columns[name] for name in SCHEMA], schema=schema))
            begin += len(block)
