"""The reliability figures of an array as tables for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hotband.base.text import numbers
from hotband.base.text.numbers import counted, hours, number
from hotband.base.text.table import (
    BYTES,
    CHANGE,
    OF_ROW,
    SHARE,
    Range,
    Table,
    Unit,
    Value,
    column,
    interval,
    numeric,
)
from hotband.inference.reliability.array import HOURS_PER_YEAR
from hotband.inference.reliability.asked import ASSUMED, NO_ERROR_RATE
from hotband.inference.reliability.assess import SECTOR_ERROR
from hotband.views.text.screen import Screen, screen_table

if TYPE_CHECKING:
    from hotband.base.question import Question
    from hotband.data.documents.reliability import EstimateDoc, LayoutDoc, ReliabilityDoc
    from hotband.inference.reliability.result import Reliability


def terminal(result: Reliability, question: Question) -> Screen:
    """Return what the terminal shows of an array's reliability."""
    data = result.to_dict()
    layout, loss, mission = data["layout"], data["mission"]["loss"], data["mission"]
    years = f"{mission['years']:g} year{'' if mission['years'] == 1 else 's'}"
    between = " to ".join(numbers.odds(loss[end]) for end in ("low", "high"))
    chance = f"{numbers.odds(loss['value'])} (95 % interval {between})"
    drives = counted(layout["drives"], "drive")
    return Screen(
        answer=f"{data['machine']} loses data within {years} with a chance of {chance}, simulated.",
        more=_of_blocks(data),
        body=[_screen_figures(data, years)],
        state=[f"{layout['kind']} of {drives}, {numbers.size(layout['usable_bytes'])} usable, {_survival(layout)}."],
        remarks=[text for text in (_uncounted(data), data["mttdl"]["reason"]) if text],
        next=question,
        details=[*summary_lines(data), figures_table(data), *notes(data)],
    )


def _of_blocks(data: ReliabilityDoc) -> list[str]:
    """Return what a loss is if most of them are of single blocks, and the chance of losing the array itself."""
    loss, causes = data["mission"]["loss"], data["mission"]["loss"]["causes"]
    share = causes.get(SECTOR_ERROR, 0.0)
    if share < 0.5 or loss["value"] is None:
        return []
    whole = loss["value"] * (1.0 - share)
    array = f"the array itself is lost with a chance of {numbers.odds(whole)}" if whole else "no array was lost"
    return [f"{numbers.share(share)} of the losses are blocks that cannot be read during a rebuild; {array}."]


def _uncounted(data: ReliabilityDoc) -> str:
    """Return a sentence that the chance excludes sector errors if their rate is unknown, or that the rate is assumed;
    else an empty text."""
    sources, is_redundant = data["given"]["sources"], data["layout"]["failures_tolerated"]
    source = sources["unrecoverable_error_bits"] if is_redundant else ""
    if source.startswith(ASSUMED):
        return f"One unreadable sector in {number(data['given']['bits_per_error'])} bits is {source}."
    if source != NO_ERROR_RATE:
        return ""
    return "The chance excludes sectors that cannot be read during a rebuild: the catalog has no rate of them."


def _screen_figures(data: ReliabilityDoc, years: str) -> Table:
    """Return the figures next to the closed form, and the cause of most losses."""
    chance, lives = Unit("chance", 1.0, numbers.odds), Unit("years", 1.0, lambda value: f"{numbers.large(value)} years")
    values = [numeric(name, OF_ROW) for name in ("simulated", "closed form")]
    table = screen_table([column(""), *values])
    mission, simulated, closed = data["mission"], data["mttdl"]["simulated"], data["mttdl"]["closed_form"]
    lost = mission["closed_form_bytes_lost_per_tb"]
    rows = [
        ("mean time to a loss", simulated, None if closed is None else closed["value"], lives),
        (f"loss within {years}", mission["loss"], mission["closed_form"], chance),
        ("lost per TB", mission["bytes_lost_per_tb"], lost, BYTES),
    ]
    for name, figure, by_formula, unit in rows:
        if figure is not None:
            table.add(name, figure["value"], by_formula, unit=unit)
    for name, part in shown_causes(data, mission["loss"]["causes"]):
        table.add(f"by {name}", part, None, unit=SHARE)
    return table


def _survival(layout: LayoutDoc) -> str:
    """Return how many failed drives the array survives."""
    if not layout["failures_tolerated"]:
        return "nothing is redundant"
    failures = counted(layout["failures_tolerated"], "failure")
    group = {"raid10": "pair", "raid50": "group", "raid60": "group"}.get(layout["kind"])
    return f"survives {failures} per {group}" if group else f"survives any {failures}"


def summary_lines(data: ReliabilityDoc) -> list[str]:
    """Return the assessed array, and the sources of its values."""
    layout, given = data["layout"], data["given"]
    sources = given["sources"]
    usable = numbers.size(layout["usable_bytes"])
    drives = counted(layout["drives"], "drive")
    title = f"{data['machine']}: {layout['kind']} of {drives}, {usable} usable, {_survival(layout)}"
    # A share below 1 by less than a printed number can show.
    afr = numbers.share(min(-math.expm1(-HOURS_PER_YEAR / given["mtbf_hours"]), math.nextafter(1.0, 0.0)))
    lines = [title, f"  MTBF {hours(given['mtbf_hours'])} ({afr} a year; {sources['mtbf']})"]
    if layout["failures_tolerated"]:
        lines.append(f"  rebuild {hours(given['rebuild_hours'] or 0.0)} ({sources['rebuild']})")
        bits = given["bits_per_error"]
        if bits is None:
            source = sources["unrecoverable_error_bits"]
            words = "sector errors are not counted" if source == NO_ERROR_RATE else "no sector errors"
            lines.append(f"  {words} ({source})")
        else:
            chance = f"{numbers.share(given['rebuild_error_chance'])} of the rebuilds without redundancy meet one"
            lines.append(f"  one sector error in {number(bits)} bits: {chance} ({sources['unrecoverable_error_bits']})")
        if given["replacement_hours"]:
            comes = hours(given["replacement_hours"])
            lines.append(f"  {counted(given['spares'], 'spare')}, a new drive {comes} after a failure")
    if given["shape"] != 1.0 or given["rebuild_distribution"] != "exponential":
        lives = "exponential" if given["shape"] == 1.0 else f"Weibull of shape {given['shape']:g}"
        rebuilds = f", rebuilds {given['rebuild_distribution']}" if layout["failures_tolerated"] else ""
        lines.append(f"  lives {lives}{rebuilds}")
    return lines


def figures_table(data: ReliabilityDoc) -> Table:
    """Return simulated figures next to the closed form."""
    columns = [
        column(""),
        numeric("simulated", OF_ROW),
        interval("95 % interval", OF_ROW),
        numeric("closed form", OF_ROW),
        numeric("difference", CHANGE),
    ]
    table = Table("", columns)
    mttdl, mission = data["mttdl"], data["mission"]
    simulated, closed = mttdl["simulated"], mttdl["closed_form"]
    if simulated is not None and closed is not None:
        table.add("MTTDL", *cells(simulated, closed["value"], mttdl["difference_pct"]), unit=Unit("years"))
        for name, part in shown_causes(data, simulated["causes"]):
            table.add(f"  by {name}", part, "", closed["causes"][name], "", unit=SHARE)
    years = f"{mission['years']:g} year{'' if mission['years'] == 1 else 's'}"
    loss = mission["loss"]
    table.add(f"loss within {years}", *cells(loss, mission["closed_form"], mission["difference_pct"]), unit=SHARE)
    for name, part in shown_causes(data, loss["causes"]):
        table.add(f"  by {name}", part, "", "", "", unit=SHARE)
    lost = mission["closed_form_bytes_lost_per_tb"]
    table.add(f"bytes lost per TB in {years}", *cells(mission["bytes_lost_per_tb"], lost, None), unit=BYTES)
    return table


def shown_causes(data: ReliabilityDoc, causes: dict[str, float]) -> list[tuple[str, float]]:
    """Return the shares of the causes, if there can be more than one."""
    return list(causes.items()) if data["given"]["rebuild_error_chance"] > 0 else []


def cells(estimate: EstimateDoc, closed: float | None, difference: float | None) -> tuple[Value, ...]:
    """Return an estimate, its interval, the closed form and the difference."""
    return estimate["value"], Range(estimate["low"], estimate["high"]), closed, difference


def notes(data: ReliabilityDoc) -> list[str]:
    """Return the textbook's value, and how the figures were simulated."""
    mttdl, textbook = data["mttdl"], data["mttdl"]["textbook"]
    lines = []
    if mttdl["reason"]:
        # Lives with ageing have no closed form; other cases have one, but not in this function.
        none = "No MTTDL" if data["given"]["shape"] != 1.0 else "MTTDL not computed"
        lines.append(f"{none}: {mttdl['reason']}")
    if textbook is not None:
        parts = [f"{number(textbook['failure_years'])} years from drive failures alone"]
        if textbook["sector_years"] is not None:
            parts.append(f"{number(textbook['sector_years'])} by sector errors")
        both = f"{number(textbook['years'])} ({textbook['source']})"
        lines.append(f"Textbook: {textbook['formula']}: {', '.join(parts)}; {both}")
    arrays = f"{data['mission']['count']:,} arrays drive by drive over the mission, hazards raised"
    if mttdl["simulated"] is None:
        return [*lines, f"Simulated: {arrays}"]
    cycles = f"{mttdl['count']:,} of {mttdl['method']} ({number(mttdl['array_years'])} array-years)"
    return [*lines, f"Simulated: {cycles}", f"  and {arrays}"]
