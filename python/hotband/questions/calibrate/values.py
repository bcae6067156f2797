"""Convert coordinates to values: the result for each key of the product, in its units."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hotband.inference.interval.distribution import NUMBER
from hotband.questions.calibrate.calibrated import LEVEL, TOLD, Value
from hotband.questions.calibrate.fit import TOLD as KNOWN
from hotband.questions.calibrate.fit import Fitted
from hotband.questions.calibrate.unknowns import EDGE, Choice, Unknown, Unknowns, number_of

OUTER = 1.6449
"""Coordinate of the ends of the middle 90 % of a range (the standard normal quantile of 0.95)."""


def values_of(unknowns: Unknowns, fitted: Fitted, refused: Mapping[str, str], *, keep_all: bool = False) -> list[Value]:
    """Return every uncertain value with its result; `keep_all` uses fitted values even if the data says almost nothing
    about them."""
    deviations = fitted.deviations
    values: list[Value] = []
    for index, number in enumerate(unknowns.numbers):
        if index in fitted.numbers:
            at = fitted.numbers.index(index)
            left = float(deviations[at])
            if left > KNOWN and not keep_all:
                values += _of_number(number, None, (-OUTER, OUTER), 1.0, refused)
                continue
            profile = fitted.profiles[at]
            ends = profile.quantile((1 - LEVEL) / 2), profile.quantile((1 + LEVEL) / 2)
            # The fitted point may lie beyond, because other combinations of choices contribute.
            ends = min(ends[0], fitted.places[at]), max(ends[1], fitted.places[at])
            values += _of_number(number, float(fitted.places[at]), ends, left, refused)
        else:
            values += _of_number(number, None, (-OUTER, OUTER), 1.0, refused)
    for index, choice in enumerate(unknowns.choices):
        index_of_choice = fitted.choices.index(index) if index in fitted.choices else None
        values.append(_of_choice(choice, fitted, index_of_choice, refused))
    return values


def _of_number(
    number: Unknown, coordinate: float | None, ends: tuple[float, float], left: float, refused: Mapping[str, str]
) -> list[Value]:
    low, high = dict(number.at(ends[0])), dict(number.at(ends[1]))
    value = None if coordinate is None else dict(number.at(coordinate))
    values = []
    for uncertain in number.values:
        key, nominal = uncertain.range.key, uncertain.range.nominal
        group = number.name if len(number.values) > 1 else ""
        values.append(
            Value(
                key,
                group,
                nominal,
                str(uncertain.range.low),
                str(uncertain.range.high),
                nominal if value is None else value[key],
                low[key],
                high[key],
                "unknown" if value is None else "told" if left <= TOLD else "narrowed",
                left,
                at_edge=coordinate is not None and abs(coordinate) > EDGE,
                note=refused.get(number.name, ""),
            )
        )
    return values


def _of_choice(choice: Choice, fitted: Fitted, at: int | None, refused: Mapping[str, str]) -> Value:
    """Return a choice: "told" if one option reaches the level, "narrowed" if one is ruled out."""
    prior = np.array(choice.prior)
    shares = (
        prior if at is None else np.array([fitted.posterior.probability(at, n) for n in range(len(choice.options))])
    )
    order = np.argsort(-shares, kind="stable")
    needed = int(np.searchsorted(np.cumsum(shares[order]), LEVEL) + 1)
    option = 0 if at is None else fitted.options[at]
    moved = at is not None and (option > 0 or abs(float(shares[option]) - choice.prior[option]) > 0.1)
    # The best fit's option may not be the likeliest: it remains in any case.
    left = tuple(choice.options[n] for n in sorted({*order[:needed], option}))
    state = "told" if at is not None and len(left) == 1 else "narrowed" if moved else "unknown"
    low, high = _ends(choice, left)
    return Value(
        choice.name,
        "",
        choice.options[0],
        str(choice.value.range.low),
        str(choice.value.range.high),
        choice.options[option],
        low,
        high,
        state,  # type: ignore[arg-type]
        1.0 - float(shares.max()),
        float(shares[option]),
        left,
        note=refused.get(choice.name, ""),
    )


def _ends(choice: Choice, left: tuple[str, ...]) -> tuple[str, str]:
    """Return the ends of a range of the remaining options: for sizes and counts the least and the largest; for three
    policies those of the product."""
    if NUMBER.fullmatch(left[0]) is not None:
        return min(left, key=number_of), max(left, key=number_of)
    return (
        (left[0], left[-1])
        if len(left) < len(choice.options)
        else (str(choice.value.range.low), str(choice.value.range.high))
    )
