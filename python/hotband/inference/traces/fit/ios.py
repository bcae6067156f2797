"""The I/Os of a trace as columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.heavy import np
from hotband.data.record.iolog import DIRECTIONS
from hotband.data.traces.io_log import FUA, UNKNOWN
from hotband.data.traces.rows import blocks_of, head_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

MOST_IOS = 20_000_000
"""The columns of this many I/Os take 0.7 GB, which ordinary computers have."""
MOST_NAMED = 10
"""Devices that a message names."""


@dataclass(frozen=True)
class Ios:
    """I/Os of one device in order of issue: times of issue and latencies in ns (UNKNOWN if there is none),
    directions as indices of DIRECTIONS, FUA, first bytes, lengths in bytes."""

    issue: Numbers
    latency: Numbers
    direction: NDArray[np.uint8]
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
    def data(self) -> Ios:
        """Reads, writes and trims, which are what a rate counts."""
        is_data = self.direction != DIRECTIONS.index("flush")
        columns = (self.issue, self.latency, self.direction, self.fua, self.offset, self.length)
        return self if is_data.all() else Ios(*(column[is_data] for column in columns))

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
    ios, filled = _empty(head["ios"]), 0
    for block in blocks_of(rows, head["ios"]):
        here = slice(filled, filled := filled + len(block))
        ios.issue[here], ios.latency[here], what, ios.offset[here], ios.length[here] = block.T[:5]
        ios.direction[here] = what & np.uint64(0xFF)
        ios.fua[here] = what >> np.uint64(FUA) & np.uint64(1)
    if not bool((ios.direction <= 1).any()):
        raise UserError(name, "", "", "has neither reads nor writes; expected a trace with some")
    return ios


def _empty(count: int) -> Ios:
    issue, latency, offset, length = (np.empty(count, "u8") for _ in range(4))
    return Ios(issue, latency, np.empty(count, "u1"), np.empty(count, "?"), offset, length)
