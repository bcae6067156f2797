"""Numbers as a reader wants them: three or four digits, thousands apart, a unit that fits."""

from __future__ import annotations

import math

ABSENT = "–"


def finite(value: object) -> float | None:
    """The number, or None for null, text, NaN and infinities."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def number(value: object, digits: int = 4) -> str:
    """`1,234`, `246.1`, `4.06`, `0.0021`: `digits` significant ones."""
    found = finite(value)
    if found is None:
        return ABSENT
    size = abs(float(f"{found:.{digits}g}"))
    if size == 0:
        return "0"
    if size < 1e-6 or size >= 1e15:
        return f"{found:.{digits}g}"
    if size >= 10 ** (digits - 1):
        return f"{found:,.0f}"
    places = digits - 1 - math.floor(math.log10(size))
    text = f"{found:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def amount(value: object) -> str:
    """A figure of a table in which many stand below each other: `1,234`, `246`, `4.10`, `0.0650`: three significant
    digits, zeros too, and all digits of whole numbers; counts as they are."""
    found = finite(value)
    if found is None or isinstance(value, int):
        return ABSENT if found is None else f"{found:,.0f}"
    rounded = abs(float(f"{found:.2e}"))
    places = max(0, 2 - math.floor(math.log10(rounded))) if rounded else 0
    return f"{found:,.{places}f}"


def quantity(value: object, unit: str) -> str:
    """A number with its unit: `247 IOPS`, `4.06 ms`."""
    text = number(value)
    return f"{text} {unit}".strip() if text != ABSENT else text


def percent(value: object, signed: bool = True) -> str:
    """`+3.2 %`, one digit after the point below 100 %."""
    found = finite(value)
    if found is None:
        return ABSENT
    text = f"{found:,.1f}" if abs(found) < 100 else f"{found:,.0f}"
    text = "0.0" if text == "-0.0" else text
    sign = "+" if signed and found > 0 and text != "0.0" else ""
    return f"{sign}{text} %".replace("-", "−")


def span(value: object) -> str:
    """A time in ns, in the largest unit that leaves a number of at least one."""
    found = finite(value)
    if found is None:
        return ABSENT
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(found) >= size:
            return f"{number(found / size)} {unit}"
    return f"{number(found)} ns"


def millis(value: object) -> str:
    """A time in ns in ms, whatever its size: latencies that stand side by side have one unit."""
    found = finite(value)
    return ABSENT if found is None else f"{number(found / 1e6)} ms"


def rate(value: object) -> str:
    """Bytes per second, in decimal units."""
    found = finite(value)
    if found is None:
        return ABSENT
    for unit, size in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if abs(found) >= size:
            return f"{number(found / size)} {unit}"
    return f"{number(found)} B/s"


def size(value: object) -> str:
    """Bytes, in decimal units."""
    text = rate(value)
    return text.removesuffix("/s")


def cell(value: object) -> str:
    """Any cell of a table somebody else filled: numbers shortened, everything else as text."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return number(value, 5) if isinstance(value, float) else str(value)


def block_size(size: int) -> str:
    """Bytes of a block or a file: `512 B`, `4 KiB`, `32 MiB`, and `100 MB` where they are no binary multiple."""
    for unit, of in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= of and size % of == 0:
            return f"{size // of:,} {unit}"
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            return f"{number(size / of)} {unit}"
    return f"{size} B"
