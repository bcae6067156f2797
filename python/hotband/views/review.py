"""Reviews for the terminal: pure functions from one review, or several with their comparison, to tables and lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, energy, number, size, span
from hotband.base.text.table import (
    BYTES,
    IOPS,
    MBS,
    MS,
    OF_ROW,
    PLAIN,
    WATTS,
    Cell,
    Column,
    Kind,
    Table,
    Unit,
    View,
    bare,
    column,
    estimate,
    numeric,
)
from hotband.data.record.states import state_lines, states_of
from hotband.views.interval import with_ends

if TYPE_CHECKING:
    from rich.text import Text

    from hotband.data.documents.interval import BoundsDoc
    from hotband.data.documents.review import ComparisonDoc, ReviewDoc

MILLIJOULES = Unit("mJ", 1e-3, energy)
K = TypeVar("K")
BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 40


def sparkline(values: Sequence[float], width: int = CURVE_WIDTH) -> str:
    """Draw a line of bars from zero to the largest value, each the mean of equally many values."""
    if not values:
        return ""
    groups = min(width, len(values))
    ends = [len(values) * n // groups for n in range(groups + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]
    top = max(means) or 1.0
    return "".join(BARS[round(mean / top * (len(BARS) - 1))] for mean in means)


def titled(title: str, first: str, columns: Iterable[Column]) -> Table:
    """Return an empty table with a first column of names."""
    return Table(title, [column(first), *columns], plain=True)


def pivot(cells: Iterable[tuple[int, K, float | None]]) -> dict[int, dict[K, float | None]]:
    """Return values by row and column."""
    table: dict[int, dict[K, float | None]] = {}
    for row, key, value in cells:
        table.setdefault(row, {})[key] = value
    return table


def heading(review: ReviewDoc) -> Text:
    """Return the reviewed machine in one line."""
    machine = review["machine"]
    values = "".join(f", {key} = {value}" for key, value in machine["set"].items())
    drives = counted(len(machine["drives"]), "drive")
    capacity, seed = size(machine["capacity_bytes"]), review["seed"]
    quick = ", quick" if review["quick"] else ""
    details = f" ({machine['name']}): {capacity}, {drives}{values}, seed {seed}{quick}"
    return marked("[bold]{title}[/]{said}", title=machine["title"], said=details)


def level_of(review: ReviewDoc) -> str:
    """Return the text in brackets after the figures of a review with intervals."""
    made = review.get("intervals")
    return "" if made is None else f" (in brackets: {made['level']:g} % interval)"


def ends_of(row: object, key: str) -> BoundsDoc | None:
    """Return the interval of a figure in an object of the JSON; None if it has none."""
    document: Mapping[str, Any] = row if isinstance(row, dict) else {}
    ends: BoundsDoc | None = document.get("intervals", {}).get(key)
    return ends


def linear_table(review: ReviewDoc) -> Table | None:
    """Return the transfer curve as bars from the first byte to the last."""
    part = review["linear"]
    if part is None:
        return None
    rates = [numeric("first", MBS), numeric("last", MBS), _figure(review, "mean", MBS)]
    title = f"Transfer over the whole surface, MB/s{level_of(review)}"
    table = titled(title, "", [*map(bare, rates), column("first byte to last")])
    for op in ("read", "write"):
        found = [place["bandwidth_bytes_per_s"] for place in part[op]]
        measured = [rate for rate in found if rate is not None]
        mean = with_ends(part["mean"][op], part.get("intervals", {}).get("mean", {}).get(op))
        table.add(op, found[0], found[-1], mean, sparkline(measured))
    return table


def access_tables(review: ReviewDoc) -> list[Table]:
    """Return access time and its distribution; in separate tables if intervals need the room."""
    part = review["access"]
    if part is None:
        return []
    block, level = size(part["read"]["block_bytes"]), level_of(review)
    times = [_figure(review, name, MS) for name in ("mean", "p50", "p99", "max")]
    drawn = column("how often, from zero on")
    title = f"Random access of {block}, one at a time"
    if level:
        tables = [titled(f"{title}{level}", "", times), titled(title, "", [drawn])]
    else:
        tables = [titled(title, "", [*times, drawn])]
    for op in ("read", "write"):
        access = part[op]
        shown = [with_ends(access[key], ends_of(access, key)) for key in ("mean_ns", "p50_ns", "p99_ns", "max_ns")]
        last = f" {span(access['bins'][-1][0])}" if access["bins"] else ""
        bars = sparkline([count for _, count in access["bins"]]) + last
        if level:
            tables[0].add(op, *shown)
            tables[1].add(op, bars)
        else:
            tables[0].add(op, *shown, bars)
    return tables


def blocks_tables(review: ReviewDoc) -> list[Table]:
    """Return bandwidth by block and file, one table for reads and one for writes."""
    tables = []
    for op in ("read", "write"):
        rows = [block for block in review["block_sizes"] or [] if block["op"] == op]
        if not rows:
            continue
        files = sorted({row["file_bytes"] for row in rows})
        title = f"A file {'read' if op == 'read' else 'written'} again and again, MB/s"
        columns = [bare(numeric(f"{size(file)} file", MBS)) for file in files]
        table = Table(title, [numeric("block", BYTES), *columns], plain=True)
        by_block = pivot((row["block_bytes"], row["file_bytes"], row["bandwidth_bytes_per_s"]) for row in rows)
        for block in sorted(by_block):
            table.add(block, *(by_block[block].get(file, "") for file in files))
        tables.append(table)
    return tables


def streams_table(review: ReviewDoc) -> Table | None:
    """Return concurrent readers and writers: all together, and the slowest."""
    rows = review["streams"]
    if not rows:
        return None
    counts = sorted({row["streams"] for row in rows})
    title = "Readers and writers at once, each with a file of 100 MB, MB/s"
    table = titled(title, "", [bare(numeric(str(count), MBS)) for count in counts])
    for op in ("read", "write"):
        chosen = [row for row in rows if row["op"] == op]
        together = {row["streams"]: row["bandwidth_bytes_per_s"] for row in chosen}
        slowest = {row["streams"]: row["slowest_bytes_per_s"] for row in chosen}
        for words, label in (("together", together), ("slowest", slowest)):
            table.add(f"{op}, {words}", *(label.get(count) for count in counts))
    return table


def patterns_tables(review: ReviewDoc) -> list[Table]:
    """Return I/Os per second and mean response time of server patterns at each depth, in separate tables if intervals
    need the room."""
    rows = review["patterns"]
    if not rows:
        return []
    names = list(dict.fromkeys(row["pattern"] for row in rows))
    level, words = level_of(review), [name.replace("-", " ") for name in names]
    title, rates, times = "Iometer's server patterns, ", "I/Os a second", "mean response time"
    served_in = [_figure(review, word, PLAIN) for word in words]
    took_in = [_figure(review, f"{word}, ms" if not level else word, MS) for word in words]
    depth_in = numeric("depth")
    if level:
        tables = [
            Table(f"{title}{rates}{level}", [depth_in, *served_in], plain=True),
            Table(f"{title}{times}{level}", [depth_in, *took_in], plain=True),
        ]
    else:
        pairs = [each for pair in zip(served_in, took_in, strict=True) for each in pair]
        tables = [Table(f"{title}{rates} and {times}", [depth_in, *pairs], plain=True)]
    found = {(row["queue_depth"], row["pattern"]): row for row in rows}
    for depth in sorted({row["queue_depth"] for row in rows}):
        cells = [found[depth, name] for name in names]
        served = [with_ends(cell["iops"], ends_of(cell, "iops")) for cell in cells]
        took = [with_ends(cell["latency_mean_ns"], ends_of(cell, "latency_mean_ns")) for cell in cells]
        if level:
            tables[0].add(depth, *served)
            tables[1].add(depth, *took)
        else:
            tables[0].add(depth, *(value for pair in zip(served, took, strict=True) for value in pair))
    return tables


def files_table(review: ReviewDoc) -> Table | None:
    """Return files per second read, written and copied."""
    rows = review["files"]
    if not rows:
        return None
    columns = [(kind, op) for kind in ("small", "large") for op in ("read", "write", "copy")]
    title = "Files at random, small (2 to 64 KiB) and large (1 MiB), files a second"
    heads = [numeric(f"{kind} {op}") for kind, op in columns]
    table = Table(title, [numeric("at once"), *heads], plain=True)
    by_depth = pivot((row["queue_depth"], (row["size"], row["op"]), row["files_per_s"]) for row in rows)
    for depth in sorted(by_depth):
        table.add(depth, *(by_depth[depth].get(each) for each in columns))
    return table


def others_table(review: ReviewDoc) -> Table | None:
    """Return streaming and defragmentation, one line each."""
    title = f"Streaming and defragmentation{level_of(review)}"
    table = titled(title, "", [_figure(review, "MB/s", MBS), numeric("a second")])
    for row in review["streaming"] or []:
        rate = row["bandwidth_bytes_per_s"]
        each_s = None if rate is None else rate / row["block_bytes"]
        shown = with_ends(rate, ends_of(row, "bandwidth_bytes_per_s"))
        table.add(f"streaming {row['op']}, blocks of {size(row['block_bytes'])}", shown, each_s)
    moved = review["defragmentation"]
    if moved is not None:
        name = f"defragmentation, extents of {size(moved['extent_bytes'])}"
        shown = with_ends(moved["bandwidth_bytes_per_s"], ends_of(moved, "bandwidth_bytes_per_s"))
        table.add(name, shown, moved["extents_per_s"])
    return table if table.rows else None


def applications_table(review: ReviewDoc) -> Table | None:
    """Return desktop applications, with the ends of their uncertainty."""
    rows = review["applications"]
    if not rows:
        return None
    title = f"Desktop applications: synthetic mixes, not the programs{level_of(review)}"
    ends = [bare(numeric("from", MBS)), bare(numeric("to", MBS))]
    table = titled(title, "", [_figure(review, "MB/s", MBS), *ends, numeric("I/Os a second")])
    for row in rows:
        rate = with_ends(row["bandwidth_bytes_per_s"], ends_of(row, "bandwidth_bytes_per_s"))
        table.add(row["title"], rate, row["low_bytes_per_s"], row["high_bytes_per_s"], row["iops"])
    return table


def energy_table(review: ReviewDoc) -> Table | None:
    """Return watts and joules under the server patterns."""
    energy = review["energy"]
    if energy is None:
        return None
    title = f"Energy, {energy['queue_depth']} outstanding; at rest {number(energy['idle_w'])} W"
    table = titled(title, "", [estimate("W", WATTS), estimate("mJ per I/O", MILLIJOULES)])
    watts, joules = energy["patterns_w"], energy["joules_per_io"]
    for name in watts:
        power: BoundsDoc = {"low": energy["patterns_low_w"][name], "high": energy["patterns_high_w"][name]}
        low, high = energy["joules_per_io_low"][name], energy["joules_per_io_high"][name]
        each: BoundsDoc | None = None if low is None or high is None else {"low": low, "high": high}
        table.add(name.replace("-", " "), with_ends(watts[name], power), with_ends(joules[name], each))
    return table


def summary_table(review: ReviewDoc) -> Table | None:
    """Return geometric means by group."""
    if not review["summary"]:
        return None
    mean = Column("mean", "estimate" if level_of(review) else "number", OF_ROW)
    table = titled(f"Summary: geometric means{level_of(review)}", "", [mean, numeric("of figures")])
    for row in review["summary"]:
        unit = MBS if row["unit"] == "B/s" else Unit(row["unit"])
        value = with_ends(row["geometric_mean"], ends_of(row, "geometric_mean"))
        table.add(row["title"], value, row["of"], unit=unit)
    return table


def _figure(review: ReviewDoc, name: str, unit: Unit) -> Column:
    """Return a column of figures, with intervals if the review has them."""
    return Column(name, "estimate" if level_of(review) else "number", unit)


def views(reviews: Sequence[ReviewDoc], comparison: ComparisonDoc | None) -> list[View]:
    """Return the review of one machine, or the comparison of several."""
    if comparison is not None:
        return list(comparison_views(reviews, comparison))
    return [view for review in reviews for view in review_views(review)]


def review_views(review: ReviewDoc) -> list[Any]:
    """Return everything about one machine: a line, its tables, notes."""
    tables = [
        linear_table(review),
        *access_tables(review),
        *blocks_tables(review),
        streams_table(review),
        *patterns_tables(review),
        files_table(review),
        others_table(review),
        applications_table(review),
        energy_table(review),
        summary_table(review),
    ]
    return [
        heading(review),
        *states(review),
        "",
        *(table for table in tables if table is not None),
        *rests_on(review),
        *notes(review),
    ]


def rests_on(review: ReviewDoc) -> list[str]:
    """Return the basis of the intervals, if a review has them."""
    made = review.get("intervals")
    if made is None:
        return []
    refused = f", {made['refused']} more refused by the model" if made["refused"] else ""
    drawn = (
        f"{made['draws']} samples of {len(made['values'])} uncertain values{refused}"
        if made["values"]
        else "no samples"
    )
    studies = "and how far the studies' figures lie from their predictions"
    basis = f"  Intervals rest on {drawn}, the seed, {studies}; write caches are as stated above."
    return [basis, *(f"  note: {note}" for note in made["notes"])]


def states(review: ReviewDoc) -> list[str]:
    """Return the settings of the drives, and their content when the first part began."""
    return [f"  state: {line}" for line in state_lines(states_of(review["machine"]))]


def notes(review: ReviewDoc) -> list[str]:
    """Return remarks on a review."""
    return [f"  note: {note}" for note in review["notes"]]


def glance(review: ReviewDoc) -> dict[str, tuple[float | None, Unit]]:
    """Return some twenty figures of a review, by name."""
    figures: dict[str, tuple[float | None, Unit]] = {}
    linear = review["linear"]
    for op, places in (("read", linear["read"]), ("write", linear["write"])) if linear else ():
        rates = [place["bandwidth_bytes_per_s"] for place in (places[0], places[-1])]
        mean = linear["mean"][op] if linear else None
        for name, rate in zip(("first", "mean", "last"), (rates[0], mean, rates[1]), strict=True):
            figures[f"linear {op}, {name}"] = rate, MBS
    for op, access in (review["access"] or {}).items():
        figures[f"random access, {op}"] = access["mean_ns"], MS
    readers = {("read", 1): "1 reader", ("read", 4): "4 readers", ("write", 1): "1 writer", ("write", 4): "4 writers"}
    of_streams = {
        (stream["op"], stream["streams"]): stream["bandwidth_bytes_per_s"] for stream in review["streams"] or []
    }
    figures |= {name: (of_streams[key], MBS) for key, name in readers.items() if key in of_streams}
    for at in review["patterns"] or []:
        if at["queue_depth"] in (1, 16, 256):
            figures[f"{at['pattern'].replace('-', ' ')}, depth {at['queue_depth']}"] = at["iops"], IOPS
    by_one = [files for files in review["files"] or [] if files["queue_depth"] == 1]
    figures |= {f"{files['size']} files, {files['op']}": (files["files_per_s"], Unit("a second")) for files in by_one}
    return figures | {load["title"]: (load["bandwidth_bytes_per_s"], MBS) for load in review["applications"] or []}


def comparison_views(reviews: Sequence[ReviewDoc], comparison: ComparisonDoc) -> list[Any]:
    """Return machines side by side: some figures of each, then their speed relative to the first."""
    names = list(comparison["machines"])
    figures = titled("At a glance", "", [numeric(name, OF_ROW) for name in names])
    glances = [glance(review) for review in reviews]
    units = {key: unit for figures_of_machine in glances for key, (_, unit) in figures_of_machine.items()}
    for key, unit in units.items():
        figures.add(key, *(figures_of_machine.get(key, (None, unit))[0] for figures_of_machine in glances), unit=unit)
    made = comparison.get("intervals")
    level = "" if made is None else f" (in brackets: {made['level']:g} % interval)"
    kind: Kind = "number" if made is None else "estimate"
    title = f"Times as fast as {comparison['baseline']}, geometric means{level}"
    ratios = titled(title, "", [Column(name, kind) for name in names])
    for n, group in enumerate(comparison["groups"]):
        shown = best_in_bold([group["ratios"][name] for name in names], _of(group, "ratios", names))
        ratios.add(group["title"], *shown, ends=n == len(comparison["groups"]) - 1)
    whole = [comparison["overall"][name] for name in names]
    ratios.add(Cell("Overall", "bold"), *best_in_bold(whole, _of(comparison, "overall", names)))
    remarks = [
        f"{note.strip()} ({name})" for name, review in zip(names, reviews, strict=True) for note in notes(review)
    ]
    return [
        *(marked("[yellow]{words}[/]", words=words) for words in comparison.get("unequal_state", [])),
        *(line for review in reviews for line in (heading(review), *states(review))),
        "",
        figures,
        ratios,
        *(f"{line} ({name})" for name, review in zip(names, reviews, strict=True) for line in rests_on(review)),
        *(f"  {note}" for note in remarks),
    ]


def _of(row: object, key: str, names: Iterable[str]) -> list[BoundsDoc | None]:
    """Return the intervals of the ratios of some machines."""
    document: Mapping[str, Any] = row if isinstance(row, dict) else {}
    ends: Mapping[str, BoundsDoc] = document.get("intervals", {}).get(key, {})
    return [ends.get(name) for name in names]


def best_in_bold(ratios: Sequence[float | None], ends: Sequence[BoundsDoc | None]) -> list[Cell]:
    """Return ratios with their intervals, the largest in bold."""
    best = max((ratio for ratio in ratios if ratio is not None), default=None)
    return [
        Cell(with_ends(ratio, of), "bold" if ratio is not None and ratio == best else "")
        for ratio, of in zip(ratios, ends, strict=True)
    ]
