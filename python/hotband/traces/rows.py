"""The rows of a trace as the engine reads them, in order of issue: crates/workloads/src/sources/trace/file.rs.

What comes in is in any order; what is written is in order of issue. Kept in memory are the I/Os that were read and that
one still to be read may come before: those answered while the slowest of them was outstanding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

MAGIC = b"hbtrace1"
COLUMNS = 6
FUA, FAILED, STREAM = 8, 9, 16
"""Bits of the third number, above the operation."""


@dataclass(frozen=True)
class Block:
    """Some I/Os that stand together in a trace: time of issue and latency in ns, what they are (the third number of a
    row), offset and length in bytes, row in the file; and their order where times of issue are equal."""

    issue: Numbers
    latency: Numbers
    what: Numbers
    offset: Numbers
    length: Numbers
    row: Numbers
    order: Numbers


@dataclass(frozen=True)
class Head:
    """What is known of a trace as a whole: its streams (name, and volume where the trace knows), I/Os, and how many
    were answered before the first that was measured; the earliest issue of each block."""

    file: str
    streams: Sequence[tuple[str, str | None]]
    ios: int
    unmeasured: int
    earliest: Sequence[int]


def write_rows(head: Head, blocks: Iterable[Block], out: Path) -> None:
    """Writes the rows of `blocks`, of which `head` tells, in order of issue. Raises OSError."""
    import numpy as np

    waiting = np.empty((0, COLUMNS + 1), "<u8")
    # What is issued before all that is still to be read can be written.
    before = [*np.minimum.accumulate(np.array(head.earliest[::-1], "u8"))[::-1][1:], None]
    with out.open("xb") as file:
        text = _head_text(head).encode()
        file.write(MAGIC + len(text).to_bytes(8, "little") + text)
        for block, bound in zip(blocks, before, strict=True):
            rows = (block.issue, block.latency, block.what, block.offset, block.length, block.row, block.order)
            waiting = np.concatenate((waiting, np.stack(rows, axis=1)))
            waiting = waiting[np.lexsort((waiting[:, COLUMNS], waiting[:, 0]))]
            count = len(waiting) if bound is None else int(np.searchsorted(waiting[:, 0], bound))
            file.write(np.ascontiguousarray(waiting[:count, :COLUMNS]).tobytes())
            waiting = waiting[count:]


def _head_text(head: Head) -> str:
    import tomlkit

    streams = [{"name": name} | ({} if volume is None else {"volume": volume}) for name, volume in head.streams]
    table = {"file": head.file, "ios": head.ios, "unmeasured": head.unmeasured, "streams": streams}
    return tomlkit.dumps(table)
