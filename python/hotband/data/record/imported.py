"""The result of an importer: a record and, if the tool left samples over time, its series."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


class SeriesColumns(TypedDict):
    """The columns of series.parquet (docs/guides/records.md), all of equal length; None if unknown."""

    time_ns: list[int]
    stream: list[str]
    direction: list[str]
    iops: list[float | None]
    bandwidth_bytes_per_s: list[float | None]
    latency_mean_ns: list[float | None]
    latency_p99_ns: list[int | None]
    queue_depth: list[float | None]


class Imported(NamedTuple):
    """A record (docs/guides/records.md) and its series, None if the tool left none."""

    record: RecordDoc
    series: SeriesColumns | None


def no_rows() -> SeriesColumns:
    """Return series columns without rows."""
    return {
        "time_ns": [], "stream": [], "direction": [], "iops": [], "bandwidth_bytes_per_s": [], "latency_mean_ns": [],
        "latency_p99_ns": [], "queue_depth": [],
    }  # fmt: skip
