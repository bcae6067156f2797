"""Parse times, shares, sizes and powers from text ("5 ms", "7 %"), for keys that only Python reads."""

from __future__ import annotations

import math
import re

import hotband._core as _core

# "min", "h" and "d" are accepted in addition to the SI units, as in workloads.
SPAN_UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "d": 86400e9}
SPAN_FORM = 'a time with its unit, such as "5 ms" or "10 s" (ns, us, ms, s, min, h, d)'
SPAN_EXPECTED = f"{SPAN_FORM}, less than 285 years"
QUANTITY = re.compile(r"\s*([0-9._]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ]+)\s*")
IN_WORDS = re.compile(r"\s*([0-9._]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z\u03bc]+(?:/s)?)\s*")
TIMED = re.compile(r"(\s*at\s+|[^@:]*@)([^:]*)(.*)", re.DOTALL)
"""A text with a time: what is before, the time, what follows."""
DAYS_OF_YEAR = 365.25
WORDS: dict[str, tuple[float, str]] = {
    **dict.fromkeys(("nsec", "nanosecond", "nanoseconds"), (1.0, "ns")),
    **dict.fromkeys(("\u03bcs", "usec", "microsecond", "microseconds"), (1.0, "us")),
    **dict.fromkeys(("msec", "millisecond", "milliseconds"), (1.0, "ms")),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), (1.0, "s")),
    **dict.fromkeys(("mins", "minute", "minutes"), (1.0, "min")),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), (1.0, "h")),
    **dict.fromkeys(("day", "days"), (1.0, "d")),
    **dict.fromkeys(("wk", "week", "weeks"), (7.0, "d")),
    **dict.fromkeys(("month", "months"), (DAYS_OF_YEAR / 12, "d")),
    **dict.fromkeys(("yr", "yrs", "year", "years"), (DAYS_OF_YEAR, "d")),
    **dict.fromkeys(("kb/s", "kbps", "kbit/s"), (0.125, "kB/s")),
    **dict.fromkeys(("Mbps", "Mbit/s"), (1.0, "Mb/s")),
    **dict.fromkeys(("Gbps", "Gbit/s", "GbE"), (1.0, "Gb/s")),
    **dict.fromkeys(("Tb/s", "Tbps", "Tbit/s"), (1000.0, "Gb/s")),
    **{f"{unit}ps": (1.0, f"{unit}/s") for unit in ("kB", "MB", "GB", "KiB", "MiB", "GiB")},
    **dict.fromkeys(("TB/s", "TBps"), (1000.0, "GB/s")),
}
"""Units as people write them, each as a number of units that the engine reads. A small b is a bit, a large B a byte, so
that "mb/s" is neither. The Greek letter of "\u03bcs" is not the micro sign that the engine reads."""
LIMIT = 9e18
"""Times named in text are below this many ns, as in the engine (crates/units/src/text.rs)."""


GROUPED = re.compile(r"\s*[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(?![0-9])[^,]*")


def ungrouped(text: str) -> str | None:
    """Remove the commas between thousands of a number with or without a unit; None if a comma is elsewhere: in some
    countries 1,5 is one and a half, not fifteen."""
    if "," not in text:
        return text
    return text.replace(",", "") if GROUPED.fullmatch(text) else None


def in_units(text: str) -> str:
    """Return a quantity in a unit that the engine reads: "5 days" as "5 d", "25 Gbit/s" as "25 Gb/s". Other text is
    unchanged."""
    match = IN_WORDS.fullmatch(text)
    known = None if match is None else WORDS.get(match[2])
    try:
        number = 0.0 if match is None else float(match[1].replace("_", ""))
    except ValueError:
        return text
    if match is None or known is None:
        return text
    scale, unit = known
    return f"{match[1] if scale == 1 else f'{number * scale:.15g}'} {unit}"


def with_unit(number: float, unit: str) -> str:
    """Return a plain number with its unit as text, without rounding."""
    return f"{int(number) if number == int(number) else repr(number)} {unit}" if math.isfinite(number) else f"{number}"


def quantity_text(value: str | float | None, unit: str) -> str | None:
    """Return text in a unit that the engine reads: a number is in `unit`, None stays."""
    return in_units(value) if isinstance(value, str) else None if value is None else with_unit(value, unit)


def timed_text(text: str) -> str:
    """Return an event ("at 5 minutes: fail d3") or a failure ("d3@5 minutes") with its time in a unit that the engine
    reads."""
    match = TIMED.fullmatch(text)
    return text if match is None else f"{match[1]}{in_units(match[2])}{match[3]}"


def _parted(text: str) -> tuple[float, str] | None:
    """Return number and unit of a quantity, the number as the engine accepts it (`1e3`, `1_000`); None for other
    text."""
    match = QUANTITY.fullmatch(in_units(text))
    try:
        return None if match is None else (float(match[1].replace("_", "")), match[2])
    except ValueError:
        return None


def _whole(value: float, limit: float = LIMIT) -> float | None:
    """Return the nearest whole number above zero and below the engine's limit; None if there is none. Return the
    number itself if there is no limit (infinity)."""
    if math.isinf(limit):
        return value or None
    return (float(int(value + 0.5)) or None) if value < limit else None


def span_ns(text: str, limit: float = LIMIT) -> float | None:
    """Return the nanoseconds of a time above zero and below a limit; None for other text."""
    parts = _parted(text)
    if parts is None or parts[1] not in SPAN_UNITS:
        return None
    return _whole(parts[0] * SPAN_UNITS[parts[1]], limit)


def share(text: str) -> float | None:
    """Return a share, such as "0.37" or "7 %"; None for other text."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if match is None:
        return None
    return float(match[1]) / (100.0 if match[2] else 1.0)


SIZE_EXPECTED = 'a size with its unit, such as "256 MB" or "8 GiB", less than 9 EB'


def size_bytes(text: str) -> float | None:
    """Return the bytes of a size above zero, as the engine reads it: "GB" is 10^9, "GiB" 2^30, a single letter binary
    as in fio (docs/guides/machines.md), "Gb" are bits and not a size. None for other text."""
    try:
        return _core.quantity("size", text) or None
    except ValueError:
        return None


def address_bytes(text: str, capacity: float) -> float | None:
    """Return an address or a span in bytes: a size, or a percentage of a capacity; None for other text and for 0."""
    part = share(text) if "%" in text else None
    return size_bytes(text) if part is None else part * capacity or None


WATTS_MOST = 1e9
"""A power above the supply of a large power station is a typing error."""
WATTS_EXPECTED = 'a power of at most 1 GW with its unit, such as "500 W" or "1.2 kW"'


def watts(text: str) -> float | None:
    """Return the watts of a power of zero or more; None for other text."""
    number = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?"
    match = re.fullmatch(rf"\s*({number})\s*(k?)W\s*", text)
    power = None if match is None else float(match[1].replace(",", "")) * (1e3 if match[2] else 1.0)
    return power if power is not None and power <= WATTS_MOST else None


YEARLY_MOST = 10.0
"""Growth of more than 1,000 % per year is a typing error."""
YEARLY_EXPECTED = 'a share per year up to 1000 %, such as "30 %/year"'


def yearly_share(text: str) -> float | None:
    """Return a share of growth per year; None for other text."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*(?:/|a|per|each)\s*(?:year|yr|a|y)\s*", text.lower())
    part = None if match is None else float(match[1]) / 100.0
    return part if part is not None and part <= YEARLY_MOST else None
