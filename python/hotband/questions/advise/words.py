"""The recommendation in words: what to buy, the evidence, and which value could change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import between, counted, hours, number, percent, share, size, with_sign
from hotband.base.text.table import LATENCY, Range
from hotband.questions.advise.advice import Between, Point
from hotband.questions.find.figures import Figure

if TYPE_CHECKING:
    from hotband.questions.advise.asked import Needs
    from hotband.questions.advise.finalists import Finalist
    from hotband.questions.find.question import Condition

LAYOUT_NAMES = {
    "raid0": "RAID 0", "raid1": "a mirror (RAID 1)", "raid5": "RAID 5", "raid6": "RAID 6", "raid10": "RAID 10",
    "raid50": "RAID 50 of two groups", "raid60": "RAID 60 of two groups", "raidz1": "RAID-Z1", "raidz2": "RAID-Z2",
    "raidz3": "RAID-Z3",
}  # fmt: skip
CACHES = {
    "off": ", write caches off",
    "on": ", write caches on (acknowledged writes are lost with power)",
    "own": "",
    "protected": "",
}


def answer_of(point: Point, needs: Needs, figure: Figure, level: float, currency: str, several: bool) -> list[str]:
    """Return two sentences: what to buy, and its performance."""
    cost = "" if point.cost is None else f", {money(point.cost, currency)}"
    watts = "" if point.watts is None else f", {number(point.watts.value)} W"
    worst = f" under {point.worst}, the worst" if several else f" under {point.worst}"
    first = (
        f"Buy {counted(point.drives, 'drive')} {point.drive} in {LAYOUT_NAMES[point.layout]}{CACHES[point.cache]} "
        f"({point.machine}): {size(point.usable_bytes)} usable{cost}{watts}, {figure} "
        f"{LATENCY.shown(point.latency.value)} ({level:g} %: {ends(point.latency)}){worst}."
    )
    return [first, _survives(point, needs)]


def _survives(point: Point, needs: Needs) -> str:
    if point.rebuild is None or point.loss is None:
        many = f"It survives any {counted(needs.tolerated, 'failure')}" if needs.tolerated else "Nothing is rebuilt"
        return f"{many}; the chance of a loss is not known: the catalog has no MTBF or media rate."
    beside = "" if not _longer(point.rebuild) else f" at rest, {hours(point.rebuild.high or 0.0)} under load"
    sentence = f"A failed drive is rebuilt in {hours(point.rebuild.value)}{beside}; "
    within = (
        "" if point.loss.high is None else f", up to {share(point.loss.high)} with drives that fail as in the field"
    )
    sentence += f"the chance of losing data in {counted_years(needs.years)} is {share(point.loss.value)}{within}"
    if point.degraded is not None:
        sentence += f", and latency with a drive failed {LATENCY.shown(point.degraded)}"
    return sentence + "."


def _longer(value: Between) -> bool:
    return value.high is not None and value.high > 1.05 * value.value


def counted_years(years: float) -> str:
    """Format a number of years with its noun."""
    return f"{years:g} year{'' if years == 1 else 's'}"


def ends(value: Between) -> str:
    """Format the ends of a time's interval, or state that there is none."""
    if value.high is None:
        return "no interval"
    return LATENCY.ends(Range(value.low or 0.0, value.high))


def money(value: Between, currency: str) -> str:
    """Format a price, with its ends if it has any."""
    unit = f" {currency}" if currency else ""
    if value.low == value.high or value.low is None or value.high is None:
        return f"{number(value.value)}{unit}"
    return f"{number(value.value)}{unit} ({between(value.low, value.high)})"


def rests_on(final: Finalist, runner: Point | None, needs: Needs, figure: Figure, priced: bool) -> list[str]:
    """Return the evidence of the recommendation: the nearest condition, the value that moves its latency most, and the
    runner-up."""
    point, condition = final.point, _nearest_condition(final.point, needs, figure)
    sentences = []
    if condition is not None:
        room = condition.bound / point.latency.value if point.latency.value > 0 else math.inf
        meant = "its interval" if point.latency.high is not None else "what errors of its class leave possible"
        sure = f"all of {meant} is below" if point.surely else f"not all of {meant} is below: it may miss"
        sentences.append(
            f"It rests on {figure} of {point.worst} staying below {LATENCY.shown(condition.bound)}: "
            f"it may be {number(room)} times as long as predicted, and {sure}."
        )
    sentences.append(_value_sentence(final, condition, figure))
    if runner is not None:
        sentences.append(_runner_sentence(point, runner, priced))
    return sentences


def _nearest_condition(point: Point, needs: Needs, figure: Figure) -> Condition | None:
    return next((limit for limit in needs.limits if limit.figure == figure), None)


def _value_sentence(final: Finalist, condition: Condition | None, figure: Figure) -> str:
    """Return which uncertain value changes the latency most, and whether its bad end alone would change the answer."""
    model = f"model error is {share(final.of_model)} of the uncertainty of its interval"
    if final.point.interval_from == "corpus" or final.point.latency.high is None:
        return f"The interval of {figure}: {final.point.rests_on.removeprefix('no interval: ')}."
    if final.point.interval_from == "model":
        return "Its uncertain values were not sampled, which would take long: the interval is the model error."
    if not final.values or final.values[0]["total"] < 0.01:
        return f"No uncertain value of the drive moves {figure} by much: {model}."
    top = final.values[0]
    moved = max((change for change in (top["low_pct"], top["high_pct"]) if change is not None), default=None)
    # A group drawn together has a name; the ranges of its six values would be a line each.
    is_group = ", " in top["key"]
    what = f"{top['name'].rpartition(': ')[2]} times" if is_group else top["key"]
    between = "" if is_group else f" ({top['low']} to {top['high']})"
    sentence = f"The value that could overturn it first is {what} of {top['part']}{between}"
    if moved is None or moved <= 0:
        is_refused = None in (top["low_pct"], top["high_pct"])
        alone = (
            "whose worse end the model refuses alone" if is_refused else f"no end of which makes {figure} longer alone"
        )
        return f"{sentence}, {alone}; {model}."
    at_worst = final.point.latency.value * (1 + moved / 100)
    sentence += f": at its worse end {figure} is {LATENCY.shown(at_worst)}"
    if condition is not None:
        sentence += ", which still holds" if at_worst < condition.bound else ", which no longer holds"
    return f"{sentence}; {model}."


def _runner_sentence(point: Point, runner: Point, priced: bool) -> str:
    """Return the next candidate, and its differences from the recommended one."""
    more = _than(point, runner, priced)
    faster = runner.latency.value / point.latency.value
    also = f"latency {_times(faster)}"
    if point.loss is not None and runner.loss is not None and min(point.loss.value, runner.loss.value) > 0:
        also += f", chance of loss {_times(runner.loss.value / point.loss.value)}"
    return f"Next is {runner.name}: {more}, {also}, compared with the recommendation."


def _than(point: Point, runner: Point, priced: bool) -> str:
    if priced and point.cost is not None and runner.cost is not None:
        more = runner.cost.value / point.cost.value - 1
        near = runner.cost.low is not None and point.cost.high is not None and runner.cost.low < point.cost.high
        return f"{percent(100 * more)} cost" + (
            " (the prices' ranges overlap: they alone could change the order)" if near else ""
        )
    drives = runner.drives - point.drives
    if point.watts is None or runner.watts is None:
        return f"{with_sign(drives)} drives"
    return f"{with_sign(drives)} drives, {with_sign(runner.watts.value - point.watts.value)} W"


def _times(factor: float) -> str:
    if math.isclose(factor, 1.0, rel_tol=0.005):
        return "the same"
    return f"{number(factor)} times"


def nothing_of(nearest: tuple[str, str] | None, left_out: dict[str, int]) -> list[str]:
    """Explain why nothing is recommended, and what the nearest candidate (its name and its miss) misses."""
    reasons = ", ".join(
        f"{count:,} {reason}" for reason, count in sorted(left_out.items(), key=lambda item: -item[1]) if count
    )
    first = f"No candidate meets the requirements: {reasons}."
    return [first] if nearest is None else [first, f"The nearest is {nearest[0]}: {nearest[1]}."]


def conditions_text(conditions: Sequence[Condition]) -> str:
    """Return the conditions as the user wrote them."""
    return " and ".join(condition.text for condition in conditions)
