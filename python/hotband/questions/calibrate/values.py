"""From coordinates to values: what was found of each key of the product, in its own words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hotband.inference.interval.distribution import NUMBER
from hotband.questions.calibrate.calibrated import LEVEL, TOLD, Value
from hotband.questions.calibrate.fit import TOLD as KNOWN
from hotband.questions.calibrate.fit import Fitted
from hotband.questions.calibrate.unknowns import EDGE, Choice, Unknown, Unknowns, number_of

OUTER = 1.6449
"""The coordinate of the ends of the middle 90 % of a range (the standard normal quantile of 0.95)."""


def values_of(unknowns: Unknowns, fitted: Fitted, refused: Mapping[str, str], *, keep_all: bool = False) -> list[Value]:
    """Every uncertain value, as it was found; with `keep_all` also those that were fitted and of which next to nothing
    was told."""
    deviations = fitted.deviations
    found: list[Value] = []
    for index, number in enumerate(unknowns.numbers):
        if index in fitted.numbers:
            at = fitted.numbers.index(index)
            left = float(deviations[at])
            if left > KNOWN and not keep_all:
                found += _of_number(number, None, (-OUTER, OUTER), 1.0, refused)
                continue
            of = fitted.profiles[at]
            ends = of.quantile((1 - LEVEL) / 2), of.quantile((1 + LEVEL) / 2)
            # The point of the fit may lie beyond, where another combination of choices has a part in it.
            ends = min(ends[0], fitted.places[at]), max(ends[1], fitted.places[at])
            found += _of_number(number, float(fitted.places[at]), ends, left, refused)
        else:
            found += _of_number(number, None, (-OUTER, OUTER), 1.0, refused)
    for index, choice in enumerate(unknowns.choices):
        own = fitted.choices.index(index) if index in fitted.choices else None
        found.append(_of_choice(choice, fitted, own, refused))
    return found


def _of_number(
    of: Unknown, place: float | None, ends: tuple[float, float], left: float, refused: Mapping[str, str]
) -> list[Value]:
    low, high = dict(of.at(ends[0])), dict(of.at(ends[1]))
    value = None if place is None else dict(of.at(place))
    found = []
    for one in of.values:
        key, nominal = one.range.key, one.range.nominal
        group = of.name if len(of.values) > 1 else ""
        found.append(
            Value(
                key,
                group,
                nominal,
                str(one.range.low),
                str(one.range.high),
                nominal if value is None else value[key],
                low[key],
                high[key],
                "unknown" if value is None else "told" if left <= TOLD else "narrowed",
                left,
                at_edge=place is not None and abs(place) > EDGE,
                note=refused.get(of.name, ""),
            )
        )
    return found


def _of_choice(of: Choice, fitted: Fitted, at: int | None, refused: Mapping[str, str]) -> Value:
    """A choice is told where one option has the level, narrowed where one is ruled out."""
    prior = np.array(of.prior)
    shares = prior if at is None else np.array([fitted.posterior.probability(at, n) for n in range(len(of.options))])
    order = np.argsort(-shares, kind="stable")
    needed = int(np.searchsorted(np.cumsum(shares[order]), LEVEL) + 1)
    option = 0 if at is None else fitted.options[at]
    moved = at is not None and (option > 0 or abs(float(shares[option]) - of.prior[option]) > 0.1)
    # The best fit's option may not be the likeliest: it is one of those that are left all the same.
    left = tuple(of.options[n] for n in sorted({*order[:needed], option}))
    state = "told" if at is not None and len(left) == 1 else "narrowed" if moved else "unknown"
    low, high = _ends(of, left)
    return Value(
        of.name,
        "",
        of.options[0],
        str(of.value.range.low),
        str(of.value.range.high),
        of.options[option],
        low,
        high,
        state,  # type: ignore[arg-type]
        1.0 - float(shares.max()),
        float(shares[option]),
        left,
        note=refused.get(of.name, ""),
    )


def _ends(of: Choice, left: tuple[str, ...]) -> tuple[str, str]:
    """The ends of a range that holds the options that are left: of sizes and counts the least and the largest; of three
    policies those that the product has."""
    if NUMBER.fullmatch(left[0]) is not None:
        return min(left, key=number_of), max(left, key=number_of)
    return (left[0], left[-1]) if len(left) < len(of.options) else (str(of.value.range.low), str(of.value.range.high))
