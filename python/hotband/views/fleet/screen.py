"""Fleets on a screen: how many drives fail and how often data is lost, by group and by year."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, number
from hotband.base.text.table import OF_ROW, Table, column, interval, numeric
from hotband.views.fleet.show import (
    answers_of,
    between,
    beyond_chance,
    closing_lines,
    duration,
    figures_of,
    figures_table,
    group_lines,
    groups_table,
    losses_in_words,
    spares,
    years_table,
)
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, screen_table, shortened, with_hidden

if TYPE_CHECKING:
    from hotband.base.text.table import View
    from hotband.data.documents.fleet import FleetDoc
    from hotband.questions.fleet.asked import FleetQuestion
    from hotband.questions.fleet.result import Fleet

BAR = 12
MOST_GROUPS = 6
MOST_REMARKS = 2
MOST_SENTENCES = 3


def terminal(fleet: Fleet, question: FleetQuestion) -> Screen:
    """Return what the terminal shows of a fleet."""
    data = fleet.summary
    sentences = [
        losses_in_words(data["fleet"]),
        *beyond_chance(data["fleet"]["loss"], data["repetitions"]),
        *spares(data),
    ]
    several = len(data["groups"]) > 1
    body: list[View] = [_figures(data), *(("", _groups(data)) if several else ())]
    return Screen(
        answer=_sentence(data),
        more=sentences[:MOST_SENTENCES],
        body=body,
        state=with_hidden([line for line in group_lines(data) if not line.startswith(" ")], 2, "more group"),
        remarks=with_hidden(data["notes"], MOST_REMARKS),
        next=question,
        details=_evidence(fleet),
    )


def _sentence(data: FleetDoc) -> str:
    """Return how many drives fail, and in how many machines."""
    whole, failures = data["fleet"], data["fleet"]["failures"]
    drives = f"{counted(whole['drives'], 'drive')} in {counted(whole['machines'], 'machine')}"
    expected = f"{number(failures['mean'])} ({between(failures)} in 95 of 100 fleets)"
    return f"Of {drives}, {expected} fail in {duration(data['months'])}."


def _figures(data: FleetDoc) -> Table:
    """Return a row per figure of the whole fleet: its mean, and the range of 95 of 100 fleets."""
    table = screen_table([column(""), numeric("mean", OF_ROW), interval("95 of 100 fleets", OF_ROW)])
    for name, figure, ends, unit in figures_of(data):
        table.add(name, figure["mean"], ends, unit=unit)
    return table


def _groups(data: FleetDoc) -> Table:
    """Return a row per group: its drives, failures with a bar, and expected losses."""
    groups = data["groups"]
    failures = [group["failures"]["mean"] for group in groups]
    columns = [column(""), numeric("drives"), numeric("failures"), bar_column(BAR), numeric("losses")]
    table = screen_table(columns)
    for group, drawn in zip(groups, bars(list(failures), BAR), strict=True):
        losses = group["loss"]["events"]["mean"]
        table.add(group["name"], group["drives"], group["failures"]["mean"], drawn, losses)
    return shortened(table, MOST_GROUPS, "more group")


def _evidence(fleet: Fleet) -> list[View]:
    """Return the answers, tables of figures, groups and years, and their evidence."""
    data = fleet.summary
    groups = [groups_table(data)] if len(data["groups"]) > 1 else []
    tables = [figures_table(data), *groups, years_table(fleet)]
    return [*answers_of(data), *tables, *group_lines(data), *closing_lines(data)]
