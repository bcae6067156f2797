"""A finished run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.data.documents.run import RunSpec
from hotband.data.record.files import Cell, ReadTable, Table

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


@dataclass
class Finished:
    """A finished run: its record (parsed and as text), its tables by name and the number of simulated I/Os."""

    spec: RunSpec
    record: RecordDoc
    text: str
    tables: Mapping[str, Table]
    ios: int

    def __getstate__(self) -> dict[str, object]:
        """Return the state with tables that can be pickled: those of the engine are its own objects."""
        tables = {name: ReadTable(table.columns, table.kinds) for name, table in self.tables.items()}
        return {**self.__dict__, "tables": tables}

    def columns(self, name: str) -> dict[str, list[Cell]]:
        """Return the columns of a table; none if the run left no such table."""
        return self.tables[name].columns if name in self.tables else {}
