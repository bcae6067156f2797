"""Results of many runs in one folder of Parquet files that DuckDB, polars and pandas read as they are
(docs/guides/store.md).

The package can be called: `hotband.store("results")` is `hotband.store.api.store`; `hotband.packages` says why.
"""

from __future__ import annotations

from hotband.packages import make_callable

make_callable(__name__, "hotband.store.api", "store")
