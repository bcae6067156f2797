"""Published tables as results: CSV with a row for each figure (config, workload, metric, value, unit; kind, caveat).

What a workload asks is read from its words ("8KB", "16 threads", "QD4", "75% read", "random"). A caveat "unit printed
as seconds" or "printed MB/sec" gives the unit that was printed, where the unit column has been put right. Left out:
rows that are derived or stated, ranges, figures of other kinds.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hotband.audit.audited import Asked, Audited, Printed
from hotband.audit.littles_law import IN_NS, unit_of
from hotband.errors import UserError

COLUMNS = ("config", "workload", "metric", "value", "unit")
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
_BYTES = {"b/s": 1.0, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "kib/s": 2.0**10, "mib/s": 2.0**20, "gib/s": 2.0**30}


def is_table(beginning: bytes) -> bool:
    """Whether a file begins with the heading of such a table."""
    heading = beginning.split(b"\n", 1)[0].decode("utf-8", "replace").lower()
    return all(column in [name.strip() for name in heading.split(",")] for column in COLUMNS)


def read_table(path: Path) -> list[Audited]:
    """A result for each cell (configuration and workload). Raises UserError."""
    file = str(path)
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except OSError as error:
        raise UserError(file, "", "", f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(file, "", "", f"not a CSV table: {error}") from None
    several = len({row.get("study") for row in rows}) > 1
    cells: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for number, row in enumerate(rows, start=2):
        if None in row or any(row.get(column) is None for column in COLUMNS):
            raise UserError(
                file, f"line {number}", "", f"expected as many values as columns, {', '.join(COLUMNS)} among them"
            )
        if (row.get("kind") or "").strip() in MEASURED and _number(row["value"]) is not None:
            place = f"{row['study']}: {row['config']}" if several else row["config"]
            cells.setdefault((place, row["workload"]), []).append(row)
    found = [_cell(file, *place, own) for place, own in cells.items()]
    if not found:
        raise UserError(file, "", "", "has no row of measured figures (kind = measured, value a number)")
    return found


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def printed_of(row: Mapping[str, str]) -> Printed:
    """A figure as it was printed."""
    text = row["value"].strip()
    places = len(text.partition(".")[2])
    said = re.search(r"printed (?:as |in )?([A-Za-zµ]+(?:/[A-Za-z]+)?)", row.get("caveat") or "")
    value = _number(text)
    assert value is not None, "rows without a number were left out"
    return Printed(value, 10.0**-places, said[1] if said else row["unit"])


def asked_of(workload: str) -> Asked:
    """What the words of a workload ask."""
    text = workload.lower()
    size = re.search(r"\b(\d+(?:\.\d+)?)\s?(k|m|)(?:i?b)\b|\b(\d+)(k|m)\b", text)
    threads = re.search(r"\b(\d+)\s*threads?\b|\bqd\s?=?(\d+)|\b(?:queue depth|iodepth)\s?=?(\d+)", text)
    share = re.search(r"(\d+)\s?%\s?(read|write)", text)
    reads = None if share is None else float(share[1]) if share[2] == "read" else 100.0 - float(share[1])
    if reads is None:
        reads = 100.0 if re.search(r"rand(om )?read", text) else 0.0 if re.search(r"rand(om )?write", text) else None
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
    """The record of one cell: what its figures say, in the shape of docs/guides/records.md, and as they were
    printed."""
    summary: dict[str, Any] = {"count": 0}
    printed: dict[str, Printed] = {}
    notes: list[str] = []
    duration = 0.0
    for row in rows:
        metric, figure = row["metric"].strip().lower(), printed_of(row)
        kind = next((name for name, words in _METRICS if re.fullmatch(words, metric)), None)
        share = re.search(r"\bp(\d+(?:\.\d+)?)\b", metric)
        unit = unit_of(row["unit"])
        if kind in ("iops", "bandwidth", "latency"):
            printed[kind] = figure
        if kind == "iops":
            summary["iops"] = figure.value
        elif kind == "bandwidth":
            summary["bandwidth_bytes_per_s"] = (
                figure.value * _BYTES.get(row["unit"].lower().replace("/sec", "/s"), 0.0) or None
            )
        elif kind == "latency" and unit in IN_NS:
            summary["latency_mean_ns"] = figure.value * IN_NS[unit]
        elif kind == "count":
            summary["count"] = int(figure.value)
        elif kind == "runtime" and unit in IN_NS:
            duration = figure.value * IN_NS[unit]
        elif share and unit in IN_NS and share[1] in _PERCENTILES:
            summary[_PERCENTILES[share[1]]] = figure.value * IN_NS[unit]
        if share:
            notes.append(row["metric"].strip())
    asked = asked_of(workload)
    tool = next((name for name in ("vdbench", "fio", "diskspd", "iometer") if name in workload.lower()), "published")
    record = {
        "name": f"{config}: {workload}",
        "target": {"kind": "published", "machine": config},
        "source": {"tool": tool, "target": config, "asked": asdict(asked), "file": file},
        "duration_ns": duration,
        "concurrency": asked.concurrency,
        "summary": summary | {"read": {}, "write": {}},
        "streams": [],
        "parts": [],
        "notes": notes,
    }
    return Audited(f"{config}: {workload}", record, origin=file, printed=printed)
