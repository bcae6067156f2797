"""Rows of a trace as the engine reads them (crates/workloads/src/sources/trace/file.rs)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import tomli

from hotband.base.heavy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

AT_ONCE = 250_000
"""Rows of a batch: 12 MB."""


class RowsHead(TypedDict):
    """Totals and notes of the rows of a trace."""

    ios: int
    unmeasured: int
    notes: list[str]
    streams: list[dict[str, str]]


def head_of(rows: Path) -> RowsHead:
    """Read the totals and notes of rows."""
    with rows.open("rb") as file:
        start = file.read(16)
        file.seek(int.from_bytes(start[8:], "little"))
        table = tomli.loads(file.read().decode())
    return RowsHead(
        ios=table["ios"], unmeasured=table["unmeasured"], notes=list(table["notes"]), streams=list(table["streams"])
    )


def blocks_of(rows: Path, ios: int) -> list[NDArray[np.uint64]]:
    """Map the rows into memory in batches: time of issue and latency in ns, kind, offset and length in bytes, row of
    the file."""
    numbers = np.memmap(rows, "<u8", "r", 16, (ios, 6))
    return [numbers[begin : begin + AT_ONCE] for begin in range(0, ios, AT_ONCE)]
