"""Latency histograms and the summary of a record: pure functions on the shapes of docs/guides/records.md.

Left out: interpolation between buckets. A percentile is the value of a bucket, so it is as coarse as the buckets (hdr3:
0.1 %, fio: 0.8 %). Simulated records get their summary from the engine; these functions serve importers, merging and
reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Literal, cast

from hotband.base.errors import UserError
from hotband.data.documents.sides import Histogram, Side

if TYPE_CHECKING:
    from hotband.data.documents.record import FiguresDoc, Percentile, RecordDoc, SummaryDoc

Direction = Literal["read", "write"]
DIRECTIONS: tuple[Direction, Direction] = ("read", "write")
OTHER_DIRECTIONS: tuple[Literal["flush"], Literal["trim"]] = ("flush", "trim")
"""Requests of a load that are no part of the figures of all I/Os."""

# The percentiles of a summary (docs/guides/records.md), in percent.
SUMMARY_PERCENTILES: dict[Percentile, float] = {
    "latency_p50_ns": 50.0,
    "latency_p99_ns": 99.0,
    "latency_p999_ns": 99.9,
}
NANOSECONDS_PER_SECOND = 1_000_000_000


def idle_side(kind: str) -> Side:
    """Return a side without I/O: its histogram is empty but complete, so it can be merged with others of its kind."""
    return {
        "count": 0,
        "bytes": 0,
        "errors": 0,
        "latency_sum_ns": "0",
        "latency_min_ns": None,
        "latency_max_ns": None,
        "histogram": {"kind": kind, "buckets": []},
    }


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """Merge histograms of one kind into one with all counts. Raises ValueError for several kinds.

    If one of them is of kind `none`, its buckets are unknown, and so are those of the result.
    """
    counts: Counter[int] = Counter()
    kinds: set[str] = set()
    for histogram in histograms:
        kinds.add(histogram["kind"])
        for value, count in histogram["buckets"]:
            counts[value] += count
    if not kinds or "none" in kinds:
        return {"kind": "none", "buckets": []}
    if len(kinds) > 1:
        raise ValueError(f"histograms of different kinds do not merge: {', '.join(sorted(kinds))}")
    return {"kind": kinds.pop(), "buckets": [[value, counts[value]] for value in sorted(counts)]}


def whole(record: RecordDoc) -> Histogram:
    """Return the merged histogram of all streams, reads and writes of a record."""
    sides = (stream[direction] for stream in record["streams"] for direction in DIRECTIONS)
    return merge(side["histogram"] for side in sides if side["count"])


def total(histogram: Histogram) -> int:
    """Return the number of samples in the buckets."""
    return sum(count for _, count in histogram["buckets"])


def percentile(histogram: Histogram, q: float) -> int | None:
    """Return the value at rank ceil(q/100 * count), exactly the value of the bucket; None for an empty histogram.

    `q` is in percent, 0 to 100. The rank is computed from the decimal number as written: 99.9 of 1000 samples
    is rank 999, where binary floating point would give 1000. Raises UserError for another `q`.
    """
    if isinstance(q, bool) or not isinstance(q, Real) or not 0 <= q <= 100:
        raise UserError("q", "", str(q), "expected a percentage from 0 to 100, such as 99.9")
    count = total(histogram)
    if count == 0:
        return None
    rank = max(1, -(-Fraction(repr(float(q))) * count // 100))
    seen = 0
    for value, bucket_count in histogram["buckets"]:
        seen += bucket_count
        if seen >= rank:
            return value
    raise AssertionError("the rank is at most the count, so a bucket holds it")


def mean(histogram: Histogram) -> float | None:
    """Return the mean of the buckets' values, to check a histogram; the means in a record come from exact sums."""
    count = total(histogram)
    if count == 0:
        return None
    return float(Fraction(sum(value * n for value, n in histogram["buckets"]), count))


def latency_sum(sides: Iterable[Side]) -> int | None:
    """Return the exact sum of latencies in ns; None if one of the sides did I/O without measuring it."""
    summed = 0
    for side in sides:
        if side["latency_sum_ns"] is None:
            return None
        summed += int(side["latency_sum_ns"])
    return summed


def merged_percentiles(sides: Iterable[Side]) -> dict[str, int | None]:
    """Return the percentiles of a summary, from the merged histogram of the sides that did I/O."""
    merged = merge(side["histogram"] for side in sides if side["count"])
    return {key: percentile(merged, q) for key, q in SUMMARY_PERCENTILES.items()}


def rates_of(
    sides: Sequence[Side], duration_ns: int, percentiles: Mapping[str, int | None] | None = None
) -> FiguresDoc:
    """Return one block of a summary: rates, latencies and mean queue depth of `sides` over `duration_ns`.

    `percentiles` replaces those of the merged histogram, for a source that printed some without buckets.
    """
    busy = [side for side in sides if side["count"]]
    count = sum(side["count"] for side in busy)
    volume = sum(side["bytes"] for side in busy)
    if busy and duration_ns <= 0:
        raise ValueError(f"{count} I/Os in {duration_ns} ns have no rate")
    sum_ns = latency_sum(busy)
    lows = [side["latency_min_ns"] for side in busy if side["latency_min_ns"] is not None]
    highs = [side["latency_max_ns"] for side in busy if side["latency_max_ns"] is not None]
    known = bool(busy) and sum_ns is not None
    shown = merged_percentiles(busy) if percentiles is None else percentiles
    return {
        "iops": count * NANOSECONDS_PER_SECOND / duration_ns if busy else 0.0,
        "bandwidth_bytes_per_s": volume * NANOSECONDS_PER_SECOND / duration_ns if busy else 0.0,
        "count": count,
        "bytes": volume,
        "errors": sum(side["errors"] for side in sides),
        "latency_mean_ns": sum_ns / count if busy and sum_ns is not None else None,
        "latency_min_ns": min(lows) if known and lows else None,
        "latency_p50_ns": shown.get("latency_p50_ns"),
        "latency_p99_ns": shown.get("latency_p99_ns"),
        "latency_p999_ns": shown.get("latency_p999_ns"),
        "latency_max_ns": max(highs) if known and highs else None,
        "queue_depth_mean": _queue_depth(sum_ns, duration_ns) if busy else 0.0,
    }


def failed_of(summary: SummaryDoc) -> int:
    """Return the failed I/Os of a summary, flushes and trims included."""
    others = (summary.get(direction) for direction in OTHER_DIRECTIONS)
    return summary["errors"] + sum(figures["errors"] for figures in others if figures is not None)


def _queue_depth(sum_ns: int | None, duration_ns: int) -> float | None:
    """Return the mean number of outstanding I/Os by Little's law: the sum of their latencies over the observed time."""
    return None if sum_ns is None else sum_ns / duration_ns


def summary_of(
    sides: Sequence[Mapping[Direction, Side]],
    duration_ns: int,
    *,
    direction_duration_ns: Mapping[Direction, int] | None = None,
    percentiles: Mapping[str, Mapping[str, int | None]] | None = None,
) -> SummaryDoc:
    """Return the summary of a record from its streams (each with a `read` and a `write` side).

    `direction_duration_ns` has separate times for reads and writes, if they ran for different times; `percentiles` has
    those printed by the source, under `all`, `read` and `write`.
    """
    durations = dict(direction_duration_ns or {})
    printed = percentiles or {}
    whole = [stream[direction] for stream in sides for direction in DIRECTIONS]

    def of(direction: Direction) -> FiguresDoc:
        chosen = [stream[direction] for stream in sides]
        return rates_of(chosen, durations.get(direction, duration_ns), printed.get(direction))

    both = rates_of(whole, duration_ns, printed.get("all"))
    return cast("SummaryDoc", {**both, "read": of("read"), "write": of("write")})


BUFFERED = "fio's writes wait in the page cache: the time of its flush is that of a write and a flush here"
"""Reason of an approximation: in fio without direct=1 the flush writes."""


def flush_latency(record: RecordDoc, name: str) -> float | None:
    """Return a latency of the flushes, as fio times them; None without flushes. For buffered writes it is that of a
    write and its flush, with the percentiles of both added."""
    figures = cast("dict[str, FiguresDoc]", record["summary"])
    flush = cast("dict[str, float | None]", figures.get("flush") or {}).get(name)
    written = cast("dict[str, float | None]", figures["write"]).get(name)
    is_buffered = BUFFERED in record["spec"].get("workload", "")
    return None if flush is None else flush + (written or 0 if is_buffered else 0)


FIGURES = (
    "iops",
    "bandwidth_bytes_per_s",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p999_ns",
)
"""Keys of a record's summary that have intervals."""


SAME = 1e-9
"""Relative difference within which figures are equal: runs repeat bit for bit, but the printed form of a number may
differ."""


def same_figures(stored: Mapping[str, float | None], now: Mapping[str, float | None]) -> bool:
    """Return whether every stored figure is predicted now, with the same value."""
    return all(name in now and _same(value, now[name]) for name, value in stored.items())


def _same(first: float | None, other: float | None) -> bool:
    if first is None or other is None:
        return first is other
    return abs(first - other) <= SAME * max(abs(first), abs(other))
