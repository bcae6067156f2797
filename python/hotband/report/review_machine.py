"""The page of one machine in a review: its topics, in the order in which reviewers print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from hotband.draw.review import Axis, Lines, amounts, curves, density, palette, ramp
from hotband.report import review_rows as rows_of
from hotband.report.page import Cell, Group, Table
from hotband.report.review_rows import Machine, Row, frame
from hotband.report.review_topics import (
    ACCESS_MS,
    BLOCK,
    DEPTH,
    MBPS,
    MEAN_MS,
    READ_WRITE,
    READ_WRITE_COPY,
    SHARE,
    WHOLE,
    Column,
    Figure,
    Topic,
    crossed,
    gathered_notes,
    missing,
    place_axis,
    table,
)
from hotband.report.text import amount, block_size, number, rate, size, span

# Reads and writes are as fast in most places.
OVER_EACH_OTHER = Lines(READ_WRITE.title, READ_WRITE.colors, dashed=("write",))
OF_IOS = "Share of the I/Os (%)"
PATTERN_COLORS = palette("Pattern", rows_of.PATTERNS.values(), first=2)


def topics(machine: Machine) -> list[Topic]:
    """All of them; those whose part is null leave a line at the end."""
    found = [
        summary(machine),
        linear(machine),
        access(machine),
        block_sizes(machine),
        streams(machine),
        patterns(machine),
        files(machine),
        streaming(machine),
        defragmentation(machine),
        applications(machine),
        energy(machine),
    ]
    return gathered_notes(found)


def cards(machine: Machine) -> list[tuple[str, str]]:
    """The handful of numbers that a reader looks for first."""
    found = [(size(machine.capacity_bytes), "capacity")]
    means = (machine.part("linear") or {}).get("mean") or {}
    found += [(rate(means[op]), f"linear {op}, mean over the surface") for op in ("read", "write") if means.get(op)]
    for op, figures in rows_of.access_figures(machine):
        found.append((span(figures["mean_ns"]), f"random {op}, {block_size(figures['block_bytes'])}, mean"))
    served = rows_of.patterns(machine)
    if served:
        best = max(served, key=lambda row: row["iops"])
        found.append((number(best["iops"]), f"most IOPS: {best['pattern']}, QD {best['qd']}"))
    return found


def lead(machine: Machine) -> str:
    """What was found of the machine, in one sentence."""
    pieces = []
    points = (machine.part("linear") or {}).get("read") or []
    if points:
        rates = [point["bandwidth_bytes_per_s"] for point in points]
        pieces.append(f"reads {_range(min(rates), max(rates))} along the surface")
    for op, figures in rows_of.access_figures(machine):
        if op == "read":
            pieces.append(f"finds a random {block_size(figures['block_bytes'])} block in {span(figures['mean_ns'])}")
    served = [row for row in rows_of.patterns(machine) if row["pattern"] == rows_of.PATTERNS["file-server"]]
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


def lined(rows: Iterable[Row], key: str, *keep: str) -> list[Row]:
    """Rows whose `line` is one of their columns, with the columns that a chart needs."""
    return [{"line": row[key]} | {name: row[name] for name in keep} for row in rows]


def barred(rows: Iterable[Row], row: str, label: str, value: str, line: str = "") -> list[Row]:
    """Rows as `reviewcharts.amounts` draws them; without `line` all are of one."""
    return [
        {
            "row": str(one[row]),
            "label": str(one[label]),
            "line": one[line] if line else "",
            "value": one[value],
            "text": amount(one[value]),
            "low": one.get("low"),
            "high": one.get("high"),
        }
        for one in rows
    ]


def bar_frame(rows: Sequence[Row]) -> Any:
    """The frame of `barred` rows."""
    import polars as pl

    return frame(rows, low=pl.Float64, high=pl.Float64, value=pl.Float64)


ONE = Lines("", {"": READ_WRITE.colors["read"]})


def summary(machine: Machine) -> Topic:
    """Geometric means: bars of those that share a unit with others, for a bar alone says nothing."""
    rows = rows_of.summary(machine)
    figures = []
    for unit, name in rows_of.units(rows).items():
        of_unit = [row for row in rows if row["unit"] == unit]
        if len(of_unit) > 1:
            view = amounts(bar_frame(barred(of_unit, "group", "title", "mean")), unit, ONE)
            figures.append(Figure(f"summary-{name}", f"Geometric means in {unit}", view))
    columns = [
        Column("Group", "title", str, False), Column("Geometric mean", "mean"), Column("Unit", "unit", str, False),
        Column("Of how many numbers", "of"),
    ]  # fmt: skip
    tables = [table(rows, columns)] if rows else []
    return Topic("summary", "Summary", figures, tables, missing([machine], "summary"), width=WHOLE)


def linear(machine: Machine) -> Topic:
    """The transfer curve, read and write."""
    rows = rows_of.linear(machine)
    found = machine.review["linear"]
    if not rows or found is None:
        return Topic("linear", "Linear transfer", notes=missing([machine], "linear"))
    axis = place_axis([machine])
    view = curves(
        frame(lined(rows, "op", "gb", "mbps")), axis, Axis("mbps", MBPS, "rate"), OVER_EACH_OTHER, points=False
    )
    block = block_size(found["block_bytes"])
    caption = f"In blocks of {block}, one after the other; from the beginning of the address space to its end."
    ends = []
    for op in rows_of.OPS:
        rates = [row["mbps"] for row in rows if row["op"] == op]
        if rates:
            mean = (found.get("mean") or {}).get(op)
            ends.append({"op": op, "first": rates[0], "last": rates[-1], "least": min(rates), "most": max(rates),
                         "mean": None if mean is None else mean / 1e6})  # fmt: skip
    columns = [
        Column("", "op", str, False), Column("Beginning (MB/s)", "first"), Column("End (MB/s)", "last"),
        Column("Least (MB/s)", "least"), Column("Most (MB/s)", "most"), Column("Mean (MB/s)", "mean"),
    ]  # fmt: skip
    every = crossed(rows, ["gb"], "op", "mbps", [axis.title], _ops(rows), write=number, caption="Every point, MB/s")
    title = "Linear read and write over the surface"
    return Topic("linear", "Linear transfer", [Figure("linear", title, view, caption)],
                 [table(ends, columns), every], width=WHOLE)  # fmt: skip


def _ops(rows: Iterable[Row]) -> list[str]:
    found = {row["op"] for row in rows}
    return [op for op in rows_of.OPS if op in found]


def access(machine: Machine) -> Topic:
    """Random access times and how they are distributed."""
    bins, shares = rows_of.histogram(machine), rows_of.cumulative(machine)
    measured = rows_of.access_figures(machine)
    if not measured:
        return Topic("access", "Random access time", notes=missing([machine], "access"))
    figures = []
    if bins:
        view = density(
            frame(lined(bins, "op", "from_ms", "ms", "share")), Axis("ms", ACCESS_MS, "zero"), OF_IOS, READ_WRITE
        )
        caption = "Share of the I/Os in each bin; the rarest, beyond 99.9 %, stand in the last one."
        figures.append(Figure("access", "Distribution of access times", view, caption))
        scale: Literal["log", "zero"] = "log" if rows_of.is_wide([machine]) else "zero"
        rows, share = lined(shares, "op", "ms", "share"), Axis("share", SHARE, "share")
        view = curves(frame(rows), Axis("ms", ACCESS_MS, scale), share, READ_WRITE, points=False)
        caption = "How many of the I/Os are served within a time: the median stands at 50 %."
        figures.append(Figure("access-cumulative", "Access times, cumulative", view, caption))
    heads = ("count", "mean_ns", "p50_ns", "p99_ns", "max_ns")
    names = ("I/Os", "Mean (ms)", "Median (ms)", "p99 (ms)", "Longest (ms)")
    columns = [Column("", "op", str, False), Column("Block", "block_bytes", block_size, False)]
    columns += [
        Column(name, key, _ms if key.endswith("_ns") else amount) for name, key in zip(names, heads, strict=True)
    ]
    listed = [{"op": op, **figure} for op, figure in measured]
    return Topic("access", "Random access time", figures, [table(listed, columns)])


def _ms(value: float) -> str:
    """Nanoseconds in ms."""
    return amount(value / 1e6)


def block_sizes(machine: Machine) -> Topic:
    """Bandwidth over the block size, a line per size of the file."""
    rows = rows_of.block_sizes(machine)
    if not rows:
        return Topic("blocks", "Block sizes", notes=missing([machine], "block_sizes"))
    names = list(dict.fromkeys(row["file"] for row in sorted(rows, key=lambda row: row["file_bytes"])))
    lines, both = ramp("File", names), frame(rows)["mbps"]
    figures, tables = [], []
    for op in _ops(rows):
        own = [row for row in rows if row["op"] == op]
        data = frame(lined(own, "file", "block_bytes", "mbps", "iops"))
        x, y = Axis("block_bytes", BLOCK, "size"), Axis("mbps", MBPS, "rate", both)
        view = curves(data, x, y, lines)
        title = f"{op.capitalize()} bandwidth over the block size"
        figures.append(Figure(f"blocks-{op}", title, view, "A line per size of the file."))
        by_block = sorted(own, key=lambda row: row["block_bytes"])
        tables.append(
            crossed(
                by_block,
                ["block_bytes"],
                "file",
                "mbps",
                [BLOCK],
                names,
                write=block_size,
                caption=f"{op.capitalize()}, MB/s, by the size of the file",
            )
        )
    return Topic("blocks", "Block sizes", figures, tables)


def streams(machine: Machine) -> Topic:
    """One to four sequential readers or writers at once."""
    rows = rows_of.streams(machine)
    if not rows:
        return Topic("streams", "Concurrent streams", notes=missing([machine], "streams"))
    for row in rows:
        row["title"] = counted(row["streams"])
    view = amounts(bar_frame(barred(rows, "streams", "title", "mbps", "op")), f"{MBPS}, all streams", READ_WRITE)
    columns = [
        Column("", "op", str, False), Column("Streams", "streams"), Column("All together (MB/s)", "mbps"),
        Column("The slowest (MB/s)", "slowest_mbps"),
    ]  # fmt: skip
    caption = (
        "Each reads or writes a file of its own (100 MB) from beginning to end; the bars are all streams together."
    )
    figure = Figure("streams", "Concurrent sequential readers or writers", view, caption)
    return Topic("streams", "Concurrent streams", [figure], [table(rows, columns)], width=WHOLE)


def counted(streams: int) -> str:
    """`1 stream`, `4 streams`."""
    return f"{streams} stream{'' if streams == 1 else 's'}"


def patterns(machine: Machine) -> Topic:
    """The server patterns against queue depth, and latency over IOPS."""
    rows = rows_of.patterns(machine)
    if not rows:
        return Topic("patterns", "Server patterns", notes=missing([machine], "patterns"))
    names = list(dict.fromkeys(row["pattern"] for row in rows))
    lines = PATTERN_COLORS if set(names) <= set(PATTERN_COLORS.names) else palette("Pattern", names, first=2)
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
        own = table([row for row in rows if row["pattern"] == name], columns)
        groups.append(Group(own.groups[0].rows, name))
    listed = Table(heads, groups, caption="Every step of every pattern", folded=True)
    short = crossed(rows, ["qd"], "pattern", "iops", ["Queue depth"], names, write=number, caption="IOPS")
    caption = "Each line goes through the queue depths; where it turns up, more in the queue only waits longer."
    figures = [
        Figure("patterns-iops", "IOPS against queue depth", iops),
        Figure("patterns-latency", "Mean latency over IOPS", stick, caption),
    ]
    return Topic("patterns", "Server patterns", figures, [short, listed])


def files(machine: Machine) -> Topic:
    """Random reading, writing and copying of small and of large files."""
    rows = rows_of.files(machine)
    if not rows:
        return Topic("files", "Files", notes=missing([machine], "files"))
    figures = []
    for kind in dict.fromkeys(row["size"] for row in rows):
        own = [row for row in rows if row["size"] == kind]
        data = frame(lined(own, "op", "qd", "per_s", "mbps"))
        view = curves(data, Axis("qd", DEPTH, "depth"), Axis("per_s", "Files per second", "rate"), READ_WRITE_COPY)
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


def streaming(machine: Machine) -> Topic:
    """Streaming in small and in large blocks."""
    rows = rows_of.streaming(machine)
    if not rows:
        return Topic("streaming", "Streaming", notes=missing([machine], "streaming"))
    for row in rows:
        row["title"] = f"{row['blocks'].capitalize()} blocks ({row['block']})"
    view = amounts(bar_frame(barred(rows, "title", "title", "mbps", "op")), MBPS, READ_WRITE)
    columns = [Column("", "op", str, False), Column("Blocks", "title", str, False), Column(MBPS, "mbps")]
    figure = Figure("streaming", "Streaming read and write", view)
    return Topic("streaming", "Streaming", [figure], [table(rows, columns)], width=WHOLE)


def defragmentation(machine: Machine) -> Topic:
    """What it does while extents are moved."""
    found = machine.part("defragmentation")
    if found is None:
        return Topic("defragmentation", "Defragmentation", notes=missing([machine], "defragmentation"))
    cells = [
        Cell(block_size(found["extent_bytes"])),
        Cell(amount(found["extents_per_s"]), numeric=True),
        Cell(amount(found["bandwidth_bytes_per_s"] / 1e6), numeric=True),
        Cell(_ms(found["latency_mean_ns"]), numeric=True),
    ]
    heads = ["Extent", "Extents moved per second", "Moved (MB/s)", "Mean time of an extent (ms)"]
    return Topic("defragmentation", "Defragmentation", (), [Table(heads, [Group([cells])])])


def applications(machine: Machine) -> Topic:
    """Desktop loads with the range that their mix leaves open."""
    rows = rows_of.applications(machine)
    if not rows:
        return Topic("applications", "Desktop applications", notes=missing([machine], "applications"))
    bars = [row | rows_of.ranged(row) for row in rows]
    view = amounts(bar_frame(barred(bars, "name", "title", "mbps")), MBPS, ONE)
    columns = [
        Column("Load", "title", str, False), Column("MB/s", "mbps"), Column("Lowest (MB/s)", "low"),
        Column("Highest (MB/s)", "high"), Column("IOPS", "iops"), Column("Uncertain", "uncertainty", str, False),
    ]  # fmt: skip
    caption = (
        "Synthetic mixes with a stated uncertainty, not the original programs: "
        "the line over a bar goes from the lowest to the highest that the uncertainty allows."
    )
    figure = Figure("applications", "Desktop application loads", view, caption)
    return Topic("applications", "Desktop applications", [figure], [table(rows, columns)], width=WHOLE)


OF_POWER = "The line over a bar goes from the lowest to the highest that the ranges of the drives' power values allow."


def _has_range(bars: Iterable[Row]) -> bool:
    return any(bar["low"] is not None for bar in bars)


def energy(machine: Machine) -> Topic:
    """Watts by what it does, and the energy of an I/O."""
    power, each = rows_of.watts(machine), rows_of.joules(machine)
    if not power and not each:
        return Topic("energy", "Power and energy", notes=missing([machine], "energy"))
    figures = []
    if power:
        bars = [row | rows_of.ranged(row) for row in power]
        view = amounts(bar_frame(barred(bars, "name", "title", "watts")), "Mean power (W)", ONE, wide=False)
        figures.append(Figure("energy-watts", "Mean power", view, OF_POWER if _has_range(bars) else ""))
    if each:
        bars = [row | rows_of.ranged(row) for row in each]
        view = amounts(
            bar_frame(barred(bars, "name", "title", "millijoules")), "Energy of an I/O (mJ)", ONE, wide=False
        )
        figures.append(Figure("energy-joules", "Energy of an I/O", view, OF_POWER if _has_range(bars) else ""))
    rows = {row["name"]: dict(row) for row in power}
    for row in each:
        rows.setdefault(row["name"], {}).update(row | {"low_mj": row["low"], "high_mj": row["high"]})
    for row in power:
        rows[row["name"]] |= {"low": row["low"], "high": row["high"]}
    columns = [
        Column("", "title", str, False), Column("Mean power (W)", "watts"), Column("Lowest (W)", "low"),
        Column("Highest (W)", "high"), Column("Energy of an I/O (mJ)", "millijoules"),
        Column("Lowest (mJ)", "low_mj"), Column("Highest (mJ)", "high_mj"),
    ]  # fmt: skip
    return Topic("energy", "Power and energy", figures, [table(rows.values(), columns)])
