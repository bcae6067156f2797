"""A fit as tables and words for the terminal."""

from __future__ import annotations

from pathlib import Path

from hotband.base.foreign import marked
from hotband.base.text.table import BYTES, CHANGE, MS, OF_ROW, PLAIN, SHARE, Table, Unit, View, column, numeric
from hotband.inference.traces.fit.fit import NEVER, FitTraceQuestion, TraceFit
from hotband.inference.traces.fit.replay import Replayed

UNITS = {"share": SHARE, "bytes": BYTES, "ns": MS, "per s": Unit("a second")}
"""Units of properties."""


def terminal(fit: TraceFit, _: FitTraceQuestion) -> list[View]:
    """Return the table, the verdict, and the runs of both on a machine."""
    views: list[View] = [_table(fit)]
    views.append(f"Preserved: {len(fit.kept)} of {len(fit.rows)} properties.")
    if fit.lost:
        views.append(marked("Not preserved: {lost}.", lost="; ".join(fit.lost)))
    views.append(f"Never preserved: {'; '.join(NEVER)}.")
    if fit.replayed is not None:
        views += _replayed(fit.replayed)
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


def _replayed(both: Replayed) -> list[View]:
    title = f"Both on {_short(both.machine)} (trace: {both.issue})"
    columns = [column(""), numeric("trace", OF_ROW), numeric("synthetic", OF_ROW), numeric("difference", CHANGE)]
    table = Table(title, columns)
    for side in both.sides:
        direction = "" if side.direction == "all" else f", {side.direction}s"
        unit = MS if side.unit == "ns" else Unit(side.unit)
        table.add(f"{side.figure}{direction}", side.trace, side.synthetic, side.error, unit=unit)
    return [table, *(marked("Note: {note}", note=note) for note in both.notes)]
