"""The page that compares machines: a line or a bar for each, of the same colour in all charts, and the leader in each
group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from hotband.base.heavy import pl
from hotband.base.text.numbers import number, size
from hotband.base.text.words import enumerated
from hotband.views.draw.review import Axis, Lines, amounts, curves, palette
from hotband.views.report import review_rows
from hotband.views.report.page import Table
from hotband.views.report.review_intervals import Row, in_words, of_level, of_mean, of_ratio, range_of, ratio_text
from hotband.views.report.review_machine import FILE_SIZES
from hotband.views.report.review_rows import Machine, frame, mega, ranged
from hotband.views.report.review_topics import (
    ACCESS_MS,
    BLOCK,
    DEPTH,
    MBPS,
    MEAN_MS,
    SHARE,
    WHOLE,
    Column,
    Figure,
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

if TYPE_CHECKING:
    from hotband.data.documents.review import ComparisonDoc, GroupRatiosDoc

# Least ratio that counts as a lead: a second seed changes most figures by as much.
LEVEL = 0.02
# Ratio from which a multiple reads better than a percentage.
MULTIPLE = 2.0


def topics(everyone: Sequence[Machine], comparison: ComparisonDoc) -> list[Topic]:
    """Return all topics, in the order of a machine's page, after the ratios."""
    lines = machine_lines(everyone)
    all_topics = [
        ratios(everyone, comparison, lines),
        summary(everyone, lines),
        linear(everyone, lines),
        access(everyone, lines),
        block_sizes(everyone, lines),
        streams(everyone, lines),
        patterns(everyone, lines),
        files(everyone, lines),
        streaming(everyone, lines),
        defragmentation(everyone, lines),
        applications(everyone, lines),
        energy(everyone, lines),
    ]
    return gathered_notes(all_topics)


def machine_lines(everyone: Sequence[Machine]) -> Lines:
    """Return a colour for each machine, in order."""
    return palette("Machine", [machine.label for machine in everyone])


# --- who leads ----------------------------------------------------------------------------------------------


def finding(everyone: Sequence[Machine], comparison: ComparisonDoc) -> str:
    """Return in one sentence which machine leads in which group and by how much, then over all groups together."""
    labels = _labels(everyone)
    led: dict[str, list[tuple[str, float]]] = {}
    level: list[str] = []
    for group in comparison["groups"]:
        placed = _placed(group["ratios"], labels)
        if len(placed) < 2:
            continue
        (best, first), (_, second) = placed[0], placed[1]
        title = str(group["title"]).lower()
        if first / second - 1 < LEVEL:
            level.append(title)
        else:
            led.setdefault(best, []).append((title, first / second))
    than = "the next" if len(everyone) > 2 else ""
    pieces = [f"{name} leads in {_led(groups, than, everywhere=not level)}" for name, groups in led.items()]
    if len(led) > 1:
        pieces = [f"{name} leads in {_led(groups, than)}" for name, groups in led.items()]
    if level:
        pieces.append(f"none leads in {enumerated(level, len(level))}")
    if not pieces:
        return ""
    return f"{'; '.join(pieces)}.{_overall(comparison, labels)}"


def _led(groups: Sequence[tuple[str, float]], than: str, everywhere: bool = False) -> str:
    """Return the groups with the lead in each; for a machine that leads in all of more than two groups, only the
    smallest and the largest lead."""
    if everywhere and len(groups) > 2:
        (low_title, low), *_, (high_title, high) = sorted(groups, key=lambda group: group[1])
        return f"every group, from {more(low, than)} in {low_title} to {more(high, than)} in {high_title}"
    listed = enumerated([f"{title} ({more(lead, than)})" for title, lead in groups], len(groups))
    return f"every group: {listed}" if everywhere else listed


def _overall(comparison: ComparisonDoc, labels: Mapping[str, str]) -> str:
    """Return the best machine over all groups, compared with the baseline."""
    placed = _placed(comparison.get("overall") or {}, labels)
    baseline = labels.get(comparison["baseline"], str(comparison["baseline"]))
    if len(placed) < 2:
        return ""
    best, ratio = placed[0]
    if best == baseline:
        second, ratio = placed[1]
        return f" Over all groups {best} leads, {second} reaches {number(ratio, 3)} of it."
    return f" Over all groups {best} reaches {number(ratio, 3)} times {baseline}."


def _labels(everyone: Sequence[Machine]) -> dict[str, str]:
    """Return the names of the compared machines on the page."""
    return {str(machine.review["machine"]["name"]): machine.label for machine in everyone}


def _placed(by_label: Mapping[str, float | None], labels: Mapping[str, str]) -> list[tuple[str, float]]:
    """Return labels with their ratios, the largest first."""
    pairs = [(labels.get(name, name), float(value)) for name, value in by_label.items() if value is not None]
    return sorted(pairs, key=lambda pair: -pair[1])


def more(ratio: float, than: str = "") -> str:
    """Format a ratio: `12 % more`, from 2 on `2.3 times as much`; with `than`, `12 % over it`, `2.3 times it`."""
    if ratio >= MULTIPLE:
        return f"{number(ratio, 2 if ratio < 100 else 3)} times {than or 'as much'}"
    percent = f"{100 * (ratio - 1):.0f}\N{NO-BREAK SPACE}%"
    return f"{percent} over {than}" if than else f"{percent} more"


def ratios(everyone: Sequence[Machine], comparison: ComparisonDoc, lines: Lines) -> Topic:
    """Return the mean of every group divided by the baseline's."""
    labels = _labels(everyone)
    baseline = labels.get(comparison["baseline"], str(comparison["baseline"]))
    shown_groups: list[GroupRatiosDoc] = [*comparison["groups"]]
    if comparison.get("overall"):
        shown_groups.append({"group": "overall", "title": "All groups", "ratios": comparison["overall"]})
    rows = [
        bar(
            str(group["group"]),
            str(group["title"]),
            float(value),
            labels.get(name, name),
            f"{number(value)}×",
            ranged(range_of(of_ratio(comparison, group, name))),
        )
        for group in shown_groups
        for name, value in group["ratios"].items()
        if value is not None and name != comparison["baseline"]
    ]
    if not rows:
        return Topic("ratios", "Who leads", notes=["There are no groups that all machines have numbers of."])
    view = amounts(bar_frame(rows), f"Ratio to {baseline} (= 1)", lines, rule=1.0)
    caption = f"Geometric mean of the ratios of a group's figures to those of {baseline}; more than 1 is better."
    caption += of_level(comparison)
    columns = [Column("Group", "title", str, False)]
    columns += [Column(label, label, str) for label in lines.names]
    listed: list[dict[str, object]] = [
        {
            "title": group["title"],
            **{
                labels.get(name, name): value
                if value is None
                else ratio_text(number(value), comparison, of_ratio(comparison, group, name))
                for name, value in group["ratios"].items()
            },
        }
        for group in shown_groups
    ]
    title = f"Every group against {baseline}" if len(everyone) > 2 else f"{lines.names[1]} against {baseline}"
    figure = Figure("ratios", title, view, caption)
    return Topic("ratios", "Who leads", [figure], [table(listed, columns)], width=WHOLE)


# --- the topics ---------------------------------------------------------------------------------------------


R = TypeVar("R", bound="Mapping[str, object]")


@dataclass(frozen=True)
class Of(Generic[R]):
    """A row of a machine, whose label is its `line`."""

    line: str
    row: R


def gathered(everyone: Sequence[Machine], read: Callable[[Machine], Sequence[R]]) -> list[Of[R]]:
    """Return the rows of all machines."""
    return [Of(machine.label, row) for machine in everyone for row in read(machine)]


def of(rows: Iterable[Of[R]], **wanted: str | int) -> list[Of[R]]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row.row[key] == value for key, value in wanted.items())]


def values(rows: Iterable[Of[R]], key: str) -> list[str]:
    """Return the distinct texts of a column, in order."""
    return list(dict.fromkeys(str(row.row[key]) for row in rows))


def picked(rows: Iterable[Of[R]], *names: str) -> pl.DataFrame:
    """Return a frame of some columns."""
    return frame([{"line": row.line} | {name: row.row[name] for name in names} for row in rows])


def beside(rows: Iterable[Of[R]], keys: Sequence[str], value: str, heads: Sequence[str], lines: Lines, *,
           caption: str = "", write: Callable[[object], str] = str, fold: bool = False) -> Table:  # fmt: skip
    """Return a table with a column for each machine."""
    listed: list[dict[str, object]] = [{"line": row.line, **row.row} for row in rows]
    return crossed(listed, keys, "line", value, heads, lines.names, caption=caption, write=write, fold=fold)


def summary(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return the geometric means, a chart for each of their units."""
    rows = gathered(everyone, review_rows.summary)
    figures = []
    for unit, name in review_rows.units(row.row for row in rows).items():
        bars = [
            bar(row.row["group"], row.row["title"], row.row["mean"], row.line, ends=ranged(row.row))
            for row in of(rows, unit=unit)
        ]
        titles = values(of(rows, unit=unit), "title")
        title = f"{titles[0]}, geometric mean ({unit})" if len(titles) == 1 else f"Geometric means in {unit}"
        figures.append(Figure(f"summary-{name}", title, amounts(bar_frame(bars), unit, lines, wide=False)))
    named = [
        {
            "line": row.line,
            "title": f"{row.row['title']} ({row.row['unit']})",
            "mean": row.row["mean"],
            "ends": row.row.get("ends"),
        }
        for row in rows
    ]
    shown = crossed(named, ["title"], "line", "mean", ["Geometric mean of"], lines.names)
    notes = missing(everyone, "summary")
    return Topic("summary", "Summary", figures, [shown] if rows else [], notes)


def linear(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return the transfer curves, separately for reads and writes."""
    rows, axis = gathered(everyone, review_rows.linear), place_axis(everyone)
    figures = []
    for op in values(rows, "op"):
        view = curves(
            picked(of(rows, op=op), axis.column, "mbps"),
            axis,
            Axis("mbps", MBPS, "rate"),
            lines,
            wide=True,
            points=False,
        )
        figures.append(Figure(f"linear-{op}", f"Linear {op} over the surface", view))
    ends: list[dict[str, object]] = []
    for op in values(rows, "op"):
        rates = [(row.line, row.row["mbps"]) for row in of(rows, op=op)]
        for name, reduce in (("least", min), ("most", max)):
            for label in lines.names:
                known = [rate for line, rate in rates if line == label and rate is not None]
                if known:
                    ends.append({"of": f"{op}, {name}", "line": label, "mbps": reduce(known)})
        for machine in everyone:
            mean = review_rows.linear_mean(machine, op)
            if mean is not None:
                words = {"mbps": of_mean(machine, op).get("mean")}
                ends.append({"of": f"{op}, mean", "line": machine.label, "mbps": mega(mean), "ends": words})
    shown = crossed(ends, ["of"], "line", "mbps", [MBPS], lines.names)
    return Topic("linear", "Linear transfer", figures, [shown] if ends else [], missing(everyone, "linear"))


ACCESS_TIMES: dict[Literal["mean_ns", "p50_ns", "p99_ns", "max_ns"], str] = {
    "mean_ns": "mean", "p50_ns": "median", "p99_ns": "p99", "max_ns": "longest",
}  # fmt: skip


def access(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return the cumulative access times, separately for reads and writes."""
    rows = gathered(everyone, review_rows.cumulative)
    axis = Axis("ms", ACCESS_MS, "log" if review_rows.is_wide(everyone) else "zero")
    figures = []
    for op in values(rows, "op"):
        view = curves(
            picked(of(rows, op=op), "ms", "share"), axis, Axis("share", SHARE, "share"), lines, wide=True, points=False
        )
        figures.append(Figure(f"access-{op}", f"Random {op} access times, cumulative", view))
    listed = [
        {
            "of": f"{op}, {name}",
            "line": machine.label,
            "ms": mega(access_doc),
            "ends": {"ms": ends} if (ends := in_words(machine, figure).get(key)) else {},
        }
        for op in review_rows.OPS
        for key, name in ACCESS_TIMES.items()
        for machine in everyone
        for measured, figure in review_rows.access_figures(machine)
        if measured == op and (access_doc := figure.get(key)) is not None
    ]
    shown = crossed(listed, ["of"], "line", "ms", [ACCESS_MS], lines.names)
    return Topic("access", "Random access time", figures, [shown] if listed else [], missing(everyone, "access"))


def block_sizes(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return bandwidth over block size on the smallest file, which caches hold, and on the largest, which they do
    not."""
    rows = gathered(everyone, review_rows.block_sizes)
    sizes = sorted({row.row["file_bytes"] for row in rows})
    figures, tables = [], []
    for file_bytes in dict.fromkeys([*sizes[:1], *sizes[-1:]]):
        for op in values(rows, "op"):
            chosen = of(rows, op=op, file_bytes=file_bytes)
            if not chosen:
                continue
            title = f"{op.capitalize()} in a file of {size(file_bytes)}, over the block size"
            view = curves(
                picked(chosen, "block_bytes", "mbps", "iops"),
                Axis("block_bytes", BLOCK, "size"),
                Axis("mbps", MBPS, "rate"),
                lines,
                wide=True,
            )
            figures.append(Figure(f"blocks-{op}-{'smallest' if file_bytes == sizes[0] else 'largest'}", title, view))
            ordered = sorted(chosen, key=lambda row: row.row["block_bytes"])
            caption = f"{title}, MB/s"
            shown = beside(ordered, ["block_bytes"], "mbps", [BLOCK], lines, write=block, caption=caption, fold=True)
            tables.append(shown)
    return Topic("blocks", "Block sizes", figures, tables, missing(everyone, "block_sizes"))


def streams(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return the total rate of one to four streams."""
    rows = gathered(everyone, review_rows.streams)
    figures = []
    for op in values(rows, "op"):
        bars = [bar(row.row["title"], row.row["title"], row.row["mbps"], row.line) for row in of(rows, op=op)]
        view = amounts(bar_frame(bars), f"{MBPS}, all streams", lines, wide=False)
        figures.append(Figure(f"streams-{op}", f"Concurrent sequential {op}s", view))
    shown = beside(rows, ["op", "title"], "mbps", ["", MBPS], lines)
    return Topic("streams", "Concurrent streams", figures, [shown] if rows else [], missing(everyone, "streams"))


def patterns(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return IOPS over queue depth, and latency over IOPS, for each server pattern."""
    rows = gathered(everyone, review_rows.patterns)
    figures = []
    names = {review_rows.pattern_title(name): name for machine in everyone for name in _pattern_names(machine)}
    for title, name in names.items():
        data = picked(of(rows, pattern=title), "qd", "iops", "mean_ms", "p99_ms")
        view = curves(data, Axis("qd", DEPTH, "depth"), Axis("iops", "IOPS", "rate"), lines, wide=True)
        figures.append(Figure(f"patterns-{name}-iops", f"{title}: IOPS against queue depth", view))
        view = curves(
            data, Axis("iops", "IOPS", "rate"), Axis("mean_ms", MEAN_MS, "rate"), lines, order="qd", wide=True
        )
        figures.append(Figure(f"patterns-{name}-latency", f"{title}: mean latency over IOPS", view))
    depths = sorted({row.row["qd"] for row in rows})
    ends = [row for row in rows if row.row["qd"] in {*depths[:1], *depths[-1:]}]
    heads = ["Pattern", "Queue depth"]
    tables = [beside(ends, ["pattern", "qd"], "iops", heads, lines, caption="IOPS at both ends of the queue depths")]
    tables += [
        beside(rows, ["pattern", "qd"], key, heads, lines, caption=caption)
        for key, caption in (("iops", "IOPS"), ("mean_ms", MEAN_MS))
    ]
    return Topic("patterns", "Server patterns", figures, tables if rows else [], missing(everyone, "patterns"))


def _pattern_names(machine: Machine) -> list[str]:
    return list(dict.fromkeys(row["pattern"] for row in machine.review.get("patterns") or []))


def files(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return files per second over queue depth, a chart per size and operation."""
    rows = gathered(everyone, review_rows.files)
    figures = []
    for kind in values(rows, "size"):
        for op in values(of(rows, size=kind), "op"):
            data = picked(of(rows, size=kind, op=op), "qd", "per_s", "mbps")
            view = curves(data, Axis("qd", DEPTH, "depth"), Axis("per_s", "Files per second", "rate"), lines, wide=True)
            title = f"{kind.capitalize()} files, {op}: files per second"
            figures.append(Figure(f"files-{kind}-{op}", title, view, FILE_SIZES.get(kind, "") if op == "copy" else ""))
    heads = ["Files", "", "Queue depth"]
    shown = beside(rows, ["size", "op", "qd"], "per_s", heads, lines, caption="Files per second")
    return Topic("files", "Files", figures, [shown] if rows else [], missing(everyone, "files"))


def streaming(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return streaming rates with small and with large blocks."""
    rows = gathered(everyone, review_rows.streaming)
    bars = [bar(row.row["direction"], row.row["direction"], row.row["mbps"], row.line) for row in rows]
    shown = beside(rows, ["direction"], "mbps", [MBPS], lines)
    return _barred("streaming", "Streaming", "Streaming read and write", bars, MBPS, lines, [shown],
                   missing(everyone, "streaming"))  # fmt: skip


def _barred(
    name: str, title: str, shown: str, bars: list[Row], unit: str, lines: Lines, tables: list[Table], notes: list[str]
) -> Topic:
    """Return a topic with one chart of bars; with its notes only if there are no bars."""
    if not bars:
        return Topic(name, title, notes=notes)
    figure = Figure(name, shown, amounts(bar_frame(bars), unit, lines))
    return Topic(name, title, [figure], tables, notes, width=WHOLE)


def defragmentation(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return the extents moved per second."""
    rows = [(machine.label, reviewed) for machine in everyone if (reviewed := machine.review.get("defragmentation"))]
    bars = [bar("moved", "Extents moved", row["extents_per_s"], label) for label, row in rows]
    listed: list[dict[str, object]] = [
        {"line": label, "per_s": row["extents_per_s"], "mbps": mega(row["bandwidth_bytes_per_s"]),
         "ms": mega(row["latency_mean_ns"]), "extent": row["extent_bytes"]}
        for label, row in rows
    ]  # fmt: skip
    columns = [
        Column("Machine", "line", str, False), Column("Extent", "extent", block, False),
        Column("Extents moved per second", "per_s"), Column("Moved (MB/s)", "mbps"),
        Column("Mean time of an extent (ms)", "ms"),
    ]  # fmt: skip
    return _barred("defragmentation", "Defragmentation", "Extents relocated per second", bars, "Extents per second",
                   lines, [table(listed, columns)], missing(everyone, "defragmentation"))  # fmt: skip


def applications(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return the rates of desktop loads, each with its range."""
    rows = gathered(everyone, review_rows.applications)
    bars = [bar(row.row["name"], row.row["title"], row.row["mbps"], row.line, ends=ranged(row.row)) for row in rows]
    listed = [{"line": row.line, "title": row.row["title"], "range": _range(row.row["mbps"], row.row)} for row in rows]
    shown = crossed(listed, ["title"], "line", "range", ["MB/s (lowest to highest)"], lines.names)
    return _barred("applications", "Desktop applications", "Desktop application loads, with their range of uncertainty",
                   bars, MBPS, lines, [shown], missing(everyone, "applications"))  # fmt: skip


def _range(value: float | None, row: Row) -> str:
    """Format a value, with its range in brackets if it has one."""
    ends = ranged(row)
    low, high = ends["low"], ends["high"]
    return number(value) if low is None else f"{number(value)} ({number(low)} to {number(high)})"


def energy(everyone: Sequence[Machine], lines: Lines) -> Topic:
    """Return watts by activity, and the energy of an I/O."""
    watts = [
        (row.line, row.row["name"], row.row["title"], row.row["watts"], ranged(row.row))
        for row in gathered(everyone, review_rows.watts)
    ]
    joules = [
        (row.line, row.row["name"], row.row["title"], row.row["millijoules"], ranged(row.row))
        for row in gathered(everyone, review_rows.joules)
    ]
    figures, tables = [], []
    for name, title, unit, rows in (
        ("energy-watts", "Mean power", "Mean power (W)", watts),
        ("energy-joules", "Energy of an I/O", "Energy of an I/O (mJ)", joules),
    ):
        if rows:
            bars = [bar(what, label, value, line, ends=ends) for line, what, label, value, ends in rows]
            figures.append(Figure(name, title, amounts(bar_frame(bars), unit, lines, wide=False)))
            shown = [
                {"line": line, "title": label, "text": _range(value, ends)} for line, _, label, value, ends in rows
            ]
            tables.append(crossed(shown, ["title"], "line", "text", [unit], lines.names))
    return Topic("energy", "Power and energy", figures, tables, missing(everyone, "energy"))
