"""Sweeps on a screen: the answer in a sentence, a row per point with a bar, the state of the drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.question import INVALID
from hotband.base.text.numbers import counted
from hotband.base.text.table import Table, Unit, View, column, numeric, unit_of
from hotband.data.record.durability import UNPROTECTED, durability_lines
from hotband.questions.find.figures import COMMIT, Figure
from hotband.questions.sweeps.frames import judged_column
from hotband.views.run_screen import DECLARED
from hotband.views.sweeps.curves import TITLES
from hotband.views.sweeps.show import figures_shown, notes_of, said_below, states_of, sweep_table
from hotband.views.sweeps.slo import slo_verdict, verdict_cell
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import DETAILS, Screen, folded, screen_table, with_hidden

if TYPE_CHECKING:
    from hotband.questions.sweeps.asked import SweepQuestion
    from hotband.questions.sweeps.sweep import Sweep

BAR = 12
BANDWIDTH = "bandwidth_bytes_per_s"
MOST_ROWS = 10
MOST_COLUMNS = 7
MOST_ANSWER_LINES = 5
"""Most lines of sentences below the first."""
MOST_STATES = 2
MOST_REMARKS = 2


def terminal(done: Sweep, question: SweepQuestion) -> Screen:
    """Return what the terminal shows of a sweep."""
    answers = done.answers or [f"{counted(len(done), 'run')} of {len(done.points):,} were finished."]
    rows = done.means.height if len(done) else 0
    notes = [
        *unprotected_lines(done),
        *(
            f"{note} ({counted(count, 'run')})"
            for note, count in notes_of(done)
            if note not in UNPROTECTED and not any(part in note for part in DECLARED)
        ),
    ]
    states = [f"{name}: {line}" if name else line for name, line in states_of(done)] if len(done) else []
    invalid = invalid_words(done)
    more_rows = [f"{counted(rows - MOST_ROWS, 'more point')}: {DETAILS}"] if rows > MOST_ROWS else []
    return Screen(
        answer=invalid or answers[0],
        verdict="no" if invalid else slo_verdict(done),
        more=_fitting(answers if invalid else answers[1:]),
        body=[_table(done)] if rows else [],
        state=[*more_rows, *states[:MOST_STATES]],
        remarks=with_hidden(notes, MOST_REMARKS),
        next=question,
        details=evidence(done),
    )


def invalid_words(done: Sweep) -> str:
    """Return the first line of a sweep with invalid results; empty without any."""
    reasons = [[note for note in row.notes if note.startswith(INVALID)] for row in done.rows if row is not None]
    invalid = [notes[0] for notes in reasons if notes]
    if not invalid:
        return ""
    return f"{len(invalid):,} of {counted(len(reasons), 'result')}: {invalid[0]}."


def unprotected_lines(done: Sweep) -> list[str]:
    """Return which machines lose acknowledged writes with power."""
    return durability_lines(
        (str(point.get("target", "")), note)
        for point, row in zip(done.points, done.rows, strict=True)
        for note in (row.notes if row is not None else ())
        if note in UNPROTECTED
    )


def evidence(done: Sweep) -> list[View]:
    """Return the answer, a row per point, and the conditions for reading it."""
    return [*done.answers, *([sweep_table(done)] if len(done) else []), *said_below(done)]


def _fitting(sentences: list[str]) -> list[str]:
    """Return the first sentences, as many as fit."""
    shown: list[str] = []
    for sentence in sentences:
        if sum(map(folded, [*shown, sentence])) > MOST_ANSWER_LINES:
            break
        shown.append(sentence)
    return shown


def _table(done: Sweep) -> Table:
    """Return a row per point: settings, figures without intervals, a bar of its rate or of the objective's
    figure, and whether it meets each condition."""
    frame = done.means
    differs = [name for name in done.axes if name != "seed"] or ["target"]
    heads = [(name, {"target": "machine"}.get(name, TITLES.get(name, name))) for name in differs]
    axes = [numeric(head) if frame[name].dtype.is_numeric() else column(head) for name, head in heads]
    rows = list(frame.iter_rows(named=True))
    figures = _figures(done, rows, MOST_COLUMNS - len(axes))
    has_bar = len(axes) + len(figures) + len(done.slo) < MOST_COLUMNS
    columns = [numeric(head.lower() if head == "Mean" else head, unit) for head, _, unit in figures]
    verdicts = [column(condition.text) for condition in done.slo]
    table = screen_table([*axes, *columns, *([bar_column(BAR)] if has_bar else []), *verdicts])
    rows = rows[:MOST_ROWS]
    barred = [row.get(judged_column(done.slo[0].figure, row) if done.slo else "iops") for row in rows]
    for row, bar in zip(rows, bars(barred, BAR), strict=True):
        where = [value if isinstance(value := row[name], int | float | str) else str(value) for name in differs]
        cells = [verdict_cell(row, condition.text) for condition in done.slo]
        table.add(*where, *(row[name] for _, name, _ in figures), *([bar] if has_bar else []), *cells)
    return table


def _head(figure: Figure, name: str) -> str:
    return f"{COMMIT} {figure}" if name.startswith(COMMIT) and not figure.side else str(figure)


def _figures(done: Sweep, rows: Sequence[Mapping[str, float | None]], room: int) -> list[tuple[str, str, Unit]]:
    """Return the figures of the table and those of the objective; MB/s are left out if there is little room."""
    every = ((judged_column(condition.figure, row), condition.figure, row) for condition in done.slo for row in rows)
    judged = {name: figure for name, figure, row in every if name in row}
    usual = figures_shown(done)
    known = [name for _, name, _ in usual]
    shown = [
        *usual,
        *((_head(figure, name), name, unit_of(name)) for name, figure in judged.items() if name not in known),
    ]
    is_full = len(shown) + len(done.slo) >= room
    return [figure for figure in shown if not (is_full and figure[1] == BANDWIDTH and BANDWIDTH not in judged)]
