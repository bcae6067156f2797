"""The requirements that a candidate misses, by how much, and under which workload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hotband.base.text.numbers import number, share
from hotband.questions.find.figures import shown

if TYPE_CHECKING:
    from hotband.questions.advise.asked import Needs
    from hotband.questions.advise.front import Tried
    from hotband.questions.advise.measure import Measured
    from hotband.questions.find.question import Condition

OVER_POWER = "over the power"
"""Reason of a miss that fewer drives may mend."""
WATTS_BY_CHANCE = 0.02
"""Share by which the watts of a short run may be off. The power above idle is about a third of the total, and it varies
with the share of the time that drives are busy, as the rate does."""


@dataclass(frozen=True)
class Miss:
    """A condition that does not hold: `reason` is the text under which it is counted, `says` the candidate's value,
    `factor` how many times better that would have to be."""

    reason: str
    says: str
    factor: float

    def with_a_drive_failed(self) -> Miss:
        """Return the miss, worded for runs with a drive failed."""
        return replace(self, reason=f"{self.reason} with a drive failed", says=f"with a drive failed, {self.says}")


def misses(tried: Tried, needs: Needs, conditions: Iterable[Condition], *, surely: bool) -> Iterator[Miss]:
    """Yield the conditions that a candidate misses; with `surely`, those missed even at the better ends of chance."""
    for name, measured in tried.measured.items():
        if measured.kept_up < 1.0 - measured.slack * (2 if surely else 1):
            says = f"it completes {share(measured.kept_up)} of the I/Os that {name} requests"
            yield Miss(f"cannot keep up with {name}", says, _times(1.0, measured.kept_up))
        for condition in conditions:
            if condition.figure in measured.figures and not holds(measured, condition, 0 if surely else None):
                yield _of_condition(measured, name, condition)
    if tried.life is not None and tried.life < needs.years:
        says = f"it is worn out in {number(tried.life)} of {needs.years:g} years"
        yield Miss("worn out before the years are over", says, _times(needs.years, tried.life))
    watts = tried.watts
    if needs.watts is not None and watts is not None and watts[0] * (1 - WATTS_BY_CHANCE * surely) > needs.watts:
        says = f"it draws {number(watts[0])} W of {number(needs.watts)} W"
        yield Miss(OVER_POWER, says, _times(watts[0], needs.watts))


def furthest(tried: Tried, needs: Needs, conditions: Iterable[Condition]) -> Miss | None:
    """Return the condition that a candidate misses by most; None if it meets all."""
    return max(misses(tried, needs, conditions, surely=False), key=lambda miss: miss.factor, default=None)


def holds(measured: Measured, condition: Condition, end: int | None) -> bool:
    """Return whether a condition holds, at the value or at an end by chance (0: the better, 1: the worse)."""
    value = measured.figures[condition.figure]
    if end is not None:
        value = measured.chance[condition.figure][1 - end if condition.is_goal else end]
    return condition.holds(value)


def surely_holds(tried: Tried, needs: Needs) -> bool:
    """Return whether a candidate meets the requirements whatever chance did to its run."""
    if any(misses(tried, needs, (), surely=False)):
        return False
    return all(
        holds(measured, condition, 1)
        for measured in tried.measured.values()
        for condition in needs.slo
        if condition.figure in measured.figures
    )


def _of_condition(measured: Measured, name: str, condition: Condition) -> Miss:
    value = measured.figures[condition.figure]
    figure = "" if condition.is_goal else f"{condition.figure} "
    says = f"{figure}{shown(condition.figure, value)} under {name}, where {condition.text} was required"
    factor = _times(condition.bound, value) if condition.is_goal else _times(value, condition.bound)
    return Miss(f"not {condition.text}", says, factor)


def _times(larger: float, smaller: float) -> float:
    return larger / smaller if smaller > 0 else float("inf")
