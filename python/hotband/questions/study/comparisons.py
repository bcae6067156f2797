"""Figures of two configurations, or of one against the mean of several: how much faster, how many percent."""

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
    "ratio": lambda of, over: of / over,
    "inverse_ratio": lambda of, over: over / of,
    "gain_pct": lambda of, over: (of / over - 1) * 100,
    "reduction_pct": lambda of, over: (1 - of / over) * 100,
    "difference": lambda of, over: of - over,
}
UNITS = {"ratio": "x", "inverse_ratio": "x", "gain_pct": "%", "reduction_pct": "%"}
NEVER_BELOW = {
    "ratio": "expected a ratio, 0 or more",
    "inverse_ratio": "expected a ratio, 0 or more",
    "gain_pct": "expected a gain of -100 % or more",
    "reduction_pct": "expected a reduction of at most 100 %",
}
"""What is accepted of kinds of which not every number can be: what is compared is never below zero."""


def compare(kind: str, of: Value, over: Value) -> Value:
    """One configuration's value against another's; None where either has none."""
    note = " ".join(dict.fromkeys(one.note for one in (of, over) if one.note))
    below = of.number if kind == "inverse_ratio" else over.number
    if of.number is None or over.number is None or (below == 0 and kind != "difference"):
        return Value(None, note)
    return Value(KINDS[kind](of.number, over.number), note)


def mean(values: Sequence[Value]) -> Value:
    """The plain mean of several configurations; None where one of them has no number."""
    note = " ".join(dict.fromkeys(value.note for value in values if value.note))
    numbers = [value.number for value in values if value.number is not None]
    return Value(sum(numbers) / len(numbers) if len(numbers) == len(values) else None, note)


def rates_apart(gain_pct: float | None, reduction_pct: float | None) -> float | None:
    """How many times as fast one of two others is as the other, if both percentages are against plain means.

    With rates a and b of the others and clients that wait for each answer, the mean of the rates is (a + b) / 2 and the
    mean latency follows (1 / a + 1 / b) / 2. So (1 + gain) (1 - reduction) = 4 a b / (a + b)^2; None where that is
    above 1, which no two rates give.
    """
    if gain_pct is None or reduction_pct is None:
        return None
    product = (1 + gain_pct / 100) * (1 - reduction_pct / 100)
    if product > 1:
        return None
    root = math.sqrt(1 - product)
    return (1 + root) / (1 - root)


def error_of(kind: str, published: float | None, predicted: float | None) -> float | None:
    """Error in percent. A gain or a reduction is scored by the ratio that it stands for: a predicted gain of 2 % is not
    half of a published one of 4 %, it is 2 % short of it."""
    if kind not in RATIOS or published is None or predicted is None:
        return error_pct(published, predicted)
    return error_pct(RATIOS[kind](published), RATIOS[kind](predicted))


def figure_of(study: Study, one: Comparison, value: Value) -> ComparisonFigure:
    """The figure of a comparison, beside its published row where it has one."""
    rows: Mapping[str, Published] = {row.id: row for row in study.published}
    row, measure, load = rows.get(one.id), study.measure(one.measure), study.load(one.load)
    published = None
    if row is not None:
        published = row.value if one.reading is None else one.reading
    return {
        "id": one.id,
        "config": row.config if row else one.config or _named(study, one),
        "label": one.label or load.label,
        "workload": row.workload if row else load.published,
        "metric": one.metric or (row.metric if row else f"{measure.metric}, {one.kind.replace('_', ' ')}"),
        "published": published,
        "unit": one.unit or (row.unit if row else UNITS.get(one.kind, measure.unit)),
        "predicted": value.number,
        "error": error_of(one.kind, published, value.number),
        "source": row.id if row else "not published, or withheld",
        "caveat": row.caveat if row else "",
        "note": value.note,
        "group": load.group or load.label,
    }


def _named(study: Study, one: Comparison) -> str:
    labels = {config.id: config.label for config in study.configs}
    others = " and ".join(labels[name] for name in one.over)
    return f"{labels[one.of]} against {'the mean of ' if len(one.over) > 1 else ''}{others}"
