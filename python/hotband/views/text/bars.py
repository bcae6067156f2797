"""Bars of eighths of a character, for comparing the values of a column."""

from __future__ import annotations

from hotband.base.text.table import Column

EIGHTHS = " ▏▎▍▌▋▊▉"
FULL = "█"


def bar(value: float | None, largest: float, width: int) -> str:
    """Draw a value as a share of the largest, which fills `width` characters. A value above zero is never blank."""
    if value is None or value <= 0 or largest <= 0:
        return ""
    eighths = min(max(round(8 * width * value / largest), 1), 8 * width)
    return FULL * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def bars(values: list[float | None], width: int) -> list[str]:
    """Draw the values of a column, the largest at full width."""
    largest = max((value for value in values if value is not None), default=0.0)
    return [bar(value, largest, width) for value in values]


def bar_column(width: int, name: str = "") -> Column:
    """Return the column of such bars."""
    return Column(name, wrap=False, width=width)
