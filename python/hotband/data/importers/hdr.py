"""HdrHistogram interval logs (`.hlog`; V1 and V2) as records: one record per tag.

Left out: sizes and directions, which the log does not contain. Values of a tag named for writes (YCSB's UPDATE, INSERT)
count as writes, all others as reads. The unit of the values is not in the log either. Default: nanoseconds, as
its writers do by default, microseconds for YCSB's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.guess import Guess
from hotband.data.documents.sides import Histogram
from hotband.data.documents.source import NS_PER_S, iso, nothing_asked
from hotband.data.importers.files import decoded, name_of, read_bytes
from hotband.data.importers.record import LARGEST, ImportedRun, Sides, build, side_of
from hotband.data.record.imported import Imported, SeriesColumns, no_rows
from hotband.data.record.stats import Direction, idle_side

ACCEPTED = "an HdrHistogram log"
UNITS = {"ns": 1, "us": 1000, "ms": 1_000_000, "s": NS_PER_S}
# YCSB names what it logs (Measurements of its core) and measures in microseconds.
_LOGGED = re.compile(r"^#\[Logging for: ([^\]]{1,80})\]", re.MULTILINE)
_WRITES = re.compile(r"write|update|insert|delete|put|append|flush", re.IGNORECASE)


def recognises(beginning: bytes) -> bool:
    """Return whether the beginning of a file is an HdrHistogram log."""
    return re.search(rb"^#\[Histogram log format version |,HIST[A-Za-z0-9+/=]{8}", beginning, re.MULTILINE) is not None


def read(paths: Sequence[Path], unit: str | None = None) -> list[Imported]:
    """Return the records of logs, one per tag; `unit` is that of their values. Raises UserError for a mistake."""
    if unit is not None and unit not in UNITS:
        raise UserError("question.unit", "", unit, f"accepted: {', '.join(UNITS)}")
    return [record for path in paths for record in _read_log(read_bytes(path, ACCEPTED), name_of(path), unit)]


def _read_log(data: bytes, file: str, unit: str | None) -> list[Imported]:
    text = decoded(data, file)
    logged = _LOGGED.search(text)
    try:
        log = _core.hdr_log(text.encode(), file)
    except _core.SpecError as error:
        raise UserError(*error.args) from None
    taken = unit or ("us" if logged else "ns")
    records = []
    for tag in log["tags"]:
        name = tag["tag"] or (logged[1] if logged else "")
        if sum(count for _, count in tag["buckets"]):
            run = _of_tag(tag, name, file, log, taken)
            if unit is None and logged:
                run.notes.append("the log does not name its unit: YCSB logs microseconds")
            elif unit is None:
                run.guesses += _other_units(tag, Path(file).name, taken, run.duration_ns)
            records.append(build(run))
    if not records:
        raise UserError(file, "", "", f"its histograms are empty; accepted: {ACCEPTED} with values")
    return records


def _of_tag(tag: _core.HdrLogTag, name: str, file: str, log: _core.HdrLog, unit: str) -> ImportedRun:
    scale = UNITS[unit]
    buckets = [[min(value * scale, LARGEST), count] for value, count in tag["buckets"]]
    histogram: Histogram = {"kind": "hdr", "buckets": buckets, "significant_digits": tag["digits"]}
    count = sum(count for _, count in buckets)
    # None only of a tag without values, and those are no records.
    low, high = tag["extent"] or (0, 0)
    direction: Direction = "write" if _WRITES.search(name) else "read"
    side = side_of(
        count,
        0,
        tag["sum"] / count * scale,
        low_ns=min(low * scale, LARGEST),
        high_ns=min(high * scale, LARGEST),
        histogram=histogram,
    )
    sides: Sides = {"read": idle_side("hdr"), "write": idle_side("hdr")}
    sides[direction] = side
    began = _began(log, tag)
    duration_ns = round(_end_s(tag) * NS_PER_S)
    stem = Path(file).name
    stream = name or "values"
    notes = [
        "sizes and directions are not in an HdrHistogram log: bandwidth is unknown, "
        f"and the values are listed as {direction}s",
        "means are calculated from the buckets",
    ]
    return ImportedRun(
        name=f"{stem} {name}".strip(),
        machine=stem,
        source={
            "tool": "hdrhistogram",
            "version": None,
            "file": file,
            "began": iso(began),
            "ended": None if began is None else iso(began + duration_ns / NS_PER_S),
            "asked": nothing_asked(),
            "target": name or None,
            "host": None,
        },
        duration_ns=duration_ns,
        concurrency=None,
        streams=[(stream, sides)],
        series=_series(tag, stream, direction, scale),
        interval_ns=_interval_ns(tag),
        sizes_known=False,
        notes=notes,
    )


def _other_units(tag: _core.HdrLogTag, file: str, unit: str, duration_ns: int) -> list[Guess]:
    """Return the guess of the unit, if a larger one fits as well: no value is longer than the log."""
    longest = (tag["extent"] or (0, 0))[1]
    others = [name for name, scale in UNITS.items() if scale > UNITS[unit] and longest * scale <= duration_ns]
    if not others:
        return []
    choice = f"set unit {others[0]} when it is imported as hdr"
    return [Guess(f"{file} does not name its unit, and its values are read in {unit}", " or ".join(others), choice)]


def _began(log: _core.HdrLog, tag: _core.HdrLogTag) -> float | None:
    """Seconds since 1970: of the calendar where the intervals are, else from the log's start."""
    first = float(min(tag["start_s"]))
    start = log["base_s"] if log["base_s"] is not None else log["start_s"]
    # HistogramLogReader.java: times within a year of the start are of the calendar.
    if start is None or first > start - 365 * 86400:
        return first if first > 365 * 86400 else None
    return start + first


def _end_s(tag: _core.HdrLogTag) -> float:
    first = min(tag["start_s"])
    return float(max(s + n for s, n in zip(tag["start_s"], tag["length_s"], strict=True)) - first)


def _interval_ns(tag: _core.HdrLogTag) -> int:
    lengths = sorted(tag["length_s"])
    return max(1, round(lengths[len(lengths) // 2] * NS_PER_S))


def _series(tag: _core.HdrLogTag, stream: str, direction: str, scale: int) -> SeriesColumns:
    rows = no_rows()
    first = min(tag["start_s"])
    intervals = zip(tag["start_s"], tag["length_s"], tag["count"], tag["mean"], tag["p99"], strict=True)
    for start, length, count, mean, p99 in sorted(intervals, key=lambda row: row[0]):
        rate = count / length if length > 0 else None
        rows["time_ns"].append(round((start - first) * NS_PER_S))
        rows["stream"].append(stream)
        rows["direction"].append(direction)
        rows["iops"].append(rate)
        rows["bandwidth_bytes_per_s"].append(None)
        rows["latency_mean_ns"].append(None if mean is None else mean * scale)
        rows["latency_p99_ns"].append(None if p99 is None else min(p99 * scale, LARGEST))
        rows["queue_depth"].append(None if mean is None or rate is None else rate * mean * scale / NS_PER_S)
    return rows
