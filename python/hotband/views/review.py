"""Reviews for the terminal: pure functions from a review, or several and their comparison, to rich tables and lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from hotband.base.foreign import marked
from hotband.base.text.cells import binary_size, counted, decimal_size, millis
from hotband.base.text.formats import Figure, as_rows
from hotband.data.record.states import state_lines, states_of
from hotband.views.interval import with_ends

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hotband.data.documents.interval import BoundsDoc
    from hotband.data.documents.review import ComparisonDoc, ReviewDoc

K = TypeVar("K")
IN_MILLIONS = 1e6
BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 40
NONE = "–"


def three_digits(value: float | None) -> str:
    """A number with three significant digits, more where it has more before the point."""
    if value is None:
        return Figure(NONE, None)
    # Of what rounds up to the next power of ten (9.996), the digits are those of the power.
    size = abs(float(f"{value:.2e}"))
    digits = max(0, 2 - math.floor(math.log10(size))) if size else 0
    return Figure(f"{value:,.{digits}f}", value)


def megabytes(rate: float | None) -> str:
    """Bytes a second in MB/s."""
    return three_digits(None if rate is None else rate / 1e6)


def short_size(count: int) -> str:
    """A size of a block or file: 512 B, 64 KiB, 32 MiB."""
    return binary_size(count).replace(".0 ", " ")


def sparkline(values: Sequence[float], width: int = CURVE_WIDTH) -> str:
    """A line of bars from zero to the largest, each the mean of as many values."""
    if not values:
        return ""
    groups = min(width, len(values))
    ends = [len(values) * n // groups for n in range(groups + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]
    top = max(means) or 1.0
    return "".join(BARS[round(mean / top * (len(BARS) - 1))] for mean in means)


def titled(title: str, first: str, columns: Iterable[str]) -> Table:
    """An empty table with one column of names and columns of numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=marked("[bold]{title}[/]", title=title), box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def pivot(cells: Iterable[tuple[int, K, float | None]]) -> dict[int, dict[K, float | None]]:
    """Values by row and column."""
    found: dict[int, dict[K, float | None]] = {}
    for row, column, value in cells:
        found.setdefault(row, {})[column] = value
    return found


def heading(review: ReviewDoc) -> Text:
    """What was reviewed, in a line."""
    machine = review["machine"]
    values = "".join(f", {key} = {value}" for key, value in machine["set"].items())
    drives = counted(len(machine["drives"]), "drive")
    size, seed = decimal_size(machine["capacity_bytes"]), review["seed"]
    quick = ", quick" if review["quick"] else ""
    said = f" ({machine['name']}): {size}, {drives}{values}, seed {seed}{quick}"
    return marked("[bold]{title}[/]{said}", title=machine["title"], said=said)


def level_of(review: ReviewDoc) -> str:
    """What stands in brackets behind figures of a review with intervals."""
    made = review.get("intervals")
    return "" if made is None else f" (in brackets: {made['level']:g} % interval)"


def ends_of(row: object, key: str) -> BoundsDoc | None:
    """The interval of a figure in an object of the JSON; None where it has none."""
    found: Mapping[str, Any] = row if isinstance(row, dict) else {}
    ends: BoundsDoc | None = found.get("intervals", {}).get(key)
    return ends


def linear_table(review: ReviewDoc) -> Table | None:
    """The transfer curve as bars from the first byte to the last."""
    part = review["linear"]
    if part is None:
        return None
    title = f"Transfer over the whole surface, MB/s{level_of(review)}"
    table = titled(title, "", ["first", "last", "mean"])
    table.add_column("first byte to last")
    for op in ("read", "write"):
        rates = [one["bandwidth_bytes_per_s"] for one in part[op]]
        measured = [rate for rate in rates if rate is not None]
        mean = with_ends(megabytes(part["mean"][op]), part.get("intervals", {}).get("mean", {}).get(op), IN_MILLIONS)
        table.add_row(op, megabytes(rates[0]), megabytes(rates[-1]), mean, sparkline(measured))
    return table


def access_tables(review: ReviewDoc) -> list[Table]:
    """Access time and its distribution; apart where intervals need the room."""
    part = review["access"]
    if part is None:
        return []
    size, level = short_size(part["read"]["block_bytes"]), level_of(review)
    table = titled(f"Random access of {size}, one at a time, ms{level}", "", ["mean", "p50", "p99", "max"])
    drawn = titled(f"Random access of {size}, one at a time", "", []) if level else table
    drawn.add_column("how often, from zero on")
    for op in ("read", "write"):
        one = part[op]
        shown = [
            with_ends(millis(one[key]), ends_of(one, key), IN_MILLIONS)
            for key in ("mean_ns", "p50_ns", "p99_ns", "max_ns")
        ]
        last = f" {one['bins'][-1][0] / 1e6:g} ms" if one["bins"] else ""
        bars = sparkline([count for _, count in one["bins"]]) + last
        if drawn is table:
            table.add_row(op, *shown, bars)
        else:
            table.add_row(op, *shown)
            drawn.add_row(op, bars)
    return [table] if drawn is table else [table, drawn]


def blocks_tables(review: ReviewDoc) -> list[Table]:
    """Bandwidth by block and file, a table for reads and one for writes."""
    tables = []
    for op in ("read", "write"):
        rows = [one for one in review["block_sizes"] or [] if one["op"] == op]
        if not rows:
            continue
        files = sorted({one["file_bytes"] for one in rows})
        title = f"A file {'read' if op == 'read' else 'written'} again and again, MB/s"
        table = titled(title, "block", [f"{short_size(file)} file" for file in files])
        by_block = pivot((one["block_bytes"], one["file_bytes"], one["bandwidth_bytes_per_s"]) for one in rows)
        for block in sorted(by_block):
            shown = (megabytes(by_block[block][file]) if file in by_block[block] else "" for file in files)
            table.add_row(short_size(block), *shown)
        tables.append(table)
    return tables


def streams_table(review: ReviewDoc) -> Table | None:
    """Concurrent readers and writers: all together, and the slowest."""
    rows = review["streams"]
    if not rows:
        return None
    counts = sorted({one["streams"] for one in rows})
    table = titled(
        "Readers and writers at once, each with a file of 100 MB, MB/s", "", [str(count) for count in counts]
    )
    for op in ("read", "write"):
        own = [one for one in rows if one["op"] == op]
        together = {one["streams"]: one["bandwidth_bytes_per_s"] for one in own}
        slowest = {one["streams"]: one["slowest_bytes_per_s"] for one in own}
        for words, of in (("together", together), ("slowest", slowest)):
            table.add_row(f"{op}, {words}", *(megabytes(of.get(count)) for count in counts))
    return table


def patterns_tables(review: ReviewDoc) -> list[Table]:
    """Server patterns: I/Os a second and mean response time at each depth; a table each where intervals need the
    room."""
    rows = review["patterns"]
    if not rows:
        return []
    names = list(dict.fromkeys(one["pattern"] for one in rows))
    level, words = level_of(review), [name.replace("-", " ") for name in names]
    title = "Iometer's server patterns, "
    rates, times = "I/Os a second", "mean response time"
    if level:
        tables = [titled(f"{title}{rates}{level}", "depth", words), titled(f"{title}{times}, ms", "depth", words)]
    else:
        tables = [titled(f"{title}{rates} and {times}", "depth", [head for word in words for head in (word, "ms")])]
    found = {(one["queue_depth"], one["pattern"]): one for one in rows}
    for depth in sorted({one["queue_depth"] for one in rows}):
        cells = [found[depth, name] for name in names]
        served = [with_ends(three_digits(one["iops"]), ends_of(one, "iops")) for one in cells]
        took = [
            with_ends(millis(one["latency_mean_ns"]), ends_of(one, "latency_mean_ns"), IN_MILLIONS) for one in cells
        ]
        if level:
            tables[0].add_row(str(depth), *served)
            tables[1].add_row(str(depth), *took)
        else:
            tables[0].add_row(str(depth), *(text for pair in zip(served, took, strict=True) for text in pair))
    return tables


def files_table(review: ReviewDoc) -> Table | None:
    """Files a second, read, written and copied."""
    rows = review["files"]
    if not rows:
        return None
    columns = [(size, op) for size in ("small", "large") for op in ("read", "write", "copy")]
    title = "Files at random, small (2 to 64 KiB) and large (1 MiB), files a second"
    table = titled(title, "at once", [f"{size} {op}" for size, op in columns])
    by_depth = pivot((one["queue_depth"], (one["size"], one["op"]), one["files_per_s"]) for one in rows)
    for depth in sorted(by_depth):
        table.add_row(str(depth), *(three_digits(by_depth[depth].get(column)) for column in columns))
    return table


def others_table(review: ReviewDoc) -> Table | None:
    """Streaming and defragmentation, a line each."""
    table = titled(f"Streaming and defragmentation{level_of(review)}", "", ["MB/s", "a second"])
    for one in review["streaming"] or []:
        size = short_size(one["block_bytes"])
        rate = one["bandwidth_bytes_per_s"]
        each_s = None if rate is None else rate / one["block_bytes"]
        shown = with_ends(megabytes(rate), ends_of(one, "bandwidth_bytes_per_s"), IN_MILLIONS)
        table.add_row(f"streaming {one['op']}, blocks of {size}", shown, three_digits(each_s))
    moved = review["defragmentation"]
    if moved is not None:
        name = f"defragmentation, extents of {short_size(moved['extent_bytes'])}"
        shown = with_ends(
            megabytes(moved["bandwidth_bytes_per_s"]), ends_of(moved, "bandwidth_bytes_per_s"), IN_MILLIONS
        )
        table.add_row(name, shown, three_digits(moved["extents_per_s"]))
    return table if table.row_count else None


def applications_table(review: ReviewDoc) -> Table | None:
    """Desktop applications, with the ends of what is uncertain in them."""
    rows = review["applications"]
    if not rows:
        return None
    title = f"Desktop applications: synthetic mixes, not the programs{level_of(review)}"
    table = titled(title, "", ["MB/s", "from", "to", "I/Os a second"])
    for one in rows:
        rate = with_ends(megabytes(one["bandwidth_bytes_per_s"]), ends_of(one, "bandwidth_bytes_per_s"), IN_MILLIONS)
        ends = megabytes(one["low_bytes_per_s"]), megabytes(one["high_bytes_per_s"])
        table.add_row(one["title"], rate, *ends, three_digits(one["iops"]))
    return table


def energy_table(review: ReviewDoc) -> Table | None:
    """Watts and joules under the server patterns."""
    energy = review["energy"]
    if energy is None:
        return None
    title = f"Energy, {energy['queue_depth']} outstanding; at rest {energy['idle_w']:.1f} W"
    table = titled(title, "", ["W", "from", "to", "mJ an I/O", "from", "to"])
    for name in energy["patterns_w"]:
        watts = (energy[key][name] for key in ("patterns_w", "patterns_low_w", "patterns_high_w"))
        joules = (energy[key][name] for key in ("joules_per_io", "joules_per_io_low", "joules_per_io_high"))
        shown = [*map(three_digits, watts), *(three_digits(None if one is None else one * 1e3) for one in joules)]
        table.add_row(name.replace("-", " "), *shown)
    return table


def in_unit(value: float, unit: str) -> str:
    """A mean of the summary with its unit."""
    if unit == "B/s":
        return Figure(f"{megabytes(value)} MB/s", value / 1e6, "MB/s")
    return Figure(f"{three_digits(value)} {unit}", value, unit)


def summary_table(review: ReviewDoc) -> Table | None:
    """Geometric means by group."""
    if not review["summary"]:
        return None
    table = titled(f"Summary: geometric means{level_of(review)}", "", ["", "of figures"])
    for row in review["summary"]:
        scale = IN_MILLIONS if row["unit"] == "B/s" else 1.0
        mean = with_ends(in_unit(row["geometric_mean"], row["unit"]), ends_of(row, "geometric_mean"), scale)
        table.add_row(row["title"], mean, str(row["of"]))
    return table


def views(reviews: Sequence[ReviewDoc], comparison: ComparisonDoc | None) -> list[Table | Text | str]:
    """One machine's review, or how several compare."""
    if comparison is not None:
        return list(comparison_views(reviews, comparison))
    return [view for one in reviews for view in review_views(one)]


def review_views(review: ReviewDoc) -> list[Any]:
    """All that is shown of one machine: a line, its tables, notes."""
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
    return [heading(review), *states(review), "", *under_titles(tables), *rests_on(review), *notes(review)]


def rests_on(review: ReviewDoc) -> list[str]:
    """What intervals rest on, where a review has them."""
    made = review.get("intervals")
    if made is None:
        return []
    refused = f", {made['refused']} more refused by the model" if made["refused"] else ""
    drawn = (
        f"{made['draws']} draws of {len(made['values'])} uncertain values{refused}" if made["values"] else "no draws"
    )
    studies = "and how far the studies' figures lie from their predictions"
    said = f"  Intervals rest on {drawn}, the seed, {studies}; write caches are as said above."
    return [said, *(f"  note: {note}" for note in made["notes"])]


def states(review: ReviewDoc) -> list[str]:
    """How the drives were set, and what they held when the first part began."""
    return [f"  state: {line}" for line in state_lines(states_of(review["machine"]))]


def under_titles(tables: Iterable[Table | None]) -> list[Any]:
    """Tables, each under its title as a line of its own: a table's own title is folded to the width of the table."""
    views: list[Any] = []
    for table in tables:
        if table is None:
            continue
        if not as_rows():
            views.append(table.title)
            table.title = None
        views.append(table)
    return views


def notes(review: ReviewDoc) -> list[str]:
    """What is to be known of a review."""
    return [f"  note: {note}" for note in review["notes"]]


def glance(review: ReviewDoc) -> dict[str, str]:
    """A review in some twenty figures, as text by what they are."""
    found: dict[str, str] = {}
    linear = review["linear"]
    curves = (("read", linear["read"]), ("write", linear["write"])) if linear else ()
    means = linear["mean"] if linear else {}
    for op, places in curves:
        first, last = (one["bandwidth_bytes_per_s"] for one in (places[0], places[-1]))
        rates = (first, means[op], last)
        found[f"linear {op}, first / mean / last, MB/s"] = " / ".join(megabytes(rate) for rate in rates)
    for op, access in (review["access"] or {}).items():
        found[f"random access, {op}, ms"] = millis(access["mean_ns"])
    for of in review["streams"] or []:
        if of["streams"] in (1, 4):
            name = f"{of['streams']} {of['op']}er{'s' if of['streams'] > 1 else ''}".replace("writeer", "writer")
            found[f"{name}, MB/s"] = megabytes(of["bandwidth_bytes_per_s"])
    for at in review["patterns"] or []:
        if at["queue_depth"] in (1, 16, 256):
            found[f"{at['pattern'].replace('-', ' ')}, depth {at['queue_depth']}, IOPS"] = three_digits(at["iops"])
    for files in review["files"] or []:
        if files["queue_depth"] == 1:
            found[f"{files['size']} files, {files['op']}, a second"] = three_digits(files["files_per_s"])
    for load in review["applications"] or []:
        found[f"{load['title']}, MB/s"] = megabytes(load["bandwidth_bytes_per_s"])
    return found


def comparison_views(reviews: Sequence[ReviewDoc], comparison: ComparisonDoc) -> list[Any]:
    """Machines side by side: some figures of each, then how many times as fast as the first they are."""
    names = list(comparison["machines"])
    figures = titled("At a glance", "", names)
    glances = [glance(review) for review in reviews]
    for key in dict.fromkeys(key for one in glances for key in one):
        figures.add_row(key, *(one.get(key, NONE) for one in glances))
    made = comparison.get("intervals")
    level = "" if made is None else f" (in brackets: {made['level']:g} % interval)"
    ratios = titled(f"Times as fast as {comparison['baseline']}, geometric means{level}", "", names)
    for group in comparison["groups"]:
        ratios.add_row(
            group["title"], *best_in_bold([group["ratios"][name] for name in names], _of(group, "ratios", names))
        )
    ratios.add_section()
    whole = [comparison["overall"][name] for name in names]
    ratios.add_row(marked("[bold]Overall[/]"), *best_in_bold(whole, _of(comparison, "overall", names)))
    said = [f"{note.strip()} ({name})" for name, review in zip(names, reviews, strict=True) for note in notes(review)]
    return [
        *(marked("[yellow]{words}[/]", words=words) for words in comparison.get("unequal_state", [])),
        *(line for review in reviews for line in (heading(review), *states(review))),
        "",
        *under_titles([figures, ratios]),
        *(f"{line} ({name})" for name, review in zip(names, reviews, strict=True) for line in rests_on(review)),
        *(f"  {note}" for note in said),
    ]


def _of(row: object, key: str, names: Iterable[str]) -> list[BoundsDoc | None]:
    """The intervals of the ratios of some machines."""
    found: Mapping[str, Any] = row if isinstance(row, dict) else {}
    ends: Mapping[str, BoundsDoc] = found.get("intervals", {}).get(key, {})
    return [ends.get(name) for name in names]


def best_in_bold(ratios: Sequence[float | None], ends: Sequence[BoundsDoc | None]) -> list[str | Text]:
    """Ratios with their intervals, the largest in bold."""
    best = max((ratio for ratio in ratios if ratio is not None), default=None)
    return [
        with_ends(Figure(_ratio(ratio), ratio, style="bold" if ratio is not None and ratio == best else ""), of)
        for ratio, of in zip(ratios, ends, strict=True)
    ]


def _ratio(ratio: float | None) -> str:
    return NONE if ratio is None else f"{ratio:.2f}"
