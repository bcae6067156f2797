"""Answers on the terminal: the answer on top, then the search that led to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.cells import four_digits
from hotband.base.text.formats import PRINTED, About, Between
from hotband.base.text.formats import Figure as Cell
from hotband.questions.find.figures import Figure, exact, shown
from hotband.questions.find.question import RATE
from hotband.questions.find.vary import exact_text, value_shown, value_text

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hotband.questions.find.axis import Axis
    from hotband.questions.find.found import Answer, Found
    from hotband.questions.find.question import Question
    from hotband.questions.find.trial import Trial


def answer_views(found: Found) -> list[Table | Text | str]:
    """The answers; of several machines beside one another."""
    views: list[Table | Text | str] = []
    several = len(found.answers) > 1
    if not several:
        views += _alone(found, found.answers[0])
    if several or PRINTED.form == "csv":
        views.append(answers_table(found))
    views.append(f"  {found.workload}, asked as {found.asked_as}")
    for answer in found.answers:
        views.append(search_table(found.question, answer, several=several))
        views += [f"  state: {line}" for line in answer.state]
        views += [f"  note: {note}" for note in answer.notes]
    return [*views, *(f"  note: {note}" for note in found.notes)]


def _alone(found: Found, answer: Answer) -> list[Text | str]:
    lines: list[Text | str] = [
        marked("[bold]{answer}[/] on {machine} ({question})", answer=answer.text, machine=answer.machine,
               question=found.question.text)
    ]  # fmt: skip
    lines += [
        f"  {text}"
        for text in (_at(found.question, answer), _bracket(found.question, answer), interval_text(answer))
        if text
    ]
    return lines


def _at(question: Question, answer: Answer) -> str:
    """The figures at the answer that it does not say itself."""
    if answer.status == "nowhere":
        return ""
    rest = {one: value for one, value in answer.figures.items() if one != question.wanted and value is not None}
    return f"There: {_figures(rest)}" if rest else ""


def _figures(figures: dict[Figure, float]) -> str:
    """Figures with their names where their units do not say them."""
    return ", ".join(
        shown(one, value) if one.is_rate and not one.side else f"{one} {shown(one, value)}"
        for one, value in figures.items()
    )


def _bracket(question: Question, answer: Answer) -> str:
    """The ends of the bracket, with the figures that decide."""
    if answer.bracket is None or answer.axis is None:
        return ""
    said = []
    for value in answer.bracket:
        trial = next(one for one in answer.trials if one.value == value)
        wanted = trial.figures.get(question.wanted) if question.wanted and question.varied == RATE else None
        at = (
            value_shown(answer.axis, value) if wanted is None or not question.wanted else shown(question.wanted, wanted)
        )
        figures = {one.figure: found for one in question.conditions if (found := trial.figures[one.figure]) is not None}
        said.append(f"{at} ({_figures(figures)})")
    return f"The crossing lies between {said[0]} and {said[1]}; {len(answer.trials)} runs"


def interval_text(answer: Answer) -> str:
    """The interval and where it comes from; nothing where there is none."""
    if answer.interval is None or answer.axis is None:
        return ""
    of = answer.interval
    values = _ends(answer.axis, of["values_low"], of["values_high"])
    whole = _ends(answer.axis, of["low"], of["high"])
    return f"{of['level']:g} %: {whole} (by its values alone {values}), from {of['how']}"


def _ends(axis: Axis, low: float, high: float) -> str:
    return f"{_plain(axis, low)} to {_plain(axis, high)}"


def _plain(axis: Axis, value: float) -> str:
    """A value below the name of its axis."""
    return f"{four_digits(value)}" if axis.name == RATE else value_text(axis, value)


def answers_table(found: Found) -> Table:
    """A row a machine."""
    from rich.table import Table

    table = Table(title=found.question.text, title_justify="left")
    table.add_column("machine", overflow="fold")
    table.add_column("answer", overflow="fold")
    # Words for a reader; a program takes the value that was found, and whether one was.
    of_program = PRINTED.form == "csv"
    if of_program:
        table.add_column("status")
        for heading in _answer_headings(found):
            table.add_column(heading, justify="right")
    others = [one for one in found.question.figures if one != found.question.wanted]
    for one in others:
        table.add_column(str(one), justify="right")
    has_intervals = any(answer.interval for answer in found.answers)
    if has_intervals:
        level = next(answer.interval["level"] for answer in found.answers if answer.interval)
        table.add_column(f"{level:g} %", justify="right")
    table.add_column("runs", justify="right")
    for answer in found.answers:
        values = [answer.figures.get(one) for one in others]
        cells = [
            exact(one, value, "–" if value is None else shown(one, value))
            for one, value in zip(others, values, strict=True)
        ]
        status = [answer.status, *_answer_cells(found.question, answer)] if of_program else []
        interval = [_interval_cell(answer)] if has_intervals else []
        table.add_row(answer.machine, answer.text, *status, *cells, *interval, str(len(answer.trials)))
    return table


def _answer_headings(found: Found) -> list[str]:
    """What the answers are values of: the figure that was asked for, what is varied, or both."""
    axis = next((one.axis for one in found.answers if one.axis is not None), None)
    varied = found.question.varied if axis is None else _heading(axis)
    wanted = found.question.wanted
    return [*([] if wanted is None else [str(wanted)]), *([varied] if _has_value(found.question) else [])]


def _answer_cells(question: Question, answer: Answer) -> list[str]:
    """The values that an answer is."""
    cells: list[str] = []
    if question.wanted is not None:
        cells.append(exact(question.wanted, answer.figures.get(question.wanted), ""))
    if _has_value(question):
        value, axis = answer.value, answer.axis
        cells.append("" if value is None or axis is None else exact_text(axis, value, ""))
    return cells


def _has_value(question: Question) -> bool:
    """Whether the value that is varied is an answer: a rate that is varied is the figure asked for."""
    return question.wanted is None or question.varied != RATE


def _interval_cell(answer: Answer) -> str:
    """The ends of its interval."""
    of, axis = answer.interval, answer.axis
    if of is None or axis is None:
        return Between("–", None, None)
    low, high = (exact_text(axis, end, "") for end in (of["low"], of["high"]))
    return Between(_ends(axis, of["low"], of["high"]), low.value, high.value, low.unit)


def search_table(question: Question, answer: Answer, several: bool) -> Table:
    """Every trial of a search in the order in which it was made."""
    from rich.table import Table

    title = f"The search on {answer.machine}" if several else "The search"
    table = Table(title=About(title, {"machine": answer.machine}), title_justify="left")
    table.add_column("" if answer.axis is None else _heading(answer.axis), justify="right")
    figures = list(answer.trials[0].figures) if answer.trials else []
    for one in figures:
        table.add_column(str(one), justify="right")
    table.add_column("conditions")
    for trial in answer.trials:
        cells = [exact(one, value, "–" if value is None else _cell(one, value)) for one, value in trial.figures.items()]
        table.add_row(_value(answer, trial), *cells, _verdict(trial))
    return table


def _heading(axis: Axis) -> str:
    return {RATE: "asked a second", "qd": "queue depth"}.get(axis.name, axis.name)


def _value(answer: Answer, trial: Trial) -> str:
    if trial.value is None or answer.axis is None:
        return Cell(trial.wanted.text, None)
    return exact_text(answer.axis, trial.value, _plain(answer.axis, trial.value))


def _verdict(trial: Trial) -> str:
    if trial.met is None:
        return "where to look"
    return "hold" if trial.met else trial.failed


def _cell(of: Figure, value: float) -> str:
    """A value below the name of its figure, which says the unit of rates."""
    return shown(of, value).removesuffix(f" {of.name.upper()}").removesuffix(" MB/s")
