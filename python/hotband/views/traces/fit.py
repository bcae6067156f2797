"""A fit as tables and words for the terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hotband.base.foreign import marked
from hotband.base.text.numbers import plural
from hotband.base.text.table import BYTES, CHANGE, MS, OF_ROW, PLAIN, SHARE, Table, Unit, View, column, numeric
from hotband.inference.traces.fit.fit import NEVER, FitTraceQuestion, TraceFit
from hotband.inference.traces.fit.replay import Replayed
from hotband.views.text.screen import Screen, screen_table, shortened, with_hidden, yes_or_no

UNITS = {"share": SHARE, "bytes": BYTES, "ns": MS, "per s": Unit("/s")}
"""Units of properties."""
MOST_ROWS = 14
MOST_REMARKS = 2


def terminal(fit: TraceFit, question: FitTraceQuestion) -> Screen:
    """Return the screen of a fit: the number of preserved properties, and a table with the others first."""
    lost = f"Not preserved: {'; '.join(fit.lost)}." if fit.lost else ""
    machine: list[View] = []
    if fit.replayed is not None:
        machine = ["", replace(_replayed_table(fit.replayed), borderless=True)]
    notes = [*fit.notes, *([] if fit.replayed is None else fit.replayed.notes)]
    return Screen(
        answer=f"{len(fit.kept)} of {len(fit.rows)} properties of the trace are preserved by the workload.",
        verdict="likely" if fit.lost else "yes",
        more=[lost] if lost else [],
        body=[_screen_table(fit, MOST_ROWS - sum(map(_rows, machine))), *machine],
        state=[f"Workload: {fit.output}"] if fit.output is not None else [],
        remarks=with_hidden(notes, MOST_REMARKS),
        next=question,
        details=evidence(fit),
    )


def _rows(view: View) -> int:
    return 2 + len(view.rows) if isinstance(view, Table) else 0


def _screen_table(fit: TraceFit, most: int) -> Table:
    """Return a row per property, those that are not preserved first."""
    values = [numeric("trace", OF_ROW), numeric("workload", OF_ROW)]
    table = screen_table([column(""), *values, column("error"), column("preserved")])
    for row in sorted(fit.rows, key=lambda row: row.kept):
        word = yes_or_no(row.kept)
        values_of = (row.trace, row.synthetic, row.error_text(), word)
        table.add(row.property.strip(), *values_of, unit=UNITS.get(row.unit, PLAIN))
    return shortened(table, most)


def evidence(fit: TraceFit) -> list[View]:
    """Return the table of properties, the verdict, and the runs of both on a machine."""
    views: list[View] = [_table(fit)]
    views.append(f"Preserved: {len(fit.kept)} of {len(fit.rows)} properties.")
    if fit.lost:
        views.append(marked("Not preserved: {lost}.", lost="; ".join(fit.lost)))
    views.append(f"Never preserved: {'; '.join(NEVER)}.")
    if fit.replayed is not None:
        views += [_replayed_table(fit.replayed), *(marked("Note: {note}", note=note) for note in fit.replayed.notes)]
    views += [marked("Note: {note}", note=note) for note in fit.notes]
    if fit.output is not None:
        views.append(marked("Workload: {file}", file=fit.output))
    return views


def _table(fit: TraceFit) -> Table:
    columns = [column("property"), numeric("trace", OF_ROW), numeric("synthetic", OF_ROW)]
    bounds = [column("error"), column("preserved within")]
    table = Table(f"{fit.source.name} and the workload fitted to it", [*columns, *bounds])
    for row in fit.rows:
        verdict = row.within_text() if row.kept else "no"
        unit = UNITS.get(row.unit, PLAIN)
        table.add(row.property, row.trace, row.synthetic, row.error_text(), verdict, unit=unit)
    return table


def _short(machine: str) -> str:
    """Return a machine's name, or that of its file."""
    return Path(machine).name if machine.endswith(".toml") else machine


def _replayed_table(both: Replayed) -> Table:
    """Return the figures of trace and fit on a machine."""
    title = f"Both on {_short(both.machine)} (trace: {both.issue})"
    columns = [column(""), numeric("trace", OF_ROW), numeric("synthetic", OF_ROW), numeric("difference", CHANGE)]
    table = Table(title, columns)
    for side in both.sides:
        direction = "" if side.direction == "all" else f", {plural(side.direction)}"
        unit = MS if side.unit == "ns" else Unit(side.unit)
        table.add(f"{side.figure}{direction}", side.trace, side.synthetic, side.error, unit=unit)
    return table
