"""Unknowns of a calibration: the uncertain values of a product, as coordinates.

A number has a coordinate with the standard normal distribution as prior: the value is the quantile of its stated range
(`hotband.inference.interval.distribution`) at the normal share of the coordinate. Therefore a value never leaves its
range, and the prior costs the square of the coordinate, whatever the shape of the range. A policy or a size in steps is
a choice among its ends, with the prior of `distribution`. Values that intervals sample together are one unknown here,
too.

Left out: all other correlation of values before any measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.data.catalog.entries import drive
from hotband.inference.interval.distribution import NOMINAL_SHARE, NUMBER, SCALES
from hotband.inference.interval.uncertain import Uncertain, of_product, of_value

if TYPE_CHECKING:
    from hotband.base.arrays import Floats


Setting = tuple[str, str]
FARTHEST = 3.0
"""Coordinate of the ends of a fit: 99.7 % of the prior lie between. A triangle has almost nothing beyond."""
EDGE = 2.0
"""A fitted value beyond this coordinate, where 4.6 % of the prior lie, is reported as at the edge of its range."""
# Values that a short measurement of a drive in use cannot show: wear over its life, and compression.
NEVER_TOLD = ("retry_growth", "rated_cycles", "cycle_spread", "wear_gap", "compression_", "decompression_time")

SEEKS = ("seek_read_average", "seek_write_average")
SEEK_FACTOR = 1.4
"""Times of a data sheet without a range are averages of a family, and what decides most about random I/Os: they are
fitted within this factor. Three deviations of a tenth each, the prior of fits to traces, are a factor of 1.35."""
STEPS = ("program_pass",)
"""Sizes in steps that are not powers of two (planes times pages times bits of a cell), which are choices."""


@dataclass(frozen=True)
class Unknown:
    """An unknown number, or several that are sampled together."""

    name: str
    values: tuple[Uncertain, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of its values in the product's file."""
        return tuple(value.range.key for value in self.values)

    def at(self, coordinate: float) -> tuple[Setting, ...]:
        """Return its values at a coordinate as settings of a run."""
        return tuple((value.range.key, str(value.at(share_of(coordinate)))) for value in self.values)

    def place_of(self, key: str, value: str) -> float:
        """Return the coordinate at which one of its values has a given text; the nearest end if it is outside."""
        from scipy.optimize import brentq

        [uncertain] = [candidate for candidate in self.values if candidate.range.key == key]
        wanted = number_of(value)

        def off(coordinate: float) -> float:
            return number_of(str(uncertain.at(share_of(coordinate)))) - wanted

        if off(-FARTHEST) >= 0:
            return -FARTHEST
        return FARTHEST if off(FARTHEST) <= 0 else float(brentq(off, -FARTHEST, FARTHEST, xtol=1e-3))


@dataclass(frozen=True)
class Choice:
    """A value with a few options; the first is that of the product. `prior` has their probabilities."""

    name: str
    value: Uncertain
    options: tuple[str, ...]
    prior: tuple[float, ...]

    def at(self, option: int) -> tuple[Setting, ...]:
        """Return the option as settings of a run."""
        return ((self.value.range.key, self.options[option]),)


@dataclass(frozen=True)
class Unknowns:
    """All unknowns of a product."""

    numbers: tuple[Unknown, ...]
    choices: tuple[Choice, ...]

    def settings(self, places: Floats, options: Sequence[int]) -> tuple[Setting, ...]:
        """Return the values at coordinates and with chosen options. Numbers with the coordinate NaN keep the product's
        values."""
        by_key: dict[str, str] = {}
        for number, coordinate in zip(self.numbers, places, strict=True):
            if not math.isnan(coordinate):
                by_key |= dict(number.at(float(coordinate)))
        for choice, option in zip(self.choices, options, strict=True):
            if option:
                by_key |= dict(choice.at(option))
        return tuple(by_key.items())

    def only(self, numbers: Sequence[int], choices: Sequence[int]) -> Unknowns:
        """Return some of the unknowns, by index."""
        return Unknowns(tuple(self.numbers[n] for n in numbers), tuple(self.choices[n] for n in choices))


def unknowns_of(product: str, held: Mapping[str, str]) -> Unknowns:
    """Return the uncertain values of a product that a measurement could determine, without fixed ones. Raises UserError
    for an unknown product."""
    groups: dict[str, list[Uncertain]] = {}
    choices = []
    for uncertain in (*of_product(product, set(held)), *_seeks(product, held)):
        if uncertain.range.key.startswith(NEVER_TOLD):
            continue
        if uncertain.distribution.kind == "choice" or uncertain.range.key in STEPS:
            choices.append(_choice(uncertain))
        else:
            groups.setdefault(uncertain.group.rpartition(": ")[2], []).append(uncertain)
    return Unknowns(tuple(Unknown(name, tuple(members)) for name, members in groups.items()), tuple(choices))


def _seeks(product: str, held: Mapping[str, str]) -> list[Uncertain]:
    """Return the mean seek times of a disk that have no range."""
    seeks = []
    for value in drive(product)["values"]:
        if value["key"] in SEEKS and not value["range"] and value["key"] not in held:
            ms = 1000 * number_of(value["value"])
            ends = (f"{ms / SEEK_FACTOR:.4g} ms", f"{ms * SEEK_FACTOR:.4g} ms")
            seeks.append(of_value(product, {**value, "range": ends}))
    return [uncertain for uncertain in seeks if uncertain is not None]


def _choice(uncertain: Uncertain) -> Choice:
    texts = [str(uncertain.range.low), str(uncertain.range.high)]
    others = [text for text in dict.fromkeys(texts) if text != uncertain.range.nominal]
    each = (1 - NOMINAL_SHARE) / len(others)
    return Choice(
        uncertain.range.key, uncertain, (uncertain.range.nominal, *others), (NOMINAL_SHARE, *([each] * len(others)))
    )


def share_of(coordinate: float) -> float:
    """Return the normal share below a coordinate."""
    return 0.5 * math.erfc(-min(max(coordinate, -FARTHEST), FARTHEST) / math.sqrt(2))


def number_of(text: str) -> float:
    """Return the number of a value in its base unit."""
    match = NUMBER.fullmatch(text.strip())
    assert match is not None, "values with a coordinate are numbers"
    kind = next((name for name, units in SCALES.items() if match[2] in units), None)
    return _core.quantity(kind, text) if kind else float(match[1].replace("_", ""))
