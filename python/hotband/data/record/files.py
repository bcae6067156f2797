"""Records on disk: one JSON document and the series as Parquet (docs/guides/records.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from hotband.base.heavy import pa, pl, pq
from hotband.base.text.regular import file_bytes
from hotband.base.text.write import make_folder, write_files
from hotband.data.record.written import record_text

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.record.imported import Imported, SeriesColumns

RECORD_FILE = "record.json"
REPORT_FILE = "report.html"
"""Name of the page that several commands write into their folder."""
SERIES_FILE = "series.parquet"
JOB_FILE = "job.fio"
"""The job file of an emulated run."""
MODEL, CLIENT, SERVED = "model", "emulated", "served"
"""Folders of an emulated run: records of the model, of fio as the client, and of the server."""
# Kinds of cells, with the engine's names.
WHOLE, REAL, TEXT = "u64", "f64", "text"


Cell: TypeAlias = int | float | str | None


class Table(Protocol):
    """Columns of equal length by name, with the kind of each."""

    @property
    def columns(self) -> dict[str, list[Cell]]:
        """Return the cells by column, None if there is none."""

    @property
    def kinds(self) -> dict[str, str]:
        """Return the kind of each column: "u64", "f64" or "text"."""


@dataclass(frozen=True)
class ReadTable:
    """A table read from its file."""

    columns: dict[str, list[Cell]]
    kinds: dict[str, str]


def save_record(folder: Path, text: str, tables: Mapping[str, Table]) -> None:
    """Write `record.json` and each table as NAME.parquet into the existing folder `folder`: all of them, or none if one
    cannot be written."""
    files: dict[Path, bytes | str] = {folder / f"{name}.parquet": parquet_of(table) for name, table in tables.items()}
    write_files({**files, folder / RECORD_FILE: text + "\n"})


def record_file(folder: Path) -> Path:
    """Return the file of the record that represents a run's folder, whether or not it exists: for an emulated run the
    client's record, next to which are the model's and the server's."""
    client = folder / CLIENT / RECORD_FILE
    return client if (folder / JOB_FILE).is_file() and client.is_file() else folder / RECORD_FILE


def load_tables(folder: Path, record: RecordDoc) -> dict[str, Table]:
    """Return the tables that a Hotband record names, from its folder. Raises OSError, ValueError."""
    return {name: read_table(file_bytes(folder / file)) for name, file in table_files(record["series"] or {}).items()}


def read_table(data: bytes) -> Table:
    """Read a table from the bytes of its Parquet file. Raises ValueError."""
    import io

    def kind(type_: pa.DataType) -> str:
        return WHOLE if pa.types.is_integer(type_) else REAL if pa.types.is_floating(type_) else TEXT

    read = pq.read_table(io.BytesIO(data))
    return ReadTable(read.to_pydict(), {field.name: kind(field.type) for field in read.schema})


def file_key(name: str) -> str:
    """Return the key of `series` that names a table's file: "file" for the streams', NAME_file for table NAME."""
    return "file" if name == "series" else f"{name}_file"


def table_files(series: Mapping[str, object]) -> dict[str, str]:
    """Return the names of the files of a record's tables, by the name of the table."""
    files: dict[str, str] = {}
    for key, file in series.items():
        if file is not None and (key == "file" or key.endswith("_file")):
            files["series" if key == "file" else key.removesuffix("_file")] = str(file)
    return files


def parquet_of(table: Table) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    kinds = {WHOLE: pa.uint64(), REAL: pa.float64(), TEXT: pa.string()}
    arrays = {name: pa.array(cells, kinds[table.kinds[name]]) for name, cells in table.columns.items()}
    return _parquet(pa.table(arrays))


def frame_of(table: Table) -> pl.DataFrame:
    """Return a table as a frame, with the types that its file has."""
    kinds = {WHOLE: pl.UInt64, REAL: pl.Float64, TEXT: pl.String}
    return pl.DataFrame([pl.Series(name, cells, kinds[table.kinds[name]]) for name, cells in table.columns.items()])


def parquet_of_frame(frame: pl.DataFrame) -> bytes:
    """Return a frame as the bytes of a Parquet file, equal to those of the table it was made from."""
    table = frame.rechunk().to_arrow()
    text_types = (pa.types.is_large_string, pa.types.is_string_view)
    kinds = [
        (column.name, pa.string() if any(is_text(column.type) for is_text in text_types) else column.type)
        for column in table.schema
    ]
    return _parquet(table.cast(pa.schema(kinds)))


def _parquet(table: pa.Table) -> bytes:
    import io

    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


# Kinds of the columns of streams over time, as in the engine.
SERIES_KINDS = {
    "time_ns": WHOLE,
    "stream": TEXT,
    "direction": TEXT,
    "iops": REAL,
    "bandwidth_bytes_per_s": REAL,
    "latency_mean_ns": REAL,
    "latency_p99_ns": WHOLE,
    "queue_depth": REAL,
}


def series_table(series: SeriesColumns) -> Table:
    """Return columns of streams over time, from another tool's result, as a table."""
    columns = cast("Mapping[str, Sequence[Cell]]", series)
    return ReadTable({name: [*columns[name]] for name in SERIES_KINDS}, SERIES_KINDS)


def save_imported(folder: Path, imported: Sequence[Imported], names: Sequence[str] | None = None) -> list[Path]:
    """Write imported records and their series, each into its own folder under `folder`, named by its record or by
    `names`; return the files."""
    saved: list[Path] = []
    taken: dict[str, int] = {}
    for index, (record, series) in enumerate(imported):
        base = name = folder_name(Path(record["name"]).name if names is None else names[index])
        while name in taken:
            taken[base] += 1
            name = f"{base}-{taken[base]}"
        taken[name] = 1
        make_folder(folder / name)
        files: dict[Path, bytes | str] = {}
        if series is not None:
            files[folder / name / SERIES_FILE] = parquet_of(series_table(series))
        path = folder / name / RECORD_FILE
        write_files({**files, path: record_text(record) + "\n"})
        saved.append(path)
    return saved


def folder_name(name: str) -> str:
    """Return a name as that of a folder."""
    import re

    # A file name has 255 bytes; half of that leaves room for a number.
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:120].strip("-.") or "record"
