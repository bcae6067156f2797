"""The values of a swept setting as text, on the command line and in Python: `1..256` doubles, `1..100/5` steps, commas
make lists. Text in quotes, braces or brackets is one value, including its commas.

Left out: ranges of texts, which have no order; ranges are of numbers, which may have a unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text.quantities import in_units

Value = str | int | float | bool

MOST_RUNS = 100_000
"""Most runs of a sweep: a run of some thousand I/Os takes at least 20 ms, so they take a quarter of an hour on two
cores; their rows are 60 MB."""
ITEM = re.compile(r"([-+]?\d{1,18}(?:\.\d{1,12})?(?:[eE][-+]?\d{1,2})?)\s*([A-Za-zµ%]*(?:(?<=[A-Za-z])/s)?)")
"""A number and, if it has one, its unit."""
KINDS = ("size", "time", "rate", "share", "power", "speed")
"""Values that the engine reads with a unit."""
FAMILIES = (
    ("B", "KiB", "MiB", "GiB", "TiB"),
    ("B", "kB", "MB", "GB", "TB"),
    ("ns", "us", "ms", "s"),
    ("B/s", "kB/s", "MB/s", "GB/s"),
    ("B/s", "KiB/s", "MiB/s", "GiB/s"),
)
"""Units of a range, in ascending order, such as from 4 KiB to 1 MiB."""
WRITTEN = {
    "size": (("TiB", "GiB", "MiB", "KiB"), ("TB", "GB", "MB", "kB", "B")),
    "time": (("s", "ms", "us", "ns"),),
    "rate": (("GB/s", "MB/s", "kB/s", "B/s"), ("GiB/s", "MiB/s", "KiB/s")),
    "share": (("%",),),
    "power": (("W", "mW"),),
    "speed": (("rpm",),),
}
"""Units in which the engine writes a quantity of each kind (`Display` of hotband-units), and those of binary rates."""
SMALLEST = ("B", "ns", "B/s", "mW")
SHORT = {"k": "KiB", "K": "KiB", "m": "MiB", "M": "MiB", "g": "GiB", "G": "GiB"}
"""fio's letters, which are binary here, too."""
EXAMPLES = "such as 1..256 (doubles), 1..100/5 (steps) or 1,2,4"


@dataclass(frozen=True)
class Values:
    """The values of an axis, and their number `count`; only the first are listed if a sweep may not have that many.
    `remark` gives the last value of a range that misses its end."""

    listed: tuple[Value, ...]
    count: int
    remark: str = ""


@dataclass(frozen=True)
class Quantity:
    """A number with its unit, none for a count; `scale` is the unit in the base unit of its kind."""

    number: Fraction
    unit: str
    kind: str
    scale: Fraction

    @property
    def base(self) -> Fraction:
        """Return the quantity in the base unit."""
        return self.number * self.scale


def values_of(key: str, text: str) -> Values:
    """Return the values that a text lists. Raises UserError."""
    listed: list[Value] = []
    count, remarks = 0, []
    for item in items_of(text):
        if not item:
            raise _refused(key, text, f"has an empty value; expected values, {EXAMPLES}")
        item_values = _values_of_item(key, text, item)
        listed += item_values.listed
        count += item_values.count
        remarks += [item_values.remark] if item_values.remark else []
    return Values(tuple(listed), count, "; ".join(remarks))


def items_of(text: str) -> list[str]:
    """Return the text split at its commas, except for those within quotes, braces and brackets."""
    items, begin, depth, quote = [], 0, 0, ""
    for at, letter in enumerate(text):
        if quote or letter in "\"'":
            quote = "" if letter == quote else quote or letter
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
        elif letter == "," and depth <= 0:
            items.append(text[begin:at].strip())
            begin = at + 1
    return [*items, text[begin:].strip()]


def _values_of_item(key: str, text: str, item: str) -> Values:
    low, dots, rest = item.partition("..")
    if item[0] in "\"'{[" or not dots or (rest.startswith("/") and ITEM.fullmatch(low) is None):
        # Quoted, a table, without a range, or the path of a folder above.
        return Values((plain(item),), 1)
    if not low.strip() or not rest.strip() or rest.lstrip().startswith("/"):
        raise _refused(key, text, f"the range {item!r} lacks an end; expected values, {EXAMPLES}")
    ends = re.fullmatch(rf"\s*({ITEM.pattern})\s*(/(.*))?", rest)
    high, step = (ends[1], ends[5]) if ends is not None else (rest, None)
    first, last = _quantity(key, text, low), _quantity(key, text, high)
    if first.kind != last.kind:
        raise _refused(key, text, f"{low.strip()} and {high.strip()} differ in their units; {_both(first, last)}")
    if last.base < first.base:
        raise _refused(key, text, f"the range {item!r} ends below its beginning")
    return _doubled(key, text, first, last) if step is None else _stepped(key, text, first, last, step)


def _both(first: Quantity, last: Quantity) -> str:
    if first.unit and last.unit:
        return "expected two of one kind, such as 4KiB..1MiB"
    return "expected a unit at both ends, such as 4KiB..1MiB, or at none"


def _doubled(key: str, text: str, first: Quantity, last: Quantity) -> Values:
    if first.base <= 0:
        raise _refused(key, text, "doubling begins above 0; expected a step, such as 0..100/10")
    count = (int(last.base / first.base)).bit_length()
    listed = tuple(_written(first.base * 2**n, first, last) for n in range(count))
    return Values(listed, count, _remark(key, listed, first.base * 2 ** (count - 1), last, "doubles"))


def _stepped(key: str, text: str, first: Quantity, last: Quantity, by: str) -> Values:
    step = _quantity(key, text, by)
    if step.base <= 0:
        raise _refused(key, text, "expected a step above 0")
    if step.kind != first.kind:
        raise _refused(key, text, f"the step and the ends differ in their units; {_both(first, step)}")
    count = int((last.base - first.base) / step.base) + 1
    # This many are refused: the first is enough to estimate their time.
    shown = count if count <= MOST_RUNS else 2
    listed = tuple(_written(first.base + n * step.base, first, last) for n in range(shown))
    end = first.base + (count - 1) * step.base
    return Values(listed, count, _remark(key, listed, end, last, "steps"))


def _remark(key: str, listed: tuple[Value, ...], end: Fraction, last: Quantity, method: str) -> str:
    """Return the remark on a range that does not meet its end."""
    if end == last.base:
        return ""
    shown = ", ".join(str(value) for value in listed[:2])
    beyond = _text(last.number) + (f" {last.unit}" if last.unit else "")
    return f"{key} {method}: {shown}, ... {listed[-1]}; {beyond} is not among them"


def _quantity(key: str, text: str, part: str) -> Quantity:
    """Return one number of a range."""
    match = ITEM.fullmatch(part.strip())
    if match is None:
        quoted = f"; quote a text with dots: {key}='\"{text}\"'" if key else ""
        raise _refused(key, text, f"{part.strip()!r} is not a number; expected values, {EXAMPLES}{quoted}")
    unit = SHORT.get(match[2], match[2])
    known = unit_of(unit) if unit else ("", Fraction(1))
    if known is None:
        raise _refused(key, text, f"{unit!r} is not a unit; expected one such as KiB, MB, us, ms, MB/s or %")
    return Quantity(Fraction(match[1]), unit, *known)


@cache
def unit_of(unit: str) -> tuple[str, Fraction] | None:
    """Return the kind of a unit and its size in the base unit; None for other text."""
    # Nothing turns as slowly as once a minute.
    for kind, size in (*((kind, 1) for kind in KINDS), ("speed", 100)):
        try:
            scale = _core.quantity(kind, f"{size} {unit}") / size
        except ValueError:
            continue
        # The smallest unit is a nanosecond: twelve digits hold every unit exactly.
        return kind, Fraction(scale).limit_denominator(10**12)
    return None


def _written(base: Fraction, first: Quantity, last: Quantity) -> Value:
    """Return a value of a range as a setting, in the largest unit between those of the ends in which it is whole."""
    if not first.unit:
        return int(base) if base.denominator == 1 else float(base)
    units = [first.unit]
    for family in FAMILIES if first.unit != last.unit else ():
        if first.unit in family and last.unit in family:
            units = list(family[family.index(first.unit) : family.index(last.unit) + 1]) or units
    for unit in reversed(units):
        known = unit_of(unit)
        if known is not None and (base / known[1]).denominator == 1:
            return f"{_text(base / known[1])} {unit}"
    return f"{_text(base / first.scale)} {first.unit}"


def _text(number: Fraction) -> str:
    """Format a number without an exponent, which no unit accepts."""
    exact = format(Decimal(number.numerator) / Decimal(number.denominator), "f")
    return exact.rstrip("0").rstrip(".") if "." in exact else exact


def plain(item: str) -> Value:
    """Return one value: a number as a number, a quantity with a space before its unit, other text unchanged, without
    quotes."""
    if item[0] in "\"'" and item[-1] == item[0] and len(item) > 1:
        return item[1:-1]
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", item):
        return int(item)
    if re.fullmatch(r"-?\d+\.\d+", item) and repr(float(item)) == item:
        return float(item)
    item = in_units(item)
    match = ITEM.fullmatch(item)
    known = match is not None and match[2] not in SHORT and match[2] and unit_of(match[2])
    return f"{match[1]} {match[2]}" if match is not None and known else item


def spelled(text: str) -> str:
    """Return a quantity in one exact form, however it was written: `4KiB`, fio's `4k` and `4096 B` as `4 KiB`, `1500
    us` as `1.5 ms`. Other text is unchanged."""
    parts = _parted(text)
    if parts is None or not parts[1]:
        return text
    number, _, kind, scale = parts
    base = Fraction(number) * scale
    spellings = [_shortest(base, units) for units in WRITTEN[kind]]
    return min(
        (way for way in spellings if way), key=lambda way: len(way.partition(" ")[0]), default=f"{number} {parts[1]}"
    )


def _shortest(base: Fraction, units: Sequence[str]) -> str:
    """Return a quantity in the largest of these units in which it is at least 1, with at most three decimals (none for
    binary and for the smallest units); "" if there is none."""
    for unit in units:
        known = unit_of(unit)
        assert known is not None, "a unit of ours"
        number = base / known[1]
        places = 1 if "i" in unit or unit in SMALLEST else 1000
        if (abs(number) >= 1 or unit in SMALLEST) and (number * places).denominator == 1:
            return f"{_text(number)} {unit}"
    return ""


def base_of(value: object) -> tuple[str, float] | None:
    """Return the kind of a value and its size in the base unit (bytes, seconds, bytes per second, a share of one,
    watts, rpm); the kind of a plain number is "". None for text that is not a quantity."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return "", float(value)
    parts = _parted(str(value))
    return None if parts is None else (parts[2], float(Fraction(parts[0]) * parts[3]))


def _parted(text: str) -> tuple[str, str, str, Fraction] | None:
    """Return a number, its unit, the kind of the unit and its size in the base unit; None for text that is not a
    quantity."""
    match = ITEM.fullmatch(text.strip())
    if match is None:
        return None
    unit = SHORT.get(match[2], match[2])
    known = unit_of(unit) if unit else ("", Fraction(1))
    return None if known is None else (match[1], unit, *known)


def _refused(key: str, text: str, accepted: str) -> UserError:
    return UserError("question.settings", key, text, accepted)


ENDINGS = {
    "size": ("bytes", 1.0),
    "time": ("ns", 1e9),
    "rate": ("bytes_per_s", 1.0),
    "share": ("pct", 100.0),
    "power": ("w", 1.0),
    "speed": ("rpm", 1.0),
}
"""Suffix of the column of a setting with units, and the size of the base unit in that column."""


Coordinate = str | int | float
