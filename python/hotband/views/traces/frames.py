"""Figures of a trace as rows that charts draw, and as a frame."""

from __future__ import annotations

from hotband.base.heavy import np, pl
from hotband.base.text.numbers import size
from hotband.inference.traces.properties import Properties
from hotband.inference.traces.zipf import seen_at_least

MOST_SIZES = 12
"""Sizes that a chart of half a page has room for."""
MOST_POINTS = 400
"""Of a curve on a page."""


def whole(found: Properties) -> int:
    """Intervals of time that are over when the trace ends: the last one would seem a lull. All where there are few."""
    over = found.span_ns // found.time.interval_ns
    return over if over > 2 else len(found.time.reads)


def rate_rows(found: Properties) -> pl.DataFrame:
    """Reads and writes a second over time: line, x (s), y."""
    width = found.time.interval_ns / 1e9
    series = {"reads": found.time.reads, "writes": found.time.writes, "flushes and trims": found.time.others}
    parts = [
        pl.DataFrame({"line": name, "x": [at * width for at in range(len(of))], "y": [one / width for one in of]})
        for name, of in ((name, values[: whole(found)]) for name, values in series.items())
        if any(of)
    ]
    return pl.concat(parts)


def dispersion_rows(found: Properties) -> pl.DataFrame:
    """Index of dispersion by window (s), from two standard errors below to two above, as far as it is above zero."""
    known = [one for one in found.time.dispersion if one.index > 0]
    return pl.DataFrame(
        {
            "x": [one.window_ns / 1e9 for one in known],
            "y": [one.index for one in known],
            "low": [max(one.index - 2 * one.error, 0.2 * one.index) for one in known],
            "high": [one.index + 2 * one.error for one in known],
            "mean": [one.mean for one in known],
        }
    )


def size_rows(found: Properties) -> pl.DataFrame:
    """Share of the I/Os (%) by size, the most frequent sizes one by one: class, line, y."""
    sides = [direction for direction in found.directions if direction.direction in ("read", "write")]
    total = sum(side.ios for side in sides)
    counts: dict[int, int] = {}
    for one in sides:
        for each in one.sizes:
            counts[each.bytes] = counts.get(each.bytes, 0) + each.ios
    chosen = sorted(sorted(counts, key=lambda bytes_of: -counts[bytes_of])[:MOST_SIZES])
    rows = []
    for one in sides:
        of = {each.bytes: each.ios for each in one.sizes}
        rows += [(size(each), f"{one.direction}s", 100 * of.get(each, 0) / total) for each in chosen]
        rest = one.ios - sum(of.get(each, 0) for each in chosen)
        rows.append(("others", f"{one.direction}s", 100 * rest / total))
    frame = pl.DataFrame(rows, schema=["class", "line", "y"], orient="row")
    others = frame.filter(pl.col("class") == "others")["y"].sum()
    return frame if others else frame.filter(pl.col("class") != "others")


def run_rows(found: Properties) -> pl.DataFrame:
    """Share of reads and writes (%) by length of their run: class, line, y."""
    kinds = {
        "one after the other": found.runs.strict.lengths,
        f"of up to {found.runs.heads} streams": found.runs.streams.lengths,
    }
    classes = max(kinds.values(), key=len)
    rows = []
    for name, lengths in kinds.items():
        for index, one in enumerate(classes):
            text = f"{one.from_ios:,}" if one.from_ios == one.to_ios else f"{one.from_ios:,}–{one.to_ios:,}"
            ios = lengths[index].ios if index < len(lengths) else 0
            rows.append((text, name, 100 * ios / max(found.runs.ios, 1)))
    return pl.DataFrame(rows, schema=["class", "line", "y"], orient="row")


def jump_rows(found: Properties) -> pl.DataFrame:
    """Share of jumps (%) by distance: class, line, y."""
    total = max(found.jumps.count, 1)
    of = {one.from_bytes: one for one in found.jumps.classes}
    # Powers of four: as many bars as half a page has room for.
    ends = [4**power for power in range(32) if any(4**power <= one < 4 ** (power + 1) for one in of)]
    rows = []
    for name in ("forward", "backward"):
        for least in ends:
            both = [of[one] for one in (least, 2 * least) if one in of]
            count = sum(one.forward if name == "forward" else one.backward for one in both)
            rows.append((f"{size(least)}", name, 100 * count / total))
    return pl.DataFrame(rows, schema=["class", "line", "y"], orient="row")


def touched_rows(found: Properties, *, so_far: bool) -> pl.DataFrame:
    """Bytes touched (MB) since the beginning, or in each interval: line, x (s), y."""
    of = found.working_set
    values, width = of.so_far_bytes if so_far else of.bytes[: whole(found)], of.interval_ns / 1e9
    xs = [at * width for at in range(len(values))]
    return pl.DataFrame({"line": "touched", "x": xs, "y": [value / 1e6 for value in values]})


def window_rows(found: Properties) -> pl.DataFrame:
    """Working set (MB) by window (s): line, x, y."""
    windows = found.working_set.windows
    xs, ys = [window.window_ns / 1e9 for window in windows], [window.bytes / 1e6 for window in windows]
    return pl.DataFrame({"line": "working set", "x": xs, "y": ys})


def popularity_rows(found: Properties) -> pl.DataFrame:
    """How often the block of a rank is touched, as counted and by Zipf's law: line, x (rank), y."""
    counts = found.popularity.counts[::-1]
    ranks = np.cumsum([count.blocks for count in counts]) / found.sample_rate
    touches = np.array([count.from_count for count in counts], float)
    parts = [pl.DataFrame({"line": "counted", "x": ranks, "y": touches})]
    zipf = found.popularity.zipf
    if zipf is not None:
        law = seen_at_least(touches, zipf.theta, zipf.least) * ranks[-1]
        name = f"Zipf, exponent {zipf.theta:.2f}"
        parts.append(pl.DataFrame({"line": name, "x": law, "y": touches}).filter(pl.col("x") >= 1 / 2))
    return pl.concat(parts)


def miss_rows(found: Properties) -> pl.DataFrame:
    """Misses of an LRU cache (%) by its size (MB): line, x, y, low and high (two standard errors)."""
    curve = found.reuse.curve
    frame = pl.DataFrame(
        {
            "x": [cache_byte / 1e6 for cache_byte in curve.cache_bytes],
            "all": [100 * one for one in curve.miss_ratio],
            "reads": [100 * one for one in curve.read_miss_ratio],
            "error": [200 * one for one in curve.error],
        }
    )
    frame = frame.filter(pl.col("x") > 0)
    whole = frame.select("x", y="all", low=pl.col("all") - pl.col("error"), high=pl.col("all") + pl.col("error"))
    parts = [whole.with_columns(line=pl.lit("reads and writes"))]
    if 0 < found.reuse.reads < found.reuse.accesses:
        reads = frame.select("x", y="reads", low="reads", high="reads")
        parts.append(reads.with_columns(line=pl.lit("reads")))
    return pl.concat(parts).with_columns(pl.col("low").clip(0, 100), pl.col("high").clip(0, 100))


def curve_frame(found: Properties) -> pl.DataFrame:
    """The miss-ratio curve: cache_bytes, miss_ratio, read_miss_ratio, error."""
    curve = found.reuse.curve
    columns = (curve.cache_bytes, curve.miss_ratio, curve.read_miss_ratio, curve.error)
    return pl.DataFrame(
        dict(zip(("cache_bytes", "miss_ratio", "read_miss_ratio", "error"), map(list, columns), strict=True))
    )
