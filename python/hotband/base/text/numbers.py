"""The only formatter of quantities (docs: "Numbers and units" of CONTRIBUTING.md).

Counts and rates of 1,000 and more are whole, with separators; other numbers have three digits. The unit fits the value.
No other module formats quantities for people; files that are read again (job files, TOML) have their own writers, which
do not round.
"""

from __future__ import annotations

import math
from collections.abc import Callable

ABSENT = "–"
DIGITS = 3
KIB = 1024
MOST_KIB = 10_000
"""Sizes above this are capacities, which vendors state in decimal units, not block sizes."""
LARGE_SIZES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
ENERGIES = ((1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"))
MINUTE, HOUR = 60e9, 3600e9


def finite(value: object) -> float | None:
    """Return a finite number, or None for null, text, NaN and infinities."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def number(value: object, digits: int = DIGITS) -> str:
    """Format a number: `1,234`, `246`, `4.06`, `0.0021`. Trailing zeros are significant: exactly 4 is `4`, and 4.0012
    is `4.00`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    finite_value = finite(value)
    if finite_value is None:
        return ABSENT
    size = abs(float(f"{finite_value:.{digits}g}"))
    if size == 0:
        return "0"
    if size < 1e-6 or size >= 1e15:
        return f"{finite_value:.{digits}g}"
    if size >= 10 ** (digits - 1):
        return f"{finite_value:,.0f}"
    text = f"{finite_value:.{digits - 1 - math.floor(math.log10(size))}f}"
    return text.rstrip("0").rstrip(".") if math.isclose(float(text), finite_value, rel_tol=1e-9) else text


def quantity(value: object, unit: str) -> str:
    """Format a number with its unit: `247 IOPS`, `4.06 ms`."""
    text = number(value)
    return f"{text} {unit}".strip() if text != ABSENT else text


def thousands(value: object) -> str:
    """Format a rate of I/Os, from 10,000 in thousands: `1,000 k`, `98 k`, `168`."""
    finite_value = finite(value)
    return number(value) if finite_value is None or finite_value < 10_000 else f"{number(round(finite_value / 1000))} k"


def with_sign(value: object) -> str:
    """Format a number with its sign: `+3`, `-1,200`."""
    finite_value = finite(value)
    return ("+" if finite_value is not None and finite_value > 0 else "") + number(value)


def percent(value: object, signed: bool = True) -> str:
    """Format percent: `+3.2 %`."""
    text = with_sign(value) if signed else number(value)
    return text if text == ABSENT else f"{text} %"


def share(part: object) -> str:
    """Format a share in percent; a share slightly below 1 is not rounded to 100 %."""
    finite_part = finite(part)
    if finite_part is None or not 0.999 < finite_part < 1.0:
        return percent(None if finite_part is None else 100 * finite_part, signed=False)
    text = f"{100 * finite_part:.3f}"
    return "over 99.999 %" if text.startswith("100") else f"{text.rstrip('0')} %"


def odds(part: float) -> str:
    """Format a chance: `12 %`; below one in ten `1 in 36`, `1 in 108,000`, `1 in 4.8 billion`."""
    if not 0 < part < 0.1:
        return share(part)
    return f"1 in {large(1 / part)}"


def large(value: float) -> str:
    """Format a number of three digits that may be large: `36`, `108,000`, `4.8 billion`."""
    rounded = float(f"{value:.3g}")
    name, scale = next((each for each in (("billion", 1e9), ("million", 1e6)) if rounded >= each[1]), ("", 1.0))
    return quantity(rounded / scale, name)


def span(value: object) -> str:
    """Format nanoseconds in a fitting unit: `77 µs`, `1.2 ms`, `45 s`, `8 min 20 s`, `25 h 11 min`."""
    finite_value = finite(value)
    if finite_value is None:
        return ABSENT
    size = abs(float(f"{finite_value:.{DIGITS}g}"))
    if size >= 100 * HOUR:
        return quantity(finite_value / HOUR, "h")
    if size >= 2 * MINUTE:
        large, small = (("h", HOUR), ("min", MINUTE)) if size >= 2 * HOUR else (("min", MINUTE), ("s", 1e9))
        whole, rest = divmod(round(abs(finite_value) / small[1]), round(large[1] / small[1]))
        sign = "-" if finite_value < 0 else ""
        return f"{sign}{whole} {large[0]}" + (f" {rest} {small[0]}" if rest else "")
    unit, scale = next(((u, s) for u, s in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)) if size >= s), ("ns", 1.0))
    return quantity(finite_value / scale, unit)


def hours(value: float) -> str:
    """Format a number of hours, in a smaller unit if it is short."""
    return span(value * HOUR)


def about(seconds: float) -> str:
    """Format an estimated time with fewer than three digits: `45 s`, `12 min`, `3.5 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def whole_percent(part: float) -> str:
    """Format progress in whole percent, because it changes while it is read: `37 %`."""
    return f"{100 * part:.0f} %"


def millis(value: object) -> str:
    """Format nanoseconds in ms, whatever their size, so that latencies side by side have one unit."""
    finite_value = finite(value)
    return ABSENT if finite_value is None else quantity(finite_value / 1e6, "ms")


def rate(value: object) -> str:
    """Format bytes per second in MB/s, whatever their size, because rates are compared."""
    finite_value = finite(value)
    return ABSENT if finite_value is None else quantity(finite_value / 1e6, "MB/s")


def size(value: object) -> str:
    """Format bytes: `512 B`, `4 KiB`, `32 MiB` for block sizes, else decimal: `4.1 kB`, `3.84 TB`."""
    finite_value = finite(value)
    if finite_value is None:
        return ABSENT
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if finite_value and finite_value % KIB**power == 0 and abs(finite_value) < MOST_KIB * KIB**power:
            return quantity(finite_value / KIB**power, unit)
    rounded = abs(float(f"{finite_value:.{DIGITS}g}"))
    scale, unit = next((each for each in LARGE_SIZES if rounded >= each[0]), (1.0, "B"))
    return quantity(finite_value / scale, unit)


def energy(value: object) -> str:
    """Format joules in a fitting unit: `2.4 kJ`, `7.1 mJ`."""
    finite_value = finite(value)
    if finite_value is None:
        return ABSENT
    scale, unit = next((each for each in ENERGIES if abs(finite_value) >= each[0]), (1e-6, "µJ"))
    return quantity(finite_value / scale, unit)


def counted(count: int, noun: str) -> str:
    """Format a count with its noun: `3 drives`, `1 drive`."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: `drives`, `flushes`."""
    return f"{noun}es" if noun.endswith(("sh", "ch")) else f"{noun}s"


def between(low: float, high: float, text: Callable[[float], str] = number) -> str:
    """Format both ends of an interval, with a common unit once: `72.5 to 390`, `90 to 150 µs`; one of them if both
    print the same."""
    first, last = text(low), text(high)
    if first == last:
        return first
    value, _, unit = first.rpartition(" ")
    return f"{value} to {last}" if value and last.endswith(f" {unit}") else f"{first} to {last}"


def cell(value: object) -> str:
    """Format any cell of a foreign table: numbers shortened, everything else as text."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)
