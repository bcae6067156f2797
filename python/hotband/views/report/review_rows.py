"""Reviews as rows for charts and tables: the numbers of a review's JSON in the units that a page shows.

Only units, running sums of a distribution, and the coarser bins of its histogram are computed here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from hotband.base.folders import folder_name
from hotband.base.heavy import pl
from hotband.base.text.numbers import counted, size
from hotband.base.text.table import MBS, Unit
from hotband.base.text.words import unused
from hotband.views.draw.charts import LOG_SPAN, shorten
from hotband.views.report.review_intervals import COLUMNS, Row, bounds, in_words, level_of, range_of, words

if TYPE_CHECKING:
    from hotband.data.documents.review import AccessDoc, EnergyByPatternDoc, MachineDoc, Part, ReviewDoc

OPS = ("read", "write", "copy")
# Display names of names in the JSON.
PATTERNS = {
    "file-server": "File server",
    "web-server": "Web server",
    "database": "Database",
    "workstation": "Workstation",
}
# Columns of numbers: the key in the JSON and the unit on the page.
VALUES = COLUMNS | {"low": ("low_bytes_per_s", MBS), "high": ("high_bytes_per_s", MBS)}
LABEL_CHARS = 72
HISTOGRAM_BINS = 60
# Shares of the I/Os between which the histogram is drawn, and from which a log axis is chosen.
LOWEST, HIGHEST = 0.001, 0.999


@dataclass(frozen=True)
class Machine:
    """One review: the name of its machine on the page, and the folder of its charts."""

    label: str
    slug: str
    review: ReviewDoc

    @property
    def capacity_bytes(self) -> int:
        """Return the bytes of the address space under review."""
        return int(self.review["machine"]["capacity_bytes"])

    def has(self, part: Part) -> bool:
        """Return whether the review has results of a part."""
        return bool(self.review.get(part))


def machines(reviews: Sequence[ReviewDoc]) -> list[Machine]:
    """Return the reviews with unique labels and folders: equal titles get the machine's name, then a number."""
    titles = [_title(review["machine"]) for review in reviews]
    names = [str(review["machine"]["name"]) for review in reviews]
    labels: list[str] = []
    for title, name in zip(titles, names, strict=True):
        label = title if titles.count(title) == 1 else f"{title} ({shorten(_last(name), 24)})"
        labels.append(unused(shorten(label, LABEL_CHARS), labels))
    slugs: list[str] = ["comparison"]
    for name in names:
        slugs.append(unused(folder_name(_last(name).removesuffix(".toml")), slugs, "-{}", any_case=True))
    return [Machine(*each) for each in zip(labels, slugs[1:], reviews, strict=True)]


def _title(machine: MachineDoc) -> str:
    """Return the title of a machine; for a path only the file name."""
    title = str(machine.get("title") or machine["name"])
    return _last(title) if title.endswith(".toml") else title


def _last(name: str) -> str:
    """Return the file name of a path."""
    return re.split(r"[/\\]", name)[-1] or name if name.endswith(".toml") else name


def frame(rows: Sequence[Mapping[str, object]], **kinds: type[pl.DataType]) -> pl.DataFrame:
    """Return rows as a frame; `kinds` are the types of columns that may be all null."""
    return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=kinds or None)


def linear(machine: Machine) -> list[Row]:
    """Return every place of the reads, then of the writes."""
    curve = machine.review.get("linear")
    return [
        {
            "op": op,
            "gb": point["offset_bytes"] / 1e9,
            "pct": 100 * point["offset_bytes"] / machine.capacity_bytes,
            "mbps": mega(point["bandwidth_bytes_per_s"]),
        }
        for op, points in ((("read", curve.get("read")), ("write", curve.get("write"))) if curve else ())
        for point in points or []
    ]


def linear_mean(machine: Machine, op: str) -> float | None:
    """Return the mean rate over the surface, in bytes per second."""
    curve = machine.review.get("linear")
    return (curve.get("mean") or {}).get(op) if curve else None


def cumulative(machine: Machine) -> list[Row]:
    """Return the share of accesses within a time, at the ends of the bins and at the percentiles."""
    rows: list[Row] = []
    for op, figures in access_figures(machine):
        points: dict[float, float] = {}
        total, seen = sum(count for _, _, count in _bins(figures)), 0
        for start, upper, count in _bins(figures):
            if start > 0:
                points.setdefault(start, 100 * seen / total)
            seen += count
            points[upper] = 100 * seen / total
        if points:
            within = ((figures.get("p50_ns"), 50.0), (figures.get("p99_ns"), 99.0))
            points = {float(at): share for at, share in within if at} | points
            rows += [{"op": op, "ms": at / 1e6, "share": points[at]} for at in sorted(points)]
    return _rising(rows)


def _rising(rows: list[Row]) -> list[Row]:
    """Drop points below the previous one: a percentile is rounded to an edge of its bin."""
    rising: list[Row] = []
    for row in rows:
        if not rising or rising[-1]["op"] != row["op"] or row["share"] >= rising[-1]["share"]:
            rising.append(row)
    return rising


def _bins(figures: AccessDoc) -> list[tuple[float, float, int]]:
    """Return the filled bins of a direction: lower end, upper end, count. A bin begins at the end of the one before."""
    start, bins = 0.0, []
    for upper, count in sorted(figures.get("bins") or []):
        if count:
            bins.append((start, float(upper), int(count)))
        start = float(upper)
    return bins


def is_wide(everyone: Sequence[Machine]) -> bool:
    """Return whether access times span decades, so that they need a log axis."""
    ends = [_ends(bins) for machine in everyone for _, figures in access_figures(machine) if (bins := _bins(figures))]
    return bool(ends) and max(high for _, high in ends) / max(1.0, min(low for low, _ in ends)) > LOG_SPAN


def _ends(bins: Sequence[tuple[float, float, int]]) -> tuple[float, float]:
    """Return the range of all but the rarest I/Os, as the upper ends of its first and last bins."""
    total, seen, low, high = sum(count for _, _, count in bins), 0, 0.0, bins[-1][1]
    for _, upper, count in bins:
        seen += count
        low = low or (upper if seen >= LOWEST * total else 0.0)
        if seen >= HIGHEST * total:
            high = upper
            break
    return low, high


def histogram(machine: Machine) -> list[Row]:
    """Return bins of equal width.

    Both directions have the same bins: the I/Os of each source bin are spread evenly over it.
    """
    bins_of = [(op, bins) for op, figures in access_figures(machine) if (bins := _bins(figures))]
    if not bins_of:
        return []
    last = max(_ends(bins)[1] for _, bins in bins_of)
    finest = max(min(upper - start for start, upper, _ in bins) for _, bins in bins_of)
    width = max(finest, last / HISTOGRAM_BINS)
    edges = [width * n for n in range(math.ceil(last / width - 1e-9) + 1)]
    rows: list[Row] = []
    for op, bins in bins_of:
        total = sum(count for _, _, count in bins)
        for n, (start, end) in enumerate(pairwise(edges)):
            # The last bin includes the rarest I/Os beyond it.
            reach = math.inf if n + 2 == len(edges) else end
            inside = sum(count * _overlap(bucket, start, reach) for *bucket, count in bins)
            rows.append({"op": op, "from_ms": start / 1e6, "ms": end / 1e6, "share": 100 * inside / total})
    return rows


def _overlap(ends: Sequence[float], start: float, end: float) -> float:
    """Return the share of a bin between two positions."""
    low, high = ends
    return max(0.0, min(high, end) - max(low, start)) / (high - low)


def access_figures(machine: Machine) -> list[tuple[str, AccessDoc]]:
    """Return the measured directions with their figures."""
    access = machine.review.get("access") or {}
    return [(op, access[op]) for op in OPS if access.get(op)]


def _rows(machine: Machine, part: Part, *columns: str) -> list[Row]:
    """Return the objects of a part: these columns in the units of the page, and the intervals of their figures in
    words."""
    part_rows = cast("Mapping[Part, Sequence[Mapping[str, Any]] | None]", machine.review).get(part) or []
    rows = ({column: _value(row, column) for column in columns} | {"ends": in_words(machine, row)} for row in part_rows)
    return [cast("Row", row) for row in rows]


def _value(row: Mapping[str, Any], column: str) -> Any:
    """Return a figure in the unit of its column; other values as in the JSON."""
    if column not in VALUES:
        return row["queue_depth" if column == "qd" else column]
    key, unit = VALUES[column]
    value = row.get(key)
    return None if value is None else unit.of(value)


def block_sizes(machine: Machine) -> list[Row]:
    """Return rows by file (with its size as text), then block size."""
    rows = _rows(machine, "block_sizes", "op", "file_bytes", "block_bytes", "mbps", "iops")
    rows = [{**row, "file": size(row["file_bytes"]), "ends": {}} for row in rows]
    return sorted(rows, key=lambda row: (row["op"], row["file_bytes"], row["block_bytes"]))


def streams(machine: Machine) -> list[Row]:
    """Return concurrent readers or writers, whose number is in `title`: all together, and the slowest."""
    rows = _rows(machine, "streams", "op", "streams", "mbps", "slowest_mbps")
    return [{**row, "title": counted(row["streams"], "stream")} for row in rows]


def patterns(machine: Machine) -> list[Row]:
    """Return every step of every server pattern, by its title."""
    rows = _rows(machine, "patterns", "pattern", "qd", "iops", "mbps", "mean_ms", "p99_ms")
    return [{**row, "pattern": pattern_title(row["pattern"])} for row in rows]


def pattern_title(name: str) -> str:
    """Return the title of a pattern on the page."""
    return PATTERNS.get(name, name)


def files(machine: Machine) -> list[Row]:
    """Return small and large files read, written or copied, by the number of concurrent operations."""
    return _rows(machine, "files", "op", "size", "qd", "per_s", "mbps")


def streaming(machine: Machine) -> list[Row]:
    """Return small and large blocks: `title` names them and their size, `direction` the direction and the blocks."""
    rows = _rows(machine, "streaming", "op", "blocks", "block_bytes", "mbps")
    for row in rows:
        row["title"] = f"{row['blocks'].capitalize()} blocks ({size(row['block_bytes'])})"
        row["direction"] = f"{row['op'].capitalize()}, {row['blocks']} blocks"
    return rows


def applications(machine: Machine) -> list[Row]:
    """Return desktop loads, with the ends of their uncertainty."""
    return _rows(machine, "applications", "name", "title", "mbps", "low", "high", "iops", "uncertainty")


def ranged(row: Row) -> Row:
    """Return the ends of a row's range for a chart; none if the range has no width."""
    low, high = row["low"], row["high"]
    return {"low": low, "high": high} if low is not None and high is not None and low < high else NO_RANGE


NO_RANGE: Row = {"low": None, "high": None}


def mega(value: float | None) -> float | None:
    """Convert bytes to MB, or nanoseconds to ms."""
    return None if value is None else value / 1e6


def watts(machine: Machine) -> list[Row]:
    """Return mean power: idle, then under each pattern."""
    power = machine.review.get("energy")
    idle = None if power is None else power.get("idle_w")
    first: list[Row] = [] if idle is None else [{"name": "idle", "title": "Idle", "watts": idle, **NO_RANGE}]
    return first + _by_pattern(power, "watts", 1.0, "patterns_w", "patterns_low_w", "patterns_high_w")


def joules(machine: Machine) -> list[Row]:
    """Return the patterns with a known energy per I/O, in mJ."""
    keys = ("joules_per_io", "joules_per_io_low", "joules_per_io_high")
    return _by_pattern(machine.review.get("energy"), "millijoules", 1e3, *keys)


def _by_pattern(energy: EnergyByPatternDoc | None, column: str, scale: float, *keys: str) -> list[Row]:
    """Return one row per pattern for which the first of the keys has a value; the others are the ends of its range."""
    values, lows, highs = (cast("Mapping[str, Any]", energy or {}).get(key) or {} for key in keys)
    rows = (
        {
            "name": name,
            "title": pattern_title(name),
            column: scale * value,
            "low": _scaled(lows.get(name), scale),
            "high": _scaled(highs.get(name), scale),
        }
        for name, value in values.items()
        if value is not None
    )
    return [cast("Row", row) for row in rows]


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else scale * value


def shown_mean(value: float, unit: str) -> tuple[float, str]:
    """Return a summary's mean in the unit of the page: bytes per second as MB/s, ns as ms, others unchanged."""
    if unit in ("B/s", "bytes/s", "bytes_per_s", "bandwidth_bytes_per_s"):
        return value / 1e6, "MB/s"
    if unit == "ns":
        return value / 1e6, "ms"
    return value, unit


def units(rows: Iterable[Row]) -> dict[str, str]:
    """Return the units of a summary, each with a name for files."""
    return {row["unit"]: re.sub(r"[^a-z0-9]+", "-", row["unit"].lower()).strip("-") for row in rows}


def summary(machine: Machine) -> list[Row]:
    """Return geometric means by group."""
    rows: list[Row] = []
    for row in machine.review.get("summary") or []:
        mean, unit = shown_mean(row["geometric_mean"], row["unit"])
        ends, scale = bounds(row, "geometric_mean"), row["geometric_mean"] / mean
        texts = {} if ends is None else {"mean": words(level_of(machine) or 0.0, ends, Unit(unit, scale))}
        named: Row = {"group": row["group"], "title": row["title"], "of": row["of"]}
        rows.append({**named, "mean": mean, "unit": unit, "ends": texts, **range_of(ends, scale)})
    return rows
