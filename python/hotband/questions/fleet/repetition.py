"""One repetition of one group: the figures of every month from its events."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hotband.base.arrays import Floats, Indices
from hotband.questions.fleet.failures import Events, batch_factors, events_of, spares_for_no_wait, waits_of
from hotband.questions.fleet.loss import Happened, Repair, chance_of_loss, happened, repair_until
from hotband.questions.fleet.plan import Drawn, Plan
from hotband.questions.fleet.values import MONTH_HOURS

COLUMNS = ("failures", "worn", "waited", "repair_hours", "degraded_hours", "loss_failure", "loss_sector")
"""Columns by month: failed drives, and worn drives that were replaced; failures that waited for a drive; hours of
repair of all drives, and of service of machines with a missing drive; expected losses by a failure that exceeds the
redundancy and by a sector error."""
TOTALS = ("spares", "wait_hours", "seen", "likely", "log_intact")
"""Totals of a repetition: the smallest stock with which no failure waits, the longest wait, simulated losses by a
failure that exceeds the redundancy, episodes whose simulated losses count among the expected ones, and the logarithm of
the chance that no data is lost, minus infinity if some is lost for certain."""
LIKELY = 0.05
"""Expected number of further failures during a repair from which losses are simulated: the chance of loss is correct to
first order in it, and losses are no longer rare."""


@dataclass(frozen=True)
class Left:
    """The result of a repetition: [months, columns] and [totals]."""

    months: npt.NDArray[np.float32]
    totals: npt.NDArray[np.float32]


def repeat(plan: Plan, drawn: Drawn, rng: np.random.Generator) -> Left:
    """Simulate a group once."""
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
    counted = add_losses(months, plan, drawn, Situation(events, z), failures, wait)
    losses = (counted.seen, counted.likely, counted.log_intact)
    totals = np.array([spares, wait.max(initial=0.0), *losses], dtype=np.float32)
    return Left(months.astype(np.float32), totals)


def month_of(plan: Plan, at: Floats) -> Indices:
    """Return the months of some hours."""
    return np.minimum(at // MONTH_HOURS, plan.months - 1).astype(np.int64)


def supplied(plan: Plan, drawn: Drawn, events: Events) -> tuple[Events, Floats, int]:
    """Return the events with the time that failures wait for a drive, and the stock with which none would wait. A drive
    that arrives after it would have failed does not fail. The indices of parents are no longer valid."""
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


def by_place(number: Indices, at: Floats) -> Indices:
    """Return the order by number, and by time within one. Hours are rounded by at most 2^-20 at a million numbers."""
    return np.lexsort((at, number))


def episodes(number: Indices, at: Floats, back: Floats) -> npt.NDArray[np.bool_]:
    """Return whether each event, sorted by number and time, finds everything else whole at its number."""
    if not len(number):
        return np.zeros(0, dtype=bool)
    # Places follow one another in time, so the latest end so far belongs to the same place or precedes all of it.
    far = float(back.max()) + 1.0
    latest = np.maximum.accumulate(number * far + back)
    whole = np.ones(len(number), dtype=bool)
    whole[1:] = number[1:] * far + at[1:] >= latest[:-1]
    return whole


def degraded_hours(plan: Plan, failures: Events) -> Floats:
    """Return the hours of machines with a missing drive, by month."""
    machine = failures.slot // plan.array.drives
    order = by_place(machine, failures.at)
    number, at, back = machine[order], failures.at[order], failures.back[order]
    starts = np.flatnonzero(episodes(number, at, back))
    if not len(starts):
        return np.zeros(plan.months)
    ends = np.maximum.reduceat(back, starts)
    return hours_by_month(plan, at[starts], np.minimum(ends, plan.gone[number[starts]]))


def hours_by_month(plan: Plan, begin: Floats, end: Floats) -> Floats:
    """Return the hours between two times, in each month."""
    hours: Floats = np.zeros(plan.months)
    while len(begin):
        month = month_of(plan, begin)
        month_end = np.asarray((month + 1) * MONTH_HOURS, dtype=np.float64)
        within = np.bincount(month, np.minimum(end, month_end) - begin, minlength=plan.months)
        hours += within
        on = (end > month_end) & (month < plan.months - 1)
        begin, end = month_end[on], end[on]
    return hours


@dataclass(frozen=True)
class Situation:
    """All drives that left, and the factors of the first generation."""

    events: Events
    z: Floats | None


@dataclass(frozen=True)
class Counted:
    """Simulated losses by a failure that exceeds the redundancy, the number of episodes in which another failure was
    likely, and the logarithm of the chance that no episode ends in loss."""

    seen: int
    likely: int
    log_intact: float


def add_losses(
    months: Floats, plan: Plan, drawn: Drawn, situation: Situation, failures: Events, wait: Floats
) -> Counted:
    """Add the losses of every episode to its month: the chance of a loss, or simulated losses if another failure is
    likely before the drive is rebuilt."""
    array = plan.array
    group = failures.slot // array.width
    order = by_place(group, failures.at)
    group, failures, wait = group[order], failures.chosen(order), wait[order]
    whole = episodes(group, failures.at, failures.back) if array.tolerated else np.ones(len(group), dtype=bool)
    first = failures.chosen(whole)
    if not len(first):
        return Counted(0, 0, 0.0)
    repair = repair_within(plan, drawn, first, wait[whole])
    hazard = hazard_left(plan, drawn, situation, first, group[whole], repair.hours)
    chance = chance_of_loss(array.width, array.tolerated, hazard, repair.hours, drawn.error)
    likely = np.logical_and(array.tolerated, (array.width - 1) * hazard * repair.hours > LIKELY)
    month = month_of(plan, first.at)
    parts = [np.where(likely, 0.0, part) for part in (chance.failure, chance.sector * repair.ended)]
    for column, part in zip((5, 6), parts, strict=True):
        months[:, column] = np.bincount(month, part, minlength=plan.months)
    came = happened(array.tolerated, group, failures, plan.gone[failures.slot // array.drives])
    # Failures are sorted by episode.
    of_likely = came.of(likely[np.cumsum(whole) - 1])
    add_counted(months, plan, drawn, failures, of_likely)
    counted, bare = int(of_likely.loss.sum()), int(of_likely.bare.sum())
    ends = np.concatenate([parts[0] + parts[1], np.ones(counted), np.full(bare, drawn.error)])
    return Counted(int(came.loss.sum()), int(likely.sum()), log_of_none(ends))


def log_of_none(chances: Floats) -> float:
    """Return the logarithm of the chance that none of these events happens."""
    if (chances >= 1.0).any():
        return -math.inf
    return float(np.log1p(-chances).sum())


def add_counted(months: Floats, plan: Plan, drawn: Drawn, failures: Events, came: Happened) -> None:
    """Add simulated losses to their month, and the expected sector errors at the end of rebuilds."""
    lost, bare = failures.at[came.loss], failures.back[came.bare]
    months[:, 5] += np.bincount(month_of(plan, lost), minlength=plan.months)
    months[:, 6] += drawn.error * np.bincount(month_of(plan, bare), minlength=plan.months)


def repair_within(plan: Plan, drawn: Drawn, first: Events, wait: Floats) -> Repair:
    """Return the repairs of some failures, as far as their machines serve."""
    left = plan.gone[first.slot // plan.array.drives] - first.at
    return repair_until(drawn.delay + wait, drawn.rebuild, plan.rebuild_constant, left)


def hazard_left(
    plan: Plan, drawn: Drawn, situation: Situation, first: Events, group: Indices, repair: Floats
) -> Floats:
    """Return the mean failure rate (per hour) of the remaining drives when a drive of a whole redundancy group fails,
    over the hours of its repair.

    It includes all drives of the first generation and the changes by every later one, without the failed drive.
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
    group_of_event = events.slot // array.width
    order = by_place(group_of_event, events.at)
    events, group_of_event = events.chosen(order), group_of_event[order]
    # The first event of a group; the others before the failure follow it.
    at = np.searchsorted(group_of_event, group)
    going = np.arange(len(first))
    while len(going):
        here = at[going] < len(group_of_event)
        going = going[here]
        here = (group_of_event[at[going]] == group[going]) & (events.at[at[going]] < first.at[going])
        going = going[here]
        earlier = events.chosen(at[going])
        now, hours = first.at[going], repair[going]
        hazard[going] += earlier.z_next * lives.hazard(now - earlier.back, hours)
        hazard[going] -= earlier.z * lives.hazard(now - earlier.born + earlier.age, hours)
        at[going] += 1
    hazard -= first.z * lives.hazard(first.at - first.born + first.age, repair)
    return np.asarray(np.maximum(hazard, 0.0) / (array.width - 1))
