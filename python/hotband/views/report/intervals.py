"""Intervals of records on their page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.base.text.cells import four_digits
from hotband.views.interval import IN_MILLIONS, LABELS, rounded
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
    scale = 1.0 if name == "iops" else IN_MILLIONS
    values = f"{rounded(one['values_low'] / scale)} to {rounded(one['values_high'] / scale)}"
    return [
        Cell(f"{LABELS[name]}{f' of {side}s' if side else ''}"),
        Cell(four_digits(one["predicted"] / scale), True),
        Cell(rounded(one["low"] / scale), True),
        Cell(rounded(one["high"] / scale), True),
        Cell(values, True, muted=True),
        Cell(one["figure_class"], muted=True),
    ]
