"""Whether a condition holds with certainty at the trial that decides an answer.

An answer at a crossing has an interval of the varied value. Where no crossing was found, or where a condition is only
checked at the answer, the interval of the condition's own metric states what is certain. Left out: shares of a maximum,
which have no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict

from hotband.questions.find.figures import Figure, shown
from hotband.questions.find.question import NOTHING, Condition, Question

if TYPE_CHECKING:
    from hotband.questions.find.search import Status
    from hotband.questions.find.trial import Trial

Certainty = Literal["yes", "likely", "unlikely", "no"]
CERTAINTIES: tuple[Certainty, ...] = ("yes", "likely", "unlikely", "no")
"""A condition holds in its whole interval, by the prediction only, in a part of the interval only, or nowhere in it."""


class MarginDoc(TypedDict):
    """A condition, the value at which it was tried, the prediction of its metric there, and the ends of its interval,
    in the units of a record."""

    condition: str
    at: float | None
    figure: str
    predicted: float
    low: float
    high: float
    level: float
    holds: Certainty


@dataclass(frozen=True)
class Margin:
    """A condition with its metric at a trial: the prediction and the ends of its interval, in base units."""

    condition: Condition
    at: float | None
    value: float
    ends: tuple[float, float]
    level: float

    @property
    def holds(self) -> Certainty:
        """Whether the condition holds, and how certainly: by the ends of the interval, which figures of a product may
        move off the prediction, and by the prediction if the ends disagree."""
        held = {self.condition.holds(end) for end in self.ends}
        if len(held) == 1:
            return "yes" if held.pop() else "no"
        return "likely" if self.condition.holds(self.value) else "unlikely"

    @property
    def text(self) -> str:
        """The end of the interval that contradicts the prediction; empty if the prediction is certain."""
        if self.holds == ("yes" if self.condition.holds(self.value) else "no"):
            return ""
        figure = self.condition.figure
        if self.holds in ("yes", "no"):
            low, high = (shown(figure, end) for end in self.ends)
            return f"the {self.level:g} % interval of {figure} there is {low} to {high}"
        # A rate that holds is endangered by its low end, a latency by its high one; one that misses, the other way.
        is_high = figure.is_rate != (self.holds == "likely")
        end = shown(figure, self.ends[is_high])
        name = "" if figure.is_rate and not figure.side else f" of {figure}"
        return f"the {self.level:g} % interval{name} there reaches {'up' if is_high else 'down'} to {end}"

    def document(self) -> MarginDoc:
        """Return it as JSON has it."""
        figure = self.condition.figure
        predicted, low, high = map(figure.recorded, (self.value, *self.ends))
        return {
            "condition": self.condition.text,
            "at": self.at,
            "figure": figure.column,
            "predicted": predicted,
            "low": low,
            "high": high,
            "level": float(self.level),
            "holds": self.holds,
        }


def certainty_of(status: Status, margins: Sequence[Margin]) -> Certainty:
    """Return how certain an answer is: as certain as its least certain condition. Without intervals the prediction
    decides."""
    prediction: Certainty = "no" if status == "nowhere" else "yes"
    return max((margin.holds for margin in margins), key=CERTAINTIES.index, default=prediction)


def nearest_trial(question: Question, trials: Sequence[Trial], best: Trial | None) -> Trial | None:
    """Return the trial that came nearest to conditions that no trial meets; None if no value was tried."""
    tried = [trial for trial in trials if trial.value is not None]
    if best is not None or not tried:
        return best
    if question.goals and question.offered is None:
        goal = question.goals[0].figure
        return max(tried, key=lambda trial: trial.figures.get(goal) or 0.0)
    decides = (question.limits or question.goals)[0].figure
    return min(tried, key=lambda trial: (trial.kept_up < 1 - trial.slack, trial.figures.get(decides) or 0.0))


def undecided(question: Question, status: Status, trial: Trial) -> list[tuple[Condition, float]]:
    """Return the conditions of which the curve of the trials says nothing, with their metrics at a trial: those that
    fail at the nearest trial, all at the end of a range over which they hold, and else those that are only checked at
    the answer."""
    offered = _offered(question, trial)
    if question.varied == NOTHING:
        return offered
    values = {item: item.figure.of(trial.record) for item in question.conditions if isinstance(item, Condition)}
    others = [(item, value) for item, value in values.items() if item != question.offered and value is not None]
    if status == "nowhere":
        failed = [(item, value) for item, value in offered if not item.holds(value)]
        return failed or [(item, value) for item, value in others if not item.holds(value)]
    if status == "everywhere":
        return [*offered, *others]
    is_checked = bool(question.goals) and question.offered is None
    return [(item, value) for item, value in others if is_checked and not item.is_goal]


def _served(figure: Figure, trial: Trial) -> float | None:
    """Return a rate that a trial served; the rate of an open loop includes trims."""
    return trial.served if figure == Figure("", "iops") else figure.of(trial.record)


def _offered(question: Question, trial: Trial) -> list[tuple[Condition, float]]:
    """Return the rate that a trial must sustain, less what a machine that keeps up may miss, with the rate that it
    served; nothing if none is demanded."""
    goal, rate = question.offered, trial.wanted.rate
    if rate is None:
        served = None if goal is None else _served(goal.figure, trial)
        return [] if goal is None or served is None or question.varied != NOTHING else [(goal, served)]
    of_all = Figure("", "tps" if trial.script else "iops")
    demanded = goal or Condition(of_all, rate, of_all.unit.shown(rate))
    return [
        (replace(demanded, bound=demanded.bound * (1 - trial.slack)), demanded.bound * trial.kept_up),
    ]
