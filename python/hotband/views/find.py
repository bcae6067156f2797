"""Answers on the terminal: the answer first, then the search that led to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.formats import PRINTED
from hotband.base.text.table import LATENCY, Column, Range, Table, View, bare, column, interval, numeric
from hotband.questions.find.figures import Figure, shown
from hotband.questions.find.found import end_text, unchecked_text
from hotband.questions.find.question import NOTHING, RATE
from hotband.questions.find.vary import unit_of, value_shown

if TYPE_CHECKING:
    from rich.text import Text

    from hotband.questions.find.axis import Axis
    from hotband.questions.find.found import Answer, Found
    from hotband.questions.find.margin import Margin
    from hotband.questions.find.question import Question
    from hotband.questions.find.trial import Trial


def answer_views(answers: Found) -> list[View]:
    """Return the answers; for several machines side by side."""
    views: list[View] = []
    several = len(answers.answers) > 1
    if not several:
        views += _alone(answers, answers.answers[0])
    if several or PRINTED.form == "csv":
        views.append(answers_table(answers))
    views.append(f"  {answers.workload}, issued as {answers.asked_as}")
    for answer in answers.answers:
        views.append(search_table(answers.question, answer, several=several))
        views += [f"  state: {line}" for line in answer.state]
        views += [f"  note: {note}" for note in answer.notes]
    return [*views, *(f"  note: {note}" for note in answers.notes)]


def _alone(answers: Found, answer: Answer) -> list[Text | str]:
    lines: list[Text | str] = [
        marked("[bold]{answer}[/] on {machine} ({question})", answer=f"{unchecked_text(answer)}{answer.text}",
               machine=answer.machine, question=answers.question.text)
    ]  # fmt: skip
    lines += [
        f"  {text}"
        for text in (
            _at(answers.question, answer),
            _bracket(answers.question, answer),
            interval_text(answers.question, answer),
            *map(_margin_text, answer.margins),
        )
        if text
    ]
    return lines


def there_text(question: Question, answer: Answer) -> str:
    """Return where the conditions cease to hold, or the figures at the answer."""
    return f"{_bracket(question, answer) or _at(question, answer)}.".removeprefix(".")


def _at(question: Question, answer: Answer) -> str:
    """Return the figures at the answer, except the one that the answer states."""
    if answer.status == "nowhere":
        return ""
    rest = {item: value for item, value in answer.figures.items() if item != question.wanted and value is not None}
    return f"At this point: {_figures(rest)}" if rest else ""


def _figures(figures: dict[Figure, float]) -> str:
    """Format figures, with names that their units do not imply."""
    return ", ".join(
        shown(item, value) if item.is_rate and not item.side else f"{item} {shown(item, value)}"
        for item, value in figures.items()
    )


def _bracket(question: Question, answer: Answer) -> str:
    """Format the ends of the bracket, with the deciding figures."""
    if answer.bracket is None or answer.axis is None:
        return ""
    words = []
    for value in answer.bracket:
        trial = next(trial for trial in answer.trials if trial.value == value)
        wanted = trial.figures.get(question.wanted) if question.wanted and question.varied == RATE else None
        at = (
            value_shown(answer.axis, value) if wanted is None or not question.wanted else shown(question.wanted, wanted)
        )
        figures = {
            condition.figure: deciding
            for condition in question.conditions
            if (deciding := trial.figures[condition.figure]) is not None
        }
        words.append(f"{at} ({_figures(figures)})")
    return f"The crossing lies between {words[0]} and {words[1]}; {len(answer.trials)} runs"


def interval_text(question: Question, answer: Answer) -> str:
    """Format the interval and its sources; nothing if there is none."""
    if answer.interval is None or answer.axis is None:
        return ""
    interval = answer.interval
    values = _ends(question, answer, interval["values_low"], interval["values_high"])
    whole = _ends(question, answer, interval["low"], interval["high"])
    alone = "" if interval["values_low"] == interval["values_high"] else f" ({values} from parameter uncertainty alone)"
    return f"{interval['level']:g} % interval {whole}{alone}, from {interval['how']}; {answer.rests_on}"


def _margin_text(margin: Margin) -> str:
    """Return whether a condition that no crossing decides holds, with its interval."""
    figure = margin.condition.figure
    low, high = (shown(figure, end) for end in margin.ends)
    name = f"{figure} " if not figure.is_rate or figure.side else ""
    predicted = f"{name}{shown(figure, margin.value)} ({margin.level:g} % interval {low} to {high})"
    return f"{margin.condition.text}: {margin.holds}, {predicted}"


def _ends(question: Question, answer: Answer, low: float, high: float) -> str:
    return f"{end_text(question, answer, low)} to {end_text(question, answer, high)}"


def answers_table(answers: Found) -> Table:
    """Return one row per machine."""
    # Words for people; a program receives the value and whether there is an answer.
    of_program = PRINTED.form == "csv"
    values = [column("status"), column("certainty"), *_answer_columns(answers)] if of_program else []
    others = [figure for figure in answers.question.figures if figure != answers.question.wanted]
    level = next((answer.interval["level"] for answer in answers.answers if answer.interval), None)
    axis = next((item.axis for item in answers.answers if item.axis is not None), None)
    unit = LATENCY if answers.question.varied == NOTHING else None if axis is None else unit_of(axis)
    ends = [] if level is None or unit is None else [interval(f"{level:g} %", unit)]
    table = Table(
        answers.question.text,
        [
            *map(column, ("machine", "answer")),
            *values,
            *(numeric(str(other), other.unit) for other in others),
            *ends,
            numeric("runs"),
        ],
    )
    for answer in answers.answers:
        status = [answer.status, answer.certainty, *_answer_values(answers.question, answer)] if of_program else []
        bounds = answer.interval
        between = [None if bounds is None else Range(bounds["low"], bounds["high"])] if ends else []
        figures = [answer.figures.get(other) for other in others]
        table.add(answer.machine, answer.text, *status, *figures, *between, len(answer.trials))
    return table


def _answer_columns(answers: Found) -> list[Column]:
    """Return columns for the answers: the requested figure, the varied value, or both."""
    axis = next((answer.axis for answer in answers.answers if answer.axis is not None), None)
    wanted = answers.question.wanted
    columns = [] if wanted is None else [numeric(str(wanted), wanted.unit)]
    if _has_value(answers.question):
        columns.append(numeric(answers.question.varied) if axis is None else numeric(_heading(axis), unit_of(axis)))
    return columns


def _answer_values(question: Question, answer: Answer) -> list[float | None]:
    """Return the values of an answer."""
    values = [] if question.wanted is None else [answer.figures.get(question.wanted)]
    return [*values, answer.value] if _has_value(question) else values


def _has_value(question: Question) -> bool:
    """Return whether the varied value is an answer: for a varied rate the answer is the requested figure."""
    return question.wanted is None or question.varied != RATE


def search_table(question: Question, answer: Answer, several: bool) -> Table:
    """Return every trial of a search in order."""
    title = f"The search on {answer.machine}" if several else "The search"
    axis = answer.axis
    value = numeric("") if axis is None else _axis_column(axis)
    figures = list(answer.trials[0].figures) if answer.trials else []
    columns = [value, *(numeric(str(figure), figure.unit) for figure in figures), column("conditions")]
    table = Table(title, columns, about={"machine": answer.machine})
    for trial in answer.trials:
        at = None if trial.value is None or axis is None else trial.value
        table.add(at, *trial.figures.values(), _verdict(trial))
    return table


def _axis_column(axis: Axis) -> Column:
    """Return a column of the varied value; the heading of a rate names it."""
    made = numeric(_heading(axis), unit_of(axis))
    return bare(made) if axis.name == RATE else made


def _heading(axis: Axis) -> str:
    return {RATE: "requested per second", "qd": "queue depth"}.get(axis.name, axis.name)


def _verdict(trial: Trial) -> str:
    if trial.met is None:
        return f"first estimate: {trial.wanted.text}" if trial.value is None else "first estimate"
    return "hold" if trial.met else trial.failed
