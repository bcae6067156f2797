"""The rows of a review's charts and tables, column by column, for mypy: units end the names (`review_rows` makes them).

None stands where nothing was measured. `ends` has the intervals of some columns, where there are any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    Ends = dict[str, str]
    """Intervals of a row's columns in words, by column."""


class TransferRow(TypedDict):
    """The rate at a place of the surface; `pct` is the place in percent of the capacity."""

    op: str
    gb: float
    pct: float
    mbps: float | None


class CumulativeRow(TypedDict):
    """The share (%) of the I/Os that took no longer."""

    op: str
    ms: float
    share: float


class HistogramRow(TypedDict):
    """A bin and the share (%) of the I/Os in it."""

    op: str
    from_ms: float
    ms: float
    share: float


class BlockSizeRow(TypedDict):
    """A file (its size as text, too) read or written in blocks of one size."""

    op: str
    file: str
    file_bytes: int
    block_bytes: int
    mbps: float | None
    iops: float | None


class StreamsRow(TypedDict):
    """So many streams at once, which `title` counts: all together, and the slowest."""

    op: str
    streams: int
    title: str
    mbps: float | None
    slowest_mbps: float | None
    ends: NotRequired[Ends]


class PatternRow(TypedDict):
    """A server pattern, as the page writes it, at a queue depth."""

    pattern: str
    qd: int
    iops: float | None
    mbps: float | None
    mean_ms: float | None
    p99_ms: float | None
    ends: NotRequired[Ends]


class FilesRow(TypedDict):
    """Files read, written or copied, so many at once."""

    op: str
    size: str
    qd: int
    per_s: float | None
    mbps: float | None
    ends: NotRequired[Ends]


class StreamingRow(TypedDict):
    """One reader or writer; `title` names the blocks and their size, `of` the direction and the blocks."""

    op: str
    title: str
    of: str
    mbps: float | None
    ends: NotRequired[Ends]


class Range(TypedDict):
    """The ends of what is uncertain; None where there are none."""

    low: float | None
    high: float | None


class ApplicationRow(Range):
    """A desktop load."""

    name: str
    title: str
    mbps: float | None
    iops: float | None
    uncertainty: str
    ends: NotRequired[Ends]


class WattsRow(Range):
    """Mean power at rest or under a pattern."""

    name: str
    title: str
    watts: float


class JoulesRow(Range):
    """The energy of an I/O of a pattern, in mJ."""

    name: str
    title: str
    millijoules: float


class SummaryRow(Range):
    """The mean of a group, with the ends of its interval, and of how many numbers it is."""

    group: str
    title: str
    mean: float
    unit: str
    of: int
    ends: NotRequired[Ends]


class Bar(Range):
    """A bar of `draw.review.amounts`: the key and the name of its row, what line it is of, the text at its end."""

    row: str
    label: str
    line: str
    value: float | None
    text: str


class EnergyRow(TypedDict, total=False):
    """Power (W) and the energy of an I/O (mJ) beside each other, with the ends of both."""

    title: str
    watts: float
    low: float | None
    high: float | None
    millijoules: float
    low_mj: float | None
    high_mj: float | None
