"""Published tables as results: CSV with a row for each figure (config, workload, metric, value, unit; kind, caveat).

The load comes from the words of a workload ("8KB", "16 threads", "QD4", "75% read", "random"). A caveat "unit printed
as seconds" or "printed MB/sec" gives the printed unit if the unit column has been corrected. Left out: derived or
stated rows, ranges and rough figures ("5..6", "nearly 6000"), figures of other kinds. Any other value or unit is an
error: users take silently dropped rows for clean ones.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import cast

from hotband.base.errors import UserError
from hotband.base.text.regular import text_in
from hotband.base.text.separated import expect_distinct, plain_cell, separator_of
from hotband.data.documents.record import RecordDoc
from hotband.data.importers.fio.text import shown
from hotband.data.record.stats import DIRECTIONS
from hotband.inference.audit.audited import Asked, Audited, Printed
from hotband.inference.audit.littles_law import IN_NS, unit_of

COLUMNS = ("config", "workload", "metric", "value", "unit")
READ = (*COLUMNS, "study", "kind", "caveat")
MEASURED = ("", "measured")
_SIZES = {"": 1, "k": 2**10, "m": 2**20}
_METRICS = (
    ("iops", r"iops|i/os? (per|a) second|transactions/s"),
    ("bandwidth", r"bandwidth|throughput|transfer rate"),
    ("latency", r"(mean |average |avg )?(response time|latency|resp)|(lat|clat|latency) (mean|avg|average)"),
    ("count", r"total_ios|i/os"),
    ("runtime", r"runtime|duration"),
)
_PERCENTILES = {"50": "latency_p50_ns", "99": "latency_p99_ns", "99.9": "latency_p999_ns"}
_PERCENTILE = re.compile(r"\bp(\d+(?:\.\d+)?)\b|\b(median)\b")
_BYTES = {"b/s": 1.0, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "kib/s": 2.0**10, "mib/s": 2.0**20, "gib/s": 2.0**30}
_RATES = dict.fromkeys(("", "iops", "io/s", "i/o/s", "ios/s", "i/os/s", "op/s", "ops/s", "1/s", "/s"), 1.0) | {
    "transactions/s": 1.0,
    "tps": 1.0,
}
_FIGURES = {"iops": "iops", "bandwidth": "bandwidth_bytes_per_s", "latency": "latency_mean_ns"}
_COUNTS = dict.fromkeys(("", "i/os", "ios", "i/o", "io", "ops", "count"), 1.0)
_RUNTIMES = IN_NS | {"min": 60e9, "h": 3600e9}
# Units of changes of a percentile ("p99 gain, %"), which are no latencies.
_RATIOS = ("%", "x", "frac", ":1")
_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<places>\d+))?(?:e(?P<power>[+-]?\d{1,3}))?", re.IGNORECASE)
# Values that tables print but nobody can compute with: ranges, and words before a number.
_ROUGH = re.compile(
    r"[\d.,]*\d\s*(?:\.\.+|-|–|to)\s*[\d.,]*\d"
    r"|(?:(?:nearly|almost|close to|around|about|roughly|approximately|approx\.?|ca\.?|just|under|below|over|above"
    r"|more|less|than|up|to|at|least|most)\s+|[~≈<>≤≥]\s*)+[\d.,]*\d",
    re.IGNORECASE,
)
ACCEPTED = "a number of 0 or more (8.5, 1,701), a range (5..6) or a rough figure (nearly 6000)"
# A file with this many of the columns is meant as a table: its error names the missing column.
_MEANT = 3


def is_table(beginning: bytes) -> bool:
    """Return whether a file begins with the heading of such a table, even with a missing column."""
    heading = beginning.split(b"\n", 1)[0].decode("utf-8", "replace")
    try:
        names = _names(next(csv.reader(io.StringIO(heading), delimiter=separator_of(heading)), []))
    except csv.Error:
        return False
    return len(set(COLUMNS).intersection(names)) >= _MEANT


def _names(heading: list[str]) -> list[str]:
    return [name.strip().lower() for name in heading]


def read_table(path: Path) -> list[Audited]:
    """Return a result for each cell (configuration and workload). Raises UserError."""
    file = str(path)
    rows = _rows(path)
    several = len({row.get("study") for _, row in rows}) > 1
    cells: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for line, row in rows:
        if (row.get("kind") or "").strip().lower() in MEASURED and _is_figure(file, line, row):
            config = f"{row['study']}: {row['config']}" if several else row["config"]
            cells.setdefault((config, row["workload"]), []).append(row)
    results = [_cell(file, *cell, cell_rows) for cell, cell_rows in cells.items()]
    if not results:
        raise UserError(file, "", "", "has no row of measured figures (kind = measured, value a number)")
    return results


def _rows(path: Path) -> list[tuple[int, Mapping[str, str]]]:
    """Return the rows by the names of the columns, each with its line. Raises UserError."""
    file = str(path)
    rows: list[tuple[int, Mapping[str, str]]] = []
    text = text_in(path, "table of figures", typed=True)
    separator = separator_of(text.partition("\n")[0])
    try:
        with io.StringIO(text, newline="") as lines:
            reader = csv.DictReader(lines, delimiter=separator)
            reader.fieldnames = names = _names(list(reader.fieldnames or []))
            missing = [column for column in COLUMNS if column not in names]
            if missing:
                problem = f"the column {missing[0]} is missing; accepted: a table with {', '.join(COLUMNS)}"
                raise UserError(file, "line 1", "", problem)
            expect_distinct(names, READ, file)
            for row in reader:
                if None in row or any(row.get(column) is None for column in COLUMNS):
                    expected = f"expected as many values as columns, {', '.join(COLUMNS)} among them"
                    raise UserError(file, f"line {reader.line_num}", "", expected)
                row["value"] = plain_cell(row, "value", separator, f"{file}, line {reader.line_num}")
                rows.append((reader.line_num, row))
    except csv.Error as error:
        raise UserError(file, "", "", f"not a CSV table: {error}") from None
    return rows


def _is_figure(file: str, line: int, row: Mapping[str, str]) -> bool:
    """Return whether a row has a number to compute with; False for ranges and rough figures. Raises UserError for other
    values and for a unit that the metric does not have."""
    text = row["value"].strip()
    if _number(text) is None:
        if _ROUGH.fullmatch(text):
            return False
        raise UserError(file, f"line {line}, value", shown(text), f"accepted: {ACCEPTED}")
    units = _units_of(row["metric"])
    if units is not None and _unit(row["unit"]) not in units and not _is_ratio(row):
        accepted = ", ".join(unit for unit in units if unit)
        raise UserError(file, f"line {line}, unit", shown(row["unit"].strip()), f"accepted: {accepted}")
    return True


def _is_ratio(row: Mapping[str, str]) -> bool:
    return _PERCENTILE.search(row["metric"].lower()) is not None and row["unit"].strip() in _RATIOS


def _kind(metric: str) -> str | None:
    """Return the kind of a metric by its words: one of `_METRICS` or a percentile; None for other figures."""
    words = metric.strip().lower()
    kind = next((name for name, pattern in _METRICS if re.fullmatch(pattern, words)), None)
    return kind or ("percentile" if _PERCENTILE.search(words) else None)


def _units_of(metric: str) -> Mapping[str, float] | None:
    """Return the units of a metric and their factors to ours (I/Os per second, B/s, ns); None for other figures."""
    return {
        "iops": _RATES,
        "bandwidth": _BYTES,
        "latency": IN_NS,
        "percentile": IN_NS,
        "count": _COUNTS,
        "runtime": _RUNTIMES,
    }.get(_kind(metric) or "")


def _unit(text: str) -> str:
    return re.sub(r"(/sec(ond)?|(?<=b)ps)$", "/s", unit_of(text)).replace("bytes/s", "b/s")


def _number(text: str) -> float | None:
    value = float(text.replace(",", "")) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def printed_of(row: Mapping[str, str]) -> Printed:
    """Return a figure as it was printed."""
    text = row["value"].strip()
    printed_unit = re.search(r"printed (?:as |in )?([A-Za-zµ]+(?:/[A-Za-z]+)?)", row.get("caveat") or "")
    match, value = _NUMBER.fullmatch(text), _number(text)
    assert match is not None, "rows without a number were left out"
    assert value is not None, "a number that is not finite was refused"
    step = 10.0 ** (int(match["power"] or 0) - len(match["places"] or ""))
    return Printed(value, step, printed_unit[1] if printed_unit else row["unit"])


def asked_of(workload: str) -> Asked:
    """Return the options that the words of a workload state."""
    text = workload.lower()
    size = re.search(r"\b(\d+(?:\.\d+)?)\s?(k|m|)(?:i?b)\b|\b(\d+)(k|m)\b", text)
    threads = re.search(r"\b(\d+)\s*threads?\b|\bqd\s?=?(\d+)|\b(?:queue depth|iodepth)\s?=?(\d+)", text)
    share = re.search(r"(\d+)\s?%\s?(read|write)", text)
    reads = None if share is None else float(share[1]) if share[2] == "read" else 100.0 - float(share[1])
    if reads is None:
        only = re.search(r"rand(?:om )?(read|write)s?\b(?!\s*(?:/|and\b|&|\+))", text)
        reads = None if only is None else 100.0 if only[1] == "read" else 0.0
    pattern = "random" if re.search(r"rand", text) else "sequential" if "seq" in text else None
    depth = next((int(number) for number in threads.groups() if number), None) if threads else None
    return Asked(
        concurrency=depth,
        jobs=depth if threads and threads[1] else None,
        block_bytes=None if size is None else round(float(size[1] or size[3]) * _SIZES[size[2] or size[4] or ""]),
        read_pct=reads,
        pattern=pattern,
        rate_iops=None,
    )


def _cell(file: str, config: str, workload: str, rows: list[Mapping[str, str]]) -> Audited:
    """Build the record of one cell: its figures in the shape of docs/guides/records.md, and as they were printed."""
    summary: dict[str, float] = {"count": 0}
    printed: dict[str, Printed] = {}
    notes: list[str] = []
    duration = 0.0
    for row in rows:
        kind, units, figure = _kind(row["metric"]), _units_of(row["metric"]), printed_of(row)
        share = _PERCENTILE.search(row["metric"].lower())
        if share:
            notes.append(row["metric"].strip())
        if kind is None or units is None or _is_ratio(row):
            continue
        value = figure.value * units[_unit(row["unit"])]
        if kind in ("iops", "bandwidth", "latency"):
            printed[kind] = figure
        if kind == "count":
            summary["count"] = int(value)
        elif kind == "runtime":
            duration = value
        elif kind in _FIGURES:
            summary[_FIGURES[kind]] = value
        elif share and (share[1] or "50") in _PERCENTILES:
            summary[_PERCENTILES[share[1] or "50"]] = value
    options = asked_of(workload)
    tool = next((name for name in ("vdbench", "fio", "diskspd", "iometer") if name in workload.lower()), "published")
    record = {
        "name": f"{config}: {workload}",
        "target": {"kind": "published", "machine": config},
        "source": {"tool": tool, "target": config, "asked": asdict(options), "file": file},
        "duration_ns": duration,
        "concurrency": options.concurrency,
        "summary": {**summary, **_by_direction(summary, options.read_pct)},
        "streams": [],
        "parts": [],
        "notes": notes,
    }
    # A table has only some keys of a record; the rules check for them.
    return Audited(f"{config}: {workload}", cast("RecordDoc", record), origin=file, printed=printed)


def _by_direction(summary: Mapping[str, float], read_pct: float | None) -> dict[str, dict[str, float]]:
    """Assign the figures of a pure read or write workload to its direction; the directions of a mix are unknown."""
    only = {100.0: "read", 0.0: "write"}.get(-1.0 if read_pct is None else read_pct)
    return {direction: dict(summary) if direction == only else {} for direction in DIRECTIONS}
