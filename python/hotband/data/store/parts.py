"""Runs as the Parquet files of a part: one file per table, so that tables can be read separately.

A query reads and unpacks row groups as a whole, so each has a few megabytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from hotband.base.heavy import np, pa, pq
from hotband.data.store.columns import COLUMNS, arrow_type
from hotband.data.store.stored_run import StoredRun

if TYPE_CHECKING:
    import numpy.typing as npt

ROWS_OF_GROUP = {"summary": 20_000, "factors": 100_000, "histograms": 2_000, "records": 500}
"""Rows of a row group: documents are some 10 kB each, and so are the buckets of a direction."""
ROWS_OVER_TIME = 50_000
VALUES = "value_ns.list.element"
COMPRESSION = "zstd"
LEVELS = {"records": 9, "summary": 9}
"""A record takes 0.1 ms and 0.99 kB; at level 3 0.03 ms and 1.14 kB, at 15 1.1 ms and 0.96 kB (2,000 records of disks
and flash drives). Numbers of the other tables gain some percent and take several times as long."""
LEVEL = 3
"""Compression level of the other tables; zstd's own default."""


def tables_of(runs: Sequence[StoredRun]) -> dict[str, pa.Table]:
    """Return the tables of these runs by name. Raises ArrowTypeError (of pyarrow) for incompatible tables over time,
    which `fits` detects."""
    tables = {
        "summary": _summary(runs),
        "factors": _factors(runs),
        "histograms": _histograms(runs),
        "records": _records(runs),
    }
    for name in sorted({name for run in runs for name in run.tables}):
        tables[name] = _over_time(name, runs)
    return tables


def parquet(name: str, table: pa.Table, *, small: bool) -> bytes:
    """Return a table as the bytes of its file."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=rows_of_group(name), **options(name, small=small))
    return buffer.getvalue()


class Written(TypedDict):
    """Writer settings of a table: arguments of pyarrow's writers."""

    compression: str
    compression_level: int
    use_dictionary: bool | list[str]
    column_encoding: dict[str, str] | None


def options(name: str, *, small: bool) -> Written:
    """Return the writer settings of a table. Values of buckets ascend, so that their differences are small; those of a
    small store are the same in all runs."""
    settings: Written = {
        "compression": COMPRESSION,
        "compression_level": LEVELS.get(name, LEVEL),
        "use_dictionary": name != "records",
        "column_encoding": None,
    }
    if name == "histograms":
        settings["use_dictionary"] = ["run", "stream", "direction", "kind", *([VALUES] if small else [])]
        settings["column_encoding"] = None if small else {VALUES: "DELTA_BINARY_PACKED"}
    return settings


def rows_of_group(name: str) -> int:
    """Return the rows of a row group of a table."""
    return ROWS_OF_GROUP.get(name, ROWS_OVER_TIME)


def _summary(runs: Sequence[StoredRun]) -> pa.Table:
    columns = {
        "run": [run.run for run in runs],
        "added_utc": [run.added_us for run in runs],
        "experiment": [run.experiment for run in runs],
    }
    return pa.table(
        {
            name: pa.array(
                columns[name] if name in columns else [run.cells.get(name) for run in runs], arrow_type(kind)
            )
            for name, kind in COLUMNS.items()
        }
    )


def _factors(runs: Sequence[StoredRun]) -> pa.Table:
    rows = [(run.run, factor) for run in runs for factor in run.factors]
    return pa.table(
        {
            "run": pa.array([run for run, _ in rows], pa.string()),
            "factor": pa.array([entry.name for _, entry in rows], pa.string()),
            "text": pa.array([entry.text for _, entry in rows], pa.string()),
            "number": pa.array([entry.number for _, entry in rows], pa.float64()),
            "unit": pa.array([entry.unit for _, entry in rows], pa.string()),
        }
    )


def _histograms(runs: Sequence[StoredRun]) -> pa.Table:
    rows = [(run.run, bucket) for run in runs for bucket in run.buckets]
    return pa.table(
        {
            "run": pa.array([run for run, _ in rows], pa.string()),
            "place": pa.array([histogram.index for _, histogram in rows], pa.int32()),
            "stream": pa.array([histogram.stream for _, histogram in rows], pa.string()),
            "direction": pa.array([histogram.direction for _, histogram in rows], pa.string()),
            "kind": pa.array([histogram.kind for _, histogram in rows], pa.string()),
            "value_ns": _lists([histogram.pairs[:, 0] for _, histogram in rows]),
            "count": _lists([histogram.pairs[:, 1] for _, histogram in rows]),
        }
    )


def _lists(arrays: Sequence[npt.NDArray[np.int64]]) -> pa.Array:
    ends = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
    values = np.concatenate(arrays) if arrays else np.empty(0, np.int64)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values))


def _records(runs: Sequence[StoredRun]) -> pa.Table:
    with_document = [run for run in runs if run.document]
    return pa.table(
        {
            "run": pa.array([run.run for run in with_document], pa.string()),
            "document": pa.array([run.document for run in with_document], pa.string()),
            # The run's tables over time, and their columns.
            "tables": pa.array([_columns_of(run) for run in with_document], pa.string()),
        }
    )


def _columns_of(run: StoredRun) -> str:
    return json.dumps({name: table.column_names for name, table in run.tables.items()})


def _over_time(name: str, runs: Sequence[StoredRun]) -> pa.Table:
    series = []
    for run in runs:
        table = run.tables.get(name)
        if table is not None:
            keys = pa.array([run.run] * table.num_rows, pa.string())
            series.append(table.add_column(0, "run", keys))
    return pa.concat_tables(series, promote_options="permissive")


def fits(held: Mapping[str, pa.Schema], tables: Mapping[str, pa.Table]) -> bool:
    """Return whether the columns of these tables have the same types (number or text) as existing columns with these
    names."""
    for name in held.keys() & tables.keys():
        known = {column.name: _is_text(column) for column in held[name]}
        if any(known.get(column.name, _is_text(column)) != _is_text(column) for column in tables[name].schema):
            return False
    return True


def _is_text(column: pa.Field) -> bool:
    return bool(pa.types.is_string(column.type))
