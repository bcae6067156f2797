"""Our own I/O log (`hotband run --io-log`, docs/guides/records.md) as a trace, in batches that fit into memory.

Old logs have no `fua` (taken as off), no `volume` (that of the machine) and no `number` (rows with one time of issue
stay in order). Left out: the stages of an I/O's time, and the log as CSV.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.heavy import np, pa
from hotband.data.record.iolog import DIRECTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyarrow.parquet import ParquetFile

    Numbers = NDArray[np.uint64]

Stream: TypeAlias = tuple[str, str | None]
NEEDED = ("submit_ns", "direction", "offset_bytes", "size_bytes", "latency_ns")
OPTIONAL = ("stream", "error", "measured", "fua", "volume", "number")
TEXTS = ("stream", "volume", "direction")
"""Text columns with few different values, read as indices: one text per row would double the time."""
AT_ONCE = 65_536
"""Rows of a batch: 4 MB of numbers."""
FUA, FAILED, STREAM = 8, 9, 16
"""Bits of the third number of a row, above the operation (crates/workloads/src/sources/trace/file.rs)."""
UNKNOWN = 2**64 - 1
"""Stands for an unknown latency in a row."""


def write_log_rows(log: Path, name: str, out: Path, request: _core.TraceAsked) -> None:
    """Write the requested I/Os of `log` as rows to `out`; errors call it `name`. Raises UserError for a file
    that is no such log, or for its first row that is wrong; OSError."""
    from pyarrow.parquet import ParquetFile

    try:
        # With read-ahead, Arrow would hold all data that it has read.
        with ParquetFile(log, pre_buffer=False) as file:
            fields = [file.schema_arrow.field(at) for at in range(len(file.schema_arrow))]
            texts = [field.name for field in fields if field.name in TEXTS and pa.types.is_string(field.type)]
        with ParquetFile(log, pre_buffer=False, read_dictionary=texts) as file:
            missing = [column for column in NEEDED if column not in file.schema_arrow.names]
            if missing:
                accepted = f"has no column {', '.join(missing)}: expected an I/O log as a run writes it"
                raise UserError(name, "", "", accepted)
            reader = _Reader(name, file)
            streams, measured_from = reader.head()
            making = _core.TraceMaking(request, out, streams, measured_from)
            for rows in reader.rows():
                making.push(rows)
            making.finish(name, out)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        # Arrow reports damaged pages as an OSError without a number.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        what = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(name, "", "", f"is damaged, or not readable Parquet: {what}") from None


class _Reader:
    """A log that is read twice: for its properties as a whole, and for its I/Os."""

    def __init__(self, name: str, file: ParquetFile) -> None:
        self.name, self.file = name, file
        self.columns = [column for column in (*NEEDED, *OPTIONAL) if column in file.schema_arrow.names]
        self.index_of: dict[Stream, int] = {}

    def batches(self, columns: Sequence[str]) -> Iterator[_Batch]:
        """Yield its rows in batches."""
        first = 1
        for batch in self.file.iter_batches(AT_ONCE, columns=list(columns)):
            if batch.num_rows:
                yield _Batch(self.name, batch, first)
            first += batch.num_rows

    def head(self) -> tuple[list[Stream], int | None]:
        """Read all of it once; return its streams, and the first measured row. Raises UserError if it has no I/Os, or
        they have no order."""
        order, seen = _Order(self.name), set()
        ios, measured_from = 0, None
        of_head = ("submit_ns", "latency_ns", "stream", "volume", "measured")
        for batch in self.batches([column for column in self.columns if column in of_head]):
            issue = batch.numbers("submit_ns")
            latency = batch.latencies()
            # Unrecorded completions count as immediate, as far as the order of rows allows.
            order.look(issue, issue + np.where(latency == UNKNOWN, np.uint64(0), latency), batch.first)
            seen |= set(batch.streams()[0])
            measured = batch.flags("measured", missing=True)
            if measured_from is None and measured.any():
                measured_from = batch.first + int(np.argmax(measured))
            ios += len(issue)
        if not ios:
            raise UserError(self.name, "", "", "is an I/O log without a single I/O")
        streams = sorted(seen, key=lambda stream: (stream[0], stream[1] or ""))
        self.index_of = {stream: index for index, stream in enumerate(streams)}
        return streams, measured_from

    def rows(self) -> Iterator[bytes]:
        """Its I/Os, some at a time, once the head was read: of each the time of issue, latency, what it is, offset,
        length, row in the file, and order where times are equal. Raises UserError for the first that is none."""
        for batch in self.batches(self.columns):
            streams, codes = batch.streams()
            stream = np.array([self.index_of[stream] for stream in streams], "u8")[codes]
            fua, failed = batch.flags("fua", missing=False), batch.flags("error", missing=False)
            what = batch.directions() | stream << np.uint64(STREAM)
            what |= fua.astype("u8") << np.uint64(FUA) | failed.astype("u8") << np.uint64(FAILED)
            rows = np.arange(batch.first, batch.first + len(codes), dtype="u8")
            issue, latency = batch.numbers("submit_ns"), batch.latencies()
            offset, length = batch.numbers("offset_bytes"), batch.numbers("size_bytes")
            order = batch.numbers("number") if "number" in self.columns else rows
            yield np.stack((issue, latency, what, offset, length, rows, order), axis=1).astype("<u8").tobytes()


class _Order:
    """Whether rows are in order of their answers, as a log is written, or of their issue."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.last: list[int] = [0, 0]
        self.broken: list[int | None] = [None, None]

    def look(self, issue: Numbers, answered: Numbers, first: int) -> None:
        """Check the next rows; the first has this number. Raises UserError once they are in neither order."""
        for index, times in enumerate((answered, issue)):
            if self.broken[index] is None:
                back = np.flatnonzero(np.diff(times, prepend=np.uint64(self.last[index])).astype("i8") < 0)
                self.broken[index] = first + int(back[0]) if len(back) else None
                self.last[index] = int(times[-1])
        if None not in self.broken:
            row = max(number for number in self.broken if number is not None)
            accepted = "comes before the previous row; expected rows in order of completion, or of submission"
            raise UserError(self.name, f"row {row}", "", accepted)


class _Batch:
    """Some rows of a log; the first of them has the number `first`."""

    def __init__(self, name: str, batch: pa.RecordBatch, first: int) -> None:
        self.name, self.batch, self.first = name, batch, first

    def wrong(self, row: int, column: str, accepted: str) -> UserError:
        """Return the error of the row at this index."""
        value = self.batch.column(column)[row].as_py()
        return UserError(self.name, f"row {self.first + row}", "" if value is None else str(value), accepted)

    def numbers(self, column: str) -> Numbers:
        """Return a column of whole numbers. Raises UserError for the first row without one."""
        values = self.batch.column(column)
        if not pa.types.is_integer(values.type):
            raise UserError(self.name, column, str(values.type), "expected a column of whole numbers")
        if values.null_count:
            row = int(np.argmax(~_valid(values)))
            raise self.wrong(row, column, f"has no {column}; expected a whole number")
        numbers: Numbers = values.to_numpy()
        # Negative ones are beyond it, too: as their bits are read.
        numbers = numbers.astype("i8").view("u8") if numbers.dtype.kind == "i" else numbers.astype("u8")
        beyond = np.flatnonzero(numbers >= np.uint64(1 << 62))
        if len(beyond):
            raise self.wrong(int(beyond[0]), column, f"is no {column}; expected a number from 0 to 2^62")
        return numbers

    def latencies(self) -> Numbers:
        """Return latencies in ns, UNKNOWN if a converted trace has none."""
        values = self.batch.column("latency_ns")
        if not values.null_count or not pa.types.is_integer(values.type):
            return self.numbers("latency_ns")
        known = _valid(values)
        at = self.batch.schema.get_field_index("latency_ns")
        filled = _Batch(self.name, self.batch.set_column(at, "latency_ns", values.fill_null(0)), self.first)
        latencies: Numbers = np.where(known, filled.numbers("latency_ns"), np.uint64(UNKNOWN))
        return latencies

    def flags(self, column: str, *, missing: bool) -> NDArray[np.bool_]:
        """A column of true and false, or of optional texts; `missing` throughout if the column does not exist."""
        if column not in self.batch.schema.names:
            return np.full(self.batch.num_rows, missing)
        values = self.batch.column(column)
        if not pa.types.is_boolean(values.type):
            return _valid(values)
        values = values.fill_null(missing) if values.null_count else values
        flags: NDArray[np.bool_] = values.to_numpy(zero_copy_only=False).astype(bool)
        return flags

    def codes(self, column: str) -> tuple[list[str | None], NDArray[np.int64]]:
        """Different texts of a column, and which of them each row has; no text throughout if it is not there."""
        if column not in self.batch.schema.names:
            return [None], np.zeros(self.batch.num_rows, "i8")
        values = self.batch.column(column)
        if not pa.types.is_dictionary(values.type):
            values = values.cast(pa.string()).dictionary_encode()
        known = values.dictionary
        names = [*(known if pa.types.is_string(known.type) else known.cast(pa.string())).to_pylist(), None]
        indices = values.indices
        if indices.null_count == len(indices):
            return names, np.full(len(indices), len(names) - 1, "i8")
        return names, (indices.fill_null(len(names) - 1) if indices.null_count else indices).to_numpy().astype("i8")

    def streams(self) -> tuple[list[Stream], NDArray[np.int64]]:
        """Different streams (with the volume that they are on), and which of them each row is of."""
        (names, of_name), (volumes, of_volume) = self.codes("stream"), self.codes("volume")
        of_both, most = of_name * len(volumes) + of_volume, len(names) * len(volumes)
        if most <= AT_ONCE:
            # Without sorting the rows.
            both = np.flatnonzero(np.bincount(of_both, minlength=most))
            place_of = np.zeros(most, "i8")
            place_of[both] = np.arange(len(both))
            codes = place_of[of_both]
        else:
            both, codes = np.unique(of_both, return_inverse=True)
        pairs = [divmod(int(code), len(volumes)) for code in both]
        return [(names[name] or "main", volumes[volume]) for name, volume in pairs], codes

    def directions(self) -> Numbers:
        """Operations as numbers. Raises UserError for the first row that has none."""
        names, codes = self.codes("direction")
        known = np.array([DIRECTIONS.index(name) if name in DIRECTIONS else len(DIRECTIONS) for name in names], "u8")
        numbers: Numbers = known[codes]
        unknown = np.flatnonzero(numbers == len(DIRECTIONS))
        if len(unknown):
            raise self.wrong(int(unknown[0]), "direction", f"expected one of {', '.join(DIRECTIONS)}")
        return numbers


def _valid(values: pa.Array) -> NDArray[np.bool_]:
    """Return which rows of a column have a value. Arrow's own `is_valid` imports all of its functions, which takes as
    long as 100,000 rows."""
    if values.null_count in (0, len(values)):
        return np.full(len(values), not values.null_count)
    bits = np.frombuffer(values.buffers()[0], np.uint8)
    return np.unpackbits(bits, bitorder="little")[values.offset : values.offset + len(values)].astype(bool)
