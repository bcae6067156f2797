"""The top of a review's page: the settings of every machine's drives, and the main figures."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.text.words import capitalized
from hotband.data.record.states import settings_of, states_of
from hotband.views.report import review_machine
from hotband.views.report.page import Cell, Group, Section, Table, plain
from hotband.views.report.review_rows import Machine

COLUMNS = ("Machine", "Write cache", "Look-ahead", "Flash", "Values that were set")


def settings_table(everyone: Sequence[Machine]) -> Table:
    """Return one row per machine, or per group of its identical drives; the last column has the values set for the
    review."""
    rows = []
    for machine in everyone:
        document = machine.review["machine"]
        values = ", ".join(f"{key} = {value}" for key, value in (document.get("set") or {}).items()) or "none"
        for settings in settings_of(states_of(document)):
            name = f"{machine.label}: {settings['of']}" if settings["of"] else machine.label
            cells = [settings[key] or "none" for key in ("write cache", "look-ahead", "flash")]
            rows.append(plain([name, *cells, values]))
    return Table(COLUMNS, [Group(rows)], caption="Settings of the drives")


def at_a_glance(prefix: str, everyone: Sequence[Machine]) -> Section:
    """Return one row per machine with its figures, and the settings."""
    cards = [dict((what, value) for value, what in review_machine.cards(machine)) for machine in everyone]
    # The pattern with the highest IOPS differs between machines, so those figures are only in the charts.
    names = [
        name for name in dict.fromkeys(name for card in cards for name in card) if not name.startswith("most IOPS")
    ]
    rows = [
        [Cell(machine.label), *(Cell(pair.get(name, "–"), numeric=True) for name in names)]
        for machine, pair in zip(everyone, cards, strict=True)
    ]
    heads = ["Machine", *map(capitalized, names)]
    figures = Table(heads, [Group(rows)], tight=True)
    return Section(f"{prefix}-glance", "At a glance", [figures, settings_table(everyone)])
