"""Results of many runs in one folder of Parquet files that DuckDB, polars and pandas read as they are
(docs/guides/store.md).

The package can be called: `hotband.store("results")` is `hotband.store.api.store`; `hotband.study` says why.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotband.store.results_store import ResultsStore


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, path: Any, **options: Any) -> ResultsStore:
        """Opens a store: see `hotband.store.api.store`."""
        from hotband.store.api import store

        return store(path, **options)


sys.modules[__name__].__class__ = _Callable
