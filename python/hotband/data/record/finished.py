"""A run that is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.data.documents.run import RunSpec
from hotband.data.record.files import Cell, Table

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


@dataclass
class Finished:
    """A run that is done: its record (parsed and as text), its tables by name and the I/Os that were simulated."""

    spec: RunSpec
    record: RecordDoc
    text: str
    tables: Mapping[str, Table]
    ios: int

    def columns(self, name: str) -> dict[str, list[Cell]]:
        """The columns of a table; none where the run left no such table."""
        return self.tables[name].columns if name in self.tables else {}
