"""Steady state of rounds by the rule of the PTS (`hotband.data.record.steady`), with the line that its plots draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

import hotband._core as _core
from hotband.data.documents.pts import TrackedDoc, WindowDoc
from hotband.data.record.steady import is_steady, rule
from hotband.questions.suites.figures import Round

Value = Callable[[Round], float]


def tracked(name: str, unit: str, rounds: Sequence[Round], value: Value, last: int | None = None) -> TrackedDoc:
    """Return a variable over rounds. If several are tracked together, the window is that of the round `last`."""
    values = [value(round_) for round_ in rounds]
    state = rule(values)
    end = last or state["round"] or len(values)
    return {
        "name": name,
        "unit": unit,
        "reached": is_steady(values[:end]) if last else state["reached"],
        "rounds": values,
        "window": window(values, end),
    }


def all_steady(values: Sequence[Value]) -> Callable[[Sequence[Round]], bool]:
    """Return whether the last five rounds are steady in all of several variables."""
    return lambda rounds: all(is_steady([value(round_) for round_ in rounds]) for value in values)


def window(values: Sequence[float], last: int) -> WindowDoc | None:
    """Return the five rounds that end with `last` (from 1), with the least-squares line; None if there are fewer."""
    if last < _core.STEADY_WINDOW:
        return None
    first = last - _core.STEADY_WINDOW + 1
    inside = list(values[first - 1 : last])
    judged = rule(inside)
    mean, middle = fmean(inside), (first + last) / 2
    numbers = range(first, last + 1)
    spread = sum((n - middle) ** 2 for n in numbers)
    slope = sum((n - middle) * (value - mean) for n, value in zip(numbers, inside, strict=True)) / spread
    return {
        "first": first,
        "last": last,
        "mean": mean,
        "range_pct": judged["range_pct"] or 0.0,
        "slope_pct": judged["slope_pct"] or 0.0,
        "slope_per_round": slope,
        "intercept": mean - slope * middle,
        # Half of the allowed range on either side of the mean: the 110 and 90 % of the specification's plots.
        "high": mean * (1 + _core.STEADY_RANGE_PCT / 200),
        "low": mean * (1 - _core.STEADY_RANGE_PCT / 200),
    }
