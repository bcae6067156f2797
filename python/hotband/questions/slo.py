"""Objectives such as "p99 < 1 ms": their conditions, and whether figures meet them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hotband.base.errors import UserError
from hotband.base.text.numbers import number, percent
from hotband.base.text.table import IOPS
from hotband.data.record.overload import MissedRate
from hotband.questions.find.figures import Figure, shown
from hotband.questions.find.question import Condition, conditions

SLO = "question.slo"
SLO_FORM = 'expected conditions such as "p99 < 5 ms" or "p99 < 5 ms and IOPS > 2000"'
TWICE = 2.0
"""Ratio of bound to figure from which the margin is shown as a multiple; below it, as a percentage."""
Verdict = Literal["yes", "likely", "no"]
Ends = tuple[float, float]


def slo_of(text: str, option: str = SLO) -> tuple[Condition, ...]:
    """Return the conditions in a text. Raises UserError that names the option."""
    if not text.strip():
        raise UserError(option, "", "", f"is empty: {SLO_FORM}")
    try:
        parsed = conditions(" ".join(text.split()))
    except UserError as error:
        raise UserError(option, "", error.value, error.accepted) from None
    objective = tuple(condition for condition in parsed if isinstance(condition, Condition))
    if len(objective) < len(parsed):
        raise UserError(option, "", text, f"a share of the maximum is not an objective: {SLO_FORM}")
    return objective


@dataclass(frozen=True)
class Judged:
    """A condition with the figure to compare with its bound (seconds, I/Os or bytes per second; None if there is no
    such I/O), the name of the figure, and the ends of its interval."""

    condition: Condition
    value: float | None
    name: str
    ends: Ends | None = None

    @property
    def spare(self) -> float:
        """Ratio by which the figure is better than the bound; below one if the condition is not met."""
        if self.value is None:
            return 0.0
        if self.condition.is_goal:
            return self.value / self.condition.bound
        return self.condition.bound / self.value if self.value > 0 else float("inf")

    @property
    def is_met(self) -> bool:
        """Whether the condition holds."""
        return self.value is not None and self.condition.holds(self.value)

    @property
    def verdict(self) -> Verdict:
        """Whether the condition holds: certainly, only in a part of the interval, or not. Figures of a product may move
        the interval off the prediction, so that it holds nowhere although the prediction meets it."""
        if not self.is_met or self.ends is None:
            return "yes" if self.is_met else "no"
        held = [self.condition.holds(end) for end in self.ends]
        return "yes" if all(held) else "likely" if any(held) else "no"

    @property
    def text(self) -> str:
        """The figure with its unit."""
        return "no such I/O" if self.value is None else shown(self.condition.figure, self.value)


def judge(
    slo: Sequence[Condition],
    value: Callable[[Figure], float | None],
    ends: Callable[[Figure], Ends | None] = lambda _: None,
    name: Callable[[Figure], str] = str,
) -> tuple[Judged, ...]:
    """Compare figures with the bounds of an objective."""
    return tuple(
        Judged(condition, value(condition.figure), name(condition.figure), ends(condition.figure)) for condition in slo
    )


def with_rate(judged: tuple[Judged, ...], missed: MissedRate | None) -> tuple[Judged, ...]:
    """Return the conditions with that of the load, if the machine missed the requested rate: latencies of the I/Os that
    it served say nothing about the others."""
    if missed is None:
        return judged
    figure = Figure("", "iops" if missed.unit == IOPS.name else "tps")
    condition = Condition(figure, missed.requested, "the requested rate")
    return (*judged, Judged(condition, missed.served, str(figure)))


def verdict_of(judged: Iterable[Judged]) -> Verdict:
    """Return whether all conditions hold."""
    verdicts = {item.verdict for item in judged}
    return "no" if "no" in verdicts else "likely" if "likely" in verdicts else "yes"


def slo_text(slo: Iterable[Condition]) -> str:
    """Return an objective as the user wrote it."""
    return " and ".join(condition.text for condition in slo)


def spare_text(judged: Iterable[Judged]) -> str:
    """Return by how much the condition nearest to its bound is met: `with 8 times to spare`."""
    least = min((item.spare for item in judged), default=1.0)
    if least >= TWICE:
        return f"with {'many' if least == float('inf') else number(least, 1 if least < 10 else 2)} times to spare"
    return f"with {percent(100 * (least - 1.0), signed=False)} to spare"


def missed_text(judged: Iterable[Judged]) -> str:
    """Return the figures that miss their bounds: `p99 is 4.2 ms`."""
    return " and ".join(_missed(item) for item in judged if item.verdict == "no")


def _missed(item: Judged) -> str:
    if item.is_met and item.ends is not None:
        low, high = (shown(item.condition.figure, end) for end in item.ends)
        return f"the interval of {item.name} is {low} to {high}"
    if item.value is None:
        return f"the load has no {item.name}"
    return item.text if item.condition.is_goal else f"{item.name} is {item.text}"


def at_rate(rate: str | None, unit: str = IOPS.name) -> str:
    """Return the requested rate, as words after an objective: ` at 60,000 IOPS`."""
    return "" if rate is None else f" at {number(float(rate))} {unit}"


def met_text(name: str, judged: Sequence[Judged], at: str = "") -> str:
    """Return whether a machine meets an objective, in a sentence."""
    slo = slo_text(item.condition for item in judged)
    verdict = verdict_of(judged)
    if verdict == "no":
        return f"{name} does not meet {slo}{at}: {missed_text(judged)}."
    return f"{name} {'likely meets' if verdict == 'likely' else 'meets'} {slo}{at}, {spare_text(judged)}."
