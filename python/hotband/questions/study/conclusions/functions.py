"""Functions of numbers, lists and texts that expressions of a study may call."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hotband.base.text import numbers
from hotband.questions.study.comparisons import rates_apart
from hotband.questions.study.conclusions.values import RefusedValueError, Value, flat, is_number, kind_of

SPECIFICATION = r"\+?,?(\.[0-9])?[dfg%]"
"""Formats that `format` accepts: a Python format specification of a number, without a width."""


def _numbers(values: Value) -> list[Any] | None:
    """Return the numbers of nested lists; None for an empty list, or if a number is missing."""
    items = flat(values)
    for item in items:
        if item is not None and not is_number(item):
            raise RefusedValueError(f"has {kind_of(item)} among numbers")
    return items if items and None not in items else None


def _statistic(reduce: Callable[[list[Any]], float], about: str) -> Callable[[Value], Value]:
    def statistic(values: Value) -> Value:
        numbers = _numbers(values)
        return None if numbers is None else reduce(numbers)

    statistic.__doc__ = f"Return {about} of nested lists; None of an empty list, and where a number is missing."
    return statistic


def total(values: Value) -> Value:
    """Return the sum of nested lists; 0 for an empty list, None if a number is missing."""
    numbers = _numbers(values)
    return 0 if not flat(values) else None if numbers is None else sum(numbers)


def every(values: Value) -> bool | None:
    """Return whether all items are true: false if an item is false, else None if an item is missing."""
    items = flat(values)
    return False if any(item is False for item in items) else None if None in items else all(items)


def some(values: Value) -> bool:
    """Return whether at least one item is true."""
    return any(flat(values))


def absolute(value: Value) -> Value:
    """Return a number without its sign."""
    return None if value is None else abs(value)


def rounded(value: Value, digits: int | None = None) -> Value:
    """Round a number to a whole number, or to `digits` after the point."""
    return None if value is None else round(value, digits)


def root(value: Value) -> Value:
    """Return the square root; None below zero."""
    return None if value is None or value < 0 else math.sqrt(value)


def number(text: Value) -> Value:
    """Read a text as a number, such as a setting of a load; None if it is not a finite number."""
    try:
        parsed = float(text)
    except (TypeError, ValueError):
        return None
    return parsed if math.isfinite(parsed) else None


def default(value: Value, other: Value) -> Value:
    """Return the value, or `other` if it is missing."""
    return other if value is None else value


def known(values: Value) -> list[Value]:
    """Return the items that are not missing."""
    return [item for item in _items(values) if item is not None]


def select(values: Value, flags: Value) -> list[Value]:
    """Return the items whose flag is true."""
    return [item for item, flag in zip(_items(values), _items(flags), strict=True) if flag]


def where(values: Value, **items: Value) -> list[Value]:
    """Return the mappings that have these items: `where(rows, kind="derived")`."""
    return [entry for entry in _items(values) if all(get(entry, key) == item for key, item in items.items())]


def first(values: Value) -> Value:
    """Return the first item; None for an empty list."""
    return next(iter(_items(values)), None)


def ordered(values: Value, by: Value = None, descending: bool = False) -> list[Value]:
    """Sort a list by its items, or by the numbers in `by`. Equal items stay in their order."""
    items = _items(values)
    numbers = items if by is None else _items(by)
    if len(numbers) != len(items):
        raise RefusedValueError(f"sorts {len(items)} items by {len(numbers)} numbers")
    return [items[at] for at in sorted(range(len(items)), key=numbers.__getitem__, reverse=descending)]


def zipped(*lists: Value) -> list[list[Value]]:
    """Return the first items together, then the second items, and so on."""
    return [list(group) for group in zip(*map(_items, lists), strict=True)]


def numbered(values: Value) -> list[list[Value]]:
    """Return each item with its number, from 1."""
    return [[at, item] for at, item in enumerate(_items(values), start=1)]


def mapping(keys: Value, values: Value) -> Mapping[Value, Value]:
    """Return a mapping of keys to values."""
    return dict(zip(_items(keys), _items(values), strict=True))


def keys(entries: Value) -> list[Value]:
    """Return the keys of a mapping."""
    return list(_mapping(entries))


def values(entries: Value) -> list[Value]:
    """Return the values of a mapping."""
    return list(_mapping(entries).values())


def get(entries: Value, key: Value, other: Value = None) -> Value:
    """Return an item of a mapping, or `other` if it has no such key."""
    return entries.get(key, other) if isinstance(entries, Mapping) else other


def distinct(values: Value) -> list[Value]:
    """Return a list without repeated items."""
    return list(dict.fromkeys(_items(values)))


def count(values: Value) -> int:
    """Count the items of a list or a mapping."""
    return len(values if isinstance(values, Mapping) else _items(values))


def split(text: str, at: str) -> list[str]:
    """Split a text."""
    return str(text).split(at)


def starts_with(text: str, begin: str) -> bool:
    """Return whether a text begins with another."""
    return str(text).startswith(begin)


def lower(text: str) -> str:
    """Return a text in lower case."""
    return str(text).lower()


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def join(values: Value, between: str = "") -> str:
    """Join texts and numbers."""
    return between.join(str(numbers.ABSENT if item is None else item) for item in _items(values))


def formatted(value: Value, specification: str) -> str:
    """Format a number as Python does (`+.0%`, `,.0f`); a dash if it is missing."""
    if not re.fullmatch(SPECIFICATION, specification):
        raise RefusedValueError(f'has the format "{specification}"; expected ",.0f", "+.1f", ".3g", "+.0%" or similar')
    return numbers.ABSENT if value is None else format(value, specification)


def quantity(value: Value, unit: str = "") -> str:
    """Format a number with its unit: `1,234 IOPS`, `36.5`, `0.239`."""
    if value is None:
        return f"an unknown number of {unit}" if unit else "unknown"
    return numbers.quantity(value, unit)


def with_prediction(published: Value, predicted: Value, unit: str = "") -> str:
    """Format `979 IOPS (predicted 818)`; without a published value `818 IOPS predicted`."""
    if published is None:
        return f"{quantity(predicted, unit)} predicted"
    return f"{quantity(published, unit)} (predicted {quantity(predicted)})"


def times(value: Value) -> str:
    """Format a ratio: `2.93 times`."""
    return "an unknown multiple of" if value is None else numbers.quantity(value, "times")


def both_times(values: tuple[Value, Value]) -> str:
    """Format a published and a predicted ratio: `2.93 times (predicted 2.31)`."""
    return f"{times(values[0])} (predicted {times(values[1]).removesuffix(' times')})"


def change(value: Value) -> str:
    """Format a ratio as a gain in whole percent: `+70 %`, `-7 %`, `0 %`."""
    return "by an unknown share" if value is None else numbers.percent(round((value - 1) * 100))


def more(value: Value) -> str:
    """Format a gain in words: `15 % more`, `7 % less`, `as much`."""
    text = change(value)
    if value is None or text == "0 %":
        return "as much" if value is not None else "by an unknown share more"
    return f"{text[1:]} {'more' if text[0] == '+' else 'less'}"


def ratio_of_percent(percent: Value) -> Value:
    """Return the ratio that a gain in percent represents."""
    return None if percent is None else 1 + percent / 100


def listed(texts: Sequence[str]) -> str:
    """Join texts as `a, b and c`."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)


def percent(share: Value, digits: int = 0, signed: bool = False) -> str:
    """Format a share, rounded to `digits`: `37 %`, `+5 %`; a dash if it is missing."""
    return numbers.percent(None if share is None else round(share * 100, digits or None), signed)


def _items(values: Value) -> list[Value]:
    if not isinstance(values, list | tuple):
        raise RefusedValueError(f"has {kind_of(values)}; expected a list")
    return list(values)


def _mapping(entries: Value) -> Mapping[Value, Value]:
    if not isinstance(entries, Mapping):
        raise RefusedValueError(f"has {kind_of(entries)}; expected a mapping")
    return entries


SINGLE: dict[str, Callable[..., Value]] = {
    "abs": absolute, "round": rounded, "sqrt": root, "number": number, "default": default, "split": split,
    "starts_with": starts_with, "lower": lower, "capital": capital, "format": formatted, "rates_apart": rates_apart,
    "quantity": quantity, "with_prediction": with_prediction, "times": times,
    "change": change, "more": more, "percent": percent,
    "ratio_of_percent": ratio_of_percent,
}  # fmt: skip
"""Functions of single values; for a list they return a list."""

OF_LISTS: dict[str, Callable[..., Value]] = {
    "sum": total, "mean": _statistic(statistics.mean, "the mean"),
    "median": _statistic(statistics.median, "the median"),
    "geometric_mean": _statistic(statistics.geometric_mean, "the geometric mean"),
    "min": _statistic(min, "the smallest number"), "max": _statistic(max, "the largest number"),
    "all": every, "any": some, "known": known, "select": select, "where": where, "first": first, "sorted": ordered,
    "zip": zipped, "numbered": numbered, "mapping": mapping, "keys": keys, "values": values, "get": get,
    "distinct": distinct, "count": count, "flat": flat, "join": join, "listed": listed,
    "both_times": both_times,
}  # fmt: skip
"""Functions of lists."""
