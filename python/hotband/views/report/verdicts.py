"""Tables of a page: whether runs met their limits and reached steady state, and their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.base.text.numbers import between, span
from hotband.base.text.table import unit_of
from hotband.data.documents.record import RecordDoc
from hotband.data.record.load import LoadedRecord
from hotband.data.record.steady import of_phases
from hotband.views.interval import LABELS
from hotband.views.report.page import Block, Cell, Group, Table
from hotband.views.text.tables import LIMIT_WORDS, STEADY_FIGURES

if TYPE_CHECKING:
    from hotband.data.documents.interval import FigureIntervalDoc


def verdict_blocks(records: Mapping[str, LoadedRecord]) -> list[Block]:
    """Return a table of limits and one of phases that end when steady, for the records that have them."""
    tables: list[Block] = []
    for columns, caption, rows_of in (
        (["Limit", "Measured", "Bound", "Passed"], "Limits", _limit_rows),
        (["Phase", "Tracked", "Reached", "Mean", "Why"], "Steady state", _steady_rows),
    ):
        rows = [(label, rows_of(loaded.record)) for label, loaded in records.items()]
        groups = [Group(row, label if len(records) > 1 else "") for label, row in rows if row]
        if groups:
            tables.append(Table(columns, groups, caption=caption))
    return tables


def _limit_rows(record: RecordDoc) -> list[list[Cell]]:
    rows = []
    for limit in record.get("limits", []):
        figure, op = limit["figure"], "reads and writes" if limit["op"] == "all" else f"{limit['op']}s"
        what = f"{LIMIT_WORDS[figure]} of {op} of {', '.join(limit['streams']) or 'all streams'}"
        bound = f"{limit['bound'].replace('_', ' ')} {unit_of(figure).shown(limit['limit'])}"
        measured = Cell(unit_of(figure).shown(limit["value"]), numeric=True)
        rows.append([Cell(what), measured, Cell(bound, numeric=True), Cell("yes" if limit["passed"] else "no")])
    return rows


def _steady_rows(record: RecordDoc) -> list[list[Cell]]:
    rows = []
    for state in of_phases(record):
        figure = STEADY_FIGURES[state["track"]]
        reached = f"round {state['round']}" if state["reached"] else "no"
        tracked = f"{LIMIT_WORDS[figure]}, {len(state['rounds'])} rounds of {span(state['round_ns'])}"
        mean = Cell(unit_of(figure).shown(state["window_mean"]), numeric=True)
        rows.append([Cell(state["phase"] or ""), Cell(tracked), Cell(reached), mean, Cell(state["why"])])
    return rows


COLUMNS = ["Figure", "Predicted", "From", "To", "By its values alone", "Class"]


def intervals_table(records: Mapping[str, LoadedRecord]) -> Table | None:
    """Return one row per figure with its interval; None if no record has any."""
    groups = []
    level = 0.0
    for label, loaded in records.items():
        intervals = loaded.record.get("intervals")
        if intervals is not None:
            level = intervals["level"]
            groups.append(Group([_row(figure) for figure in intervals["figures"]], label if len(records) > 1 else ""))
    if not groups:
        return None
    caption = f"Intervals of {level:g} %, from the uncertain values of the machine, the seed and model error."
    return Table(COLUMNS, groups, caption=caption, tight=True)


def _row(figure: FigureIntervalDoc) -> list[Cell]:
    side, _, name = figure["figure"].rpartition(".")
    unit = unit_of(name)
    label = "IOPS" if name == "iops" else f"{unit.name} {LABELS[name]}".replace("MB/s MB/s", "MB/s")
    return [
        Cell(f"{label}{f' of {side}s' if side else ''}"),
        Cell(unit.bare(figure["predicted"]), True),
        Cell(unit.bare(figure["low"]), True),
        Cell(unit.bare(figure["high"]), True),
        Cell(between(figure["values_low"], figure["values_high"], unit.bare), True, muted=True),
        Cell(figure["figure_class"], muted=True),
    ]
