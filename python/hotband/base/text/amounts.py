"""Numbers as spreadsheets write them: `1150.50`, `1,150.50`, `1.150,50`, `1 150,50`, `1'150.50`."""

from __future__ import annotations

import re

# Separators of thousands other than a point or a comma: a space, a no-break space (also a narrow one), an apostrophe.
_BLANK = " |\u00a0|\u202f|'|\u2019"
_WHOLE = r"0|[1-9]\d{0,2}"


class AmbiguousAmount(ValueError):
    """A number that different countries read differently."""

    def __init__(self, readings: tuple[float, float]) -> None:
        self.readings = readings
        larger, smaller = (f"{reading:g}" for reading in sorted(readings, reverse=True))
        super().__init__(f"is {larger} or {smaller}: expected an unambiguous number, such as {larger}")


def amount(text: str, decimal_comma: bool = False) -> float | None:
    """Return the number of 0 or more in a text; None if it is not a number. A lone comma starts the decimals only if
    `decimal_comma` is set. Raises AmbiguousAmount."""
    readings = {_reading(text.strip(), ".", ",")}
    commas = _reading(text.strip(), ",", ".")
    if decimal_comma or "." in text:
        readings.add(commas)
    readings.discard(None)
    known = sorted(reading for reading in readings if reading is not None)
    if len(known) == 2:
        raise AmbiguousAmount((known[0], known[1]))
    return known[0] if known else None


def _reading(text: str, point: str, thousands: str) -> float | None:
    """Return the number if `point` starts the decimals and `thousands` separates thousands."""
    decimals = rf"(?:\{point}(\d+))?"
    plain = re.fullmatch(rf"(\d+){decimals}", text, re.ASCII)
    grouped = re.fullmatch(rf"((?:{_WHOLE})(?:(\{thousands}|{_BLANK})\d{{3}})(?:\2\d{{3}})*){decimals}", text, re.ASCII)
    if plain is not None:
        whole, rest = plain[1], plain[2]
    elif grouped is not None and not grouped[1].startswith("0"):
        whole, rest = re.sub(r"\D", "", grouped[1]), grouped[3]
    else:
        return None
    return float(f"{whole}.{rest or 0}")
