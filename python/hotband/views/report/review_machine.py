"""The page of one machine in a review: its topics, in the usual order of reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from hotband.base.text.numbers import millis, number, rate, size
from hotband.base.text.table import MS
from hotband.views.draw.review import Axis, amounts, curves, density, palette, ramp
from hotband.views.report import review_rows
from hotband.views.report.page import Cell, Group, Table
from hotband.views.report.review_intervals import Row, in_words, of_level, of_mean, with_words
from hotband.views.report.review_rows import Machine, frame, mega, ranged
from hotband.views.report.review_topics import (
    ACCESS_MS,
    BLOCK,
    DEPTH,
    MBPS,
    MEAN_MS,
    PLAIN,
    SHARE,
    WHOLE,
    Column,
    Figure,
    Looks,
    Topic,
    bar,
    bar_frame,
    block,
    crossed,
    gathered_notes,
    missing,
    place_axis,
    table,
)

OF_IOS = "Share of the I/Os (%)"
PATTERN_COLORS = palette("Pattern", review_rows.PATTERNS.values(), first=2)


def topics(machine: Machine, looks: Looks = PLAIN) -> list[Topic]:
    """Return all topics; a topic without data becomes a line at the end."""
    all_topics = [
        summary(machine, looks),
        linear(machine, looks),
        access(machine, looks),
        block_sizes(machine),
        streams(machine, looks),
        patterns(machine, looks),
        files(machine, looks),
        streaming(machine, looks),
        defragmentation(machine),
        applications(machine, looks),
        energy(machine, looks),
    ]
    return gathered_notes(all_topics)


def cards(machine: Machine) -> list[tuple[str, str]]:
    """Return the few most wanted numbers."""
    cards = [(size(machine.capacity_bytes), "capacity")]
    for op in ("read", "write"):
        if mean := review_rows.linear_mean(machine, op):
            cards.append((rate(mean), f"linear {op}, mean over the surface"))
    for op, figures in review_rows.access_figures(machine):
        cards.append((millis(figures["mean_ns"]), f"random {op}, {size(figures['block_bytes'])}, mean"))
    served = [(row["iops"], row) for row in review_rows.patterns(machine) if row["iops"] is not None]
    if served:
        most, best = max(served, key=lambda card: card[0])
        cards.append((number(most), f"most IOPS: {best['pattern']}, QD {best['qd']}"))
    return cards


def lead(machine: Machine) -> str:
    """Return the result for the machine in one sentence."""
    pieces = []
    linear = machine.review.get("linear")
    points = (linear.get("read") or []) if linear else []
    rates = [spot for point in points if (spot := point["bandwidth_bytes_per_s"]) is not None]
    if rates:
        pieces.append(f"reads {_range(min(rates), max(rates))} along the surface")
    for op, figures in review_rows.access_figures(machine):
        if op == "read" and figures["mean_ns"] is not None:
            pieces.append(f"finds a random {size(figures['block_bytes'])} block in {millis(figures['mean_ns'])}")
    served = [row for row in review_rows.patterns(machine) if row["pattern"] == review_rows.PATTERNS["file-server"]]
    served = [row for row in served if row["iops"] is not None]
    if served:
        first, last = served[0], served[-1]
        depths = f"queue depth {first['qd']} and {number(last['iops'])} at {last['qd']}"
        pieces.append(f"serves {number(first['iops'])} IOPS of the file server pattern at {depths}")
    if not pieces:
        return ""
    text = ", ".join(pieces[:-1]) + (" and " if len(pieces) > 1 else "") + pieces[-1]
    return f"It {text}."


def _range(low: float, high: float) -> str:
    return rate(high) if number(low / 1e6, 3) == number(high / 1e6, 3) else f"{number(low / 1e6, 3)} to {rate(high)}"


def lined(rows: Iterable[Mapping[str, object]], key: str, *keep: str) -> list[dict[str, object]]:
    """Return rows whose `line` is one of their columns, with the columns that a chart needs."""
    return [{"line": row[key]} | {name: row[name] for name in keep} for row in rows]


def summary(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return geometric means as bars, if several share a unit: a single bar has no meaning."""
    rows = review_rows.summary(machine)
    figures = []
    for unit, name in review_rows.units(rows).items():
        of_unit = [row for row in rows if row["unit"] == unit]
        if len(of_unit) > 1:
            view = amounts(
                bar_frame(bar(row["group"], row["title"], row["mean"], ends=ranged(row)) for row in of_unit),
                unit,
                looks.one,
            )
            caption = of_level(machine.review)
            figures.append(Figure(f"summary-{name}", f"Geometric means in {unit}", view, caption.strip()))
    columns = [
        Column("Group", "title", str, False), Column("Geometric mean", "mean"), Column("Unit", "unit", str, False),
        Column("Of how many numbers", "of"),
    ]  # fmt: skip
    tables = [table(rows, columns)] if rows else []
    return Topic("summary", "Summary", figures, tables, missing([machine], "summary"), width=WHOLE)


def linear(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return the transfer curves of reads and writes."""
    rows = review_rows.linear(machine)
    curve = machine.review["linear"]
    if not rows or curve is None:
        return Topic("linear", "Linear transfer", notes=missing([machine], "linear"))
    axis = place_axis([machine])
    view = curves(
        frame(lined(rows, "op", "gb", "mbps")), axis, Axis("mbps", MBPS, "rate"), looks.over_each_other, points=False
    )
    block = size(curve["block_bytes"])
    caption = f"In blocks of {block}, one after the other; from the beginning of the address space to its end."
    ends = []
    for op in review_rows.OPS:
        rates = [row["mbps"] for row in rows if row["op"] == op]
        if rates:
            known = [rate for rate in rates if rate is not None]
            mean = mega(review_rows.linear_mean(machine, op))
            ends.append({"op": op, "first": rates[0], "last": rates[-1], "least": min(known, default=None),
                         "most": max(known, default=None), "mean": mean,
                         "ends": of_mean(machine, op)})  # fmt: skip
    columns = [
        Column("", "op", str, False), Column("Beginning (MB/s)", "first"), Column("End (MB/s)", "last"),
        Column("Least (MB/s)", "least"), Column("Most (MB/s)", "most"), Column("Mean (MB/s)", "mean"),
    ]  # fmt: skip
    every = crossed(rows, ["gb"], "op", "mbps", [axis.title], _ops(rows), write=number, caption="Every point, MB/s")
    title = "Linear read and write over the surface"
    return Topic("linear", "Linear transfer", [Figure("linear", title, view, caption)],
                 [table(ends, columns), every], width=WHOLE)  # fmt: skip


def _ops(rows: Iterable[Mapping[str, object]]) -> list[str]:
    directions = {row["op"] for row in rows}
    return [op for op in review_rows.OPS if op in directions]


def access(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return random access times and their distribution."""
    bins, shares = review_rows.histogram(machine), review_rows.cumulative(machine)
    measured = review_rows.access_figures(machine)
    if not measured:
        return Topic("access", "Random access time", notes=missing([machine], "access"))
    figures = []
    if bins:
        view = density(
            frame(lined(bins, "op", "from_ms", "ms", "share")), Axis("ms", ACCESS_MS, "zero"), OF_IOS, looks.read_write
        )
        caption = "Share of the I/Os in each bin; the rarest, beyond 99.9 %, are in the last one."
        figures.append(Figure("access", "Distribution of access times", view, caption))
        scale: Literal["log", "zero"] = "log" if review_rows.is_wide([machine]) else "zero"
        rows, share = lined(shares, "op", "ms", "share"), Axis("share", SHARE, "share")
        view = curves(frame(rows), Axis("ms", ACCESS_MS, scale), share, looks.read_write, points=False)
        caption = "How many of the I/Os are served within a time: the median is at 50 %."
        figures.append(Figure("access-cumulative", "Access times, cumulative", view, caption))
    heads = ("count", "mean_ns", "p50_ns", "p99_ns", "max_ns")
    names = ("I/Os", "Mean (ms)", "Median (ms)", "p99 (ms)", "Longest (ms)")
    columns = [Column("", "op", str, False), Column("Block", "block_bytes", block, False)]
    columns += [
        Column(name, key, MS.bare if key.endswith("_ns") else number) for name, key in zip(names, heads, strict=True)
    ]
    listed: list[dict[str, object]] = [
        {"op": op, **figure, "ends": in_words(machine, figure)} for op, figure in measured
    ]
    return Topic("access", "Random access time", figures, [table(listed, columns)])


def block_sizes(machine: Machine) -> Topic:
    """Return bandwidth over block size, a line per file size."""
    rows = review_rows.block_sizes(machine)
    if not rows:
        return Topic("blocks", "Block sizes", notes=missing([machine], "block_sizes"))
    names = list(dict.fromkeys(row["file"] for row in sorted(rows, key=lambda row: row["file_bytes"])))
    lines, both = ramp("File", names), frame(rows)["mbps"]
    figures, tables = [], []
    for op in _ops(rows):
        chosen = [row for row in rows if row["op"] == op]
        data = frame(lined(chosen, "file", "block_bytes", "mbps", "iops"))
        x, y = Axis("block_bytes", BLOCK, "size"), Axis("mbps", MBPS, "rate", both)
        view = curves(data, x, y, lines)
        title = f"{op.capitalize()} bandwidth over the block size"
        figures.append(Figure(f"blocks-{op}", title, view, "One line per file size."))
        by_block = sorted(chosen, key=lambda row: row["block_bytes"])
        tables.append(
            crossed(
                by_block,
                ["block_bytes"],
                "file",
                "mbps",
                [BLOCK],
                names,
                write=block,
                caption=f"{op.capitalize()}, MB/s, by the size of the file",
            )
        )
    return Topic("blocks", "Block sizes", figures, tables)


def streams(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return the rates of one to four concurrent sequential readers or writers."""
    rows = review_rows.streams(machine)
    if not rows:
        return Topic("streams", "Concurrent streams", notes=missing([machine], "streams"))
    bars = [bar(str(row["streams"]), row["title"], row["mbps"], row["op"]) for row in rows]
    view = amounts(bar_frame(bars), f"{MBPS}, all streams", looks.read_write)
    columns = [
        Column("", "op", str, False), Column("Streams", "streams"), Column("All together (MB/s)", "mbps"),
        Column("The slowest (MB/s)", "slowest_mbps"),
    ]  # fmt: skip
    caption = "Each reads or writes its own file (100 MB) from beginning to end; the bars are all streams together."
    figure = Figure("streams", "Concurrent sequential readers or writers", view, caption)
    return Topic("streams", "Concurrent streams", [figure], [table(rows, columns)], width=WHOLE)


def patterns(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return the server patterns over queue depth, and latency over IOPS."""
    rows = review_rows.patterns(machine)
    if not rows:
        return Topic("patterns", "Server patterns", notes=missing([machine], "patterns"))
    names = list(dict.fromkeys(row["pattern"] for row in rows))
    lines = PATTERN_COLORS if set(names) <= set(PATTERN_COLORS.names) else palette("Pattern", names, first=2)
    lines = ramp("Pattern", names) if looks.shaded else lines
    data = frame(lined(rows, "pattern", "qd", "iops", "mean_ms", "p99_ms"))
    iops = curves(data, Axis("qd", DEPTH, "depth"), Axis("iops", "IOPS", "rate"), lines)
    stick = curves(data, Axis("iops", "IOPS", "rate"), Axis("mean_ms", MEAN_MS, "rate"), lines, order="qd")
    columns = [
        Column("Queue depth", "qd"), Column("IOPS", "iops"), Column("MB/s", "mbps"), Column(MEAN_MS, "mean_ms"),
        Column("p99 latency (ms)", "p99_ms"),
    ]  # fmt: skip
    heads = [column.title for column in columns]
    groups = []
    for name in names:
        chosen = table([row for row in rows if row["pattern"] == name], columns)
        groups.append(Group(chosen.groups[0].rows, name))
    listed = Table(heads, groups, caption="Every step of every pattern", folded=True)
    short = crossed(rows, ["qd"], "pattern", "iops", ["Queue depth"], names, write=number, caption="IOPS")
    caption = "Each line goes through the queue depths; where it bends upward, a deeper queue only increases latency."
    figures = [
        Figure("patterns-iops", "IOPS against queue depth", iops),
        Figure("patterns-latency", "Mean latency over IOPS", stick, caption),
    ]
    return Topic("patterns", "Server patterns", figures, [short, listed])


def files(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return random reads, writes and copies of small and of large files."""
    rows = review_rows.files(machine)
    if not rows:
        return Topic("files", "Files", notes=missing([machine], "files"))
    figures = []
    for kind in dict.fromkeys(row["size"] for row in rows):
        chosen = [row for row in rows if row["size"] == kind]
        data = frame(lined(chosen, "op", "qd", "per_s", "mbps"))
        view = curves(
            data, Axis("qd", DEPTH, "depth"), Axis("per_s", "Files per second", "rate"), looks.read_write_copy
        )
        figures.append(Figure(f"files-{kind}", f"{kind.capitalize()} files per second", view, FILE_SIZES.get(kind, "")))
    columns = [
        Column("Files", "size", str, False), Column("", "op", str, False), Column("Queue depth", "qd"),
        Column("Files per second", "per_s"), Column("MB/s", "mbps"),
    ]  # fmt: skip
    names = _ops(rows)
    short = crossed(rows, ["size", "qd"], "op", "per_s", ["Files", "Queue depth"], names, caption="Files per second")
    return Topic("files", "Files", figures, [short, table(rows, columns, "With their bandwidth", fold=True)])


FILE_SIZES = {
    "small": "Of 2 to 64 KB, in random order; a copy reads one and writes another.",
    "large": "Of about 1 MB, in random order; a copy reads one and writes another.",
}


def streaming(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return streaming rates with small and with large blocks."""
    rows = review_rows.streaming(machine)
    if not rows:
        return Topic("streaming", "Streaming", notes=missing([machine], "streaming"))
    bars = [bar(row["title"], row["title"], row["mbps"], row["op"]) for row in rows]
    view = amounts(bar_frame(bars), MBPS, looks.read_write)
    columns = [Column("", "op", str, False), Column("Blocks", "title", str, False), Column(MBPS, "mbps")]
    figure = Figure("streaming", "Streaming read and write", view)
    return Topic("streaming", "Streaming", [figure], [table(rows, columns)], width=WHOLE)


def defragmentation(machine: Machine) -> Topic:
    """Return the rates while extents are moved."""
    moved = machine.review.get("defragmentation")
    if not moved:
        return Topic("defragmentation", "Defragmentation", notes=missing([machine], "defragmentation"))
    ends = {"ends": in_words(machine, moved)}
    cells = [
        Cell(size(moved["extent_bytes"])),
        Cell(with_words(number(moved["extents_per_s"]), ends, "extents_per_s"), numeric=True),
        Cell(with_words(number(mega(moved["bandwidth_bytes_per_s"])), ends, "mbps"), numeric=True),
        Cell(with_words(MS.bare(moved["latency_mean_ns"]), ends, "mean_ms"), numeric=True),
    ]
    heads = ["Extent", "Extents moved per second", "Moved (MB/s)", "Mean time of an extent (ms)"]
    return Topic("defragmentation", "Defragmentation", (), [Table(heads, [Group([cells])])])


def applications(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return the rates of desktop loads, with the range from the uncertainty of their mix."""
    rows = review_rows.applications(machine)
    if not rows:
        return Topic("applications", "Desktop applications", notes=missing([machine], "applications"))
    bars = [bar(row["name"], row["title"], row["mbps"], ends=ranged(row)) for row in rows]
    view = amounts(bar_frame(bars), MBPS, looks.one)
    columns = [
        Column("Load", "title", str, False), Column("MB/s", "mbps"), Column("Lowest (MB/s)", "low"),
        Column("Highest (MB/s)", "high"), Column("IOPS", "iops"), Column("Uncertain", "uncertainty", str, False),
    ]  # fmt: skip
    caption = (
        "Synthetic mixes with a stated uncertainty, not the original programs: "
        "the line over a bar spans the values that the uncertainty allows."
    )
    figure = Figure("applications", "Desktop application loads", view, caption)
    return Topic("applications", "Desktop applications", [figure], [table(rows, columns)], width=WHOLE)


OF_POWER = "The line over a bar spans the values that the ranges of the drives' power values allow."


def _has_range(bars: Iterable[Row]) -> bool:
    return any(bar["low"] is not None for bar in bars)


def energy(machine: Machine, looks: Looks = PLAIN) -> Topic:
    """Return watts by activity, and the energy of an I/O."""
    power, each = review_rows.watts(machine), review_rows.joules(machine)
    if not power and not each:
        return Topic("energy", "Power and energy", notes=missing([machine], "energy"))
    figures = []
    if power:
        bars = [bar(row["name"], row["title"], row["watts"], ends=ranged(row)) for row in power]
        view = amounts(bar_frame(bars), "Mean power (W)", looks.one, wide=False)
        figures.append(Figure("energy-watts", "Mean power", view, OF_POWER if _has_range(bars) else ""))
    if each:
        bars = [bar(row["name"], row["title"], row["millijoules"], ends=ranged(row)) for row in each]
        view = amounts(bar_frame(bars), "Energy of an I/O (mJ)", looks.one, wide=False)
        figures.append(Figure("energy-joules", "Energy of an I/O", view, OF_POWER if _has_range(bars) else ""))
    rows: dict[str, Row] = {}
    for row in power:
        rows[row["name"]] = {"title": row["title"], "watts": row["watts"], "low": row["low"], "high": row["high"]}
    for entry in each:
        beside = rows.setdefault(entry["name"], {"title": entry["title"]})
        beside |= {"millijoules": entry["millijoules"], "low_mj": entry["low"], "high_mj": entry["high"]}
    columns = [
        Column("", "title", str, False), Column("Mean power (W)", "watts"), Column("Lowest (W)", "low"),
        Column("Highest (W)", "high"), Column("Energy of an I/O (mJ)", "millijoules"),
        Column("Lowest (mJ)", "low_mj"), Column("Highest (mJ)", "high_mj"),
    ]  # fmt: skip
    return Topic("energy", "Power and energy", figures, [table(rows.values(), columns)])
