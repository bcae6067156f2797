"""What a calibration has to find out: the uncertain values of a product, as coordinates.

A number has a coordinate of which the prior is the standard normal distribution: the value is the quantile of its
stated range (`hotband.inference.interval.distribution`) at the normal share of the coordinate. So a range is never
left, and the prior costs the square of the coordinate, whatever the shape of the range. A policy or a size that is
built in steps is a choice among its ends, with the prior of `distribution`. Values that intervals draw together are one
unknown here too.

What it leaves out: all other correlation of values before anything is measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.inference.interval.distribution import NOMINAL_SHARE, NUMBER, SCALES
from hotband.inference.interval.uncertain import Uncertain, of_product

if TYPE_CHECKING:
    from hotband.base.arrays import Floats


Setting = tuple[str, str]
FARTHEST = 3.0
"""The coordinate of the ends, as far as a fit goes: 99.7 % of the prior lie between. A triangle has next to nothing
beyond."""
EDGE = 2.0
"""A fitted value beyond this coordinate, where 4.6 % of the prior lie, is at the edge of its range, which is said."""
# What no short measurement of a drive in use can show: wear over its life, and how well data compresses.
NEVER_TOLD = ("retry_growth", "rated_cycles", "cycle_spread", "wear_gap", "compression_", "decompression_time")

STEPS = ("program_pass",)
"""Sizes that are made in steps which are no powers of two: planes times pages times bits of a cell. A choice."""


@dataclass(frozen=True)
class Unknown:
    """One number that is not known, or several that are drawn together. `keys` are those of the product."""

    name: str
    values: tuple[Uncertain, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys in the product's file."""
        return tuple(value.range.key for value in self.values)

    def at(self, place: float) -> tuple[Setting, ...]:
        """Its values at a coordinate, as a run is set to."""
        return tuple((value.range.key, str(value.at(share_of(place)))) for value in self.values)

    def place_of(self, key: str, value: str) -> float:
        """The coordinate at which one of its values is what a text says; the nearest end where it is outside."""
        from scipy.optimize import brentq

        [of] = [one for one in self.values if one.range.key == key]
        wanted = number_of(value)

        def off(place: float) -> float:
            return number_of(str(of.at(share_of(place)))) - wanted

        if off(-FARTHEST) >= 0:
            return -FARTHEST
        return FARTHEST if off(FARTHEST) <= 0 else float(brentq(off, -FARTHEST, FARTHEST, xtol=1e-3))


@dataclass(frozen=True)
class Choice:
    """A value that is one of a few; the first option is as the product has it. `prior` are their probabilities."""

    name: str
    value: Uncertain
    options: tuple[str, ...]
    prior: tuple[float, ...]

    def at(self, option: int) -> tuple[Setting, ...]:
        """The option, as a run is set to."""
        return ((self.value.range.key, self.options[option]),)


@dataclass(frozen=True)
class Unknowns:
    """All of a product."""

    numbers: tuple[Unknown, ...]
    choices: tuple[Choice, ...]

    def settings(self, places: Floats, options: Sequence[int]) -> tuple[Setting, ...]:
        """The values at coordinates and with chosen options. Those whose coordinate is not a number stay as the product
        has them."""
        found: dict[str, str] = {}
        for number, place in zip(self.numbers, places, strict=True):
            if not math.isnan(place):
                found |= dict(number.at(float(place)))
        for choice, option in zip(self.choices, options, strict=True):
            if option:
                found |= dict(choice.at(option))
        return tuple(found.items())

    def only(self, numbers: Sequence[int], choices: Sequence[int]) -> Unknowns:
        """Some of them, by their places."""
        return Unknowns(tuple(self.numbers[n] for n in numbers), tuple(self.choices[n] for n in choices))


def unknowns_of(product: str, held: Mapping[str, str]) -> Unknowns:
    """The uncertain values of a product that a measurement could tell, without those held. Raises UserError where there
    is no such product."""
    groups: dict[str, list[Uncertain]] = {}
    choices = []
    for one in of_product(product, set(held)):
        if one.range.key.startswith(NEVER_TOLD):
            continue
        if one.distribution.kind == "choice" or one.range.key in STEPS:
            choices.append(_choice(one))
        else:
            groups.setdefault(one.group.rpartition(": ")[2], []).append(one)
    return Unknowns(tuple(Unknown(name, tuple(of)) for name, of in groups.items()), tuple(choices))


def _choice(of: Uncertain) -> Choice:
    texts = [str(of.range.low), str(of.range.high)]
    others = [text for text in dict.fromkeys(texts) if text != of.range.nominal]
    each = (1 - NOMINAL_SHARE) / len(others)
    return Choice(of.range.key, of, (of.range.nominal, *others), (NOMINAL_SHARE, *([each] * len(others))))


def share_of(place: float) -> float:
    """The normal share below a coordinate."""
    return 0.5 * math.erfc(-min(max(place, -FARTHEST), FARTHEST) / math.sqrt(2))


def number_of(text: str) -> float:
    """The number of a value in its base unit."""
    found = NUMBER.fullmatch(text.strip())
    assert found is not None, "values with a coordinate are numbers"
    kind = next((name for name, units in SCALES.items() if found[2] in units), None)
    return _core.quantity(kind, text) if kind else float(found[1].replace("_", ""))
