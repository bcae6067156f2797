"""The result of `find`: one answer per machine, with the search that led to it, as objects, a frame and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from hotband.base.heavy import pl
from hotband.base.text.html import views_html
from hotband.base.text.numbers import number, share
from hotband.base.text.schema import to_doc, to_object
from hotband.base.text.values import Json
from hotband.base.text.words import enumerated
from hotband.base.views import view_of
from hotband.data.record.pools import machine_state_lines
from hotband.data.store.columns import COLUMNS, WHOLE
from hotband.questions.find.figures import Figure, shown
from hotband.questions.find.margin import certainty_of, nearest_trial
from hotband.questions.find.question import NOTHING
from hotband.questions.find.vary import value_shown, value_text

if TYPE_CHECKING:
    from hotband.data.record.record import Record
    from hotband.questions.find.axis import Axis
    from hotband.questions.find.margin import Certainty, Margin
    from hotband.questions.find.question import Question
    from hotband.questions.find.search import Status
    from hotband.questions.find.trial import Trial

SCHEMA, SCHEMA_VERSION = "hotband-find", 2


class AnswerIntervalDoc(TypedDict):
    """Bounds of the answer, in all and from only the uncertain values and the seed, and their source."""

    level: float
    low: float
    high: float
    values_low: float
    values_high: float
    how: str


@dataclass
class Answer:
    """The answer on one machine: `status` is "found", "everywhere" (the conditions hold over the whole range) or
    "nowhere". `value` is the answer (I/Os per second, bytes, seconds, or a count), `figures` has the metrics of the
    question there (in base units), `record` is the run at the answer. `interval` bounds the
    `bounded` metric, or `value` if that is None; `margins` has the conditions that no crossing decides, with their
    intervals."""

    machine: str
    status: Status
    text: str
    value: float | None
    figures: dict[Figure, float | None]
    bracket: tuple[float, float] | None
    trials: list[Trial]
    axis: Axis | None
    best: Trial | None
    interval: AnswerIntervalDoc | None = None
    rests_on: str = ""
    bounded: Figure | None = None
    is_checked: bool = True
    margins: tuple[Margin, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def record(self) -> Record | None:
        """Return the record of the run at the answer; None if there is no answer."""
        return None if self.best is None else self.best.record

    @property
    def certainty(self) -> Certainty:
        """Return whether the conditions hold: "yes" or "no", with certainty if intervals were computed, "likely" if
        only the prediction meets them, "unlikely" if only a part of an interval does."""
        return certainty_of(self.status, self.margins)

    @property
    def state(self) -> list[str]:
        """Return the cache states of the drives as they ran, one line per group of equal drives, and the values of
        pools."""
        record = self.trials[0].finished.record if self.trials else None
        return [] if record is None else machine_state_lines(record)

    def document(self) -> dict[str, Json]:
        """Return the answer as JSON: `value` in the unit of its key of `set` (rates: I/Os per second; sizes: bytes;
        times: seconds), the metrics there with the names and units of a record, the ends of the bracket."""
        trials = [_trial(trial) for trial in self.trials]
        without = ("trials", "axis", "best", "notes", "margins", "bounded")
        shown = to_doc(
            self, without=without, figures=_recorded(self.figures, self.record), interval=self._interval_document()
        )
        margins = [margin.document() for margin in self.margins]
        more = {
            "certainty": self.certainty,
            "margins": margins,
            "runs": len(self.trials),
            "state": self.state,
            "trials": trials,
            "notes": self.notes,
        }
        return shown | to_object(more)

    def _interval_document(self) -> dict[str, object] | None:
        """Return the interval with the name of what it bounds, in the unit that this states."""
        if self.interval is None:
            return None
        interval, figure = self.interval, self.bounded
        if figure is None:
            return {**interval, "of": "value"}
        if self.record is not None:
            figure = figure.in_record(self.record)
        ends = (interval["low"], interval["high"], interval["values_low"], interval["values_high"])
        low, high, values_low, values_high = map(figure.recorded, ends)
        recorded = {"low": low, "high": high, "values_low": values_low, "values_high": values_high}
        return {**interval, **recorded, "of": figure.column}


def _trial(trial: Trial) -> dict[str, Json]:
    """Return a trial as JSON: the value that was tried (None for a run that only found where to search), its text, its
    metrics with the names and units of a record, whether the conditions held and which did not."""
    shown = {
        "value": trial.value,
        "text": trial.wanted.text,
        "figures": _recorded(trial.figures, trial.record),
        "met": trial.met,
        "failed": trial.failed,
    }
    return to_object(shown)


def _recorded(figures: Mapping[Figure, float | None], record: Record | None) -> dict[str, float | None]:
    """Return metrics of a run with the names and units of a record."""
    named = figures if record is None else {figure.in_record(record): value for figure, value in figures.items()}
    return {figure.column: None if value is None else figure.recorded(value) for figure, value in named.items()}


@dataclass(frozen=True)
class Found:
    """The answers to a question, one per machine, in the order of the machines."""

    question: Question
    workload: str
    asked_as: str
    within: float
    answers: tuple[Answer, ...]
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        return views_html(view_of(self, "lines")(self))

    def __getitem__(self, machine: str) -> Answer:
        """Return the answer on a machine by its name. Raises KeyError if the question does not name it."""
        for answer in self.answers:
            if answer.machine == machine:
                return answer
        raise KeyError(machine)

    def __repr__(self) -> str:
        return f"<{self.question.text}: {'; '.join(f'{answer.machine}: {answer.text}' for answer in self.answers)}>"

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per trial: target, value, text, met, failed, and one column per metric, with the names and
        units that frames of sweeps have."""
        rows = [
            {"target": answer.machine, "value": trial.value, "text": trial.wanted.text, "met": trial.met,
             "failed": trial.failed, **_recorded(trial.figures, trial.record)}
            for answer in self.answers
            for trial in answer.trials
        ]  # fmt: skip
        whole = {name: pl.Int64 for row in rows for name in row if COLUMNS.get(name) == WHOLE}
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=whole, strict=False)

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON document."""
        return to_object(
            {
                "schema": SCHEMA,
                "schema_version": SCHEMA_VERSION,
                "question": self.question.text,
                "workload": self.workload,
                "varied": self.question.varied,
                "asked_as": self.asked_as,
                "within_pct": 100 * self.within,
                "answers": [answer.document() for answer in self.answers],
                "notes": list(self.notes),
            }
        )


def answer_text(question: Question, answer: Answer) -> str:
    """Return the answer in a few words, with the ends of intervals that contradict it."""
    return f"{predicted_text(question, answer)}{contradiction_text(answer)}"


def contradiction_text(answer: Answer) -> str:
    """Return the ends of intervals that contradict an answer; empty for one that is certain."""
    texts = [margin.text for margin in answer.margins if margin.text]
    return f", but {enumerated(texts, len(texts))}" if texts else ""


def predicted_text(question: Question, answer: Answer) -> str:
    """Return the answer by the prediction alone."""
    if question.varied == NOTHING:
        return _at_rate(question, answer)
    if answer.status == "nowhere":
        return f"{_missed(answer)}{_nearest(question, answer)}"
    if answer.best is None or answer.best.value is None or answer.axis is None:
        return "no run was made"
    at = value_shown(answer.axis, answer.best.value)
    if question.wanted is not None:
        value = answer.figures.get(question.wanted)
        text = "" if value is None else shown(question.wanted, value)
        where = "" if question.varied == "rate" else f" at {at}"
        more = " or more: the conditions hold up to the end of the range" if answer.status == "everywhere" else ""
        return f"{text}{where}{more}"
    if answer.status == "everywhere":
        end = "the smallest value that is tried" if question.goals else "the conditions hold over the whole range"
        return f"{at}, {end}"
    return at


def _at_rate(question: Question, answer: Answer) -> str:
    """Return the latency at a rate; the highest rate if the machine does not reach it."""
    value = None if question.wanted is None else answer.figures.get(question.wanted)
    if answer.status == "nowhere" and answer.best is not None:
        return f"{_missed(answer)}: {question.conditions[0].figure.unit.shown(answer.best.served)}"
    return "no I/O was completed" if value is None or question.wanted is None else shown(question.wanted, value)


def unchecked_text(answer: Answer) -> str:
    """Return a remark for an answer whose kind of figure was never validated; empty for others."""
    return "" if answer.is_checked else "unchecked: "


def end_text(question: Question, answer: Answer, value: float) -> str:
    """Return one end of an answer's interval as text: a latency if nothing is varied, else a value."""
    if question.varied == NOTHING and question.wanted is not None:
        return shown(question.wanted, value)
    return number(value) if answer.axis is None else value_text(answer.axis, value)


def _missed(answer: Answer) -> str:
    return "not reached by the prediction" if answer.certainty == "unlikely" else "not reached"


def _nearest(question: Question, answer: Answer) -> str:
    """Describe the trial that came nearest to conditions that no trial meets."""
    trial = nearest_trial(question, answer.trials, answer.best)
    if trial is None or answer.axis is None:
        return ""
    at = value_shown(answer.axis, trial.value or 0.0)
    if question.goals and question.offered is None and answer.best is None:
        goal = question.goals[0].figure
        return f": at most {shown(goal, trial.figures.get(goal) or 0.0)} ({at})"
    goal = next((item for item in question.limits if item.score(trial.record, 0.0) <= 0), question.conditions[0]).figure
    text = f": {goal} is {shown(goal, trial.figures.get(goal) or 0.0)} {'even ' if answer.best is None else ''}at {at}"
    if trial.kept_up < 1 - trial.slack:
        text += f", where {share(trial.kept_up)} of the requested rate is completed"
    return text
