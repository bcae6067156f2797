"""Columns of a CSV by its headings, if these leave no doubt: times of the calendar, or names with a unit."""

from __future__ import annotations

import re
from pathlib import Path

from hotband.base.text.regular import opened
from hotband.base.text.separated import separator_of

BEGINNING = 4096
_NAMES = {
    "time": "timestamp time ts datetime date_time start start_time issue_time submit_time",
    "end": "end end_time complete_time completion_time",
    "op": "op operation rw rwbs opcode type io_type iotype request_type direction",
    "offset": "offset byte_offset address sector start_sector",
    "size": "size io_size iosize length len bytes nbytes request_size sectors nr_sectors",
    "latency": "latency lat response response_time service_time elapsed duration",
    "device": "device dev disk volume",
}
_KEYS = {name: key for key, names in _NAMES.items() for name in names.split()}
_TIMES = {"s", "ms", "us", "ns"}
_CALENDAR = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")


def columns_of(path: Path) -> dict[str, str] | None:
    """Return the columns of a trace by the headings of its first line; None if one is missing or in doubt."""
    try:
        with opened(path) as file:
            lines = file.read(BEGINNING).decode().splitlines()
    except (OSError, ValueError):
        return None
    if len(lines) < 2:
        return None
    separator = separator_of(lines[0])
    names = [name.strip().strip('"') for name in lines[0].split(separator)]
    columns: dict[str, str] = {}
    for number, (name, value) in enumerate(zip(names, lines[1].split(separator), strict=False), 1):
        key, unit = _meaning(name)
        if key is None:
            continue
        is_calendar = _CALENDAR.match(value.strip().strip('"')) is not None
        if key in columns or (key in ("time", "end", "latency") and not unit and not is_calendar):
            return None
        columns[key] = f"{number}:{unit}" if unit else str(number)
    is_whole = {"offset", "size", "op"} <= columns.keys() and (
        "time" in columns or {"end", "latency"} <= columns.keys()
    )
    return columns if is_whole and not ("time" in columns and "end" in columns) else None


UNITS = {"ms": "ms", "msec": "ms", "us": "us", "usec": "us", "ns": "ns", "nsec": "ns", "sectors": "sectors"} | {
    "blocks": "sectors",
    "kb": "KiB",
    "kib": "KiB",
}
"""Last words of headings that are units, as columns have them; seconds and bytes are what no unit means."""


def unit_in(heading: str) -> str:
    """Return the unit that a heading ends with, such as `time_ms` or `Latency (us)`; empty if it has none."""
    return UNITS.get(re.sub(r"[\W_]+", " ", heading.lower()).strip().rpartition(" ")[2], "")


def is_operation(heading: str) -> bool:
    """Return whether a heading names reads and writes."""
    return _meaning(heading)[0] == "op"


def _meaning(name: str) -> tuple[str | None, str]:
    """Return the key of a heading, such as `latency_ms`, `Latency (ms)` or `sector`, and its unit."""
    plain = re.sub(r"\W+", "_", name.lower()).strip("_")
    stem, _, unit = plain.rpartition("_")
    if unit in _TIMES and _KEYS.get(stem) in ("time", "end", "latency"):
        return _KEYS[stem], unit
    if unit in ("bytes", "sectors") and _KEYS.get(stem) in ("offset", "size"):
        return _KEYS[stem], "sectors" if unit == "sectors" else ""
    return _KEYS.get(plain), "sectors" if "sector" in plain else ""
