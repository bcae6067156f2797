"""`hotband expect` on a screen: whether a result is as good as predicted, then measured next to predicted figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted
from hotband.base.text.table import OF_ROW, PLAIN, TIMES, Cell, Range, Table, Unit, column, interval, numeric, unit_of
from hotband.base.text.words import capitalized
from hotband.views.expect import label_of, views
from hotband.views.text.screen import DETAILS, Screen, Verdict, screen_table, shortened, signed, with_hidden

if TYPE_CHECKING:
    from hotband.questions.expect.asked import ExpectQuestion
    from hotband.questions.expect.expected import Expected
    from hotband.questions.expect.judge import Judged
    from hotband.questions.expect.nearest import Ranking

WORDS = {
    "inside the interval": "As good as predicted for",
    "better than expected": "Better than predicted for",
    "worse than expected": "Worse than predicted for",
}
MOST_ROWS = 10
MOST_NOTES = 2


def terminal(of: Expected, question: ExpectQuestion) -> Screen:
    """Return what the terminal shows of a judged result."""
    return Screen(
        answer=_sentence(of),
        verdict=_verdict_of(of),
        more=with_hidden([f"! {words}." for words in of.troubles], MOST_NOTES),
        body=[_nearest_table(of.ranking) if of.ranking is not None else _table(of)],
        state=[
            *_others(of),
            *(f"-> {text}" for text in of.explanations[:MOST_NOTES]),
            *of.state,
            *(f"{text}." for text in of.rests_on[:1]),
        ],
        remarks=_remarks(of),
        next=question,
        details=views(of),
    )


def _sentence(of: Expected) -> str:
    verdict = of.verdict
    if of.ranking is not None:
        return f"{capitalized(verdict)}."
    figures = [judged for row in of.rows for judged in of.figures(row)]
    if figures and not any(judged.verdict for judged in figures):
        return f"Unchecked for {of.machine}: the predictions have no interval, so no verdict rests on them."
    inside = sum(judged.verdict == "inside" for judged in figures)
    words = WORDS.get(verdict, f"{capitalized(verdict)} for")
    return f"{words} {of.machine}: {inside} of {len(figures)} figures lie inside the {of.level:g} % interval."


def _others(expected: Expected) -> list[str]:
    """Return what others measured on the same model: the first figure of each row."""
    several = len(expected.rows) > 1
    words_of = [(row.name, expected.others(row)[0].words) for row in expected.rows if expected.others(row)]
    return [f"{name}: {words}." if several else f"{words}." for name, words in words_of[:MOST_NOTES]]


def _verdict_of(of: Expected) -> Verdict:
    """Return the verdict's colour: green if every figure is inside or better, red if all are worse, yellow
    otherwise."""
    if of.ranking is not None:
        return ""
    verdicts = {of.row_verdict(row) for row in of.rows} - {None}
    return "no" if verdicts == {"worse"} else "likely" if "worse" in verdicts or not verdicts else "yes"


def _remarks(of: Expected) -> list[str]:
    """Return what could not be rebuilt, and how much was assumed."""
    missing = [f"Not rebuilt: {row.name}: {row.why_not}" for row in of.rows if row.why_not]
    losses = {text for row in of.rows if row.load for text in row.load.losses}
    parts = [
        counted(len(found), noun)
        for found, noun in ((of.assumed, "assumption"), (losses, "approximated option"), (of.notes, "note"))
        if found
    ]
    return [*missing[:MOST_NOTES], *([f"It rests on {' and '.join(parts)}: {DETAILS}"] if parts else [])]


def _table(of: Expected) -> Table:
    """Return a row per figure; with several rows, the deciding first figure of each."""
    several = len(of.rows) > 1
    name = [column("run")] if several else []
    ends = interval(f"{of.level:g} % interval", OF_ROW)
    table = screen_table(
        [*name, column(""), numeric("measured", OF_ROW), numeric("predicted", OF_ROW), ends, column("")]
    )
    judged = [(row, one) for row in of.rows for one in (of.figures(row)[:1] if several else of.figures(row))]
    for row, one in judged:
        unit = PLAIN if label_of(one.figure) == "IOPS" else unit_of(one.figure)
        names = [row.name] if several else []
        between = Range(one.low, one.high)
        table.add(*names, label_of(one.figure), one.measured, one.predicted, between, _word(one), unit=unit)
    return shortened(table, MOST_ROWS, "more run")


def _word(one: Judged) -> Cell:
    if one.verdict in ("better", "worse"):
        return signed(one.verdict, one.verdict == "better")
    return Cell("✓ inside", "green") if one.verdict == "inside" else Cell("–")


def _nearest_table(ranking: Ranking) -> Table:
    """Return the drives of the catalog whose predictions are nearest."""
    columns = [column("drive"), numeric("off by", TIMES), numeric("measured", OF_ROW), numeric("predicted", OF_ROW)]
    table = screen_table(columns)
    for one in ranking.drives[:MOST_ROWS]:
        first = one.figures[0] if one.figures else None
        values = (None, None) if first is None else (first.measured, first.predicted)
        unit: Unit = PLAIN if first is None else unit_of(first.figure)
        table.add(one.machine, math.exp(one.distance), *values, unit=unit)
    return table
