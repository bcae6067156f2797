"""What a study's answer is written from: its figures by their cells, in words that a reviewer would choose.

An answer is a sentence or two and one chart, made by the study's own `answer.py`. Numbers come from figures, and words
that depend on them (which is ahead, whether it gains) are chosen by them, so that nothing goes stale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.questions.study.figures import cell_figures, comparison_figures

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc, FigureDoc
    from hotband.data.documents.study_answer import AnswerPointDoc
    from hotband.questions.study.runs import Results

Value = float | None


@dataclass(frozen=True)
class Figures:
    """Figures of a study by the ids of configuration, load and measure, those that compare configurations by their own
    id, names of configurations, and claims by id."""

    cells: Mapping[tuple[str, str, str], FigureDoc]
    compared: Mapping[str, FigureDoc]
    names: Mapping[str, str]
    claims: Mapping[str, ClaimDoc]

    def published(self, config: str, load: str, measure: str) -> Value:
        """What is published of a cell; None where nothing is."""
        return self.cells[config, load, measure]["published"]

    def predicted(self, config: str, load: str, measure: str) -> Value:
        """What is predicted of it."""
        return self.cells[config, load, measure]["predicted"]

    def gain(self, config: str, over: str, load: str, measure: str) -> tuple[Value, Value]:
        """How many times as much a configuration does as another one: published, predicted."""
        return (
            ratio(self.published(config, load, measure), self.published(over, load, measure)),
            ratio(self.predicted(config, load, measure), self.predicted(over, load, measure)),
        )

    def point(self, config: str, row: str, load: str, measure: str, qd: int | None = None) -> AnswerPointDoc:
        """A point of the answer's chart: a cell as it is."""
        published, predicted = self.published(config, load, measure), self.predicted(config, load, measure)
        return {
            "machine": self.names[config],
            "row": row,
            "qd": qd,
            "published": published,
            "predicted": predicted,
        }


def figures_of(results: Results, claims: Sequence[ClaimDoc], further: Sequence[FigureDoc] = ()) -> Figures:
    """The figures of a whole run, with `further` ones that the study's own module has."""
    names = {config.id: config.name for config in results.study.configs}
    compared = {one["id"]: one for one in (*comparison_figures(results), *further)}
    return Figures(cell_figures(results), compared, names, {one["id"]: one for one in claims})


def ratio(of: Value, over: Value) -> Value:
    """None where either is none, or the lower one nothing."""
    return of / over if of is not None and over else None


def said(value: Value, unit: str = "") -> str:
    """`1,234`, `21,900`, `36.5`, `4.06`, `0.24`: three significant digits, below one two, and of up to 9,999 all before
    the point; with its unit."""
    if value is None:
        return f"an unknown number of {unit}" if unit else "unknown"
    digits = float(f"{value:.{3 if abs(value) >= 1 else 2}g}")
    text = f"{value:,.0f}" if 100 <= abs(digits) < 10_000 else f"{digits:,.0f}" if abs(digits) >= 100 else f"{digits:g}"
    return f"{text} {unit}".strip()


def beside(published: Value, predicted: Value, unit: str = "") -> str:
    """`979 IOPS (predicted 818)`; what is not published: `818 IOPS predicted`."""
    if published is None:
        return f"{said(predicted, unit)} predicted"
    return f"{said(published, unit)} (predicted {said(predicted)})"


def times(value: Value) -> str:
    """`2.9 times`, `13 times`; near one `0.97 times`."""
    if value is None:
        return "an unknown multiple of"
    return f"{value:.0f} times" if value >= 10 else f"{value:.2f} times" if value < 1.3 else f"{value:.1f} times"


def both_times(values: tuple[Value, Value]) -> str:
    """`2.9 times (predicted 2.3)`, of a published and a predicted ratio."""
    return f"{times(values[0])} (predicted {times(values[1]).removesuffix(' times')})"


def change(value: Value) -> str:
    """A ratio as what it gains: `+70 %`, `-7 %`, `0 %`."""
    if value is None:
        return "by an unknown share"
    percent = round((value - 1) * 100)
    return f"{percent:+d} %" if percent else "0 %"


def more(value: Value) -> str:
    """The same in words: `15 % more`, `7 % less`, `as much`."""
    text = change(value)
    if value is None or text == "0 %":
        return "as much" if value is not None else "by an unknown share more"
    return f"{text[1:]} {'more' if text[0] == '+' else 'less'}"


def of_percent(percent: Value) -> Value:
    """The ratio that a gain in percent stands for."""
    return None if percent is None else 1 + percent / 100


def named(texts: Sequence[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)
