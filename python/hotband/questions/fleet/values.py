"""Values of a fleet with their units: a number, or a range of which only the two ends are known.

A value with two ends is sampled once per repetition, evenly between them; equal texts for the same property (the AFR of
one product in two groups) get the same number, because the same value is unknown.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hotband.base.arrays import Floats
from hotband.base.text.amounts import AmbiguousAmount, amount
from hotband.base.text.quantities import share
from hotband.inference.reliability.array import HOURS_PER_YEAR

if TYPE_CHECKING:
    from hotband.base.text.tomltable import TomlTable
    from hotband.base.text.values import Toml


MONTH_HOURS = HOURS_PER_YEAR / 12
"""Hours of a month: a twelfth of the year of 365 days to which AFR refers."""
HOURS = {"min": 1 / 60, "h": 1.0, "d": 24.0, "months": MONTH_HOURS, "years": HOURS_PER_YEAR}
HOURS_EXPECTED = 'a time with its unit (min, h, d, months or years), such as "36 h" or "14 d"'
NUMBER = r"\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)"
MOST_HOURS = 1e9
"""Longest accepted time, beyond the life of any drive."""


def hours(text: str) -> float | None:
    """Return the hours of a time above zero; None for another text."""
    match = re.fullmatch(rf"{NUMBER}\s*(min|h|d|months?|years?)\s*", text)
    if match is None:
        return None
    unit = match[2] if match[2] in HOURS else f"{match[2]}s"
    value = float(match[1]) * HOURS[unit]
    return value if 0 < value <= MOST_HOURS else None


def afr_rate(text: str) -> float | None:
    """Return failures per hour of a drive from the share that fails in a year (AFR = 1 - exp(-8760 h x rate)); None for
    another text."""
    chance = share(text) if "%" in text else None
    if chance is None or not 1e-9 <= chance < 1:
        return None
    return -float(np.log1p(-chance)) / HOURS_PER_YEAR


def percent(text: str) -> float | None:
    """Return a share from 0 to 100 %; None for another text."""
    parsed = share(text) if "%" in text else None
    return parsed if parsed is not None and parsed <= 1 else None


def money(text: str) -> tuple[float, str] | None:
    """Return an amount and its currency. Raises AmbiguousAmount: "1.150 EUR" has two readings."""
    plain = re.fullmatch(r"\s*(.*[0-9])\s*([A-Za-z]{1,12}|[€$£¥])\s*", text)
    if plain is None:
        return None
    power = re.fullmatch(r"\d+(?:\.\d+)?[eE][+-]?\d{1,2}", plain[1])
    parsed = float(power[0]) if power else amount(plain[1])
    return None if parsed is None else (parsed, plain[2])


@dataclass(frozen=True)
class Value:
    """A number between `low` and `high` (in the unit of its key); `stream` names the unknown value, so that it has the
    same samples wherever it occurs. `source` is its origin."""

    low: float
    high: float
    stream: str = ""
    source: str = ""

    @property
    def is_known(self) -> bool:
        """Whether it is a single number."""
        return self.low == self.high

    @property
    def middle(self) -> float:
        """The middle of the range, as a single number."""
        return (self.low + self.high) / 2

    def draws(self, seed: int, count: int) -> Floats:
        """Sample the values of the first `count` repetitions [count]; more repetitions begin with the same ones."""
        if self.is_known:
            return np.full(count, self.low)
        return np.asarray(self.low + (self.high - self.low) * uniform(seed, self.stream, count))


def uniform(seed: int, name: str, count: int) -> Floats:
    """Return uniform numbers of a named stream [count]; longer ones begin with the same numbers."""
    return generator(seed, name).random(count)


def generator(seed: int, name: str, repetition: int = 0) -> np.random.Generator:
    """Return the random generator of a part of a repetition, by its name: a new part does not shift the others."""
    root = np.random.SeedSequence([seed, repetition, zlib.crc32(name.encode())])
    return np.random.Generator(np.random.PCG64(root))


Parse = Callable[[str], float | None]


def value_of(table: TomlTable, name: str, parse: Parse, expected: str, stream: str | None = None) -> Value | None:
    """Read a value, or the two ends of one (`["1 %", "2 %"]`); None if absent. Raises UserError."""
    raw = table.raw(name)
    if raw is None:
        return None
    ends = raw if isinstance(raw, list) else [raw]
    accepted = f'expected {expected}, or its two ends, as ["...", "..."]'
    if len(ends) not in (1, 2) or (isinstance(raw, list) and len(ends) == 1):
        table.refuse(name, accepted)
    bounds = [one_value(table, name, end, parse, accepted) for end in ends]
    if bounds[-1] < bounds[0]:
        table.refuse(name, "expected the lower end first")
    source = str(table.key(name))
    return Value(bounds[0], bounds[-1], source if stream is None else f"{stream} {raw}", source)


def one_value(table: TomlTable, name: str, text: Toml, parse: Parse, accepted: str) -> float:
    """Read one value of text. Raises UserError."""
    try:
        parsed = parse(text) if isinstance(text, str) else None
    except AmbiguousAmount as error:
        table.refuse(name, str(error), text)
    if parsed is None:
        table.refuse(name, accepted, text)
    return parsed


def numbers_of(table: TomlTable, name: str, least: float, most: float, expected: str) -> Value | None:
    """Read a plain number or the two ends of one; None if absent. Raises UserError."""
    raw = table.raw(name)
    if raw is None:
        return None
    ends = raw if isinstance(raw, list) else [raw]
    ok = len(ends) == (2 if isinstance(raw, list) else 1)
    bounds = [float(end) for end in ends if isinstance(end, int | float) and not isinstance(end, bool)]
    if (
        not ok
        or len(bounds) != len(ends)
        or not all(least <= bound <= most for bound in bounds)
        or bounds[-1] < bounds[0]
    ):
        table.refuse(name, f"expected {expected} from {least:g} to {most:g}, or its two ends, as [1.1, 1.4]")
    return Value(bounds[0], bounds[-1], table.key(name), table.key(name))
