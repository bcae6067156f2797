"""First sentence of a comparison, on the terminal and on the page: which side is faster and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.base.text.numbers import number, percent, span
from hotband.inference.audit.difference import FASTER, NONE, SLOWER, Difference

if TYPE_CHECKING:
    from hotband.inference.audit.compare import Comparison

MULTIPLE = 2.0
"""Ratio from which a multiple reads better than percent."""


UNKNOWN_SPREAD = "One run each: how much runs differ is unknown. Repeat each twice to be sure."


def headline(comparison: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return the verdict in words; `names` describes the runs of sides that are named by an id."""
    sentence, *further = verdict_of(comparison, names)
    unlike = [f"Not the same load: {words}." for words in comparison.unlike]
    return " ".join([*(f"{words}." for words in comparison.troubles), sentence, *further, *unlike])


def verdict_of(comparison: Comparison, names: Mapping[str, str] | None = None) -> list[str]:
    """Return the verdict as a sentence, and one more if it may change with repeats; a contradiction comes first."""
    named = names or {}
    a, b = (
        f"{side.name} ({named[side.name]})" if side.name in named else side.name
        for side in (comparison.a, comparison.b)
    )
    row = comparison.deciding
    if row is None:
        return [f"{b} and {a} cannot be compared: they share no metric."]
    is_model = all(run.is_model for side in (comparison.a, comparison.b) for run in side.runs)
    sentences = _sentences(a, b, row, "is predicted to be" if is_model else "is")
    if comparison.contradicted:
        return [f"No verdict: {comparison.contradicted[0]}.", f"As printed: {sentences[0]}", *sentences[1:]]
    return sentences


def _sentences(a: str, b: str, row: Difference, be: str) -> list[str]:
    values = _values(row)
    if row.verdict in (FASTER, SLOWER):
        sentence = f"{b} {be} {_by(row)} {row.verdict} than {a} ({values}{_interval(row)})."
        return [sentence] if row.low_pct is not None else [sentence, UNKNOWN_SPREAD]
    figure = "in IOPS" if row.metric == "IOPS" else f"of {row.metric}"
    if row.verdict == NONE:
        no_difference = f"No difference {figure} is shown between {a} and {b} ({values}{_interval(row)})"
        return [f"{no_difference}." if row.low_pct is not None else f"{no_difference}: {row.how}."]
    return [f"Not enough data for a verdict on {b} against {a} ({values}): {row.how}."]


def _values(row: Difference) -> str:
    """Format both values, B first."""
    if row.metric == "IOPS":
        return f"{number(row.b)} against {number(row.a)} IOPS"
    return f"{row.metric} {span(row.b * 1e6)} against {span(row.a * 1e6)}"


def _interval(row: Difference) -> str:
    if row.low_pct is None or row.high_pct is None:
        return ""
    return f"; 95 % interval {percent(row.low_pct)} to {percent(row.high_pct)}"


def _by(row: Difference) -> str:
    """Format the change of the table: `4.7 times`, below twice `23.8 %`."""
    low, high = sorted((row.a, row.b))
    is_multiple = 0 < MULTIPLE * low <= high
    return f"{number(high / low, 2)} times" if is_multiple else percent(abs(row.change_pct), signed=False)
