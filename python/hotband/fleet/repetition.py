"""One repetition of one group: what its events make of every month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hotband.fleet.failures import Events, batch_factors, events_of, spares_for_no_wait, waits_of
from hotband.fleet.loss import chance_of_loss, hours_to_loss
from hotband.fleet.plan import Drawn, Floats, Indices, Plan
from hotband.fleet.values import MONTH_HOURS

COLUMNS = ("failures", "worn", "waited", "repair_hours", "degraded_hours", "loss_failure", "loss_sector")
"""By month: drives that failed, and that were worn and replaced; failures that waited for a drive; hours of repair of
all drives, and of service of machines with a drive missing; expected losses by a failure too many and by a sector
error."""
TOTALS = ("spares", "wait_hours", "seen")
"""Of the whole repetition: the smallest stock with which nothing waits, the longest wait, and losses that happened."""


@dataclass(frozen=True)
class Left:
    """What a repetition leaves: [months, columns] and [totals]."""

    months: npt.NDArray[np.float32]
    totals: npt.NDArray[np.float32]


def repeat(plan: Plan, drawn: Drawn, rng: np.random.Generator) -> Left:
    """Simulates a group once."""
    z = batch_factors(plan, drawn, rng)
    events = events_of(plan, drawn, rng, z)
    events, wait, spares = supplied(plan, drawn, events)
    failures = events.chosen(events.failed)
    wait = wait[events.failed]
    months: Floats = np.zeros((plan.months, len(COLUMNS)))
    month = month_of(plan, failures.at)
    months[:, 0] = np.bincount(month, minlength=plan.months)
    months[:, 1] = np.bincount(month_of(plan, events.at[~events.failed]), minlength=plan.months)
    months[:, 2] = np.bincount(month, (wait > 0).astype(float), minlength=plan.months)
    months[:, 3] = hours_by_month(plan, failures.at, np.minimum(failures.back, plan.horizon))
    months[:, 4] = degraded_hours(plan, failures)
    seen = add_losses(months, plan, drawn, Situation(events, z), failures, wait)
    totals = np.array([spares, wait.max(initial=0.0), seen], dtype=np.float32)
    return Left(months.astype(np.float32), totals)


def month_of(plan: Plan, at: Floats) -> Indices:
    """The months of some hours."""
    return np.minimum(at // MONTH_HOURS, plan.months - 1).astype(np.int64)


def supplied(plan: Plan, drawn: Drawn, events: Events) -> tuple[Events, Floats, int]:
    """The events with the time that failures wait for a drive, and the stock with which none would. A drive that would
    have failed before it came, because it came later, did not. Parents are no longer places."""
    wait = np.zeros(len(events))
    if plan.stock is None:
        return events, wait, 0
    failed = np.flatnonzero(events.failed)
    order = failed[np.argsort(events.at[failed], kind="stable")]
    at = events.at[order]
    spares = spares_for_no_wait(plan.stock.order, drawn.delivery, at)
    wait[order] = waits_of(plan.stock, drawn.delivery, at)
    events.back += wait
    came = np.where(events.parent >= 0, events.back[events.parent], -np.inf)
    happened = events.at >= came
    return events.chosen(happened), wait[happened], spares


def by_place(place: Indices, at: Floats) -> Indices:
    """The order by place, and by time within one. Hours have at most 2^-20 of rounding at a million places."""
    return np.lexsort((at, place))


def episodes(place: Indices, at: Floats, back: Floats) -> npt.NDArray[np.bool_]:
    """Whether each event, sorted by place and time, finds all else whole at its place."""
    if not len(place):
        return np.zeros(0, dtype=bool)
    # Places one far behind the other, so that the latest end so far is of the same place or before everything of it.
    far = float(back.max()) + 1.0
    latest = np.maximum.accumulate(place * far + back)
    whole = np.ones(len(place), dtype=bool)
    whole[1:] = place[1:] * far + at[1:] >= latest[:-1]
    return whole


def degraded_hours(plan: Plan, failures: Events) -> Floats:
    """Hours of machines with a drive missing, by month."""
    machine = failures.slot // plan.array.drives
    order = by_place(machine, failures.at)
    place, at, back = machine[order], failures.at[order], failures.back[order]
    starts = np.flatnonzero(episodes(place, at, back))
    if not len(starts):
        return np.zeros(plan.months)
    ends = np.maximum.reduceat(back, starts)
    return hours_by_month(plan, at[starts], np.minimum(ends, plan.gone[place[starts]]))


def hours_by_month(plan: Plan, begin: Floats, end: Floats) -> Floats:
    """Hours between two times, in each month."""
    found: Floats = np.zeros(plan.months)
    while len(begin):
        month = month_of(plan, begin)
        month_end = np.asarray((month + 1) * MONTH_HOURS, dtype=np.float64)
        within = np.bincount(month, np.minimum(end, month_end) - begin, minlength=plan.months)
        found += within
        on = (end > month_end) & (month < plan.months - 1)
        begin, end = month_end[on], end[on]
    return found


@dataclass(frozen=True)
class Situation:
    """All that left, and the factors of the first generation."""

    events: Events
    z: Floats | None


def add_losses(months: Floats, plan: Plan, drawn: Drawn, situation: Situation, failures: Events, wait: Floats) -> int:
    """Adds the chance of loss of every episode to its month; returns how many losses happened."""
    array = plan.array
    group = failures.slot // array.width
    order = by_place(group, failures.at)
    group, failures, wait = group[order], failures.chosen(order), wait[order]
    whole = episodes(group, failures.at, failures.back) if array.tolerated else np.ones(len(group), dtype=bool)
    first = failures.chosen(whole)
    if not len(first):
        return 0
    repair = drawn.delay + drawn.rebuild + wait[whole]
    hazard = hazard_left(plan, drawn, situation, first, group[whole], repair)
    chance = chance_of_loss(array.width, array.tolerated, hazard, repair, drawn.error)
    until = np.minimum(plan.horizon, plan.gone[first.slot // array.drives])
    counts = first.at + hours_to_loss(array, repair) <= until
    month = month_of(plan, first.at)
    for column, part in ((5, chance.failure), (6, chance.sector)):
        months[:, column] = np.bincount(month, np.where(counts, part, 0.0), minlength=plan.months)
    return losses_seen(array.tolerated, group, failures, whole)


def hazard_left(
    plan: Plan, drawn: Drawn, situation: Situation, first: Events, group: Indices, repair: Floats
) -> Floats:
    """The mean failure rate (per hour) of the drives that are left when a drive of a whole redundancy group fails, over
    the hours of its repair.

    All drives of the first generation, what every later one of its place changed, and without the one that failed.
    """
    array, lives = plan.array, drawn.lives
    if array.tolerated == 0 or lives.is_exponential:
        return np.full(len(first), 1.0 / lives.scale)
    served = first.at - plan.born[first.slot // array.drives] + plan.age
    if situation.z is None:
        factors = np.full(len(first), float(array.width))
    else:
        factors = situation.z.reshape(-1, array.width).sum(axis=1)[group]
    hazard = factors * lives.hazard(served, repair)
    events = situation.events
    place = events.slot // array.width
    order = by_place(place, events.at)
    events, place = events.chosen(order), place[order]
    # The first of a group's events; those before the failure follow it.
    at = np.searchsorted(place, group)
    going = np.arange(len(first))
    while len(going):
        here = at[going] < len(place)
        going = going[here]
        here = (place[at[going]] == group[going]) & (events.at[at[going]] < first.at[going])
        going = going[here]
        one = events.chosen(at[going])
        now, hours = first.at[going], repair[going]
        hazard[going] += one.z_next * lives.hazard(now - one.back, hours)
        hazard[going] -= one.z * lives.hazard(now - one.born + one.age, hours)
        at[going] += 1
    hazard -= first.z * lives.hazard(first.at - first.born + first.age, repair)
    return np.asarray(np.maximum(hazard, 0.0) / (array.width - 1))


def losses_seen(tolerated: int, group: Indices, failures: Events, whole: npt.NDArray[np.bool_]) -> int:
    """Failures that were one too many; all sorted by redundancy group and time."""
    if tolerated == 0:
        return len(failures)
    later = np.flatnonzero(~whole)
    missing = np.ones(len(later), dtype=np.int64)
    lag, going = 1, np.arange(len(later))
    while len(going):
        now = later[going]
        before = now - lag
        going = going[(before >= 0) & (group[before] == group[now])]
        now, before = later[going], later[going] - lag
        missing[going] += failures.back[before] > failures.at[now]
        lag += 1
    return int((missing == tolerated + 1).sum())
