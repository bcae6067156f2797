"""A measured figure: drive, load, state and source."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain

from hotband.base.errors import UserError
from hotband.base.text.nearest import unknown_name
from hotband.base.text.separated import expect_distinct, plain_cell, separator_of

PERCENTILES = {
    "lat_p50": 50.0,
    "lat_p90": 90.0,
    "lat_p95": 95.0,
    "lat_p99": 99.0,
    "lat_p999": 99.9,
    "lat_p9999": 99.99,
    "lat_p99999": 99.999,
    "lat_max": 100.0,
}
"""Metrics that are percentiles of latency, with their percentages."""
BASE_UNITS = {
    **dict.fromkeys(("iops", "tps"), "1/s"),
    "mb_s": "MB/s",
    **dict.fromkeys(("lat_mean", "lat_min", "lat_stdev", "lat_p993", *PERCENTILES), "us"),
    "seek_ms": "ms",
    "write_amp": "x",
    "watts": "W",
    "knee_gib": "GB",
    "rebuild_time": "s",
    "rebuild_min": "min",
    "rebuild_min_per_tib": "min/TiB",
    "cpu_cores": "hw threads/NVMe",
    "rss_gib": "GB/NVMe",
}
"""Metrics, and the unit of their `low` and `high`."""
OWN_RESULT = "own result"
"""The `data_type` of results that the user added: they have one tester, on whose host predictions are asked for."""
USER = "the user"
SIDE = re.compile(r"\b(read|write|both)(?: sides?|s achieved)\b")
SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Figure:
    """One row of a corpus. Columns are as in its file: `value` with `unit` as the source prints it, `low` and `high` in
    the base unit of the metric (different only if the source gives a bucket); `threads` and `depth` are words if they
    are not numbers."""

    id: str
    device_class: str
    family: str
    device: str
    model: str
    capacity: str
    interface: str
    firmware_or_year: str
    layout: str
    members: str
    workload: str
    read_pct: float | None
    bs: str
    random: bool | None
    threads: str
    depth: str
    state: str
    cache: str
    span: str
    duration: str
    host: str
    metric: str
    value: str
    unit: str
    data_type: str
    confidence: str
    source: str
    note: str
    low: float
    high: float

    @property
    def middle(self) -> float:
        """Return the value in the base unit: the geometric mean of a bucket's ends."""
        return self.low if self.low == self.high else math.sqrt(self.low * self.high)

    @cached_property
    def side(self) -> str:
        """Return the side of a mix that the figure describes: "read", "write", or "" for all I/Os."""
        match = SIDE.search(self.note) or SIDE.match(self.workload)
        return match[1] if match and match[1] != "both" else ""

    @property
    def tester(self) -> str:
        """Return the site, repository or author that measured the figure, or the user."""
        return USER if self.data_type == OWN_RESULT else tester_of(self.source)

    @property
    def outstanding(self) -> int | None:
        """Return the I/Os in flight; None if that is not a number, as for an open loop."""
        return int(self.depth) if self.depth.isdigit() else None

    @cached_property
    def block_bytes(self) -> int | None:
        """Return the bytes of an I/O; None if the source does not print one size."""
        match = re.fullmatch(r"([\d.]+)\s*(K|M|G|)(?:i?B)?", self.bs.strip(), re.I)
        return int(float(match[1]) * SIZES[match[2].upper()]) if match else None

    @cached_property
    def measurement(self) -> tuple[object, ...]:
        """Return the values that figures of one measurement share: device, load, state and source."""
        return (
            *(getattr(self, name) for name in SHARED),
            self.side,
        )


def tester_of(source: str) -> str:
    """Return the author of a source's figures: the site, the repository or, for other texts, their first part."""
    site = re.match(r"https?://(?:www\.)?([^/]+)", source)
    return site[1] if site else source.removeprefix("github:").partition(":")[0]


SHARED = (
    "family", "device", "capacity", "interface", "layout", "members", "workload", "read_pct", "bs", "random",
    "threads", "depth", "state", "cache", "span", "duration", "host", "source",
)  # fmt: skip
COLUMNS = {"class": "device_class", "span_or_dataset": "span"}
"""Columns of a file with another name here."""
TEXTS = tuple(field.name for field in fields(Figure) if field.type == "str")


NUMBERS = ("read_pct", "low", "high")
"""Columns that hold numbers."""
NAMES = {field.name: field.name for field in fields(Figure)} | {name: column for column, name in COLUMNS.items()}
"""The column of each field, in the order of a file."""


def columns_of_file() -> list[str]:
    """Return the columns of a corpus' file in order."""
    return [*NAMES.values(), "base_unit"]


def row_of(figure: Figure) -> dict[str, str]:
    """Return a figure as a row of a file."""
    row = {column: _text(getattr(figure, name)) for name, column in NAMES.items()}
    return {**row, "base_unit": BASE_UNITS[figure.metric]}


def _text(value: str | float | bool | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{float(value):.15g}"


def expect_columns(present: Iterable[str] | None, columns: Sequence[str], where: str) -> None:
    """Raise UserError for the first of the columns that a file lacks."""
    missing = [name for name in columns if name not in (present or ())]
    if missing:
        raise UserError(where, missing[0], "", f"this column is missing; expected {', '.join(columns)}")


def read_figures(lines: Iterable[str], where: str) -> Iterator[Figure]:
    """Yield the figures of a CSV file in the format of the corpus. Raises UserError that names the file, the line, the
    column and accepted values."""
    reader, separator = rows_of(lines, columns_of_file(), where)
    for row in reader:
        line = f"{where}, line {reader.line_num}"
        yield _figure(row | {name: plain_cell(row, name, separator, line) for name in NUMBERS}, line)


def rows_of(lines: Iterable[str], columns: Sequence[str], where: str) -> tuple[csv.DictReader[str], str]:
    """Return a reader of the rows of a table that has the columns, and its field separator. Raises UserError."""
    rest = iter(lines)
    heading = next(rest, "")
    separator = separator_of(heading)
    reader = csv.DictReader(chain([heading], rest), delimiter=separator)
    expect_columns(reader.fieldnames, columns, where)
    expect_distinct(reader.fieldnames or (), columns, where)
    return reader, separator


def _figure(row: dict[str, str], where: str) -> Figure:
    metric = row["metric"]
    if metric not in BASE_UNITS:
        raise unknown_name(f"{where}: metric", metric, list(BASE_UNITS))
    if row["base_unit"] != BASE_UNITS[metric]:
        raise UserError(where, "base_unit", row["base_unit"], f"expected {BASE_UNITS[metric]} for {metric}")
    low, high = (_number(row, name, where) for name in ("low", "high"))
    if low is None or high is None or not 0.0 <= low <= high:
        raise UserError(where, "low", row["low"], f"expected a number from 0 to high = {row['high']}")
    if row["random"] not in ("", "0", "1"):
        raise UserError(where, "random", row["random"], "expected 1, 0 or an empty cell")
    return Figure(
        **{name: row[NAMES[name]] for name in TEXTS},
        read_pct=_number(row, "read_pct", where),
        random={"": None, "0": False, "1": True}[row["random"]],
        low=low,
        high=high,
    )


def _number(row: dict[str, str], column: str, where: str) -> float | None:
    text = row[column]
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(where, column, text, "expected a number, or an empty cell")
    return value
