"""The I/Os of a trace as columns, and of the workload that was fitted to it as rows that are counted alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.heavy import np
from hotband.data.traces.io_log import FUA, UNKNOWN
from hotband.data.traces.rows import head_of, mapped_rows, write_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

MOST_IOS = 20_000_000
"""The columns of this many IOs take 1 GB, which ordinary computers have."""
MOST_NAMED = 10
"""Devices that a message names."""


@dataclass(frozen=True)
class Ios:
    """I/Os of one device in order of issue: times of issue and latencies in ns (UNKNOWN if there is none),
    directions as indices of DIRECTIONS, FUA, first bytes, lengths in bytes."""

    issue: Numbers
    latency: Numbers
    direction: Numbers
    fua: NDArray[np.bool_]
    offset: Numbers
    length: Numbers

    def __len__(self) -> int:
        return len(self.issue)

    @property
    def span_s(self) -> float:
        """Seconds from the first to the last."""
        return float(self.issue[-1] - self.issue[0]) / 1e9

    @property
    def has_latencies(self) -> bool:
        """Whether each has one."""
        return not bool((self.latency == np.uint64(UNKNOWN)).any())


def ios_of(rows: Path, name: str) -> Ios:
    """The I/Os of rows; errors call the trace `name`. Raises UserError if they are of several devices, too many, or
    none of them moves data."""
    head = head_of(rows)
    devices = sorted({stream.get("volume", "") for stream in head["streams"]})
    if len(devices) > 1:
        some = ", ".join(devices[:MOST_NAMED]) + (", ..." if len(devices) > MOST_NAMED else "")
        raise UserError(
            name, "", "", f"has I/Os of {len(devices)} devices ({some}); expected one; question.device chooses it"
        )
    if head["ios"] > MOST_IOS:
        part = "take a part of it with question.from and question.for"
        accepted = f"has {head['ios']:,} I/Os; expected at most {MOST_IOS:,}: {part}"
        raise UserError(name, "", "", accepted)
    numbers = mapped_rows(rows, head["ios"])
    issue, latency, what, offset, length = (np.ascontiguousarray(numbers[:, at]) for at in range(5))
    direction, fua = what & np.uint64(0xFF), (what >> np.uint64(FUA) & np.uint64(1)).astype(bool)
    if not bool((direction <= 1).any()):
        raise UserError(name, "", "", "has neither reads nor writes; expected a trace with some")
    return Ios(issue, latency, direction, fua, offset, length)


def write_ios(ios: Ios, out: Path) -> None:
    """Writes them as rows that the core counts. Raises OSError."""
    what = ios.direction | ios.fua.astype("u8") << np.uint64(FUA)
    rows = np.arange(1, len(ios) + 1, dtype="u8")
    columns = (ios.issue, ios.latency, what, ios.offset, ios.length, rows)
    head = (
        f'file = "synthetic"\nios = {len(ios)}\nunmeasured = 0\nnotes = []\n[[streams]]\nname = {json.dumps("main")}\n'
    )
    write_rows(out, np.stack(columns, axis=1), head)
