"""Advice on a screen: the candidate that certainly meets the objective, a cheaper likely one, and why not the
latter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, number, odds, size
from hotband.base.text.table import LATENCY, Estimate, Table, Unit, Value, column, estimate, numeric
from hotband.questions.advise.words import LAYOUT_NAMES, money
from hotband.views.text.screen import Screen, screen_table
from hotband.views.text.strips import Strip, strips

if TYPE_CHECKING:
    from hotband.base.text.table import View
    from hotband.questions.advise.advice import Advice, Between, Point
    from hotband.questions.advise.asked import AdviseQuestion

LETTERS = "ABCDEF"
STRIPS = 3
"""Candidates whose intervals are drawn."""
STRIP = 50
MOST_DRIVES = 4
"""A candidate that needs more than this many times the drives of the recommended one appears only in the evidence."""
MOST_NOTES = 2
PROTECTED = {True: "yes", False: "no", None: ""}
"""Whether the write cache survives a power failure; empty where the load has no syncs."""
CLASS_PRICES = "Prices are those of the catalog's classes, with their ranges; your own table replaces them."


def advice_screen(advice: Advice, question: AdviseQuestion, details: Sequence[View]) -> Screen:
    """Return what the terminal shows of an advice."""
    chosen = advice.recommended
    if chosen is None:
        first, *more = advice.answer or ["No candidate meets the objective."]
        return Screen(
            answer=first, verdict="no", more=more, state=[_searched(advice)], remarks=advice.notes[:MOST_NOTES],
            next=question, details=details,
        )  # fmt: skip
    cheaper = _for_less(advice, chosen)
    points = _points(advice, chosen, cheaper)
    meets = "Certain" if chosen.surely else "Likely" if chosen.is_checked else "Unchecked, but predicted"
    return Screen(
        answer=f"{meets} to meet {advice.slo}: {_bought(chosen, advice.currency)}.",
        verdict="yes" if chosen.surely else "likely",
        more=[f"Likely to, for less: {_bought(cheaper, advice.currency)}."] if cheaper else [],
        body=[_table(advice, points), "", *_strips(advice, points[:STRIPS])],
        state=[
            _why(advice, chosen, cheaper),
            *_rests_on(chosen),
            _searched(advice),
            *([CLASS_PRICES] if advice.priced_by_class else []),
        ],
        remarks=advice.notes[:MOST_NOTES],
        next=question,
        details=details,
    )


def _for_less(advice: Advice, chosen: Point) -> Point | None:
    """Return the first candidate of the Pareto front that is cheaper than a certain one and likely meets the objective;
    volatile caches are only for users who ask for them."""
    before = advice.front[: [point.name for point in advice.front].index(chosen.name)] if chosen.surely else []
    return next((point for point in before if not point.surely and point.is_checked and point.cache != "on"), None)


def _points(advice: Advice, chosen: Point, cheaper: Point | None) -> list[Point]:
    """Return the recommended candidate, the cheaper one, and others of the front with a sensible number of drives."""
    first = [chosen, *([cheaper] if cheaper else [])]
    names = {point.name for point in first}
    others = [
        point for point in advice.shown if point.name not in names and point.drives <= MOST_DRIVES * chosen.drives
    ]
    return [*first, *others][: len(LETTERS)]


def _bought(point: Point, currency: str) -> str:
    """Describe the machine to buy: `12 x exos-x18-18tb in RAID 10, 108 TB usable, 3,540 EUR, 113 W`."""
    cost = [] if point.cost is None else [money(point.cost, currency)]
    watts = [] if point.watts is None else [f"{number(point.watts.value)} W"]
    what = f"{point.drives} x {point.drive} in {LAYOUT_NAMES[point.layout]}"
    return ", ".join([what, f"{size(point.usable_bytes)} usable", *cost, *watts])


def _table(advice: Advice, points: Sequence[Point]) -> Table:
    """Return a row per candidate: cost, power, latency with its interval, and the chance of loss."""
    priced = any(point.cost is not None for point in points)
    years = Unit("chance", 1.0, odds)
    syncs = any(point.is_protected is not None for point in points)
    table = screen_table(
        [
            column("", wrap=False),
            column(""),
            *([column("PLP")] if syncs else []),
            *([numeric(advice.currency or "cost")] if priced else []),
            numeric("W"),
            estimate(f"{advice.figure} ({advice.level:g} % interval)", LATENCY),
            numeric(f"loss in {advice.years:g} y", years),
        ]
    )
    for letter, candidate in zip(LETTERS, points, strict=False):
        cache = {"off": " cache off", "on": " cache on"}.get(candidate.cache, "")
        cache += "" if candidate.is_checked else " (unchecked)"
        table.add(
            letter,
            f"{candidate.layout} {candidate.drives}x {candidate.drive}{cache}",
            *([PROTECTED[candidate.is_protected]] if syncs else []),
            *([_value(candidate.cost)] if priced else []),
            _value(candidate.watts),
            _estimate(candidate.latency),
            _value(candidate.loss),
        )
    return table


def _value(value: Between | None) -> Value:
    return None if value is None else value.value


def _estimate(value: Between) -> Value:
    return Estimate(
        value.value, value.value if value.low is None else value.low, value.value if value.high is None else value.high
    )


def _strips(advice: Advice, points: Sequence[Point]) -> list[str]:
    """Return the intervals of the first candidates, drawn with the bound of the objective."""
    drawn = [
        Strip(letter, point.latency.low, point.latency.value, point.latency.high)
        for letter, point in zip(LETTERS, points, strict=False)
        if point.latency.low and point.latency.high
    ]
    if not drawn:
        return []
    title = f"{advice.figure}{f' < {LATENCY.shown(advice.bound)}' if advice.bound else ''}"
    lines = strips(drawn, advice.bound, STRIP)
    return [f"{title if at == 0 else '':<{len(title)}}  {line}" for at, line in enumerate(lines)]


def _why(advice: Advice, chosen: Point, cheaper: Point | None) -> str:
    """Return why the cheaper candidate is not recommended, or what a likely one may miss."""
    point = cheaper or chosen
    if point.surely:
        return "Why none for less: cheaper candidates miss the objective, or another is better in everything."
    if not point.is_checked:
        return f"Why not certain: {point.rests_on}."
    longest = point.latency.high
    bound = point.rests_on if longest is None else f"its {advice.figure} may be up to {LATENCY.shown(longest)}"
    return f"{'Why not B' if cheaper else 'Why only likely'}: {bound}. Measuring one {point.drive} would settle it."


def _rests_on(point: Point) -> list[str]:
    """Return the evidence for the interval of the recommended candidate."""
    return [] if point.latency.high is None else [f"Its interval: {point.rests_on}."]


def _searched(advice: Advice) -> str:
    """Return the number of searched candidates, and why most were left out."""
    gone = sorted(((count, why) for why, count in advice.left_out.items() if count), reverse=True)
    left_out = f"; left out: {', '.join(f'{count:,} {why}' for count, why in gone)}" if gone else ""
    point = advice.recommended or advice.nearest
    counts = ", ".join(str(count) for count in advice.counts_tried)
    tried = f" Tried {counts} of {point.drive} in {LAYOUT_NAMES[point.layout]}." if point and counts else ""
    return f"Searched {counted(advice.candidates, 'candidate')} with {counted(advice.runs, 'run')}{left_out}.{tried}"
