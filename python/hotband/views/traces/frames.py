"""Figures of a trace as rows that charts draw, and as a frame."""

from __future__ import annotations

from hotband.base.heavy import np, pl
from hotband.base.text.numbers import size
from hotband.inference.traces.properties import Properties
from hotband.inference.traces.zipf import seen_at_least

MOST_SIZES = 12
"""Most sizes in a chart of half a page."""
MOST_POINTS = 400
"""Most points of a curve on a page."""


def whole(properties: Properties) -> int:
    """Return the number of whole intervals of time: a partial one would look like a lull. All if there are few."""
    over = properties.span_ns // properties.time.interval_ns
    return over if over > 2 else len(properties.time.reads)


def rate_rows(properties: Properties) -> pl.DataFrame:
    """Return reads and writes per second over time: line, x (s), y."""
    width = properties.time.interval_ns / 1e9
    series = {
        "reads": properties.time.reads,
        "writes": properties.time.writes,
        "flushes and trims": properties.time.others,
    }
    parts = [
        pl.DataFrame(
            {"line": name, "x": [at * width for at in range(len(counts))], "y": [count / width for count in counts]}
        )
        for name, counts in ((name, values[: whole(properties)]) for name, values in series.items())
        if any(counts)
    ]
    return pl.concat(parts)


def dispersion_rows(properties: Properties) -> pl.DataFrame:
    """Return the index of dispersion by window (s), from two standard errors below to two above, above zero only."""
    known = [window for window in properties.time.dispersion if window.index > 0]
    return pl.DataFrame(
        {
            "x": [window.window_ns / 1e9 for window in known],
            "y": [window.index for window in known],
            "low": [max(window.index - 2 * window.error, 0.2 * window.index) for window in known],
            "high": [window.index + 2 * window.error for window in known],
            "mean": [window.mean for window in known],
        }
    )


def size_rows(properties: Properties) -> pl.DataFrame:
    """Return the share of the I/Os (%) by size, the most frequent sizes one by one: class, line, y."""
    sides = [direction for direction in properties.directions if direction.direction in ("read", "write")]
    total = sum(side.ios for side in sides)
    counts: dict[int, int] = {}
    for transfers in sides:
        for each in transfers.sizes:
            counts[each.bytes] = counts.get(each.bytes, 0) + each.ios
    chosen = sorted(sorted(counts, key=lambda bytes_of: -counts[bytes_of])[:MOST_SIZES])
    rows = []
    for transfers in sides:
        ios_by_size = {each.bytes: each.ios for each in transfers.sizes}
        rows += [(size(each), f"{transfers.direction}s", 100 * ios_by_size.get(each, 0) / total) for each in chosen]
        rest = transfers.ios - sum(ios_by_size.get(each, 0) for each in chosen)
        rows.append(("others", f"{transfers.direction}s", 100 * rest / total))
    frame = pl.DataFrame(rows, schema=["class", "line", "y"], orient="row")
    others = frame.filter(pl.col("class") == "others")["y"].sum()
    return frame if others else frame.filter(pl.col("class") != "others")


def run_rows(properties: Properties) -> pl.DataFrame:
    """Return the share of reads and writes (%) by length of their run: class, line, y."""
    kinds = {
        "one after the other": properties.runs.strict.lengths,
        f"of up to {properties.runs.heads} streams": properties.runs.streams.lengths,
    }
    classes = max(kinds.values(), key=len)
    rows = []
    for name, lengths in kinds.items():
        for index, length in enumerate(classes):
            text = (
                f"{length.from_ios:,}" if length.from_ios == length.to_ios else f"{length.from_ios:,}–{length.to_ios:,}"
            )
            ios = lengths[index].ios if index < len(lengths) else 0
            rows.append((text, name, 100 * ios / max(properties.runs.ios, 1)))
    return pl.DataFrame(rows, schema=["class", "line", "y"], orient="row")


def jump_rows(properties: Properties) -> pl.DataFrame:
    """Return the share of jumps (%) by distance: class, line, y."""
    total = max(properties.jumps.count, 1)
    by_distance = {distance.from_bytes: distance for distance in properties.jumps.classes}
    # Powers of four: as many bars as fit on half a page.
    ends = [4**power for power in range(32) if any(4**power <= distance < 4 ** (power + 1) for distance in by_distance)]
    rows = []
    for name in ("forward", "backward"):
        for least in ends:
            both = [by_distance[distance] for distance in (least, 2 * least) if distance in by_distance]
            count = sum(jumps.forward if name == "forward" else jumps.backward for jumps in both)
            rows.append((f"{size(least)}", name, 100 * count / total))
    return pl.DataFrame(rows, schema=["class", "line", "y"], orient="row")


def touched_rows(properties: Properties, *, so_far: bool) -> pl.DataFrame:
    """Return accessed bytes (MB) since the beginning, or in each interval: line, x (s), y."""
    working_set = properties.working_set
    values, width = (
        working_set.so_far_bytes if so_far else working_set.bytes[: whole(properties)],
        working_set.interval_ns / 1e9,
    )
    xs = [at * width for at in range(len(values))]
    return pl.DataFrame({"line": "touched", "x": xs, "y": [value / 1e6 for value in values]})


def window_rows(properties: Properties) -> pl.DataFrame:
    """Return the working set (MB) by window (s): line, x, y."""
    windows = properties.working_set.windows
    xs, ys = [window.window_ns / 1e9 for window in windows], [window.bytes / 1e6 for window in windows]
    return pl.DataFrame({"line": "working set", "x": xs, "y": ys})


def popularity_rows(properties: Properties) -> pl.DataFrame:
    """Return accesses to the block of each rank, as counted and by Zipf's law: line, x (rank), y."""
    counts = properties.popularity.counts[::-1]
    ranks = np.cumsum([count.blocks for count in counts]) / properties.sample_rate
    touches = np.array([count.from_count for count in counts], float)
    parts = [pl.DataFrame({"line": "counted", "x": ranks, "y": touches})]
    zipf = properties.popularity.zipf
    if zipf is not None:
        law = seen_at_least(touches, zipf.theta, zipf.least) * ranks[-1]
        name = f"Zipf, exponent {zipf.theta:.2f}"
        parts.append(pl.DataFrame({"line": name, "x": law, "y": touches}).filter(pl.col("x") >= 1 / 2))
    return pl.concat(parts)


def miss_rows(properties: Properties) -> pl.DataFrame:
    """Return misses of an LRU cache (%) by its size (MB): line, x, y, low and high (two standard errors)."""
    curve = properties.reuse.curve
    frame = pl.DataFrame(
        {
            "x": [cache_byte / 1e6 for cache_byte in curve.cache_bytes],
            "all": [100 * ratio for ratio in curve.miss_ratio],
            "reads": [100 * ratio for ratio in curve.read_miss_ratio],
            "error": [200 * ratio for ratio in curve.error],
        }
    )
    frame = frame.filter(pl.col("x") > 0)
    whole = frame.select("x", y="all", low=pl.col("all") - pl.col("error"), high=pl.col("all") + pl.col("error"))
    parts = [whole.with_columns(line=pl.lit("reads and writes"))]
    if 0 < properties.reuse.reads < properties.reuse.accesses:
        reads = frame.select("x", y="reads", low="reads", high="reads")
        parts.append(reads.with_columns(line=pl.lit("reads")))
    return pl.concat(parts).with_columns(pl.col("low").clip(0, 100), pl.col("high").clip(0, 100))


def curve_frame(properties: Properties) -> pl.DataFrame:
    """Return the miss-ratio curve: cache_bytes, miss_ratio, read_miss_ratio, error."""
    curve = properties.reuse.curve
    columns = (curve.cache_bytes, curve.miss_ratio, curve.read_miss_ratio, curve.error)
    return pl.DataFrame(
        dict(zip(("cache_bytes", "miss_ratio", "read_miss_ratio", "error"), map(list, columns), strict=True))
    )
