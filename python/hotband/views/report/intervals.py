"""Intervals of records on their page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.base.text.numbers import between
from hotband.base.text.table import unit_of
from hotband.views.interval import LABELS
from hotband.views.report.page import Cell, Group, Table

if TYPE_CHECKING:
    from hotband.data.documents.interval import FigureIntervalDoc
    from hotband.data.record.load import LoadedRecord

COLUMNS = ["Figure", "Predicted", "From", "To", "By its values alone", "Class"]


def intervals_table(records: Mapping[str, LoadedRecord]) -> Table | None:
    """A row a figure with its interval; None where no record has any."""
    groups = []
    level = 0.0
    for label, loaded in records.items():
        found = loaded.record.get("intervals")
        if found is not None:
            level = found["level"]
            groups.append(Group([_row(one) for one in found["figures"]], label if len(records) > 1 else ""))
    if not groups:
        return None
    caption = (
        f"Intervals of {level:g} %, by the uncertain values of the machine, the seed and what the model leaves out."
    )
    return Table(COLUMNS, groups, caption=caption, tight=True)


def _row(one: FigureIntervalDoc) -> list[Cell]:
    side, _, name = one["figure"].rpartition(".")
    unit = unit_of(name)
    label = "IOPS" if name == "iops" else f"{unit.name} {LABELS[name]}".replace("MB/s MB/s", "MB/s")
    return [
        Cell(f"{label}{f' of {side}s' if side else ''}"),
        Cell(unit.bare(one["predicted"]), True),
        Cell(unit.bare(one["low"]), True),
        Cell(unit.bare(one["high"]), True),
        Cell(between(one["values_low"], one["values_high"], unit.bare), True, muted=True),
        Cell(one["figure_class"], muted=True),
    ]
