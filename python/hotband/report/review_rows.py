"""Reviews as rows for charts and tables: the numbers of a review's JSON in the units that a page shows.

Nothing is computed here beyond units, running sums of a distribution, and the coarser bins of its histogram.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hotband.draw.charts import LOG_SPAN, shorten
from hotband.report.text import block_size
from hotband.runs.folders import folder_name

if TYPE_CHECKING:
    import polars as pl

    from hotband.review.documents import MachineDoc, ReviewDoc

OPS = ("read", "write", "copy")
# What a reader sees of the names in the JSON.
PATTERNS = {
    "file-server": "File server",
    "web-server": "Web server",
    "database": "Database",
    "workstation": "Workstation",
}
LABEL_CHARS = 72
HISTOGRAM_BINS = 60
# The shares of the I/Os between which the histogram is drawn, and at which a log axis is chosen.
LOWEST, HIGHEST = 0.001, 0.999

Row = dict[str, Any]


@dataclass(frozen=True)
class Machine:
    """One review: how its machine is called on the page, and the folder of its charts."""

    label: str
    slug: str
    review: ReviewDoc

    @property
    def capacity_bytes(self) -> int:
        """Of the address space under review."""
        return int(self.review["machine"]["capacity_bytes"])

    def part(self, name: str) -> Any:
        """A part of the review; None where the machine cannot do it or nothing came of it."""
        return self.review.get(name) or None


def machines(reviews: Sequence[ReviewDoc]) -> list[Machine]:
    """The reviews with labels and folders of their own: equal titles get the machine's name, then a number."""
    titles = [_title(review["machine"]) for review in reviews]
    names = [str(review["machine"]["name"]) for review in reviews]
    labels: list[str] = []
    for title, name in zip(titles, names, strict=True):
        label = title if titles.count(title) == 1 else f"{title} ({shorten(_last(name), 24)})"
        labels.append(_unused(shorten(label, LABEL_CHARS), labels, " ({})"))
    slugs: list[str] = ["comparison"]
    for name in names:
        slugs.append(_unused(folder_name(_last(name).removesuffix(".toml")), slugs, "-{}"))
    return [Machine(*each) for each in zip(labels, slugs[1:], reviews, strict=True)]


def _title(machine: MachineDoc) -> str:
    """Its title; of a path only the file."""
    title = str(machine.get("title") or machine["name"])
    return _last(title) if title.endswith(".toml") else title


def _last(name: str) -> str:
    """Of a path only the file."""
    return re.split(r"[/\\]", name)[-1] or name if name.endswith(".toml") else name


def _unused(text: str, used: Sequence[str], form: str) -> str:
    """The text, or with the first number from 2 that makes it one of its own."""
    found, again = text, 2
    # Folders may be the same but for their case on some systems.
    while found.lower() in (one.lower() for one in used):
        found, again = text + form.format(again), again + 1
    return found


def frame(rows: Sequence[Row], **kinds: Any) -> pl.DataFrame:
    """Rows as a frame; `kinds` are the types of columns that may be all null."""
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=kinds or None)


def linear(machine: Machine) -> list[Row]:
    """op, gb, pct (position in percent of the capacity), mbps."""
    found = machine.part("linear") or {}
    return [
        {
            "op": op,
            "gb": point["offset_bytes"] / 1e9,
            "pct": 100 * point["offset_bytes"] / machine.capacity_bytes,
            "mbps": point["bandwidth_bytes_per_s"] / 1e6,
        }
        for op in OPS
        for point in found.get(op) or []
    ]


def cumulative(machine: Machine) -> list[Row]:
    """op, ms and the share (%) of the I/Os that took no longer, at the ends of the bins and at the percentiles."""
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
            within = {"p50_ns": 50.0, "p99_ns": 99.0}
            points = {float(figures[key]): share for key, share in within.items() if figures.get(key)} | points
            rows += [{"op": op, "ms": at / 1e6, "share": points[at]} for at in sorted(points)]
    return _rising(rows)


def _rising(rows: list[Row]) -> list[Row]:
    """Without points that lie below the one before: a percentile is rounded within its bin's edge."""
    kept: list[Row] = []
    for row in rows:
        if not kept or kept[-1]["op"] != row["op"] or row["share"] >= kept[-1]["share"]:
            kept.append(row)
    return kept


def _bins(figures: Mapping[str, Any]) -> list[tuple[float, float, int]]:
    """The filled bins of a direction: lower end, upper end, count. A bin begins where the one before ends."""
    start, found = 0.0, []
    for upper, count in sorted(figures.get("bins") or []):
        if count:
            found.append((start, float(upper), int(count)))
        start = float(upper)
    return found


def is_wide(everyone: Sequence[Machine]) -> bool:
    """Whether access times span decades, so that they need a log axis."""
    ends = [_ends(bins) for machine in everyone for _, one in access_figures(machine) if (bins := _bins(one))]
    return bool(ends) and max(high for _, high in ends) / max(1.0, min(low for low, _ in ends)) > LOG_SPAN


def _ends(bins: Sequence[tuple[float, float, int]]) -> tuple[float, float]:
    """Where all but the rarest I/Os lie: the upper ends of the bins that hold the first and the last of them."""
    total, seen, low, high = sum(count for _, _, count in bins), 0, 0.0, bins[-1][1]
    for _, upper, count in bins:
        seen += count
        low = low or (upper if seen >= LOWEST * total else 0.0)
        if seen >= HIGHEST * total:
            high = upper
            break
    return low, high


def histogram(machine: Machine) -> list[Row]:
    """op, from_ms, ms (the ends of a bin) and share (%) of the I/Os in it; all bins are of one width.

    The bins of both directions are made the same: each source bin's I/Os are spread evenly between its ends.
    """
    found = [(op, bins) for op, one in access_figures(machine) if (bins := _bins(one))]
    if not found:
        return []
    last = max(_ends(bins)[1] for _, bins in found)
    finest = max(min(upper - start for start, upper, _ in bins) for _, bins in found)
    width = max(finest, last / HISTOGRAM_BINS)
    edges = [width * n for n in range(math.ceil(last / width - 1e-9) + 1)]
    rows: list[Row] = []
    for op, bins in found:
        total = sum(count for _, _, count in bins)
        for n, (start, end) in enumerate(pairwise(edges)):
            # The last bin holds the rarest beyond it, too.
            reach = math.inf if n + 2 == len(edges) else end
            inside = sum(count * _overlap(one, start, reach) for *one, count in bins)
            rows.append({"op": op, "from_ms": start / 1e6, "ms": end / 1e6, "share": 100 * inside / total})
    return rows


def _overlap(ends: Sequence[float], start: float, end: float) -> float:
    """Which share of a bin lies between two places."""
    low, high = ends
    return max(0.0, min(high, end) - max(low, start)) / (high - low)


def access_figures(machine: Machine) -> list[tuple[str, Mapping[str, Any]]]:
    """Direction and its figures, of those that were measured."""
    found = machine.part("access") or {}
    return [(op, found[op]) for op in OPS if found.get(op)]


def block_sizes(machine: Machine) -> list[Row]:
    """op, file (text), file_bytes, block_bytes, mbps, iops; by file, then block."""
    rows = [
        {
            "op": row["op"],
            "file": block_size(row["file_bytes"]),
            "file_bytes": row["file_bytes"],
            "block_bytes": row["block_bytes"],
            "mbps": row["bandwidth_bytes_per_s"] / 1e6,
            "iops": row["iops"],
        }
        for row in machine.part("block_sizes") or []
    ]
    return sorted(rows, key=lambda row: (row["op"], row["file_bytes"], row["block_bytes"]))


def streams(machine: Machine) -> list[Row]:
    """op, streams, mbps (all together), slowest_mbps."""
    return [
        {
            "op": row["op"],
            "streams": row["streams"],
            "mbps": row["bandwidth_bytes_per_s"] / 1e6,
            "slowest_mbps": (row.get("slowest_bytes_per_s") or math.nan) / 1e6,
        }
        for row in machine.part("streams") or []
    ]


def patterns(machine: Machine) -> list[Row]:
    """pattern (text), qd, iops, mbps, mean_ms, p99_ms."""
    return [
        {
            "pattern": pattern_title(row["pattern"]),
            "qd": row["queue_depth"],
            "iops": row["iops"],
            "mbps": row["bandwidth_bytes_per_s"] / 1e6,
            "mean_ms": row["latency_mean_ns"] / 1e6,
            "p99_ms": None if row["latency_p99_ns"] is None else row["latency_p99_ns"] / 1e6,
        }
        for row in machine.part("patterns") or []
    ]


def pattern_title(name: str) -> str:
    """As the page writes it."""
    return PATTERNS.get(name, name)


def files(machine: Machine) -> list[Row]:
    """op, size, qd, per_s, mbps."""
    return [
        {
            "op": row["op"],
            "size": row["size"],
            "qd": row["queue_depth"],
            "per_s": row["files_per_s"],
            "mbps": row["bandwidth_bytes_per_s"] / 1e6,
        }
        for row in machine.part("files") or []
    ]


def streaming(machine: Machine) -> list[Row]:
    """op, blocks, block (text), mbps."""
    return [
        {
            "op": row["op"],
            "blocks": row["blocks"],
            "block": block_size(row["block_bytes"]),
            "mbps": row["bandwidth_bytes_per_s"] / 1e6,
        }
        for row in machine.part("streaming") or []
    ]


def applications(machine: Machine) -> list[Row]:
    """name, title, mbps, low, high, iops, uncertainty."""
    return [
        {
            "name": row["name"],
            "title": row["title"],
            "mbps": row["bandwidth_bytes_per_s"] / 1e6,
            "low": _mega(row.get("low_bytes_per_s")),
            "high": _mega(row.get("high_bytes_per_s")),
            "iops": row["iops"],
            "uncertainty": row.get("uncertainty") or "",
        }
        for row in machine.part("applications") or []
    ]


def ranged(row: Row) -> Row:
    """The ends of a row's range as a chart has them: none where the range has no width."""
    wide = row["low"] is not None and row["high"] is not None and row["low"] < row["high"]
    return {"low": row["low"], "high": row["high"]} if wide else {"low": None, "high": None}


def _mega(value: float | None) -> float | None:
    return None if value is None else value / 1e6


def watts(machine: Machine) -> list[Row]:
    """name, title, watts, low, high: idle, then each pattern."""
    found = machine.part("energy") or {}
    rows = [{"name": "idle", "title": "Idle", "watts": found.get("idle_w"), "low": None, "high": None}]
    for name, value in (found.get("patterns_w") or {}).items():
        low, high = ((found.get(f"patterns_{end}_w") or {}).get(name) for end in ("low", "high"))
        rows.append({"name": name, "title": pattern_title(name), "watts": value, "low": low, "high": high})
    return [row for row in rows if row["watts"] is not None]


def joules(machine: Machine) -> list[Row]:
    """name, title, millijoules of an I/O, low, high."""
    found = machine.part("energy") or {}
    rows = []
    for name, value in (found.get("joules_per_io") or {}).items():
        low, high = ((found.get(f"joules_per_io_{end}") or {}).get(name) for end in ("low", "high"))
        ends = {"low": None if low is None else 1e3 * low, "high": None if high is None else 1e3 * high}
        if value is not None:
            rows.append({"name": name, "title": pattern_title(name), "millijoules": 1e3 * value} | ends)
    return rows


def shown_mean(value: float, unit: str) -> tuple[float, str]:
    """A summary's mean in the unit that a page shows: bytes per second as MB/s, ns as ms, all else as it is."""
    if unit in ("B/s", "bytes/s", "bytes_per_s", "bandwidth_bytes_per_s"):
        return value / 1e6, "MB/s"
    if unit == "ns":
        return value / 1e6, "ms"
    return value, unit


def units(rows: Sequence[Row]) -> dict[str, str]:
    """The units of a summary, each with a name for files."""
    return {row["unit"]: re.sub(r"[^a-z0-9]+", "-", row["unit"].lower()).strip("-") for row in rows}


def summary(machine: Machine) -> list[Row]:
    """group, title, mean, unit, of (how many numbers are in it)."""
    rows = []
    for row in machine.part("summary") or []:
        mean, unit = shown_mean(row["geometric_mean"], row["unit"])
        rows.append({"group": row["group"], "title": row["title"], "mean": mean, "unit": unit, "of": row["of"]})
    return rows
