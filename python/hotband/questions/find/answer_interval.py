"""The interval of an answer: that of a metric at the crossing, converted to the varied value.

Two sources contribute, and each side takes the wider. The first is the interval of the deciding metric at the crossing
(samples of uncertain values, seed, model error: docs/guides/intervals.md): if the metric were that much higher
everywhere, where would the trials cross the bound? The second, for a rate that is searched for or offered, is the model
error of rates alone: a machine that is faster in everything crosses at a rate that is higher by the same factor.

Left out: the uncertainty of the curve's shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.inference.interval.basis import bases_of, bounds_of, kinds_of
from hotband.inference.interval.ceiling import capped
from hotband.inference.interval.conformal import Kind
from hotband.inference.interval.of_corpus import Basis
from hotband.inference.interval.of_record import drawn_of, figure_of, outside_of
from hotband.inference.interval.of_record import interval_of as interval_of_figure
from hotband.inference.interval.of_run import Asked, Drawn, Watch, rate_class, system_of
from hotband.questions.find.figures import Figure, shown
from hotband.questions.find.found import Answer, AnswerIntervalDoc
from hotband.questions.find.margin import Margin, nearest_trial, undecided
from hotband.questions.find.question import NOTHING, RATE, Condition, Question, ShareOfMost

if TYPE_CHECKING:
    from hotband.data.documents.study import IntervalDoc
    from hotband.execution.experiment import Say
    from hotband.questions.find.axis import Axis
    from hotband.questions.find.trial import Trial


@dataclass
class Samples:
    """The samples of trials' machines, each made once when it is first needed."""

    request: Asked
    jobs: int | None
    say: Say | None
    watch: Watch
    made: dict[int, Drawn] = field(default_factory=dict)

    @property
    def level(self) -> float:
        """Return the level of the intervals in percent."""
        return self.request.level

    def of(self, trial: Trial) -> Drawn:
        """Return the samples of a trial's machine. Raises UserError, RunsInterrupted."""
        if id(trial) not in self.made:
            say = self.say or (lambda _: None)
            self.made[id(trial)] = drawn_of(trial.wanted.spec, trial.finished, self.request, self.jobs, say, self.watch)
        return self.made[id(trial)]


def interval_of(question: Question, answer: Answer, samples: Samples) -> AnswerIntervalDoc | None:
    """Return the interval of an answer. None if there is none, or for a share of the maximum, which a common shift of
    all values does not change. Raises UserError, RunsInterrupted."""
    best = answer.best
    if answer.status != "found" or best is None or best.value is None or answer.axis is None:
        return None
    if question.varied == NOTHING and question.wanted is not None:
        return _of_wanted(question.wanted, best, samples)
    decides = _deciding(question, best)
    if not isinstance(decides, Condition):
        return None
    sampled = _drawn(decides.figure, best, samples)
    if sampled is None:
        return None
    drawn, name, of_figure = sampled
    ratios = [of_figure[end] / drawn.nominal[name] for end in ("low", "high")] + _by_values(drawn, name, samples.level)
    crossings = [_crossing(answer.trials, decides, ratio, best) for ratio in ratios]
    crossings, of_values = crossings[:2], crossings[2:]
    between = _between(decides.figure, of_figure["low"], of_figure["high"])
    source = f"the interval of {decides.figure} there, {between}, carried over the curve of the trials"
    if best.wanted.rate is not None:
        bounds = _rate_bounds(best, drawn, samples.level)
        # A slower machine needs more drives; a faster one has a higher rate.
        signs = (1, 1) if question.varied == RATE else (-1, -1)
        crossings += [best.value * math.exp(sign * bound) for sign, bound in zip(signs, bounds, strict=True)]
        shares = " to ".join(f"{math.expm1(bound):+.0%}" for bound in bounds)
        source += f", and the model error of rates ({shares})"
    if question.varied == RATE and "iops" in drawn.limits.room:
        # No machine exceeds its ports and media, whatever the curve suggests.
        most = best.value * math.exp(drawn.limits.room["iops"])
        crossings = [min(crossing, most) for crossing in crossings]
    if not contradictions_of(question, answer, samples):
        crossings.append(best.value)
    low, high = _outward(answer, min(crossings), max(crossings))
    values_low, values_high = _outward(answer, min(*of_values, best.value), max(*of_values, best.value))
    return {
        "level": samples.level,
        "low": low,
        "high": high,
        "values_low": values_low,
        "values_high": values_high,
        "how": source,
    }


def contradictions_of(question: Question, answer: Answer, samples: Samples) -> list[str]:
    """Return a note if figures of the drives' product contradict the prediction of the deciding metric, or of the rate
    that is offered: the answer can lie outside its interval. Raises UserError, RunsInterrupted."""
    best = answer.best
    if answer.status != "found" or best is None or answer.axis is None:
        return []
    decides = question.wanted if question.varied == NOTHING else None
    if decides is None:
        condition = _deciding(question, best)
        decides = condition.figure if isinstance(condition, Condition) else None
    sampled = None if decides is None else _drawn(decides, best, samples)
    if sampled is None:
        return []
    drawn, name, interval = sampled
    ends = {name: (drawn.nominal[name], interval["low"], interval["high"])}
    if best.wanted.rate is not None and question.varied != NOTHING:
        low, high = _rate_bounds(best, drawn, samples.level)
        ends["iops"] = (1.0, math.exp(low), math.exp(high))
    return outside_of(ends, drawn.bases)


def _rate_bounds(best: Trial, drawn: Drawn, level: float) -> tuple[float, float]:
    """Return the log-ratios of the model error of rates."""
    spec = best.wanted.spec
    kind = Kind(rate_class(spec), system_of(spec))
    return capped("iops", bounds_of(drawn.bases["iops"], kind, level), drawn.limits.room)


def basis_of(question: Question, best: Trial, level: float) -> Basis:
    """Return the evidence for the error of the deciding metric. Raises UserError."""
    decides = question.wanted if question.varied == NOTHING else None
    if decides is None:
        condition = _deciding(question, best)
        decides = condition.figure if isinstance(condition, Condition) else Figure("", "iops")
    bases = bases_of(best.wanted.spec, best.finished.record, level)
    name = figure_of(decides.document_name) if decides.has_interval(best.record) else "iops"
    return bases[name if name in bases else figure_of(nearest_name(decides))]


def margins_of(question: Question, answer: Answer, samples: Samples) -> tuple[Margin, ...]:
    """Return the conditions that no crossing decides, with their intervals; a metric without an interval is left out.
    Raises UserError, RunsInterrupted."""
    trial = nearest_trial(question, answer.trials, answer.best)
    if trial is None:
        return ()
    margins = []
    for condition, value in undecided(question, answer.status, trial):
        sampled = _drawn(condition.figure, trial, samples)
        if sampled is not None:
            drawn, name, interval = sampled
            low, high = (value * interval[end] / drawn.nominal[name] for end in ("low", "high"))
            margins.append(Margin(condition, trial.value, value, (low, high), samples.level))
    return tuple(margins)


def _drawn(figure: Figure, best: Trial, samples: Samples) -> tuple[Drawn, str, IntervalDoc] | None:
    """Return samples of a trial's machine, with a metric's name in them and its interval; None if they do not have it.
    Raises UserError, RunsInterrupted."""
    if not figure.has_interval(best.record):
        return None
    spec = best.wanted.spec
    drawn = samples.of(best)
    name = next(
        (candidate for candidate in (figure.document_name, nearest_name(figure)) if candidate in drawn.nominal), None
    )
    if name is None:
        return None
    kind = kinds_of(spec, best.finished.record, [name])[name]
    return drawn, name, interval_of_figure(name, kind, samples.level, drawn)


def _of_wanted(figure: Figure, best: Trial, samples: Samples) -> AnswerIntervalDoc | None:
    """Return the interval of the metric itself, for a question that varies nothing."""
    value = best.figures.get(figure)
    sampled = None if value is None else _drawn(figure, best, samples)
    if value is None or sampled is None:
        return None
    drawn, name, of_figure = sampled
    low, high = (value * of_figure[end] / drawn.nominal[name] for end in ("low", "high"))
    values_low, values_high = (value * ratio for ratio in _by_values(drawn, name, samples.level))
    source = f"the interval of {figure} at this rate"
    return {
        "level": samples.level, "low": low, "high": high, "values_low": values_low, "values_high": values_high,
        "how": source,
    }  # fmt: skip


def _by_values(drawn: Drawn, name: str, level: float) -> list[float]:
    """Return the ratios at the ends of the metric's range over samples of the uncertain values."""
    logs = drawn.log_ratios(name)
    return [float(np.exp(np.percentile(logs, tail))) if len(logs) else 1.0 for tail in (50 - level / 2, 50 + level / 2)]


def _deciding(question: Question, best: Trial) -> Condition | ShareOfMost:
    """Return the condition nearest to its bound at the crossing; if the search was for a goal, only goals count."""
    conditions = list(question.conditions)
    if question.goals and question.offered is None:
        conditions = question.goals
    elif question.offered is not None:
        conditions = question.limits or question.goals
    return min(conditions, key=lambda condition: condition.score(best.record, 1.0))


def nearest_name(figure: Figure) -> str:
    """Return the name in a record of the metric nearest to a percentile that has no interval."""
    quantile = figure.percentile or 0.0
    nearest = min(
        (50.0, 99.0, 99.9), key=lambda percentile: abs(math.log((100.001 - percentile) / (100.001 - quantile)))
    )
    side = f"{figure.side}." if figure.side else ""
    return f"{side}latency_p{nearest:g}_ns".replace("99.9", "999")


def _between(figure: Figure, low: float, high: float) -> str:
    scale = figure.document_scale
    return f"{shown(figure, low * scale)} to {shown(figure, high * scale)}"


def _crossing(trials: Sequence[Trial], condition: Condition, ratio: float, best: Trial) -> float:
    """Return where the trials would cross the bound if the metric were `ratio` times as large everywhere: interpolated
    between neighbouring trials in logarithms, extrapolated beyond the last one by its slope."""
    points = sorted(
        (trial.value, value)
        for trial in trials
        if trial.value and (value := trial.figures.get(condition.figure)) is not None and value > 0
    )
    if len(points) < 2:
        return best.value or 0.0
    bound = math.log(condition.bound / ratio)
    line = [(math.log(value), math.log(figure)) for value, figure in points]
    at = _nearest_crossing(line, bound, math.log(best.value or 1.0))
    # A slope says little beyond the trials: at most half or twice the value.
    return math.exp(min(max(at, line[0][0] - math.log(2)), line[-1][0] + math.log(2)))


def _nearest_crossing(line: Sequence[tuple[float, float]], bound: float, near: float) -> float:
    inside = [
        _on_line(low, high, bound)
        for low, high in pairwise(line)
        if (low[1] - bound) * (high[1] - bound) <= 0 and low[1] != high[1]
    ]
    if inside:
        return min(inside, key=lambda at: abs(at - near))
    rises = line[-1][1] > line[0][1]
    ends = line[-2:] if rises == (bound > line[-1][1]) else line[:2]
    if ends[0][1] == ends[1][1]:
        return ends[1][0] if ends == line[-2:] else ends[0][0]
    return _on_line(ends[0], ends[1], bound)


def _on_line(low: tuple[float, float], high: tuple[float, float], bound: float) -> float:
    return low[0] + (bound - low[1]) * (high[0] - low[0]) / (high[1] - low[1])


def _outward(answer: Answer, low: float, high: float) -> tuple[float, float]:
    """Return the ends as values of the axis, rounded outward; those of a rate stay as they are."""
    axis = answer.axis
    assert axis is not None, "a crossing was found on it"
    if axis.name == "rate":
        return low, high
    return max(axis.low, _stepped(axis, low, -1)), max(axis.low, _stepped(axis, high, 1))


def _stepped(axis: Axis, value: float, way: int) -> float:
    """Return the next value of an axis, downwards or upwards."""
    return axis.low + way * axis.step * math.ceil(way * (value - axis.low) / axis.step - 1e-9)
