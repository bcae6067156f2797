"""Frames for the charts of `hotband.views.draw.charts`, from records.

Percentiles come from merged histograms, never from an average of percentiles. A series with more intervals
than a chart can show is binned: rates and depths are means, a mean latency is weighted by its I/Os, and a p99
is the worst of its bin (percentiles of several intervals cannot be merged, and the worst must not disappear).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from hotband.base.heavy import pl
from hotband.base.text.numbers import finite
from hotband.base.text.words import unused
from hotband.data.documents.record import RecordDoc, StreamDoc, figures_of, interval_of, side_of, source_file
from hotband.data.record.parts import actuators

if TYPE_CHECKING:
    from hotband.data.record.load import LoadedRecord

DIRECTIONS = ("read", "write")
SERIES = {
    "iops": "IOPS",
    "latency_mean_ms": "Mean latency (ms)",
    "latency_p99_ms": "p99 latency (ms)",
    "queue_depth": "Queue depth (I/Os)",
}
"""Columns over time, with their titles."""
SERIES_READ = ("time_ns", "stream", "direction", "iops", "latency_mean_ns", "latency_p99_ns", "queue_depth")
"""Columns of a record's series that they are made from."""
ACTIVITIES = ("overhead", "seek", "rotation", "transfer", "program", "erase", "other busy")
"""Activities of a part, in the order of an I/O's path."""
# Points of one percentile line (more than a chart has pixels per nine, so no step of a histogram is lost), the fewest
# of one, and those of all lines of more than a hundred runs together.
PERCENTILE_POINTS, PERCENTILE_FEWEST, PERCENTILE_TOTAL = 200, 40, 20_000
# Points of one series line (a chart is about 500 pixels wide; more points become a solid band), the fewest of one,
# and those of all lines of a page together (about 3 MB of numbers in the file).
SERIES_POINTS, SERIES_FEWEST, SERIES_TOTAL = 600, 100, 80_000
# Least number of I/Os beyond a percentile that is drawn.
SUPPORT = 10
PRINTED = {"latency_p50_ns": 0.5, "latency_p99_ns": 0.99, "latency_p999_ns": 0.999}

Buckets = list[tuple[float, int]]


def merged_buckets(record: RecordDoc, direction: str) -> Buckets | None:
    """Return all streams' buckets of one direction, sorted; None if their histograms differ in kind."""
    return buckets_of(record["streams"], direction)


def buckets_of(streams: Sequence[StreamDoc], direction: str) -> Buckets | None:
    """Return some streams' buckets of one direction, sorted; None if their histograms differ in kind."""
    kinds: set[str] = set()
    counts: dict[float, int] = {}
    for stream in streams:
        side = side_of(stream, direction)
        histogram = side.get("histogram") if side is not None else None
        if histogram is None or not histogram.get("buckets"):
            continue
        kinds.add(str(histogram.get("kind")))
        for value, count in histogram["buckets"]:
            counts[float(value)] = counts.get(float(value), 0) + int(count)
    return None if len(kinds) > 1 else sorted((v, n) for v, n in counts.items() if n > 0)


def value_at(buckets: Buckets, fraction: float) -> float | None:
    """Return the smallest bucket value that at least `fraction` of the I/Os do not exceed."""
    if not buckets:
        return None
    running = list(accumulate(count for _, count in buckets))
    return buckets[min(bisect_left(running, fraction * running[-1]), len(buckets) - 1)][0]


def last_place(total: int) -> float:
    """Return the position on the scale of nines up to which `total` I/Os are significant: `SUPPORT` of them lie beyond
    it."""
    return max(math.log10(total / SUPPORT), math.log10(2)) if total else 0.0


def percentile_points(buckets: Buckets, points: int = PERCENTILE_POINTS) -> list[tuple[float, float]]:
    """Return (nines, value_ns) along the scale of nines, as far as the number of I/Os supports."""
    if not buckets:
        return []
    running = list(accumulate(count for _, count in buckets))
    total = running[-1]
    last = last_place(total)
    places = [last * n / (points - 1) for n in range(points)]
    # Slightly below the position: 1 - 10^-1 is only almost 0.9, and a rank must not round up past its own bucket.
    ranks = [max(1.0, (1.0 - 10.0**-nines) * total * (1 - 1e-12)) for nines in places]
    values = [buckets[min(bisect_left(running, rank), len(buckets) - 1)][0] for rank in ranks]
    return list(zip(places, values, strict=True))


def edge_points(buckets: Buckets) -> list[tuple[float, float]]:
    """Return (nines, value_ns) at the edges of bins; a coarse histogram has no values between them."""
    if not buckets:
        return []
    running = list(accumulate(count for _, count in buckets))
    total = running[-1]
    last = last_place(total)
    places = [-math.log10(1 - seen / total) if seen < total else math.inf for seen in running]
    return [(nines, value) for nines, (value, _) in zip(places, buckets, strict=True) if nines <= last * (1 + 1e-12)]


def percentile_frame(records: Mapping[str, LoadedRecord], points: int = PERCENTILE_POINTS) -> pl.DataFrame:
    """Return the frame of `charts.percentile_chart` for records by label, with about `points` points per line, fewer
    if there are many records."""
    alone = len(records) == 1
    points = min(points, max(PERCENTILE_FEWEST, PERCENTILE_TOTAL // max(len(records), 1)))
    rows = [row for label, loaded in records.items() for row in _percentile_rows(label, loaded.record, alone, points)]
    schema: dict[str, type[pl.DataType]] = {
        "run": pl.String,
        "line": pl.String,
        "percentile": pl.Float64,
        "nines": pl.Float64,
    }
    schema |= {"latency_ms": pl.Float64, "printed": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row").filter(pl.col("latency_ms") > 0)


def _percentile_rows(label: str, record: RecordDoc, alone: bool, count: int) -> Iterator[tuple[object, ...]]:
    for direction in DIRECTIONS:
        line = direction if alone else f"{label} · {direction}"
        buckets = merged_buckets(record, direction) or []
        coarse = "bins" in _kinds(record, direction)
        points = edge_points(buckets) if coarse else percentile_points(buckets, count)
        if not _kinds(record, direction):
            points, coarse = _printed_points(record, direction), True
        for nines, value in points:
            yield label, line, round(100.0 - 10.0 ** (2 - nines), 9), nines, value / 1e6, coarse


def _kinds(record: RecordDoc, direction: str) -> set[str]:
    """Return the kinds of the histograms that have buckets."""
    sides = [side_of(stream, direction) for stream in record["streams"]]
    histograms = [side.get("histogram") for side in sides if side is not None]
    return {
        str(histogram.get("kind")) for histogram in histograms if histogram is not None and histogram.get("buckets")
    }


def _printed_points(record: RecordDoc, direction: str) -> list[tuple[float, float]]:
    """Return (nines, value_ns) of the percentiles that the source printed, as far as its I/Os support them."""
    sides = [side_of(stream, direction) for stream in record["streams"]]
    busy = [side for side in sides if side is not None and side.get("count")]
    summary = cast("Mapping[str, object]", figures_of(record["summary"], direction) or {})
    pairs: list[Any] = []
    if len(busy) == 1:
        pairs = [(q / 100, value) for q, value in busy[0].get("percentiles") or []]
    if not pairs:
        pairs = [(fraction, summary.get(key)) for key, fraction in PRINTED.items()]
    last = last_place(int(finite(summary.get("count")) or 0))
    points = []
    for fraction, value in pairs:
        latency, nines = finite(value), -math.log10(1 - fraction) if fraction < 1 else math.inf
        if latency is not None and nines <= last * (1 + 1e-12):
            points.append((nines, latency))
    return points


def histogram_remarks(record: RecordDoc) -> list[str]:
    """Describe the limits of a record's percentile chart."""
    return [
        f"The streams' {direction} histograms are of different kinds and cannot be merged."
        for direction in DIRECTIONS
        if merged_buckets(record, direction) is None
    ]


def series_frame(records: Mapping[str, LoadedRecord]) -> tuple[pl.DataFrame, float]:
    """Return the frame of `charts.series_chart`, and the maximum seconds that one point covers."""
    columns = ["run", "line", "time_s", *SERIES]
    rows = stacked({label: loaded.series for label, loaded in records.items()}, SERIES_READ)
    if rows.is_empty() or (rows := _active(rows)).is_empty():
        kinds = [pl.String] * 2 + [pl.Float64] * 5
        return pl.DataFrame(schema=dict(zip(columns, kinds, strict=True))), 0.0
    limit = max(SERIES_FEWEST, min(SERIES_POINTS, SERIES_TOTAL // rows.select("run", "stream", "direction").n_unique()))
    widths = {}
    for (label,), frame in rows.partition_by("run", as_dict=True, maintain_order=True).items():
        interval = _interval(records[str(label)].record, frame)
        widths[label] = interval * math.ceil((float(_maximum(frame["time_ns"])) / interval + 1) / limit)
    binned = _bin(rows.with_columns(width=pl.col("run").replace_strict(widths, return_dtype=pl.Float64)))
    line = pl.concat_str("line" if len(records) == 1 else ["run", "line"], separator=" · ")
    return binned.with_columns(line=line).select(columns), max(widths.values()) / 1e9


def stacked(frames: Mapping[str, pl.DataFrame | None], columns: Sequence[str]) -> pl.DataFrame:
    """Return some columns of the frames of runs, one below the other, with the run and its number.

    Queries of all runs together take a hundredth of the time of as many small ones."""
    tagged = []
    for number, (label, frame) in enumerate(frames.items()):
        if frame is not None:
            tags = {"run": [label] * frame.height, "run_number": [number] * frame.height}
            tagged.append(
                frame[list(columns)].hstack(pl.DataFrame(tags, schema={"run": pl.String, "run_number": pl.Int64}))
            )
    return pl.concat(tagged) if tagged else pl.DataFrame()


def _active(series: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the streams and directions that had any I/O."""
    busy = (pl.col("iops").fill_null(0).max() > 0) | (pl.col("queue_depth").fill_null(0).max() > 0)
    return series.filter(pl.col("time_ns").is_not_null() & busy.over("run", "stream", "direction"))


def _interval(record: RecordDoc, frame: pl.DataFrame) -> float:
    """Return the record's interval; by default the smallest step between two times."""
    named = finite(interval_of(record))
    if named and named > 0:
        return named
    step = frame["time_ns"].unique().sort().diff().drop_nulls().min()
    return float(step) if isinstance(step, int | float) and step > 0 else 1e9


def _maximum(values: pl.Series) -> float:
    largest = values.max()
    return float(largest) if isinstance(largest, int | float) else 0.0


def _bin(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per run, stream, direction and bin of the run's `width`, with the line: its direction, and its
    stream where the run has several."""
    weight = pl.when(pl.col("latency_mean_ns").is_not_null()).then(pl.col("iops")).otherwise(0.0)
    several = pl.col("stream").n_unique().over("run") > 1
    both = pl.concat_str("stream", "direction", separator=" · ")
    binned = (
        rows.with_columns(
            bin=(pl.col("time_ns") / pl.col("width")).floor(),
            weight=weight,
            line=pl.when(several).then(both).otherwise("direction"),
        )
        .group_by("run_number", "run", "stream", "direction", "bin", maintain_order=True)
        .agg(
            pl.col("line", "width").first(),
            pl.col("iops", "queue_depth").mean(),
            latency_mean_ms=(pl.col("latency_mean_ns") * pl.col("weight")).sum() / pl.col("weight").sum() / 1e6,
            latency_p99_ms=pl.col("latency_p99_ns").max() / 1e6,
        )
        .sort("run_number", "stream", "direction", "bin")
    )
    positive = [
        pl.when(pl.col(name).is_finite() & (pl.col(name) > 0)).then(pl.col(name)).alias(name)
        for name in ("latency_mean_ms", "latency_p99_ms")
    ]
    return binned.with_columns(*positive, time_s=pl.col("bin") * (pl.col("width") / 1e9))


def time_frame(records: Mapping[str, LoadedRecord]) -> pl.DataFrame:
    """Return the frame of `charts.time_chart`: per record and kind of part, the mean share of the measured time."""
    rows = [row for label, loaded in records.items() for row in _time_rows(label, loaded.record)]
    schema = {
        "row": pl.String,
        "activity": pl.String,
        "order": pl.Int64,
        "share": pl.Float64,
        "parts": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _time_rows(label: str, record: RecordDoc) -> Iterator[tuple[object, ...]]:
    duration = float(record["duration_ns"])
    kinds: dict[str, list[dict[str, float]]] = {}
    for part in record["parts"]:
        spent = activities(part.get("counters") or {})
        if spent:
            kinds.setdefault(str(part.get("kind", "part")), []).append(spent)
    for kind, parts in kinds.items():
        row = label if len(kinds) == 1 else f"{label} · {kind}"
        for order, name in enumerate(ACTIVITIES):
            mean = sum(part.get(name, 0.0) for part in parts) / len(parts)
            if mean > 0 and duration > 0:
                yield row, name, order, mean / duration, len(parts)


def activities(counters: Mapping[str, object]) -> dict[str, float]:
    """Return the nanoseconds of each activity of a part, as means over its actuators; the remainder of `busy_ns` is
    "other busy"."""
    named = {name: finite(counters.get(f"{name}_ns")) for name in ACTIVITIES}
    spent = {name: value for name, value in named.items() if value is not None}
    busy = finite(counters.get("busy_ns"))
    if busy is not None:
        spent["other busy"] = max(0.0, busy - sum(spent.values()))
    arms = actuators(counters)
    return {name: value / arms for name, value in spent.items()}


def unique_labels(records: Sequence[LoadedRecord]) -> dict[str, LoadedRecord]:
    """Return records by label: imported ones with the same name by their files; a repeated label gets a number."""
    names = Counter(loaded.label for loaded in records)
    labelled: dict[str, LoadedRecord] = {}
    for loaded in records:
        file = source_file(loaded.record)
        candidate = PurePath(file).name if file and names[loaded.label] > 1 else loaded.label
        labelled[unused(candidate, labelled)] = loaded
    return labelled
