"""The log of every I/O: from the engine's fixed-size rows to Parquet or CSV, in chunks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.foreign import csv_cell
from hotband.base.heavy import pa
from hotband.base.text.write import replacing

ROWS_AT_ONCE = 250_000
ERRORS = [None, "misaligned", "out of range", "write protected", "drive failed"]
DIRECTIONS = ["read", "write", "flush", "trim"]
FLAGS = ("measured", "fua")
ENDINGS = (".parquet", ".csv")
"""Endings of a log's name, which select its format."""


def check_ending(out: Path) -> None:
    """Raise UserError for a name without a known format; pipes and devices get Parquet."""
    if out.suffix.lower() not in ENDINGS and (out.is_file() or not out.exists()):
        raise UserError("question.io_log", "", str(out), f"expected a name that ends in {' or '.join(ENDINGS)}")


def save_log(
    raw: Path,
    out: Path,
    streams: list[str],
    stopped: Callable[[], bool] = lambda: False,
    *,
    volumes: Sequence[str] = (),
) -> None:
    """Convert the rows of `raw` (unsigned 64-bit little-endian, columns `_core.LOG_COLUMNS`) into `out`.

    `streams` and `volumes` are the names behind their numbers; a volume without a name stays empty.
    Raises UserError, OSError, or _core.Interrupted once `stopped` returns true: nothing is written then.
    """
    import pyarrow.csv
    import pyarrow.parquet

    columns = _core.LOG_COLUMNS
    names: dict[str, Sequence[str | None]] = {
        "stream": streams,
        "direction": DIRECTIONS,
        "error": ERRORS,
        "volume": volumes,
    }
    fields = [pa.field(name, pa.string() if name in names else _plain(name)) for name in columns]
    row = 8 * len(columns)
    writer_of = pyarrow.parquet.ParquetWriter
    if out.suffix.lower() == ".csv":
        writer_of, names["stream"] = pyarrow.csv.CSVWriter, [str(csv_cell(name)) for name in streams]
        names["volume"] = [str(csv_cell(name)) for name in volumes]
    with raw.open("rb") as rows, replacing(out) as file, writer_of(file, pa.schema(fields)) as writer:
        while block := rows.read(ROWS_AT_ONCE * row):
            numbers = memoryview(block[: len(block) // row * row]).cast("Q")
            arrays = []
            for index, name in enumerate(columns):
                if stopped():
                    raise _core.Interrupted("interrupted")
                column = numbers[index :: len(columns)].tolist()
                if name == "volume" and not volumes:
                    arrays.append(pa.nulls(len(column), pa.string()))
                elif name in names:
                    arrays.append(pa.array([names[name][number] for number in column], pa.string()))
                elif name in FLAGS:
                    arrays.append(pa.array([number != 0 for number in column], pa.bool_()))
                else:
                    arrays.append(pa.array(column, pa.uint64()))
            writer.write_batch(pa.record_batch(arrays, schema=pa.schema(fields)))


def _plain(name: str) -> object:
    return pa.bool_() if name in FLAGS else pa.uint64()
