"""The searches for an answer on one machine: which runs follow one another.

A search is a generator: it yields the runs that it needs, two at a time, and receives them finished. Its driver
(`hotband.questions.find.find`) runs those of all machines together.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from hotband.base.text.numbers import number
from hotband.base.text.table import TPS
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import Load
from hotband.questions.find.axis import Axis
from hotband.questions.find.bracket import Bracket, Point
from hotband.questions.find.question import DRIVES, Condition, Question, ShareOfMost
from hotband.questions.find.trial import Trial, Wanted, score
from hotband.questions.find.vary import MOST_DEPTH, Varied, exactly, value_shown

Status = Literal["found", "everywhere", "nowhere"]
FLAT, APART = 0.3, 0.02
"""A metric that changes by less than a third of a percent per percent of the varied value, between trials at least 2 %
beyond the bracket, makes the answer uncertain: chance moves a percentile of a trial by about a percent."""
LEAST_REACHED, MOST_REACHED = 1 / 8, 1 / 2
"""The next number of drives is from twice to eight times the one that is too small."""
LOWEST, HIGHEST = 0.004, 4.0
"""Lowest and highest rates to try, as shares of the machine's rate with 256 I/Os outstanding."""

BEYOND = 1.2
"""Highest rate to try, as a multiple of the rate with 256 I/Os outstanding."""


@dataclass
class Outcome:
    """The result of a search: the value next to the crossing that meets the conditions, with its trial, the ends of the
    bracket, and all trials in the order of their runs."""

    status: Status
    axis: Axis | None
    trials: list[Trial]
    best: Trial | None = None
    ends: tuple[float, float] | None = None
    notes: list[str] = field(default_factory=list)


Search: TypeAlias = Generator[list[Wanted], list[Trial], Outcome]


@dataclass(frozen=True)
class Frame:
    """What all searches of a question share: the question, and the form of its runs."""

    question: Question
    within: float
    ios: int | None
    arrival: str
    bounds: tuple[str, str] | None

    def shaped(self, load: Load) -> str:
        """Return the text of a trial, as long as necessary unless the user sets a duration."""
        return (load if self.ios is None else load.with_ios(self.ios)).text()


def by_rate(frame: Frame, spec: RunSpec, load: Load, given: tuple[float, float] | None) -> Search:
    """Search the highest rate of an open loop that meets the conditions."""
    trials: list[Trial] = []
    if given is None:
        trials += yield [_closed(frame, spec, load, depth) for depth in (MOST_DEPTH, 1)]
        axis, first = _rates(frame, trials, load)
    else:
        axis, first = _rate_axis(frame, *given, load), [*given]
    bracket = Bracket(axis, spent=len(trials))

    def wanted_at(value: float) -> Wanted:
        text = frame.shaped(load.with_open_loop(value, frame.arrival))
        return Wanted(replace(spec, workload_text=text), value, axis.text(value), value)

    values = first
    while values and bracket.left:
        trials += yield [wanted_at(value) for value in values[: bracket.left]]
        _told(bracket, trials, frame.question.conditions)
        values = bracket.next() if bracket.ends else _beyond(bracket, axis, bounded=given is not None)
    return _outcome(bracket, axis, trials)


def _closed(frame: Frame, spec: RunSpec, load: Load, outstanding: int) -> Wanted:
    """Return the run of a load with this many I/Os outstanding, or clients of a script."""
    closed = load.with_closed_loop(outstanding)
    return Wanted(_texted(frame, spec, closed), None, closed.closed_text(outstanding))


def _texted(frame: Frame, spec: RunSpec, load: Load) -> RunSpec:
    return replace(spec, workload_text=frame.shaped(load))


def _rate_text(value: float) -> str:
    return f"{number(value)}/s"


def _tps_text(value: float) -> str:
    return TPS.shown(value)


def _rate_axis(frame: Frame, low: float, high: float, load: Load) -> Axis:
    text = _rate_text if load.script is None else _tps_text
    return Axis("rate", low, high, high / 1e7, text, frame.within)


def _rates(frame: Frame, probes: Sequence[Trial], load: Load) -> tuple[Axis, list[float]]:
    """Return the axis of rates and the first rates to try, from the machine's rate when it is full and its latencies
    when it is empty.

    As for a queue with one server, latencies grow with the inverse of the free capacity: a limit of twice the empty
    latency is reached at half the capacity.
    """
    full, empty = (probe.served for probe in probes)
    capacity = max(full, empty, 1.0)
    room = [
        condition.bound / (condition.figure.of(probes[1].record) or condition.bound)
        for condition in frame.question.limits
        if isinstance(condition, Condition)
    ]
    share = 1.0 - 1.0 / min(room) if room and min(room) > 0 else 1.0
    guess = capacity * min(max(share, 0.03), 0.95)
    axis = _rate_axis(frame, LOWEST * capacity, HIGHEST * capacity, load)
    return axis, [axis.snap(0.92 * guess), axis.snap(1.08 * guess)]


def _beyond(bracket: Bracket, axis: Axis, bounded: bool) -> list[float]:
    """Return rates beyond those tried so far, which all agree."""
    low, high = bracket.points[0], bracket.points[-1]
    if bounded:
        return []
    if high.met:
        rates = [axis.snap(high.value * 1.2), axis.snap(high.value * 1.6)]
    else:
        rates = [axis.snap(low.value / 6), axis.snap(low.value / 2)]
    tried = {point.value for point in bracket.points}
    return [value for value in dict.fromkeys(rates) if value not in tried]


def at_rate(frame: Frame, spec: RunSpec, load: Load, rate: float) -> Search:
    """Return the figures at a rate, and whether the machine reaches it. A rate far beyond the machine's highest is not
    tried: all I/Os would wait."""
    axis = _rate_axis(frame, rate, rate, load)
    trials = yield [_closed(frame, spec, load, MOST_DEPTH)]
    if rate > BEYOND * trials[0].served:
        return Outcome("nowhere", axis, trials, trials[0])
    loaded = _texted(frame, spec, load.with_open_loop(rate, frame.arrival))
    trials += yield [Wanted(loaded, rate, number(rate), rate)]
    score(trials[1], frame.question.conditions, trials, offered=True)
    return Outcome("found" if trials[1].met else "nowhere", axis, trials, trials[1])


def by_value(frame: Frame, spec: RunSpec, varied: Varied, load: Load, rate: float | None) -> Search:
    """Search the value of an axis next to the first crossing from below, at `rate` if one is offered."""
    question, axis = frame.question, varied.axis
    trials: list[Trial] = []
    loaded = load if rate is None else load.with_open_loop(rate, frame.arrival)
    base = _texted(frame, spec, loaded)
    bracket = Bracket(axis)
    # Goals are searched from below; further limits are checked at the result. A machine must sustain an offered rate.
    goals = question.goals if question.goals and rate is None else list(question.conditions)

    def wanted_at(value: float) -> Wanted:
        return Wanted(varied.run(base, value), value, exactly(axis, value), rate)

    # Each additional drive costs time to simulate, so the search goes upwards from the fewest.
    is_upward = question.varied == DRIVES
    values = [axis.low] if is_upward else [axis.low, axis.high]
    while values and bracket.left:
        trials += yield [wanted_at(value) for value in dict.fromkeys(values[: bracket.left])]
        _told(bracket, trials, goals)
        outwards = _upwards if is_upward else _thirds
        values = bracket.next() if bracket.ends else outwards(bracket, axis)
    return _with_limits(frame, _outcome(bracket, axis, trials), goals)


def _upwards(bracket: Bracket, axis: Axis) -> list[float]:
    """Return larger numbers of drives if none of those tried was enough: as many as the conditions need in proportion
    to what the most drives reached of them, and half as many again."""
    most = bracket.points[-1]
    if most.met or most.value == axis.high:
        return []
    guess = most.value / min(max(1 + most.score, LEAST_REACHED), MOST_REACHED)
    larger = (min(axis.snap(guess * more), axis.high) for more in (1.0, 1.5))
    return [value for value in dict.fromkeys(larger) if value > most.value] or [axis.high]


def _thirds(bracket: Bracket, axis: Axis) -> list[float]:
    """Return values within the ends, if those agree: there may be two crossings between them."""
    if len(bracket.points) > 2 or not axis.between(axis.low, axis.high):
        return []
    places = (axis.place(axis.low) + share * axis.width(axis.low, axis.high) for share in (1 / 3, 2 / 3))
    return sorted({axis.at(position) for position in places} - {axis.low, axis.high})


def _told(bracket: Bracket, trials: Sequence[Trial], conditions: Sequence[Condition | ShareOfMost]) -> None:
    """Score every trial of a value anew, and update the bracket."""
    tried = [trial for trial in trials if trial.value is not None]
    bracket.tell(
        [
            Point(trial.value, score(trial, conditions, tried, trial.wanted.rate is not None))
            for trial in tried
            if trial.value is not None
        ]
    )


def _outcome(bracket: Bracket, axis: Axis, trials: list[Trial]) -> Outcome:
    ends, answer = bracket.ends, bracket.answer
    if ends is None or answer is None:
        met = bool(bracket.points) and bracket.points[0].met
        return Outcome("everywhere" if met else "nowhere", axis, trials)
    by_value = {trial.value: trial for trial in trials if trial.value is not None}
    best = by_value[answer.value]
    notes = [_contradiction(axis, by_value[point.value], best) for point in bracket.contradictions()]
    notes += _flat(axis, best, trials, (ends[0].value, ends[1].value))
    if not bracket.is_near:
        notes.append(f"{bracket.most} runs were not enough to come within {100 * axis.within:g} %")
    return Outcome("found", axis, trials, best, (ends[0].value, ends[1].value), notes)


def _flat(axis: Axis, best: Trial, trials: Sequence[Trial], ends: tuple[float, float]) -> list[str]:
    """Return a note for each metric that hardly changes with the varied value: chance then moves the crossing far."""
    tried = [trial for trial in trials if trial.value]
    below = [trial for trial in tried if (trial.value or 0.0) <= ends[0] / (1 + APART)]
    above = [trial for trial in tried if (trial.value or 0.0) >= ends[1] * (1 + APART)]
    if not below or not above:
        return []
    low, high = max(below, key=lambda trial: trial.value or 0.0), min(above, key=lambda trial: trial.value or 0.0)
    notes = []
    for figure in best.figures:
        values = low.figures.get(figure), high.figures.get(figure)
        if figure in [decide.figure for decide in best.decides] and values[0] and values[1]:
            slope = abs(math.log(values[1] / values[0]) / math.log((high.value or 1.0) / (low.value or 1.0)))
            if slope < FLAT:
                far = "far more" if slope < 0.02 else f"{1 / slope:.2g} %"
                notes.append(f"{figure} hardly depends on {axis.name} there: 1 % of it moves the answer by {far}")
    return notes


def _contradiction(axis: Axis, other: Trial, best: Trial) -> str:
    """Return a note on a trial that contradicts the answer."""
    assert other.value is not None, "a point was tried"
    held = "hold" if other.met else "do not hold"
    return f"the conditions {held} again at {value_shown(axis, other.value)}: the first crossing from below counts"


def _with_limits(frame: Frame, outcome: Outcome, searched: Sequence[object]) -> Outcome:
    """Check the limits at the result, if only goals were searched."""
    limits = [limit for limit in frame.question.limits if limit not in searched]
    best = outcome.best
    if outcome.status == "everywhere" and limits:
        best = next(
            trial for trial in outcome.trials if trial.value == min(trial.value or 0.0 for trial in outcome.trials)
        )
    if not limits or best is None or best.value is None or outcome.axis is None:
        return outcome
    scores = {limit.text: limit.score(best.record, 0.0) for limit in limits}
    missed = [text for text, value in scores.items() if value <= 0]
    if missed:
        goals = " and ".join(goal.text for goal in frame.question.goals)
        at = value_shown(outcome.axis, best.value)
        note = f"at {at}, the smallest with {goals}, it is not {' and not '.join(missed)}"
        best.met, best.failed = False, f"not {missed[0]}"
        return replace(outcome, status="nowhere", best=best, ends=None, notes=[*outcome.notes, note])
    return outcome
