"""Read users' Parquet files as frames: a damaged file is a mistake in the input, whatever error the library raises."""

from __future__ import annotations

from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.foreign import shortened
from hotband.base.heavy import pa, pl, pq
from hotband.base.text.regular import opened


def read_parquet(path: Path, wanted: str = "a readable Parquet file") -> pl.DataFrame:
    """Read all rows and columns of a file. Raises UserError if it is not `wanted`."""
    try:
        # polars panics if pages contradict their header.
        with opened(path) as data, pq.ParquetFile(data) as file:
            table = file.read()
        table.validate(full=True)
        # It does not check the metadata of a schema either, not even names that it reads.
        return pl.DataFrame(pl.from_arrow(pa.Table.from_arrays(table.columns, names=table.column_names)))
    except (pa.ArrowException, pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        # Errors of the system have a number, Arrow's own have none.
        system = error.strerror if isinstance(error, OSError) else None
        why = f"cannot be read: {system}" if system else f"not {wanted}: {shortened(error, 300)}"
        raise UserError(str(path), "", "", why) from None
