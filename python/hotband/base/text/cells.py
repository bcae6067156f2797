"""Numbers as cells of tables and in sentences: counts, sizes, times, rates."""

from __future__ import annotations

from hotband.base.text.formats import Figure
from hotband.base.text.quantities import SPAN_UNITS, span_text


def number(value: float | None, digits: int = 1) -> str:
    """A number with thousands separators; a dash for none."""
    return Figure("–" if value is None else f"{value:,.{digits}f}", value)


def millis(nanoseconds: float | None) -> str:
    """Nanoseconds as milliseconds with three significant digits or more."""
    if nanoseconds is None:
        return Figure("–", None)
    value = nanoseconds / 1e6
    return Figure(f"{value:,.1f}" if value >= 100 else f"{value:.2f}" if value >= 1 else f"{value:.3f}", value)


def binary_size(size: int) -> str:
    """Bytes in the largest binary unit that leaves at least one."""
    for unit, bytes_of in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= bytes_of:
            return f"{size / bytes_of:,.1f} {unit}"
    return f"{size} B"


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_unit(value: float | None, key: str) -> str:
    """A figure of a record with its unit, by the end of its key."""
    if value is None:
        return Figure("–", None)
    if key.endswith("_ns"):
        return Figure(f"{millis(value)} ms", value / 1e6, "ms")
    if key.endswith("_bytes_per_s"):
        return Figure(f"{value / 1e6:,.1f} MB/s", value / 1e6, "MB/s")
    return Figure(f"{value:,.1f}", value, "IOPS" if key == "iops" else "")


def decimal_size(size: float) -> str:
    """Bytes in the largest decimal unit that leaves at least one, as endurance is stated."""
    for unit, bytes_of in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= bytes_of:
            return f"{size / bytes_of:,.1f} {unit}"
    return f"{size:,.0f} B"


def seconds(nanoseconds: float | None) -> str:
    """Nanoseconds as seconds: three digits below ten seconds, one from there on."""
    if nanoseconds is None:
        return Figure("–", None)
    value = nanoseconds / 1e9
    return Figure(f"{value:,.1f}" if value >= 10 else f"{value:.3f}", value)


def significant(value: float | None) -> str:
    """Four significant digits, thousands separated."""
    return "" if value is None else four_digits(value)


def four_digits(value: float) -> str:
    """The same of a number that is there."""
    return Figure(f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}", value)


def hours(value: float) -> str:
    """A number of hours, in a smaller unit where it is short."""
    return span_text(value * SPAN_UNITS["h"])


def time_shown(seconds: float) -> str:
    """A time in the unit that fits."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{four_digits(seconds * scale)} {unit}"
    raise AssertionError("microseconds fit always")
