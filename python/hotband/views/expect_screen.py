"""`hotband expect` on a screen: whether a result is as good as predicted, then measured next to predicted figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, number
from hotband.base.text.table import OF_ROW, PLAIN, TIMES, Cell, Range, Table, Unit, column, interval, numeric, unit_of
from hotband.base.text.words import capitalized
from hotband.questions.expect.judge import deciding
from hotband.questions.expect.nearest import SHORT_LIST
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


def terminal(expected: Expected, question: ExpectQuestion) -> Screen:
    """Return what the terminal shows of a judged result."""
    return Screen(
        answer=_sentence(expected),
        verdict=_verdict_of(expected),
        more=with_hidden([f"! {words}." for words in expected.troubles], MOST_NOTES),
        body=[_nearest_table(expected.ranking) if expected.ranking is not None else _table(expected)],
        state=[
            *_ranked_by(expected),
            *_others(expected),
            *(f"-> {text}" for text in expected.explanations[:MOST_NOTES]),
            *expected.state,
            *(f"{text}." for text in expected.rests_on[:1]),
        ],
        remarks=_remarks(expected),
        next=question,
        details=views(expected),
    )


def _sentence(expected: Expected) -> str:
    verdict = expected.verdict
    if expected.ranking is not None:
        return f"{capitalized(verdict)}."
    figures = [judged for row in expected.rows for judged in expected.figures(row)]
    if figures and not any(judged.verdict for judged in figures):
        return f"Unchecked for {expected.machine}: the predictions have no interval, so no verdict rests on them."
    checked = [judged.verdict for judged in figures if judged.verdict]
    decide = [deciding(expected.figures(row)) for row in expected.rows if expected.row_verdict(row)]
    first, but, others = verdict.partition("; but ")
    besides = f", but {others}" if but else ""
    if first.startswith("undecided"):
        return f"{_undecided(expected, decide)}."
    words = WORDS.get(first, f"{capitalized(first)} for")
    lie = f"{checked.count('inside')} of {len(checked)} figures lie inside the {expected.level:g} % interval"
    wide, without = checked.count("undecided"), len(figures) - len(checked)
    # One that decides in place of the first figure is not obvious.
    named = [f"{label_of(decide[0].figure)} is {decide[0].verdict}"] * (len(decide) == 1 and decide[0] != figures[0])
    open_ones = [f"{wide} in one too wide to tell"] * bool(wide) + [f"{without} have none"] * bool(without)
    return f"{words} {expected.machine}{besides}: {'; '.join([*named, lie, *open_ones])}."


def _undecided(expected: Expected, decide: Sequence[Judged]) -> str:
    """Return the answer, without its end, if the deciding figure of every row has an interval too wide to tell."""
    least = "at least " if len(decide) > 1 else ""
    width = f"{least}{number(min(judged.width for judged in decide), 2)} times wide (upper over lower end)"
    interval = f"the {expected.level:g} % interval of {label_of(decide[0].figure)} is {width}"
    this = "these results neither confirm nor contradict" if least else "this result neither confirms nor contradicts"
    return f"Cannot tell for {expected.machine}: {interval}, so {this} the prediction"


def _ranked_by(expected: Expected) -> list[str]:
    """Return what ranks the drives."""
    if expected.ranking is None or not expected.ranking.drives:
        return []
    return ["Best match first, by that factor."]


def _others(expected: Expected) -> list[str]:
    """Return what others measured on the same model: the first figure of each row."""
    several = len(expected.rows) > 1
    words_of = [(row.name, expected.others(row)[0].words) for row in expected.rows if expected.others(row)]
    return [f"{name}: {words}." if several else f"{words}." for name, words in words_of[:MOST_NOTES]]


def _verdict_of(expected: Expected) -> Verdict:
    """Return the verdict's colour: green if every figure is inside or better, red if all are worse, yellow
    otherwise, also if intervals are too wide."""
    if expected.ranking is not None:
        return ""
    verdicts = {expected.row_verdict(row) for row in expected.rows} - {None}
    is_open = "worse" in verdicts or verdicts <= {"undecided"}
    return "no" if verdicts == {"worse"} else "likely" if is_open else "yes"


def _remarks(expected: Expected) -> list[str]:
    """Return what could not be rebuilt, and how much was assumed."""
    missing = [f"Not rebuilt: {row.name}: {row.why_not}" for row in expected.rows if row.why_not]
    losses = {text for row in expected.rows if row.load for text in row.load.losses}
    parts = [
        counted(len(items), noun)
        for items, noun in ((expected.assumed, "assumption"), (losses, "approximated option"), (expected.notes, "note"))
        if items
    ]
    return [*missing[:MOST_NOTES], *([f"It rests on {' and '.join(parts)}: {DETAILS}"] if parts else [])]


def _table(expected: Expected) -> Table:
    """Return a row per figure; with several rows, the deciding figure of each."""
    several = len(expected.rows) > 1
    name = [column("run")] if several else []
    ends = interval(f"{expected.level:g} % interval", OF_ROW)
    table = screen_table(
        [*name, column(""), numeric("measured", OF_ROW), numeric("predicted", OF_ROW), ends, column("")]
    )
    judged = [
        (row, figure)
        for row in expected.rows
        if (figures := expected.figures(row))
        for figure in ([deciding(figures)] if several else figures)
    ]
    for row, judged_figure in judged:
        unit = PLAIN if label_of(judged_figure.figure) == "IOPS" else unit_of(judged_figure.figure)
        names = [row.name] if several else []
        between = Range(judged_figure.low, judged_figure.high)
        table.add(
            *names,
            label_of(judged_figure.figure),
            judged_figure.measured,
            judged_figure.predicted,
            between,
            _word(judged_figure),
            unit=unit,
        )
    return shortened(table, MOST_ROWS, "more run")


def _word(figure: Judged) -> Cell:
    if figure.verdict in ("better", "worse"):
        return signed(figure.verdict, figure.verdict == "better")
    if figure.verdict == "undecided":
        return Cell("~ too wide", "yellow")
    return Cell("✓ inside", "green") if figure.verdict == "inside" else Cell("–")


def _nearest_table(ranking: Ranking) -> Table:
    """Return the drives of the catalog whose predictions are nearest."""
    columns = [column("drive"), numeric("off by", TIMES), numeric("measured", OF_ROW), numeric("predicted", OF_ROW)]
    table = screen_table(columns)
    # Further drives ran one row: their distances do not compare with those of the short list.
    for drive in ranking.drives[:SHORT_LIST]:
        first = drive.figures[0] if drive.figures else None
        values = (None, None) if first is None else (first.measured, first.predicted)
        unit: Unit = PLAIN if first is None else unit_of(first.figure)
        table.add(drive.machine, math.exp(drive.distance), *values, unit=unit)
    return table
