"""The public function: `hb.store`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.data.store.results_store import ResultsStore


@public
def store(path: str | PathLike[str], *, small: bool | None = None) -> ResultsStore:
    """Open a store: the results of many runs in one folder, as Parquet that DuckDB, polars and pandas read directly.

    The folder is created by the first addition. A `small` store leaves out tables over time and has latencies in the
    buckets of fio, within 0.8 %: less than 2 kB per run. None leaves an existing store unchanged; a new one stores
    everything. Several processes may add at once. Raises UserError for a folder with other content.
    """
    return ResultsStore(Path(path), small)
