"""Answers of `find` on a screen: the value, the trials around it with their verdicts, and the state of the drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.text.table import LATENCY, OF_ROW, Cell, Range, Table, bare, column, interval, numeric
from hotband.base.text.words import capitalized
from hotband.data.record.durability import durability_lines
from hotband.data.record.remarks import remarks_of
from hotband.inference.interval import LEVEL
from hotband.questions.find.figures import shown
from hotband.questions.find.found import contradiction_text, end_text, predicted_text, unchecked_text
from hotband.questions.find.question import DEPTH, NOTHING, RATE
from hotband.questions.find.vary import unit_of
from hotband.views.find import answer_views, there_text
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, Verdict, screen_table, with_hidden, with_sign

if TYPE_CHECKING:
    from hotband.questions.find.asked import FindQuestion
    from hotband.questions.find.found import Answer, Found
    from hotband.questions.find.question import Question
    from hotband.questions.find.trial import Trial

MOST_TRIALS = 6
"""Most trials shown: with their headings they fill the seven columns of a screen."""
MOST_NOTES = 2
BAR = 12
MOST_IN_ROW = 36
"""Most characters of an answer in the row of its machine, on 80 columns beside a bar and a figure."""


def terminal(answers: Found, question: FindQuestion) -> Screen:
    """Return what the terminal shows of the answers."""
    alone = answers.answers[0] if len(answers.answers) == 1 else None
    uncertain = [] if alone else _uncertain(answers)
    notes = [
        *uncertain,
        *_unprotected(answers),
        *(note for answer in answers.answers for note in answer.notes),
        *answers.notes,
    ]
    more = [] if alone is None else [text for text in (there_text(answers.question, alone),) if text]
    states = dict.fromkeys(line for answer in answers.answers for line in answer.state)
    return Screen(
        answer=_best(answers) if alone is None else _sentence(answers, alone),
        verdict="" if alone is None else _verdict_of(alone),
        more=more,
        body=[_answers_table(answers)] if alone is None else _trials(answers, alone),
        state=[f"{answers.workload}, {answers.asked_as}; {', '.join(states)}", *_rests_on(answers)],
        remarks=with_hidden(notes, MOST_NOTES),
        next=replace(question, interval=LEVEL) if _has_intervals(answers, question) else question,
        details=answer_views(answers),
    )


def _has_intervals(answers: Found, question: FindQuestion) -> bool:
    """Return whether intervals were not computed and are known: none are of transactions."""
    return question.interval is None and not any(figure.is_of_script for figure in answers.question.figures)


def _unprotected(answers: Found) -> list[str]:
    """Return what survives a power failure on machines that lose acknowledged writes."""
    known = [(answer.machine, answer.record) for answer in answers.answers]
    return durability_lines(
        (machine, note) for machine, record in known if record for note in remarks_of(record.document)
    )


def _uncertain(answers: Found) -> list[str]:
    """Return a remark for each answer that an interval contradicts, or that the row of a machine has no room for."""
    texts = [(answer, _row_text(answers, answer)) for answer in answers.answers]
    return [
        f"{answer.machine}: {answer.text}"
        for answer, text in texts
        if text != _cell_text(text) or contradiction_text(answer)
    ]


def _row_text(answers: Found, answer: Answer) -> str:
    return f"{unchecked_text(answer)}{predicted_text(answers.question, answer)}"


def _cell_text(text: str) -> str:
    """Return an answer as its row has it: without its reason where there is no room for that."""
    return text if len(text) <= MOST_IN_ROW else text.partition(":")[0]


def _sentence(answers: Found, answer: Answer) -> str:
    """Return the answer on one machine in a sentence."""
    if answers.question.varied == NOTHING:
        return _at_rate_sentence(answers.question, answer)
    text = capitalized(f"{unchecked_text(answer)}{predicted_text(answers.question, answer)}")
    text += f"{_between(answers.question, answer)} on {answer.machine}{contradiction_text(answer)}"
    return f'{text}, predicted for "{answers.question.text}".'


def _at_rate_sentence(question: Question, answer: Answer) -> str:
    """Return the latency at a rate, or that the machine does not reach it."""
    rate = question.conditions[0].text
    if answer.status == "nowhere":
        served = predicted_text(question, answer).partition(": ")[2]
        return f"{answer.machine} does not reach {rate}: {served} predicted{contradiction_text(answer)}."
    value = f"{question.wanted} {predicted_text(question, answer)}{_between(question, answer)} predicted at {rate}"
    reaches = f"which {answer.machine} reaches{contradiction_text(answer)}"
    return f"{capitalized(unchecked_text(answer))}{value}, {reaches}."


def _between(question: Question, answer: Answer) -> str:
    interval = answer.interval
    if interval is None or answer.axis is None:
        return ""
    low, high = (end_text(question, answer, interval[end]) for end in ("low", "high"))
    return f" ({interval['level']:g} % interval {low} to {high})"


def _verdict_of(answer: Answer) -> Verdict:
    if answer.certainty == "yes":
        return "yes" if answer.is_checked else "likely"
    return "no" if answer.certainty == "no" else "likely"


def _rests_on(answered: Found) -> list[str]:
    """Return the evidence of the intervals, each entry once."""
    words = dict.fromkeys(answer.rests_on for answer in answered.answers if answer.interval is not None)
    return [f"Intervals {text}." for text in words if text]


def _best(answers: Found) -> str:
    """Return which of several machines has the best value, or how many have an answer."""
    wanted, question = answers.question.wanted, answers.question.text
    known = [
        (answer, answer.figures.get(wanted)) for answer in answers.answers if answer.status != "nowhere" and wanted
    ]
    values = [(value, answer) for answer, value in known if value is not None]
    if values and wanted is not None and answers.question.varied == NOTHING:
        value, best = min(values, key=lambda pair: pair[0])
        return f'{best.machine} has the lowest value, {shown(wanted, value)}, predicted for "{question}".'
    if values and wanted is not None and wanted.is_rate:
        value, best = max(values, key=lambda pair: pair[0])
        return f'{best.machine} has the highest value, {shown(wanted, value)}, predicted for "{question}".'
    reached = sum(answer.status != "nowhere" for answer in answers.answers)
    return f'{reached} of {len(answers.answers)} machines have an answer, predicted for "{question}".'


def _answers_table(answers: Found) -> Table:
    """Return a row per machine: its answer, with a bar if it is a figure, and the other figures there."""
    wanted = answers.question.wanted
    others = [figure for figure in answers.question.figures if figure != wanted]
    axis = next((answer.axis for answer in answers.answers if answer.axis is not None), None)
    level = next((answer.interval["level"] for answer in answers.answers if answer.interval), None)
    unit = LATENCY if answers.question.varied == NOTHING else None if axis is None else unit_of(axis)
    ends = [] if level is None or unit is None else [interval(f"{level:g} %", unit)]
    # What a machine completes at another rate is not to be compared.
    values = [
        None if answer.status == "nowhere" else answer.figures.get(wanted) if wanted else answer.value
        for answer in answers.answers
    ]
    table = screen_table(
        [column("machine"), column(""), bar_column(BAR), *(numeric(str(other), other.unit) for other in others), *ends]
    )
    for answer, drawn in zip(answers.answers, bars(values, BAR), strict=True):
        bounds = answer.interval
        between = [None if bounds is None else Range(bounds["low"], bounds["high"])] if ends else []
        text = _cell_text(_row_text(answers, answer))
        table.add(
            answer.machine,
            with_sign(text, _verdict_of(answer)),
            drawn,
            *(answer.figures.get(other) for other in others),
            *between,
        )
    return table


def _trials(answers: Found, answer: Answer) -> list[Table]:
    """Return the trials nearest to the answer side by side: value, figures, and whether they meet the conditions."""
    tried = {trial.value: trial for trial in answer.trials if trial.met is not None and trial.value is not None}
    trials = _nearest([tried[value] for value in sorted(tried)], answer)
    axis = answer.axis
    if not trials or axis is None:
        return []
    table = screen_table([column(""), *(numeric("", OF_ROW) for _ in trials)])
    table.bare = True
    name = {RATE: "offered", DEPTH: "queue depth"}.get(axis.name, axis.name)
    table.add(name, *(trial.value for trial in trials), unit=unit_of(axis))
    for figure in answers.question.figures:
        unit = bare(numeric("", figure.unit)).unit if figure.unit.name == str(figure) else figure.unit
        table.add(str(figure), *(trial.figures.get(figure) for trial in trials), unit=unit)
    table.add("", *(_verdict(trial, answer) for trial in trials))
    return [table]


def _nearest(trials: Sequence[Trial], answer: Answer) -> Sequence[Trial]:
    """Return the trials around the answer, as many as fit."""
    at = next((at for at, trial in enumerate(trials) if trial is answer.best), 0)
    first = min(max(at - MOST_TRIALS // 2, 0), max(len(trials) - MOST_TRIALS, 0))
    return trials[first : first + MOST_TRIALS]


def _verdict(trial: Trial, answer: Answer) -> Cell:
    if not trial.met:
        return with_sign("no", "no")
    return with_sign("YES" if trial is answer.best else "yes", "yes")
