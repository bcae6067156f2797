"""Wording of numbers in the sentences of a study: quantities, ratios, gains, lists."""

from __future__ import annotations

from collections.abc import Sequence

Value = float | None

DASH = "–"
"""What a missing number is printed as."""


def quantity(value: Value, unit: str = "") -> str:
    """`1,234`, `21,900`, `36.5`, `4.06`, `0.24`: three significant digits, below one two, and of up to 9,999 all before
    the point; with its unit."""
    if value is None:
        return f"an unknown number of {unit}" if unit else "unknown"
    digits = float(f"{value:.{3 if abs(value) >= 1 else 2}g}")
    text = f"{value:,.0f}" if 100 <= abs(digits) < 10_000 else f"{digits:,.0f}" if abs(digits) >= 100 else f"{digits:g}"
    return f"{text} {unit}".strip()


def with_prediction(published: Value, predicted: Value, unit: str = "") -> str:
    """`979 IOPS (predicted 818)`; without a published value `818 IOPS predicted`."""
    if published is None:
        return f"{quantity(predicted, unit)} predicted"
    return f"{quantity(published, unit)} (predicted {quantity(predicted)})"


def times(value: Value) -> str:
    """`2.9 times`, `13 times`; near one `0.97 times`."""
    if value is None:
        return "an unknown multiple of"
    return f"{value:.0f} times" if value >= 10 else f"{value:.2f} times" if value < 1.3 else f"{value:.1f} times"


def both_times(values: tuple[Value, Value]) -> str:
    """`2.9 times (predicted 2.3)`, of a published and a predicted ratio."""
    return f"{times(values[0])} (predicted {times(values[1]).removesuffix(' times')})"


def change(value: Value) -> str:
    """A ratio as what it gains: `+70 %`, `-7 %`, `0 %`."""
    if value is None:
        return "by an unknown share"
    percent = round((value - 1) * 100)
    return f"{percent:+d} %" if percent else "0 %"


def more(value: Value) -> str:
    """The same in words: `15 % more`, `7 % less`, `as much`."""
    text = change(value)
    if value is None or text == "0 %":
        return "as much" if value is not None else "by an unknown share more"
    return f"{text[1:]} {'more' if text[0] == '+' else 'less'}"


def ratio_of_percent(percent: Value) -> Value:
    """The ratio that a gain in percent stands for."""
    return None if percent is None else 1 + percent / 100


def listed(texts: Sequence[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)


def percent(share: Value, digits: int = 0, signed: bool = False) -> str:
    """A share as text: `37 %`, `+5 %`; a dash where it is missing."""
    if share is None:
        return DASH
    shown = round(share * 100, digits) + 0.0  # no minus before a zero
    return f"{shown:{'+' if signed and shown else ''}.{digits}f} %"
