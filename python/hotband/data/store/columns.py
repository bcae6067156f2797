"""The columns of a store's `summary`: one row per run, with the names that sweeps and records have.

Whole numbers are signed, unlike those of a record's tables: the difference of two unsigned ones is an error in SQL
if it is below zero. 2^63 ns are 292 years.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from hotband.base.heavy import pa
from hotband.data.documents.record import RecordDoc, source_file
from hotband.data.record.stats import FIGURES as INTERVAL_FIGURES

Cell = str | int | float | bool | None

WHOLE, REAL, TEXT, SEED, TIME, FLAG = "whole", "real", "text", "seed", "time", "flag"
"""Kinds of columns."""
IDENTITY = {
    "run": TEXT,
    "added_utc": TIME,
    "experiment": TEXT,
    "kind": TEXT,
    "name": TEXT,
    "workload": TEXT,
    "target": TEXT,
    "seed": SEED,
    "duration_ns": WHOLE,
    "concurrency": WHOLE,
    "hotband": TEXT,
    "source": TEXT,
    "passed": FLAG,
}
"""Identity of a run: `source` is the file of another tool's result, `passed` whether all limits were met."""
FIGURES = {
    "iops": REAL,
    "bandwidth_bytes_per_s": REAL,
    "count": WHOLE,
    "bytes": WHOLE,
    "errors": WHOLE,
    "latency_mean_ns": REAL,
    "latency_min_ns": WHOLE,
    "latency_p50_ns": WHOLE,
    "latency_p99_ns": WHOLE,
    "latency_p999_ns": WHOLE,
    "latency_max_ns": WHOLE,
    "queue_depth_mean": REAL,
}
"""Keys of a record's summary."""
DIRECTIONS = ("read", "write", "flush", "trim")
TIMES = ("queue", "overhead", "seek", "rotation", "transfer", "flash", "link")
"""Parts of the mean latency."""
ENERGY = ("energy_j", "energy_low_j", "energy_high_j", "mean_w", "joules_per_io")


def _columns() -> dict[str, str]:
    """Return all columns and their kinds, in order."""
    columns = {**IDENTITY, **FIGURES}
    for direction in DIRECTIONS:
        columns |= {f"{direction}_{name}": kind for name, kind in FIGURES.items()}
    columns |= {f"times_mean_{name}_ns": REAL for name in TIMES}
    columns |= dict.fromkeys(ENERGY, REAL)
    columns["interval_level_pct"] = REAL
    return columns | {f"{name}_interval_{end}": REAL for name in INTERVAL_FIGURES for end in ("low", "high")}


COLUMNS = _columns()
FIXED = ("summary", "factors", "histograms", "records")
"""Tables that every part has; the others are those over time."""


def arrow_type(kind: str) -> pa.DataType:
    """Return the type of a column's cells."""
    kinds: dict[str, pa.DataType] = {
        WHOLE: pa.int64(),
        REAL: pa.float64(),
        TEXT: pa.string(),
        SEED: pa.uint64(),
        TIME: pa.timestamp("us"),
        FLAG: pa.bool_(),
    }
    return kinds[kind]


def cells_of(record: RecordDoc) -> dict[str, Cell]:
    """Return a record's cells by column, without `run`, `added_utc` and `experiment`. Missing values, and values of the
    wrong type (records may be foreign), are None."""
    document = cast("Mapping[str, object]", record)
    summary = _table(document.get("summary"))
    cells = _identity(record) | _figures(summary, "")
    for direction in DIRECTIONS:
        cells |= _figures(_table(summary.get(direction)), f"{direction}_")
    times, energy = _table(summary.get("times_mean_ns")), _table(document.get("energy"))
    cells |= {f"times_mean_{name}_ns": cell(REAL, times.get(name)) for name in TIMES}
    cells |= {name: cell(REAL, energy.get(name)) for name in ENERGY}
    return cells | _intervals(_table(document.get("intervals")))


def _identity(record: RecordDoc) -> dict[str, Cell]:
    document = cast("Mapping[str, object]", record)
    target = _table(document.get("target"))
    name, machine = sound(str(document.get("name") or "")), sound(str(target.get("machine") or ""))
    seed = document.get("seed")
    return {
        "kind": sound(str(target.get("kind") or "")),
        "name": name,
        # A run of ours is named after its workload and its target.
        "workload": name.removesuffix(f" on {machine}") if machine else name,
        "target": machine,
        "seed": cell(SEED, int(seed) if isinstance(seed, str) and seed.isascii() and seed.isdecimal() else seed),
        "duration_ns": cell(WHOLE, document.get("duration_ns")),
        "concurrency": cell(WHOLE, document.get("concurrency")),
        "hotband": cell(TEXT, _table(document.get("versions")).get("hotband")),
        "source": sound(source_file(record)) or None,
        "passed": cell(FLAG, document.get("passed")),
    }


def _figures(figures: Mapping[str, object], before: str) -> dict[str, Cell]:
    return {f"{before}{name}": cell(kind, figures.get(name)) for name, kind in FIGURES.items()}


def _intervals(intervals: Mapping[str, object]) -> dict[str, Cell]:
    listed = intervals.get("figures")
    ends: dict[object, Mapping[str, object]] = {}
    for interval in listed if isinstance(listed, list) else []:
        if isinstance(interval, dict) and isinstance(interval.get("figure"), str):
            ends[interval["figure"]] = interval
    bounds = {
        f"{name}_interval_{end}": cell(REAL, ends.get(name, {}).get(end))
        for name in INTERVAL_FIGURES
        for end in ("low", "high")
    }
    return {"interval_level_pct": cell(REAL, intervals.get("level")), **bounds}


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def sound(text: str) -> str:
    """Return a text that files accept: lone surrogates, which JSON can hold, become escapes."""
    return text.encode(errors="backslashreplace").decode()


def cell(kind: str, value: object) -> Cell:
    """Return a value as a cell of this kind; None if it does not fit."""
    if kind == TEXT:
        return sound(value) if isinstance(value, str) else None
    if kind == FLAG:
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if kind == REAL:
        return float(value)
    low, high = (0, 2**64) if kind == SEED else (-(2**63), 2**63)
    return int(value) if low <= value < high and value == int(value) else None
