"""Intervals of a review on its page: in words after the figures of tables, and as ends of bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from hotband.base.text.numbers import between
from hotband.base.text.table import MBS, MS, PLAIN, Unit

if TYPE_CHECKING:
    from hotband.data.documents.interval import BoundsDoc
    from hotband.data.documents.review import ComparisonDoc, GroupRatiosDoc, ReviewDoc
    from hotband.views.report.review_rows import Machine


class Row(TypedDict, total=False):
    """A row of a chart and of a table, by column; units end the names. None means that nothing was measured. `low` and
    `high` are the ends of an uncertain value's range, and `ends` has the intervals of some columns in words."""

    op: str
    name: str
    title: str
    gb: float
    pct: float
    from_ms: float
    ms: float
    share: float
    file: str
    file_bytes: int
    block_bytes: int
    streams: int
    pattern: str
    size: str
    blocks: str
    direction: str
    qd: int
    iops: float | None
    mbps: float | None
    slowest_mbps: float | None
    mean_ms: float | None
    p99_ms: float | None
    per_s: float | None
    uncertainty: str
    watts: float
    millijoules: float
    group: str
    mean: float
    unit: str
    of: int
    low: float | None
    high: float | None
    low_mj: float | None
    high_mj: float | None
    row: str
    label: str
    line: str
    value: float | None
    text: str
    ends: dict[str, str]


COLUMNS = {
    "iops": ("iops", PLAIN),
    "mbps": ("bandwidth_bytes_per_s", MBS),
    "slowest_mbps": ("slowest_bytes_per_s", MBS),
    "mean_ms": ("latency_mean_ns", MS),
    "p99_ms": ("latency_p99_ns", MS),
    "per_s": ("files_per_s", PLAIN),
    "mean_ns": ("mean_ns", MS),
    "p50_ns": ("p50_ns", MS),
    "p99_ns": ("p99_ns", MS),
    "extents_per_s": ("extents_per_s", PLAIN),
}
"""Columns of a page: the figure in the JSON, and its unit, which the heading names."""


def bounds(row: object, key: str) -> BoundsDoc | None:
    """Return the interval of a figure in an object of the JSON; None if it has none."""
    document: Mapping[str, Any] = row if isinstance(row, dict) else {}
    ends: BoundsDoc | None = document.get("intervals", {}).get(key)
    return ends


def words(level: float, ends: BoundsDoc, unit: Unit = PLAIN) -> str:
    """Format an interval: 90 % interval 4,900 to 6,300."""
    return f"{level:g} % interval {between(ends['low'], ends['high'], unit.bare)}"


def level_of(machine: Machine) -> float | None:
    """Return the level of a review's intervals; None if it has none."""
    made = machine.review.get("intervals")
    return None if made is None else made["level"]


def in_words(machine: Machine, row: object, columns: Iterable[str] = COLUMNS) -> dict[str, str]:
    """Return the intervals of an object of the JSON, by the columns of its row on the page."""
    level = level_of(machine)
    if level is None:
        return {}
    intervals = {column: (bounds(row, COLUMNS[column][0]), COLUMNS[column][1]) for column in columns}
    return {column: words(level, ends, unit) for column, (ends, unit) in intervals.items() if ends is not None}


def of_mean(machine: Machine, op: str) -> dict[str, str]:
    """Return the interval of the mean over the surface."""
    curve, level = machine.review["linear"], level_of(machine)
    ends = curve.get("intervals", {}).get("mean", {}).get(op) if curve else None
    return {} if ends is None or level is None else {"mean": words(level, ends, MBS)}


def of_ratio(comparison: ComparisonDoc, group: GroupRatiosDoc, name: str) -> BoundsDoc | None:
    """Return the interval of a machine's ratio in a group, or over all groups."""
    whole = comparison.get("intervals")
    if group["group"] == "overall":
        return whole.get("overall", {}).get(name) if whole else None
    return group.get("intervals", {}).get("ratios", {}).get(name)


def ratio_text(text: str, comparison: ComparisonDoc, ends: BoundsDoc | None) -> str:
    """Format a ratio, followed by its interval."""
    whole = comparison.get("intervals")
    return text if ends is None or whole is None else f"{text} ({words(whole['level'], ends)})"


def of_level(document: ReviewDoc | ComparisonDoc) -> str:
    """Return the meaning of the lines over bars, if a review or a comparison has intervals."""
    made = document.get("intervals")
    return "" if made is None else f" The line over a bar is its {made['level']:g} % interval."


def range_of(ends: BoundsDoc | None, scale: float = 1.0) -> Row:
    """Return the ends of a bar."""
    if ends is None:
        return {"low": None, "high": None}
    return {"low": ends["low"] / scale, "high": ends["high"] / scale}


def with_words(text: str, row: Mapping[str, object], column: str) -> str:
    """Return the text of a cell, followed by its interval if the row has one."""
    ends = row.get("ends")
    interval = ends.get(column) if isinstance(ends, dict) else None
    return f"{text} ({interval})" if interval else text
