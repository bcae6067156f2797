"""Sweeps on a screen: what they say in a sentence, a row per point with a bar, the state of the drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted
from hotband.base.text.table import Estimate, Table, Value, View, column, numeric
from hotband.views.sweeps.curves import TITLES
from hotband.views.sweeps.show import FIGURES, figures_of, notes_of, said_below, states_of, sweep_table
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import DETAILS, Screen, folded, screen_table, with_hidden

if TYPE_CHECKING:
    from hotband.questions.sweeps.asked import SweepQuestion
    from hotband.questions.sweeps.sweep import Sweep

BAR = 12
MOST_ROWS = 10
MOST_COLUMNS = 7
MOST_ANSWER_LINES = 5
"""Lines of sentences below the first."""
MOST_STATES = 2
MOST_REMARKS = 2


def terminal(done: Sweep, asked: SweepQuestion) -> Screen:
    """Return what the terminal shows of a sweep."""
    answers = done.answers or [f"{counted(len(done), 'run')} of {len(done.points):,} were finished."]
    rows = done.means.height if len(done) else 0
    notes = [f"{note} ({counted(count, 'run')})" for note, count in notes_of(done)]
    states = [f"{name}: {line}" if name else line for name, line in states_of(done)] if len(done) else []
    more_rows = [f"{rows - MOST_ROWS:,} more points: {DETAILS}"] if rows > MOST_ROWS else []
    return Screen(
        answer=answers[0],
        more=_fitting(answers[1:]),
        body=[_table(done)] if rows else [],
        state=[*more_rows, *states[:MOST_STATES]],
        remarks=with_hidden(notes, MOST_REMARKS),
        next=asked,
        details=evidence(done),
    )


def evidence(done: Sweep) -> list[View]:
    """Return the answer, a row per point, and what is necessary to read it."""
    return [*done.answers, *([sweep_table(done)] if len(done) else []), *said_below(done)]


def _fitting(sentences: list[str]) -> list[str]:
    """Return the first sentences, as many as there is room for."""
    shown: list[str] = []
    for sentence in sentences:
        if sum(map(folded, [*shown, sentence])) > MOST_ANSWER_LINES:
            break
        shown.append(sentence)
    return shown


def _table(done: Sweep) -> Table:
    """Return a row per point: what differs, its figures without intervals, and a bar of its rate."""
    frame = done.means
    differs = [name for name in done.axes if name != "seed"] or ["target"]
    heads = [(name, {"target": "machine"}.get(name, TITLES.get(name, name))) for name in differs]
    axes = [numeric(head) if frame[name].dtype.is_numeric() else column(head) for name, head in heads]
    figures = [numeric(head.lower() if head == "Mean" else head, unit) for head, _, unit in FIGURES]
    skipped = 1 if len(axes) + len(figures) > MOST_COLUMNS - 1 else 0
    has_bar = len(axes) + len(figures) - skipped < MOST_COLUMNS
    shown = [(at, one) for at, one in enumerate(figures) if not (skipped and at == 1)]
    table = screen_table([*axes, *(one for _, one in shown), *([bar_column(BAR)] if has_bar else [])])
    rows = list(frame.head(MOST_ROWS).iter_rows(named=True))
    drawn = bars([row["iops"] for row in rows], BAR)
    for row, bar in zip(rows, drawn, strict=True):
        values = [_plain(value) for value in figures_of(row)]
        where = [value if isinstance(value := row[name], int | float | str) else str(value) for name in differs]
        table.add(*where, *(values[at] for at, _ in shown), *([bar] if has_bar else []))
    return table


def _plain(value: Value) -> Value:
    return value.value if isinstance(value, Estimate) else value
