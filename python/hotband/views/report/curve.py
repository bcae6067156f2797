"""Records whose settings differ in a number, as the points of curves: a line per combination of the other
differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hotband.base.heavy import pl
from hotband.base.text.numbers import finite, number, size
from hotband.data.record.load import LoadedRecord
from hotband.views.draw.review import Axis, Lines, curves
from hotband.views.draw.strokes import Strokes
from hotband.views.report.naming import Naming, as_number
from hotband.views.report.page import Chart, Charts

# Fewest points of a curve; and the fewest points of a page for which curves replace bars.
LEAST = 3
TITLES = {
    "qd": "Queue depth (outstanding I/Os)",
    "depth": "I/Os outstanding of a thread",
    "threads": "Threads",
    "bs": "Size of an I/O",
    "read_pct": "Reads (%)",
    "random_pct": "Random I/Os (%)",
}


@dataclass(frozen=True)
class Curve:
    """Records by line and by the numeric value of `key`, in its order; `sizes` is true if the value is in bytes."""

    key: str
    lines: Mapping[str, Mapping[float, LoadedRecord]]
    labels: Mapping[str, str]
    sizes: bool

    @property
    def places(self) -> list[float]:
        """Return all numbers, in order."""
        return sorted({at for points in self.lines.values() for at in points})

    def text(self, at: float) -> str:
        """Format a value of the axis for a sentence."""
        return size(round(at)) if self.sizes else number(at)


def curve_of(naming: Naming) -> Curve | None:
    """Return the curves of records that differ in a number with at least three values, one record per point; None for
    other records."""
    best: Curve | None = None
    for key in naming.keys:
        values = {label: as_number(aspects[key]) for label, aspects in naming.differ.items()}
        if None in values.values() or key in ("measured for", "seed") or len(set(values.values())) < LEAST:
            continue
        curves: dict[str, dict[float, LoadedRecord]] = {}
        labels: dict[str, str] = {}
        for label, at in sorted(values.items(), key=lambda item: item[1] or 0.0):
            line = _line(naming.differ[label], key)
            curves.setdefault(line, {})[at or 0.0] = naming.records[label]
            labels[label] = line
        order = list(dict.fromkeys(labels[label] for label in naming.differ))
        labels = dict(sorted(labels.items(), key=lambda item: order.index(item[1])))
        whole = sum(len(points) for points in curves.values()) == len(values)
        ordered = {line: curves[line] for line in order}
        sizes = any(not aspects[key].replace(".", "").isdecimal() for aspects in naming.differ.values())
        if whole and (best is None or len(ordered) < len(best.lines)):
            best = Curve(key, ordered, labels, sizes)
    return best


def _line(aspects: Mapping[str, str], key: str) -> str:
    """Return the identity of a record, except the parameter along the axis."""
    plain = ("workload", "machine")
    shown = {name: value for name, value in aspects.items() if name != key and value}
    return ", ".join(value if name in plain else f"{name} {value}" for name, value in shown.items())


def curve_block(curve: Curve, strokes: Strokes) -> Charts:
    """Return charts of throughput and latency over the number, and of latency over throughput."""
    lines = Lines("Run", {line: strokes.colors[label] for label, line in curve.labels.items()})
    rows = _frame(curve)
    title = TITLES.get(curve.key, curve.key)
    x = Axis("x", title, "size" if curve.sizes else "depth" if _doubles(curve) else "rate")
    p99, mean = Axis("p99_ms", "p99 latency (ms)", "rate"), Axis("mean_ms", "Mean latency (ms)", "rate")
    iops, rate = Axis("iops", "IOPS", "rate"), Axis("mbps", "Bandwidth (MB/s)", "rate")
    # Some tools state no percentiles.
    over, unused = (mean, "p99_ms") if rows["p99_ms"].is_null().all() else (p99, "mean_ms")
    what = title.partition(" (")[0].lower() if curve.key in TITLES else curve.key
    made = [
        Chart(f"IOPS against {what}", curves(rows.drop("mbps", "mean_ms"), x, iops, lines)),
        Chart(f"p99 latency against {what}", curves(rows.drop("mbps", "mean_ms"), x, p99, lines)),
        Chart(
            f"{over.title.removesuffix(' (ms)')} over IOPS",
            curves(rows.drop("mbps", unused), iops, over, lines, order="x"),
            f"Each line goes through {what}; where it bends upward, more load only increases latency.",
        ),
    ]
    if curve.sizes:
        made.insert(1, Chart(f"Bandwidth against {what}", curves(rows.drop("mean_ms", "p99_ms"), x, rate, lines)))
    return Charts(made, width=320)


def _frame(curve: Curve) -> pl.DataFrame:
    rows = []
    for line, points in curve.lines.items():
        for at, loaded in points.items():
            summary = loaded.record["summary"]
            values = [finite(summary.get(key)) for key in ("iops", "bandwidth_bytes_per_s", "latency_mean_ns")]
            values.append(finite(summary.get("latency_p99_ns")))
            scaled = [None if value is None else value / unit for value, unit in zip(values, UNITS, strict=True)]
            rows.append((line, at, *scaled))
    numbers = dict.fromkeys(("x", "iops", "mbps", "mean_ms", "p99_ms"), pl.Float64)
    return pl.DataFrame(rows, schema={"line": pl.String, **numbers}, orient="row")


UNITS = (1.0, 1e6, 1e6, 1e6)


def _doubles(curve: Curve) -> bool:
    """Return whether the values are powers of two, which then have equal distances."""
    return all(at >= 1 and at == int(at) and int(at) & (int(at) - 1) == 0 for at in curve.places)
