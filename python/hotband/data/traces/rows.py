"""Rows of a trace as the engine reads them (crates/workloads/src/sources/trace/file.rs)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import tomli

from hotband.base.heavy import np
from hotband.base.text.write import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"hbtrace2"
"""Head of a row file."""
BEGIN, COLUMNS = 16, 6
AT_ONCE = 250_000
"""Rows of a batch: 12 MB."""


class RowsHead(TypedDict):
    """Totals and notes of the rows of a trace."""

    ios: int
    unmeasured: int
    notes: list[str]
    streams: list[dict[str, str]]


def tail_of(rows: Path) -> str:
    """Read the text that follows the rows."""
    with rows.open("rb") as file:
        start = file.read(BEGIN)
        file.seek(int.from_bytes(start[8:], "little"))
        return file.read().decode()


def head_of(rows: Path) -> RowsHead:
    """Read the totals and notes of rows."""
    table = tomli.loads(tail_of(rows))
    return RowsHead(
        ios=table["ios"], unmeasured=table["unmeasured"], notes=list(table["notes"]), streams=list(table["streams"])
    )


def mapped_rows(rows: Path, ios: int) -> NDArray[np.uint64]:
    """Map the rows into memory: time of issue and latency in ns, kind, offset and length in bytes, row of the file."""
    return np.memmap(rows, "<u8", "r", BEGIN, (ios, COLUMNS)).view(np.ndarray)


def write_rows(out: Path, rows: NDArray[np.uint64], tail: str) -> None:
    """Write measured rows, followed by the tail of other rows (`tail_of`) with their number. Raises OSError."""
    write_blocks(out, [rows], len(rows), tail)


def write_blocks(out: Path, blocks: Iterable[NDArray[np.uint64]], ios: int, tail: str) -> None:
    """Like `write_rows`, for `ios` rows in batches. Raises OSError."""
    text = re.sub(r"(?m)^ios = \d+$", f"ios = {ios}", tail)
    text = re.sub(r"(?m)^unmeasured = \d+$", "unmeasured = 0", text)
    with replacing(out) as file:
        file.write(MAGIC + (BEGIN + 8 * COLUMNS * ios).to_bytes(8, "little"))
        for block in blocks:
            file.write(np.ascontiguousarray(block, "<u8").tobytes())
        file.write(text.encode())


def blocks_of(rows: Path, ios: int) -> Iterator[NDArray[np.uint64]]:
    """Read the rows in batches; see `mapped_rows`. Nothing stays in memory."""
    with rows.open("rb") as file:
        file.seek(BEGIN)
        for begin in range(0, ios, AT_ONCE):
            yield np.fromfile(file, "<u8", COLUMNS * min(AT_ONCE, ios - begin)).reshape(-1, COLUMNS)
