"""A fleet in words and tables, for the terminal and for notebooks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text import numbers
from hotband.base.text.html import table_html
from hotband.base.text.numbers import counted, number
from hotband.base.text.table import (
    OF_ROW,
    PLAIN,
    SHARE,
    Column,
    Range,
    Table,
    Unit,
    Value,
    column,
    interval,
    numeric,
)
from hotband.inference.reliability.array import HOURS_PER_YEAR
from hotband.views.draw.fleet import month_chart
from hotband.views.draw.picture import picture

if TYPE_CHECKING:
    from hotband.data.documents.fleet import FigureDoc, FleetDoc, GroupDoc, LossDoc, PartDoc
    from hotband.questions.fleet.result import Fleet


def between(figure: FigureDoc) -> str:
    """Return the interval over repetitions."""
    return numbers.between(figure["low"], figure["high"])


def duration(months: int) -> str:
    """Return a number of months in words."""
    return counted(months // 12, "year") if months % 12 == 0 else counted(months, "month")


MWH = Unit("MWh", 1e3, lambda kwh: numbers.quantity(kwh / 1e3, "MWh"))
GIGABYTES, PETABYTES = Unit("GB", 1e9, numbers.size), Unit("PB", 1e15, numbers.size)
"""Formatters of energy in kWh, and of bytes."""


def answers_of(data: FleetDoc) -> list[str]:
    """Return the results in two or three sentences."""
    whole = data["fleet"]
    months = data["months"]
    failures = whole["failures"]
    worn = f", {number(whole['worn']['mean'])} more are worn and replaced" if whole["worn"]["mean"] else ""
    first = (
        f"Of {counted(whole['drives'], 'drive')} in {counted(whole['machines'], 'machine')} {number(failures['mean'])} "
        f"({between(failures)}) fail in {duration(months)}, {number(failures['mean'] / months)} a month{worn}; "
        f"{number(whole['rebuilds']['mean'])} are being replaced at a time, and machines have a drive missing "
        f"{numbers.share(whole['degraded_share']['mean'])} of their time."
    )
    return [first, losses_in_words(whole), *beyond_chance(whole["loss"], data["repetitions"]), *_last(data)]


def _last(data: FleetDoc) -> list[str]:
    """Return spares and cost in one paragraph."""
    sentences = [*spares(data), *total_cost(data)]
    return [" ".join(sentences)] if sentences else []


def losses_in_words(whole: PartDoc) -> str:
    """Return how often data is lost, compared with independent drives."""
    loss, events = whole["loss"], whole["loss"]["events"]
    if events["mean"] <= 0:
        what = "No data was lost" if whole["failures"]["mean"] > 0 else "No drive failed"
        return f"{what} in these repetitions: more of them would show how often data is lost."
    within = f"{number(events['mean_low'])} to {number(events['mean_high'])}"
    ratio = events["mean"] / loss["independent"] if loss["independent"] > 0 else math.inf
    times = "as many as" if 0.95 < ratio < 1.05 else f"{number(ratio)} times those of"
    chance = f"a chance of {numbers.share(loss['chance'])} of at least one"
    return f"Expected losses of data: {number(events['mean'])} ({within}), {chance}; {times} {independent(loss)}."


def beyond_chance(loss: LossDoc, repetitions: int) -> list[str]:
    """Return a note if losses differ from the expected number by more than chance: four standard errors and 5 %."""
    seen, expected = float(loss["seen"]), loss["by_failure"]["mean"] * repetitions
    if abs(seen - expected) <= max(4.0 * math.sqrt(max(seen, expected)), 0.05 * max(seen, expected)):
        return []
    return [
        f"Do not rely on that: {number(seen / repetitions)} losses by a failure too many happened in a repetition, "
        f"where {number(loss['by_failure']['mean'])} were expected, which chance does not explain."
    ]


def independent(loss: LossDoc) -> str:
    """Return the result of the closed form."""
    return f"independent drives with the same failures and repairs ({number(loss['independent'])})"


def spares(data: FleetDoc) -> list[str]:
    """Describe the spares that the fleet needs, if they are limited."""
    needed = "; ".join(
        f"{group['name']} {group['spares']['needed_95']} (has {group['spares']['on_site']})"
        for group in data["groups"]
        if group["spares"] is not None
    )
    return [f"Spares so that no failure waits in 95 of 100 fleets: {needed}."] if needed else []


def total_cost(data: FleetDoc) -> list[str]:
    """Describe the cost, if prices are known."""
    cost = data["fleet"]["cost"]
    if cost is None:
        return []
    total = cost["total"]
    return [f"Total cost {number(total['mean'])} {data['currency']} ({between(total)})."]


def mean(figure: FigureDoc | None) -> float | None:
    """Return a figure's mean."""
    return None if figure is None else figure["mean"]


def table_of(title: str, columns: list[tuple[Column, list[Value]]], first: int) -> Table:
    """Return a table of the informative columns and of the first ones: columns without content would only widen it."""
    shown = [item for index, item in enumerate(columns) if index < first or any(item[1])]
    table = Table(title, [item for item, _ in shown])
    for row in zip(*(values for _, values in shown), strict=True):
        table.add(*row)
    return table


def groups_table(data: FleetDoc) -> Table:
    """Return one row per group over the whole time, and one of all."""
    parts: list[tuple[str, PartDoc]] = [(group["name"], group) for group in data["groups"]]
    if len(parts) > 1:
        parts.append(("fleet", data["fleet"]))
    every = [part for _, part in parts]
    columns: list[tuple[Column, list[Value]]] = [
        (column(""), [name for name, _ in parts]),
        (numeric("drives"), [part["drives"] for part in every]),
        (numeric("failures"), [mean(part["failures"]) for part in every]),
        (numeric("worn"), [mean(part["worn"]) for part in every]),
        (numeric("degraded %", SHARE), [mean(part["degraded_share"]) for part in every]),
        (numeric("losses"), [mean(part["loss"]["events"]) for part in every]),
        (numeric("any loss %", SHARE), [part["loss"]["chance"] for part in every]),
        (numeric("MWh", MWH), [mean(part["energy_kwh"]) for part in every]),
        (
            numeric(f"cost, {data['currency']}"),
            [None if part["cost"] is None else mean(part["cost"]["total"]) for part in every],
        ),
    ]
    return table_of("By group", columns, 3)


def figures_of(data: FleetDoc) -> list[tuple[str, FigureDoc, Range, Unit]]:
    """Return the figures of the whole fleet: name, figure, the ends between which 95 % of the repetitions lie, unit."""
    whole, cost = data["fleet"], data["fleet"]["cost"]
    rows: list[tuple[str, FigureDoc | None, Unit]] = [
        ("failures", whole["failures"], PLAIN),
        ("worn and replaced", whole["worn"] if whole["worn"]["mean"] else None, PLAIN),
        ("being replaced at a time", whole["rebuilds"], PLAIN),
        ("time with a drive missing", whole["degraded_share"], SHARE),
        ("losses of data, expected", whole["loss"]["events"], PLAIN),
        ("data lost, expected", whole["loss"]["bytes_lost"], GIGABYTES),
        ("energy", whole["energy_kwh"], MWH),
        ("cost", None if cost is None else cost["total"], Unit(data["currency"])),
    ]
    return [
        (name, figure, Range(figure["low"], figure["high"]), unit) for name, figure, unit in rows if figure is not None
    ]


def figures_table(data: FleetDoc) -> Table:
    """Return a row per figure of the whole fleet: mean, the interval of the mean, and the range of 95 % of the
    repetitions."""
    title = f"{data['name']}: {duration(data['months'])}, {data['repetitions']:,} repetitions"
    ends = [interval("of the mean, 95 %", OF_ROW), interval("of fleets, 95 %", OF_ROW)]
    table = Table(title, [column(""), numeric("mean", OF_ROW), *ends])
    for name, figure, within, unit in figures_of(data):
        table.add(name, figure["mean"], Range(figure["mean_low"], figure["mean_high"]), within, unit=unit)
    return table


def years_table(fleet: Fleet) -> Table:
    """Return one row per year of all groups: machines, capacity, failures, drives to buy, loss, energy, cost."""
    frame = fleet.years
    name = frame["group"][-1]
    rows = frame.filter(pl.col("group") == name)
    columns: list[tuple[Column, list[Value]]] = [
        (heading, rows[key].to_list())
        for heading, key in (
            (numeric("year"), "year"),
            (numeric("machines"), "machines"),
            (numeric("PB", PETABYTES), "usable_bytes"),
            (numeric("failures"), "failures"),
            (numeric("worn"), "worn"),
            (numeric("bought"), "bought"),
            (numeric("losses"), "losses"),
            (numeric("MWh", MWH), "energy_kwh"),
            (numeric(f"cost, {fleet.summary['currency']}"), "cost"),
        )
    ]
    return table_of(f"{name} by year", columns, 4)


def group_lines(data: FleetDoc) -> list[str]:
    """Return the evidence of each group."""
    return [line for group in data["groups"] for line in lines_of(group)]


def lines_of(group: GroupDoc) -> list[str]:
    """Return a group in lines."""
    lives = group["lives"]
    afr = numbers.share(-math.expm1(-HOURS_PER_YEAR / lives["scale_hours"]))
    drives = f"AFR {afr}" if lives["shape"] == 1.0 else (
        f"Weibull lives of shape {number(lives['shape'])} and scale {number(lives['scale_hours'])} h"
    )  # fmt: skip
    fitted = ""
    if lives["fitted_drives"] is not None:
        fitted = f", {lives['fitted_failures']:,} failures of {counted(lives['fitted_drives'], 'drive')}"
    batches = f", batches with variance {number(lives['batch_variance'])}" if lives["batch_variance"] else ""
    usable = numbers.size(group["usable_bytes"] / max(group["machines"], 1))
    lines = [f"{group['name']}: {counted(group['machines'], 'machine')} {group['machine']}, {usable} usable each"]
    lines.append(f"  drives: {drives} ({lives['source']}{fitted}){batches}")
    rebuild = group["rebuild_hours"]
    lines.append(f"  rebuild {number(rebuild['mean'])} h ({between(rebuild)}; {group['rebuild_source'] or 'as given'})")
    service = group["service"]
    if service is not None and service["degraded"] is not None:
        whole, degraded = service["whole"], service["degraded"]
        lines.append(f"  service {level(whole)} whole, {level(degraded)} while a drive is rebuilt")
    spares = group["spares"]
    if spares is not None:
        waited = numbers.share(spares["waited_share"]["mean"])
        lines.append(
            f"  spares {spares['on_site']} on site: {waited} of the failures wait; {spares['needed_95']} for none in "
            f"95 of 100 fleets, {spares['needed_99']} in 99"
        )
    left = group["endurance_left"]
    if left is not None:
        ends = SHARE.ends(Range(left["low"], left["high"]))
        lines.append(f"  endurance left at the end: {numbers.share(left['mean'])} ({ends})")
    return lines


def level(service: Mapping[str, object]) -> str:
    """Format the I/Os per second and the p99 of a service."""
    iops, p99 = service["iops"], service["latency_p99_ns"]
    shown = f"{number(iops)} IOPS" if isinstance(iops, int | float) else "no I/O"
    return f"{shown}, p99 {numbers.span(p99)}" if isinstance(p99, int | float) else shown


def closing_lines(data: FleetDoc) -> list[str]:
    """Return the notes, and a comparison of the losses."""
    loss = data["fleet"]["loss"]
    lines = [f"note: {note}" for note in data["notes"]]
    seen = f"{loss['seen']:,} losses by a failure too many happened in {data['repetitions']:,} repetitions"
    lines.append(f"note: {seen}; {number(loss['by_failure']['mean'] * data['repetitions'])} were expected")
    if loss["within_interval"] is not None:
        inside = "inside" if loss["within_interval"] else "outside"
        lines.append(
            f"note: the closed form of hotband reliability, {number(loss['independent'])}, is {inside} the interval"
        )
    if data["no_cost"] is not None:
        lines.append(f"note: no cost: {data['no_cost']} ([prices] and [power] of the file)")
    return lines


def html_of(fleet: Fleet) -> str:
    """Return the notebook's view: the answer, one row per group, and failures by month."""
    data = fleet.summary
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in answers_of(data))
    image = picture(month_chart(fleet.frame, "failures", "Failures a month"))
    return f"<div><strong>{escape(repr(fleet))}</strong>{paragraphs}{table_html(figures_table(data))}{image}</div>"
