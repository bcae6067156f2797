"""Results of many runs in one folder of Parquet files that DuckDB, polars and pandas read directly
(docs/guides/import.md)."""

from __future__ import annotations
