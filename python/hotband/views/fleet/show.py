"""A fleet in words and tables, for the terminal and for notebooks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

from hotband.base.text.cells import counted, decimal_size
from hotband.base.text.formats import Between, Figure
from hotband.base.text.html import table_html
from hotband.base.text.quantities import share_text
from hotband.inference.reliability.array import HOURS_PER_YEAR

if TYPE_CHECKING:
    from rich.table import Table

    from hotband.data.documents.fleet import FigureDoc, FleetDoc, GroupDoc, LossDoc, PartDoc
    from hotband.questions.fleet.result import Fleet


def plain(value: float) -> str:
    """A number with three digits; in thousands with all of them, from a million on in millions."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 999_999.5:
        return f"{value / 1e6:,.3g} M" if size < 1e9 else f"{value / 1e6:,.0f} M"
    if size < 1e-3:
        return f"{value:.3g}"
    return f"{value:,.0f}" if size >= 100 else f"{value:.3g}"


def between(of: FigureDoc) -> str:
    """The interval over repetitions."""
    return f"{plain(of['low'])} to {plain(of['high'])}"


def duration(months: int) -> str:
    """A number of months in words."""
    return counted(months // 12, "year") if months % 12 == 0 else counted(months, "month")


def answers_of(data: FleetDoc) -> list[str]:
    """What came out, in two or three sentences."""
    whole = data["fleet"]
    months = data["months"]
    failures = whole["failures"]
    worn = f", {plain(whole['worn']['mean'])} more are worn and replaced" if whole["worn"]["mean"] else ""
    first = (
        f"Of {counted(whole['drives'], 'drive')} in {counted(whole['machines'], 'machine')} {plain(failures['mean'])} "
        f"({between(failures)}) fail in {duration(months)}, {plain(failures['mean'] / months)} a month{worn}; "
        f"{plain(whole['rebuilds']['mean'])} are being replaced at a time, and machines have a drive missing "
        f"{share_text(whole['degraded_share']['mean'], 3)} of their time."
    )
    return [first, losses_in_words(whole), *beyond_chance(whole["loss"], data["repetitions"]), *third(data)]


def losses_in_words(whole: PartDoc) -> str:
    """How often data is lost, beside independent drives."""
    loss, events = whole["loss"], whole["loss"]["events"]
    if events["mean"] <= 0:
        what = "No data was lost" if whole["failures"]["mean"] > 0 else "No drive failed"
        return f"{what} in these repetitions: more of them would say how often data is lost."
    within = f"{plain(events['mean_low'])} to {plain(events['mean_high'])}"
    ratio = events["mean"] / loss["independent"] if loss["independent"] > 0 else math.inf
    times = "as many as" if 0.95 < ratio < 1.05 else f"{ratio:.3g} times those of"
    chance = f"a chance of {share_text(loss['chance'], 3)} of at least one"
    return f"Expected losses of data: {plain(events['mean'])} ({within}), {chance}; {times} {independent(loss)}."


def beyond_chance(loss: LossDoc, repetitions: int) -> list[str]:
    """That other losses happened than were expected, where that is not by chance: four standard errors and 5 %."""
    seen, expected = float(loss["seen"]), loss["by_failure"]["mean"] * repetitions
    if abs(seen - expected) <= max(4.0 * math.sqrt(max(seen, expected)), 0.05 * max(seen, expected)):
        return []
    return [
        f"Do not rely on that: {plain(seen / repetitions)} losses by a failure too many happened in a repetition, "
        f"where {plain(loss['by_failure']['mean'])} were expected, which is not by chance."
    ]


def independent(loss: LossDoc) -> str:
    """What the closed form says."""
    return f"independent drives with the same failures and repairs ({plain(loss['independent'])})"


def third(data: FleetDoc) -> list[str]:
    """Spares and cost, where there are any."""
    parts = []
    short = [one for one in data["groups"] if one["spares"] is not None]
    if short:
        spares = "; ".join(
            f"{one['name']} {one['spares']['needed_95']} (has {one['spares']['on_site']})"
            for one in short
            if one["spares"] is not None
        )
        parts.append(f"Spares with which in 95 of 100 fleets no failure waits: {spares}")
    cost = data["fleet"]["cost"]
    if cost is not None:
        total = cost["total"]
        parts.append(f"Total cost {plain(total['mean'])} {data['currency']} ({between(total)})")
    return [f"{'. '.join(parts)}."] if parts else []


def cell(of: FigureDoc | None, scale: float = 1.0, unit: str = "") -> str:
    """A figure's mean."""
    return Figure("–", None) if of is None else Figure(plain(of["mean"] * scale), of["mean"] * scale, unit)


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and the cell of a row."""

    heading: str
    cells: Sequence[str]

    @property
    def says(self) -> bool:
        """Whether there is anything in it: a table without what nobody asked for is narrower."""
        return any(str(one) not in ("–", "0") for one in self.cells)


def table_of(title: str, columns: list[Column], first: int) -> Table:
    """A table of the columns that say something, and of the first ones in any case."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    shown = [one for place, one in enumerate(columns) if place < first or one.says]
    for one in shown:
        table.add_column(one.heading, justify="left" if not one.heading else "right")
    for row in zip(*(one.cells for one in shown), strict=True):
        table.add_row(*row)
    return table


def groups_table(data: FleetDoc) -> Table:
    """A row a group over the whole time, and one of all."""
    parts: list[tuple[str, PartDoc]] = [(one["name"], one) for one in data["groups"]]
    if len(parts) > 1:
        parts.append(("fleet", data["fleet"]))
    every = [part for _, part in parts]
    columns = [
        Column("", [name for name, _ in parts]),
        Column("drives", [Figure(f"{part['drives']:,}", part["drives"]) for part in every]),
        Column("failures", [cell(part["failures"]) for part in every]),
        Column("worn", [cell(part["worn"]) for part in every]),
        Column("degraded %", [cell(part["degraded_share"], 100.0) for part in every]),
        Column("losses", [cell(part["loss"]["events"]) for part in every]),
        Column(
            "any loss %", [Figure(plain(100 * part["loss"]["chance"]), 100 * part["loss"]["chance"]) for part in every]
        ),
        Column("MWh", [cell(part["energy_kwh"], 1e-3) for part in every]),
        Column(
            f"cost, {data['currency']}",
            [cell(None if part["cost"] is None else part["cost"]["total"]) for part in every],
        ),
    ]
    return table_of("By group", columns, 3)


def figures_table(data: FleetDoc) -> Table:
    """A row a figure of the whole fleet: mean, the interval of the mean, and between what 95 % of the repetitions
    lie."""
    from rich.table import Table

    whole, cost = data["fleet"], data["fleet"]["cost"]
    rows: list[tuple[str, FigureDoc | None, float]] = [
        ("failures", whole["failures"], 1.0),
        ("worn and replaced", whole["worn"] if whole["worn"]["mean"] else None, 1.0),
        ("being replaced at a time", whole["rebuilds"], 1.0),
        ("drive missing, % of time", whole["degraded_share"], 100.0),
        ("losses of data, expected", whole["loss"]["events"], 1.0),
        ("GB lost, expected", whole["loss"]["bytes_lost"], 1e-9),
        ("energy, MWh", whole["energy_kwh"], 1e-3),
        (f"cost, {data['currency']}", None if cost is None else cost["total"], 1.0),
    ]
    title = f"{data['name']}: {duration(data['months'])}, {data['repetitions']:,} repetitions"
    table = Table(title=title, title_justify="left")
    for heading in ("", "mean", "of the mean, 95 %", "of fleets, 95 %"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, of, scale in rows:
        if of is not None:
            table.add_row(
                name, cell(of, scale), ends(of, "mean_low", "mean_high", scale), ends(of, "low", "high", scale)
            )
    return table


Ends = Literal["mean_low", "mean_high", "low", "high"]


def ends(of: FigureDoc, first: Ends, last: Ends, scale: float) -> str:
    """An interval, as a cell."""
    low, high = of[first] * scale, of[last] * scale
    return Between(f"{plain(low)} to {plain(high)}", low, high)


def years_table(fleet: Fleet) -> Table:
    """A row a year of all groups: machines, capacity, failures, drives to buy, loss, energy, cost."""
    import polars as pl

    frame = fleet.years
    name = frame["group"][-1]
    rows = list(frame.filter(pl.col("group") == name).iter_rows(named=True))
    columns = [
        Column("year", [Figure(str(row["year"]), row["year"]) for row in rows]),
        Column("machines", [number(row, "machines") for row in rows]),
        Column("PB", [number(row, "usable_bytes", 1e-15) for row in rows]),
        Column("failures", [number(row, "failures") for row in rows]),
        Column("worn", [number(row, "worn") for row in rows]),
        Column("bought", [number(row, "bought") for row in rows]),
        Column("losses", [number(row, "losses") for row in rows]),
        Column("MWh", [number(row, "energy_kwh", 1e-3) for row in rows]),
        Column(f"cost, {fleet.summary['currency']}", [number(row, "cost") for row in rows]),
    ]
    return table_of(f"{name} by year", columns, 4)


def number(row: Mapping[str, float | None], name: str, scale: float = 1.0) -> str:
    """A figure of a row."""
    value = row[name]
    return Figure("–", None) if value is None else Figure(plain(value * scale), value * scale)


def group_lines(data: FleetDoc) -> list[str]:
    """What each group rests on."""
    return [line for one in data["groups"] for line in lines_of(one)]


def lines_of(one: GroupDoc) -> list[str]:
    """A group in lines."""
    lives = one["lives"]
    afr = share_text(-math.expm1(-HOURS_PER_YEAR / lives["scale_hours"]), 3)
    drives = f"AFR {afr}" if lives["shape"] == 1.0 else (
        f"Weibull lives of shape {lives['shape']:.3g} and scale {plain(lives['scale_hours'])} h"
    )  # fmt: skip
    fitted = ""
    if lives["fitted_drives"] is not None:
        fitted = f", {lives['fitted_failures']:,} failures of {counted(lives['fitted_drives'], 'drive')}"
    batches = f", batches with variance {lives['batch_variance']:.3g}" if lives["batch_variance"] else ""
    usable = decimal_size(one["usable_bytes"] / max(one["machines"], 1))
    found = [f"{one['name']}: {counted(one['machines'], 'machine')} {one['machine']}, {usable} usable each"]
    found.append(f"  drives: {drives} ({lives['source']}{fitted}){batches}")
    rebuild = one["rebuild_hours"]
    found.append(f"  rebuild {plain(rebuild['mean'])} h ({between(rebuild)}; {one['rebuild_source'] or 'as given'})")
    service = one["service"]
    if service is not None and service["degraded"] is not None:
        whole, degraded = service["whole"], service["degraded"]
        found.append(f"  service {level(whole)} whole, {level(degraded)} while a drive is rebuilt")
    spares = one["spares"]
    if spares is not None:
        waited = share_text(spares["waited_share"]["mean"], 3)
        found.append(
            f"  spares {spares['on_site']} on site: {waited} of the failures wait; {spares['needed_95']} for none in "
            f"95 of 100 fleets, {spares['needed_99']} in 99"
        )
    left = one["endurance_left"]
    if left is not None:
        found.append(f"  endurance left at the end: {share_text(left['mean'], 3)} ({percents(left)})")
    return found


def percents(of: FigureDoc) -> str:
    """The interval of a share."""
    return f"{share_text(of['low'], 3)} to {share_text(of['high'], 3)}"


def level(of: Mapping[str, object]) -> str:
    """I/Os a second and p99 of a service."""
    iops, p99 = of["iops"], of["latency_p99_ns"]
    shown = f"{plain(iops)} IOPS" if isinstance(iops, int | float) else "no I/O"
    return f"{shown}, p99 {plain(p99 / 1e6)} ms" if isinstance(p99, int | float) else shown


def closing_lines(data: FleetDoc) -> list[str]:
    """Notes, and how losses compare."""
    loss = data["fleet"]["loss"]
    lines = [f"note: {note}" for note in data["notes"]]
    seen = f"{loss['seen']:,} losses by a failure too many happened in {data['repetitions']:,} repetitions"
    lines.append(f"note: {seen}; {plain(loss['by_failure']['mean'] * data['repetitions'])} were expected")
    if loss["within_interval"] is not None:
        inside = "inside" if loss["within_interval"] else "outside"
        lines.append(
            f"note: the closed form of hotband reliability, {plain(loss['independent'])}, is {inside} the interval"
        )
    if data["no_cost"] is not None:
        lines.append(f"note: no cost: {data['no_cost']} ([prices] and [power] of the file)")
    return lines


def html_of(fleet: Fleet) -> str:
    """What a notebook shows: the answer, a row a group, and failures by month."""
    from hotband.views.draw.fleet import month_chart
    from hotband.views.draw.picture import picture

    data = fleet.summary
    said = "".join(f"<p>{escape(line)}</p>" for line in answers_of(data))
    image = picture(month_chart(fleet.frame, "failures", "Failures a month"))
    return f"<div><strong>{escape(repr(fleet))}</strong>{said}{table_html(figures_table(data))}{image}</div>"
