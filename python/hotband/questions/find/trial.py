"""A trial: a run with one value on the axis, and whether the conditions of the question hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hotband.base.text.numbers import share
from hotband.data.inputs.loads import Load
from hotband.data.record.overload import completed_rate, keeps_up, only_script, slack_of
from hotband.data.record.record import Record, record_of
from hotband.questions.find.figures import Figure
from hotband.questions.find.question import Condition, Question, ShareOfMost

if TYPE_CHECKING:
    from hotband.data.documents.record import ScriptDoc
    from hotband.data.documents.run import RunSpec
    from hotband.data.record.finished import Finished


@dataclass(frozen=True)
class Wanted:
    """A run to make: its spec, the value that it tries (None for a run that only finds where to search), the text of
    that, and the rate that is offered to it, if any."""

    spec: RunSpec
    value: float | None
    text: str
    rate: float | None = None


@dataclass
class Trial:
    """A finished run, its metrics by name (seconds, I/Os and bytes per second), and whether the conditions held;
    `failed` is the first that did not, in words."""

    wanted: Wanted
    record: Record
    finished: Finished
    figures: dict[Figure, float | None] = field(default_factory=dict)
    met: bool | None = None
    failed: str = ""
    decides: Sequence[Condition | ShareOfMost] = ()

    @property
    def value(self) -> float | None:
        """Return the value that was tried."""
        return self.wanted.value

    @cached_property
    def kept_up(self) -> float:
        """Return the completed share of an offered rate; 1 if no rate was offered."""
        if self.wanted.rate is None or (self.script and keeps_up(self.script, self.record.document["duration_ns"])):
            return 1.0
        return (self.served if self.script else self._answered()) / self.wanted.rate

    @property
    def script(self) -> ScriptDoc | None:
        """Return the script whose transactions a rate counts; None if it counts I/Os."""
        return only_script(self.record.document)

    @property
    def served(self) -> float:
        """Return the I/Os, or the transactions of its script, that were completed per second."""
        return self.script["per_second"] if self.script else completed_rate(self.record.document["summary"])

    @property
    def slack(self) -> float:
        """Return how much of an offered rate may be missing."""
        return slack_of(self.script["completed"] if self.script else self.record.summary.count or 0)

    def _answered(self) -> float:
        """Return the I/Os per second of the streams that share the loop."""
        document = self.record.document
        places = Load(str(self.wanted.spec.workload_text), "").varied()
        streams = [stream for index, stream in enumerate(document["streams"]) if index in places]
        # An open loop's rate includes its trims.
        sides = (stream[side] for stream in streams for side in ("read", "write", "trim") if side in stream)
        count = sum(side["count"] for side in sides)
        return count / (document["duration_ns"] / 1e9)


def of_finished(wanted: Wanted, finished: Finished, question: Question) -> Trial:
    """Return the trial of a run, with its metrics. Raises UserError for a metric that the load cannot have."""
    record = record_of(finished)
    trial = Trial(wanted, record, finished)
    for one in question.figures:
        one.needed(record)
    extra = [] if question.wanted else [Figure("", "iops")]
    trial.figures = {figure: figure.of(record) for figure in dict.fromkeys([*question.figures, *extra])}
    return trial


def most_of(trials: Sequence[Trial], figure: Figure) -> float:
    """Return the largest value of a metric in any trial."""
    return max((trial.figures.get(figure) or 0.0 for trial in trials), default=0.0)


def score(trial: Trial, conditions: Sequence[Condition | ShareOfMost], trials: Sequence[Trial], offered: bool) -> float:
    """Return how well conditions hold, above zero if all do. An `offered` rate counts as reached if the machine keeps
    up with it."""
    scores = {condition.text: condition.score(trial.record, most_of(trials, condition.figure))
             for condition in conditions if not (offered and condition.is_goal)}  # fmt: skip
    if not scores or trial.kept_up < 1.0 - trial.slack:
        scores["keeping up"] = trial.kept_up / (1.0 - trial.slack) - 1.0
    least = min(scores, key=scores.__getitem__)
    trial.decides = [condition for condition in conditions if not (offered and condition.is_goal)]
    trial.met = scores[least] > 0
    trial.failed = "" if trial.met else _failure(trial, least)
    return scores[least]


def _failure(trial: Trial, condition: str) -> str:
    if condition == "keeping up":
        return f"completes {share(trial.kept_up)} of the requested rate"
    return f"not {condition}"
