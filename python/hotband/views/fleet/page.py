"""The page of a fleet: the answer, charts by month, the numbers by group and year, and their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, number
from hotband.views.draw.fleet import month_chart
from hotband.views.fleet.show import (
    answers_of,
    between,
    closing_lines,
    duration,
    figures_table,
    group_lines,
    groups_table,
    years_table,
)
from hotband.views.report.kept import Report
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Page, Prose, Section, Table

if TYPE_CHECKING:
    from hotband.data.documents.fleet import CostDoc, FigureDoc
    from hotband.questions.fleet.result import Fleet

BAND = "The band holds 95 % of the repetitions."
CHARTS = (
    ("failures", "Failures a month", ""),
    ("rebuilds", "Drives being replaced", "Drives that failed and are not rebuilt yet, on average over the month."),
    ("degraded_share", "Time degraded (%)", "Share of the machines' time with a drive missing."),
    ("losses", "Expected data losses per month", "The sum over degraded episodes of their chances to end in loss."),
    ("worn", "Drives worn and replaced per month", ""),
    ("endurance_left", "Endurance left (%)", "On average over the drives of a group."),
    ("energy_kwh", "Energy a month (kWh)", "Machines and drives times PUE."),
    ("cost_so_far", "Cost so far", "Purchases of machines and drives, replacements, energy, losses."),
)
PARTS = ("drives", "machines", "replacements", "energy", "losses", "total")


def fleet_page(fleet: Fleet) -> Page:
    """Return the page."""
    data = fleet.summary
    sections = [
        Section("answer", "Answer", [Prose(answers_of(data), lead=True)]),
        Section("months", "By month", [Charts(charts_of(fleet), width=480)]),
        Section("figures", "Over the whole time", [Table.of(figures_table(data))]),
        Section("groups", "By group", [Table.of(groups_table(data))]),
        Section("years", "By year", [Table.of(years_table(fleet))]),
    ]
    cost = data["fleet"]["cost"]
    if cost is not None:
        sections.append(Section("cost", "Cost", [cost_table(cost, data["currency"])]))
    blocks: list[Block] = [Prose([*group_lines(data), *closing_lines(data)])]
    sections.append(Section("conditions", "What it rests on", blocks))
    left = "" if fleet.complete else f" of {data['asked']:,}: the others were interrupted"
    drives = counted(data["fleet"]["drives"], "drive")
    subtitle = f"{drives}, {duration(data['months'])}, {data['repetitions']:,} repetitions{left}"
    return Page(data["name"], sections, subtitle=subtitle, kicker="Fleet")


def charts_of(fleet: Fleet) -> list[Chart]:
    """Return charts of the figures that are known and not always zero."""
    frame, monthly = fleet.frame, []
    for name, title, caption in CHARTS:
        known = frame[name].drop_nulls()
        if len(known) and float(known.abs().max() or 0.0) > 0:  # type: ignore[arg-type]
            unit = f" ({fleet.summary['currency']})" if name == "cost_so_far" else ""
            view = month_chart(frame, name, f"{title}{unit}", width="container")
            monthly.append(Chart(f"{title}{unit}", view, f"{caption} {BAND}".strip()))
    return monthly


def cost_table(cost: CostDoc, currency: str) -> Table:
    """Return the cost by part over the whole time."""
    rows = []
    for name in PARTS:
        part: FigureDoc | None = cost[name]  # type: ignore[literal-required]
        if part is not None:
            texts = (number(part["mean"]), between(part))
            rows.append([Cell(name), *(Cell(text, numeric=True) for text in texts)])
    return Table(["", currency, "95 %"], [Group(rows)], tight=True)


def report_of(fleet: Fleet) -> Report:
    """Return the page as a report that can be saved."""
    return Report(fleet_page(fleet))
