"""Times, shares, sizes and powers as text ("5 ms", "7 %"), for what Python reads itself."""

from __future__ import annotations

import math
import re

import hotband._core as _core

# "min", "h" and "d" are accepted beside the SI units, as in workloads.
SPAN_UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "d": 86400e9}
SPAN_FORM = 'a time with its unit, such as "5 ms" or "10 s" (ns, us, ms, s, min, h, d)'
SPAN_EXPECTED = f"{SPAN_FORM}, less than 285 years"
QUANTITY = re.compile(r"\s*([0-9._]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ]+)\s*")
LIMIT = 9e18
"""What text names is less than this many ns, as in the engine (crates/units/src/text.rs)."""


GROUPED = re.compile(r"\s*[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(?![0-9])[^,]*")


def ungrouped(text: str) -> str | None:
    """A number, with or without a unit, without the commas between its thousands; None if a comma stands elsewhere:
    1,5 is one and a half where people write so, and not fifteen."""
    if "," not in text:
        return text
    return text.replace(",", "") if GROUPED.fullmatch(text) else None


def _parted(text: str) -> tuple[float, str] | None:
    """The number, written as the engine takes it (`1e3`, `1_000`), and the unit of a quantity; None of any other
    text."""
    found = QUANTITY.fullmatch(text)
    try:
        return None if found is None else (float(found[1].replace("_", "")), found[2])
    except ValueError:
        return None


def _whole(value: float, limit: float = LIMIT) -> float | None:
    """The nearest whole number above zero and below a limit, that of the engine; None if there is none. Without a
    limit (infinity) the number itself."""
    if math.isinf(limit):
        return value or None
    return (float(int(value + 0.5)) or None) if value < limit else None


def span_ns(text: str, limit: float = LIMIT) -> float | None:
    """Nanoseconds of a time above zero, and below a limit; None if the text is none."""
    found = _parted(text)
    if found is None or found[1] not in SPAN_UNITS:
        return None
    return _whole(found[0] * SPAN_UNITS[found[1]], limit)


def share(text: str) -> float | None:
    """A share, such as "0.37" or "7 %"; None if the text is none."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if found is None:
        return None
    return float(found[1]) / (100.0 if found[2] else 1.0)


SIZE_EXPECTED = 'a size with its unit, such as "256 MB" or "8 GiB", less than 9 EB'


def size_bytes(text: str) -> float | None:
    """Bytes of a size above zero, as the engine reads it: "GB" is 10^9, "GiB" 2^30, a single letter binary as in fio
    (docs/guides/machines.md), "Gb" are bits and no size. None if the text is none."""
    try:
        return _core.quantity("size", text) or None
    except ValueError:
        return None


WATTS_MOST = 1e9
"""More than a large power station gives is a slip of the pen."""
WATTS_EXPECTED = 'a power of at most 1 GW with its unit, such as "500 W" or "1.2 kW"'


def watts(text: str) -> float | None:
    """Watts of a power, zero among them; None if the text is none."""
    number = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?"
    found = re.fullmatch(rf"\s*({number})\s*(k?)W\s*", text)
    power = None if found is None else float(found[1].replace(",", "")) * (1e3 if found[2] else 1.0)
    return power if power is not None and power <= WATTS_MOST else None


YEARLY_MOST = 10.0
"""Growth by more than 1,000 % a year is a slip of the pen."""
YEARLY_EXPECTED = 'a share a year up to 1000 %, such as "30 %/year"'


def yearly_share(text: str) -> float | None:
    """The share by which something grows in a year; None if the text is none."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*(?:/|a|per|each)\s*(?:year|yr|a|y)\s*", text.lower())
    part = None if found is None else float(found[1]) / 100.0
    return part if part is not None and part <= YEARLY_MOST else None
