"""Reads or writes of a stream, as in a record."""

from typing import NotRequired, TypedDict


class PrintedSide(TypedDict):
    """A side as fio printed it: I/Os with those that failed, rates, run time, measured latencies, its samples of IOPS,
    and I/Os that were short or dropped."""

    count: int
    iops: float
    bandwidth_bytes_per_s: float
    runtime_ns: int
    samples: int | None
    iops_min: float | None
    iops_mean: float | None
    iops_max: float | None
    iops_samples: int | None
    short_ios: int
    dropped_ios: int


class Histogram(TypedDict):
    """`kind` is hdr3, fio, hdr, bins or none; `buckets` is a sorted list of [value_ns, count]."""

    kind: str
    buckets: list[list[int]]
    significant_digits: NotRequired[int]


class Side(TypedDict):
    """The reads or the writes of one stream. A latency is None if nothing was measured; imported records also have a
    count of None, if the tool did not count (`hotband.data.importers.fio.join`).

    Keys in results of other tools: `percentiles` as it printed them, [percent, ns], and `latency_bins`, [upper_ns,
    percent]; `iops_max`, the highest of any interval; the mean time to submit an I/O if its latency excludes that;
    `printed`, other values that the tool printed of the side, which the auditor checks against these.
    """

    count: int
    bytes: int
    errors: int
    latency_sum_ns: str | None
    latency_min_ns: int | None
    latency_max_ns: int | None
    histogram: Histogram
    percentiles: NotRequired[list[list[float | int]] | None]
    latency_bins: NotRequired[list[list[float | int]] | None]
    iops_max: NotRequired[float | None]
    submission_mean_ns: NotRequired[float | None]
    printed: NotRequired[PrintedSide]
