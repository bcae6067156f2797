"""Libraries that take 50 ms or more to load, each loaded on first use.

Modules import them from here at their top, like any other: `from hotband.base.heavy import pl`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING


class Late(ModuleType):
    """A library that is loaded when one of its names is first used."""

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import altair as alt
    import duckdb
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    import tomlkit
    import vl_convert
else:
    alt, duckdb, np, pl = (Late(name) for name in ("altair", "duckdb", "numpy", "polars"))
    pa, pq, tomlkit, vl_convert = (Late(name) for name in ("pyarrow", "pyarrow.parquet", "tomlkit", "vl_convert"))

__all__ = ["alt", "duckdb", "np", "pa", "pl", "pq", "tomlkit", "vl_convert"]
