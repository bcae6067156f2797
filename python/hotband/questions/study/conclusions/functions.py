"""Functions of numbers, lists and texts that expressions of a study may call."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from hotband.questions.study import wording
from hotband.questions.study.comparisons import rates_apart
from hotband.questions.study.conclusions.values import RefusedValueError, Value, flat, is_number, kind_of

SPEC = r"\+?,?(\.[0-9])?[dfg%]"
"""What `form` takes: Python's format of a number without a width."""


def _numbers(values: Value) -> list[Any] | None:
    """The numbers of lists in lists; None where there is none, or one is missing."""
    found = flat(values)
    for one in found:
        if one is not None and not is_number(one):
            raise RefusedValueError(f"has {kind_of(one)} among numbers")
    return found if found and all(one is not None for one in found) else None


def _statistic(of: Callable[[list[Any]], float]) -> Callable[[Value], Value]:
    def statistic(values: Value) -> Value:
        numbers = _numbers(values)
        return None if numbers is None else of(numbers)

    return statistic


def total(values: Value) -> Value:
    """The sum of numbers; None where one is missing, 0 of nothing."""
    numbers = _numbers(values)
    return 0 if not flat(values) else None if numbers is None else sum(numbers)


def every(values: Value) -> bool | None:
    """Whether all of a list are true; None where that is not known of one, and none is false."""
    found = flat(values)
    return False if any(one is False for one in found) else None if None in found else all(found)


def some(values: Value) -> bool:
    """Whether one of a list is true."""
    return any(flat(values))


def absolute(value: Value) -> Value:
    """The size of a number."""
    return None if value is None else abs(value)


def rounded(value: Value, digits: int | None = None) -> Value:
    """A number rounded to a whole one, or to so many digits after the point."""
    return None if value is None else round(value, digits)


def root(value: Value) -> Value:
    """The square root; None below zero."""
    return None if value is None or value < 0 else math.sqrt(value)


def number(text: Value) -> Value:
    """A text as a number, such as a setting of a load; None where it is none."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def filled(value: Value, other: Value) -> Value:
    """The value, or the other where it is missing."""
    return other if value is None else value


def known(values: Value) -> list[Value]:
    """Those of a list that are not missing."""
    return [one for one in _listed(values) if one is not None]


def select(values: Value, chosen: Value) -> list[Value]:
    """Those of a list whose place in `chosen` is true."""
    return [one for one, flag in zip(_listed(values), _listed(chosen), strict=True) if flag]


def where(values: Value, **matching: Value) -> list[Value]:
    """Those mappings of a list that have these items."""
    return [one for one in _listed(values) if all(get(one, key) == item for key, item in matching.items())]


def first(values: Value) -> Value:
    """The first of a list; None where it is empty."""
    return next(iter(_listed(values)), None)


def ranked(values: Value, by: Value = None, descending: bool = False) -> list[Value]:
    """A list in order, or in that of the numbers in `by`. Equals stay as they are."""
    items = _listed(values)
    keys = items if by is None else _listed(by)
    places = sorted(range(len(items)), key=keys.__getitem__, reverse=descending)
    return [items[at] for at in places]


def paired(*lists: Value) -> list[list[Value]]:
    """First items together, then second ones, and so on."""
    return [list(one) for one in zip(*map(_listed, lists), strict=True)]


def numbered(values: Value) -> list[list[Value]]:
    """Each item with its number, from 1."""
    return [[at, one] for at, one in enumerate(_listed(values), start=1)]


def mapping(keys: Value, values: Value) -> Mapping[Value, Value]:
    """A mapping of keys to values."""
    return dict(zip(_listed(keys), _listed(values), strict=True))


def keys(of: Value) -> list[Value]:
    """The keys of a mapping."""
    return list(of)


def values(of: Value) -> list[Value]:
    """The values of a mapping."""
    return list(of.values())


def get(of: Value, key: Value, other: Value = None) -> Value:
    """An item of a mapping, or the other where it has none of that key."""
    return of.get(key, other) if isinstance(of, Mapping) else other


def distinct(values: Value) -> list[Value]:
    """A list without what is in it already."""
    return list(dict.fromkeys(_listed(values)))


def count(values: Value) -> int:
    """The number of items of a list, or of characters of a text."""
    return len(values)


def split(text: str, at: str) -> list[str]:
    """Parts of a text."""
    return str(text).split(at)


def starts_with(text: str, begin: str) -> bool:
    """Whether a text begins with another."""
    return str(text).startswith(begin)


def lower(text: str) -> str:
    """A text in small letters."""
    return str(text).lower()


def capital(text: str) -> str:
    """A text with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def join(values: Value, between: str = "") -> str:
    """Texts and numbers of a list as one text."""
    return between.join(str(wording.DASH if one is None else one) for one in _listed(values))


def form(value: Value, spec: str) -> str:
    """A number by Python's format specification (`+.0%`, `,.0f`); a dash where it is missing."""
    if not re.fullmatch(SPEC, spec):
        raise RefusedValueError(f'has the format "{spec}"; expected one such as ",.0f", "+.1f", ".3g" or "+.0%"')
    return wording.DASH if value is None else format(value, spec)


def _listed(values: Value) -> list[Value]:
    if not isinstance(values, list | tuple):
        raise RefusedValueError(f"has {kind_of(values)}; expected a list")
    return list(values)


SINGLE: dict[str, Callable[..., Value]] = {
    "abs": absolute, "round": rounded, "sqrt": root, "number": number, "filled": filled, "split": split,
    "starts_with": starts_with, "lower": lower, "capital": capital, "form": form, "rates_apart": rates_apart,
    "quantity": wording.quantity, "beside": wording.beside, "times": wording.times, "change": wording.change,
    "more": wording.more, "percent": wording.percent, "of_percent": wording.of_percent,
}  # fmt: skip
"""Functions of single values."""

OF_LISTS: dict[str, Callable[..., Value]] = {
    "sum": total, "mean": _statistic(statistics.mean), "median": _statistic(statistics.median),
    "geometric_mean": _statistic(statistics.geometric_mean), "min": _statistic(min), "max": _statistic(max),
    "all": every, "any": some, "known": known, "select": select, "where": where, "first": first,
    "ranked": ranked, "paired": paired, "numbered": numbered, "mapping": mapping, "keys": keys, "values": values,
    "get": get, "distinct": distinct,
    "count": count, "flat": flat, "join": join, "listed": wording.listed, "both_times": wording.both_times,
}  # fmt: skip
"""Functions of lists."""
