"""Figures of two configurations, or of one against the mean of several: ratios, gains, differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.inference.interval.figures import RATIOS
from hotband.questions.study.definition import Comparison, Published, Study
from hotband.questions.study.measures import Value, error_pct

if TYPE_CHECKING:
    from hotband.data.documents.study import ComparisonFigure

KINDS: dict[str, Callable[[float, float], float]] = {
    "ratio": lambda value, over: value / over,
    "inverse_ratio": lambda value, over: over / value,
    "gain_pct": lambda value, over: (value / over - 1) * 100,
    "reduction_pct": lambda value, over: (1 - value / over) * 100,
    "difference": lambda value, over: value - over,
}
UNITS = {"ratio": "x", "inverse_ratio": "x", "gain_pct": "%", "reduction_pct": "%"}
NEVER_BELOW = {
    "ratio": "expected a ratio, 0 or more",
    "inverse_ratio": "expected a ratio, 0 or more",
    "gain_pct": "expected a gain of -100 % or more",
    "reduction_pct": "expected a reduction of at most 100 %",
}
"""Accepted values of kinds with a bound: the compared values are never below zero."""


def compare(kind: str, side: Value, over: Value) -> Value:
    """Compare one configuration's value with another's; None if either has none."""
    note = " ".join(dict.fromkeys(value.note for value in (side, over) if value.note))
    below = side.number if kind == "inverse_ratio" else over.number
    if side.number is None or over.number is None or (below == 0 and kind != "difference"):
        return Value(None, note)
    return Value(KINDS[kind](side.number, over.number), note)


def mean(values: Sequence[Value]) -> Value:
    """Return the plain mean of several configurations; None if one of them has no number."""
    note = " ".join(dict.fromkeys(value.note for value in values if value.note))
    numbers = [value.number for value in values if value.number is not None]
    return Value(sum(numbers) / len(numbers) if len(numbers) == len(values) else None, note)


def rates_apart(gain_pct: float | None, reduction_pct: float | None) -> float | None:
    """Return how many times faster one of two other configurations is, if both percentages are against plain means.

    With rates a and b of the others and clients that wait for each completion, the mean of the rates is (a + b) / 2 and
    the mean latency follows (1 / a + 1 / b) / 2. Therefore (1 + gain) (1 - reduction) = 4 a b / (a + b)^2; None if that
    is above 1, which no two rates give.
    """
    if gain_pct is None or reduction_pct is None:
        return None
    product = (1 + gain_pct / 100) * (1 - reduction_pct / 100)
    if product > 1:
        return None
    root = math.sqrt(1 - product)
    return (1 + root) / (1 - root)


def error_of(kind: str, published: float | None, predicted: float | None) -> float | None:
    """Return the error in percent. A gain or a reduction is scored by its ratio: a predicted gain of 2 % is not half of
    a published one of 4 %, it is 2 % short of it."""
    if kind not in RATIOS or published is None or predicted is None:
        return error_pct(published, predicted)
    return error_pct(RATIOS[kind](published), RATIOS[kind](predicted))


def figure_of(study: Study, comparison: Comparison, value: Value) -> ComparisonFigure:
    """Return the figure of a comparison, with its published row if it has one."""
    rows: Mapping[str, Published] = {row.id: row for row in study.published}
    row, measure, load = rows.get(comparison.id), study.measure(comparison.measure), study.load(comparison.load)
    published = None
    if row is not None:
        published = row.value if comparison.reading is None else comparison.reading
    return {
        "id": comparison.id,
        "config": row.config if row else comparison.config or _named(study, comparison),
        "label": comparison.label or load.label,
        "workload": row.workload if row else load.published,
        "metric": comparison.metric
        or (row.metric if row else f"{measure.metric}, {comparison.kind.replace('_', ' ')}"),
        "published": published,
        "unit": comparison.unit or (row.unit if row else UNITS.get(comparison.kind, measure.unit)),
        "predicted": value.number,
        "error": error_of(comparison.kind, published, value.number),
        "source": row.id if row else "not published, or withheld",
        "caveat": row.caveat if row else "",
        "note": value.note,
        "group": load.group or load.label,
    }


def _named(study: Study, comparison: Comparison) -> str:
    labels = {config.id: config.label for config in study.configs}
    others = " and ".join(labels[name] for name in comparison.over)
    return f"{labels[comparison.of]} against {'the mean of ' if len(comparison.over) > 1 else ''}{others}"
