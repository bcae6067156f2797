"""Advice on the terminal: the recommendation first, then its evidence and the Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.formats import as_rows
from hotband.base.text.numbers import counted
from hotband.base.text.table import (
    LATENCY,
    SHARE,
    WATTS,
    Estimate,
    Table,
    Unit,
    Value,
    View,
    bare,
    column,
    estimate,
    numeric,
)
from hotband.questions.advise.advice import Between, Point
from hotband.views.advise.screen import advice_screen

if TYPE_CHECKING:
    from hotband.questions.advise.advice import Advice
    from hotband.questions.advise.asked import AdviseQuestion
    from hotband.views.text.screen import Screen


def terminal(advice: Advice, question: AdviseQuestion) -> Screen:
    """Return what the terminal shows."""
    return advice_screen(advice, question, advice_views(advice, question.every))


def advice_views(advice: Advice, every: bool = False) -> list[View]:
    """Return the answer, its evidence, the Pareto front (complete with `every`, or if only tables are requested), and
    notes."""
    views: list[View] = []
    if advice.answer:
        views.append(marked("[bold]{answer}[/]", answer=advice.answer[0]))
        views += advice.answer[1:]
    views += advice.rests_on
    points = advice.front if every or as_rows() else advice.shown
    if points:
        views.append(front_table(advice, points))
    if len(points) < len(advice.front):
        views.append(f"  {len(points)} of {len(advice.front)} points of the front; --all shows them all")
    views.append(f"  {searched_text(advice)}")
    return [*views, *(f"  note: {note}" for note in advice.notes)]


def searched_text(advice: Advice) -> str:
    """Describe the searched candidates and the number of runs."""
    gone = [f"{count:,} {why}" for why, count in sorted(advice.left_out.items(), key=lambda entry: -entry[1]) if count]
    text = f"{advice.candidates:,} candidates, {advice.runs:,} runs of {advice.ios:,} I/Os"
    return f"{text}; left out: {', '.join(gone)}" if gone else text


def front_table(advice: Advice, points: list[Point]) -> Table:
    """Return a row per point: each metric, with its interval below it."""
    title = f"Front: {counted(len(points), 'point')}, {advice.level:g} % intervals of {advice.figure}"
    priced = any(point.cost is not None for point in points)
    # Units and intervals are below the numbers, so that seven columns fit into 80 characters.
    figures = [
        *([bare(estimate("cost", Unit(advice.currency), below=True))] if priced else []),
        estimate("W", WATTS, below=True),
        numeric("drives"),
        estimate(f"{advice.figure}\nms", LATENCY, below=True),
        estimate("rebuild\nh", Unit("h"), below=True),
        estimate("loss\n%", SHARE, below=True),
    ]
    table = Table(title, [column("candidate"), *figures])
    for candidate in points:
        is_chosen = advice.recommended is not None and candidate.name == advice.recommended.name
        # Outside the terminal each part has its own line.
        name = f"{'* ' if is_chosen else ''}{candidate.layout}:{candidate.drives}x\n{candidate.name.partition('x')[2]}"
        table.add(
            candidate.name if as_rows() else name.replace(", ", "\n"),
            *([_estimate(candidate.cost)] if priced else []),
            _estimate(candidate.watts),
            candidate.drives,
            *map(_estimate, (candidate.latency, candidate.rebuild, candidate.loss)),
        )
    return table


def _estimate(value: Between | None) -> Value:
    """Return a metric with its interval."""
    if value is None:
        return None
    return Estimate(
        value.value, value.value if value.low is None else value.low, value.value if value.high is None else value.high
    )
