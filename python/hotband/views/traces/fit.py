"""A fit as tables and words for the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.cells import in_unit

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hotband.inference.traces.fit.fit import TraceFit
    from hotband.inference.traces.fit.replay import Replayed, Side


def views(fit: TraceFit) -> list[Table | Text | str]:
    """The table, the verdict, both on a machine."""
    from hotband.inference.traces.fit.fit import NEVER

    found: list[Table | Text | str] = [_table(fit)]
    found.append(f"Kept: {len(fit.kept)} of {len(fit.rows)} properties.")
    if fit.lost:
        found.append(marked("Not kept: {lost}.", lost="; ".join(fit.lost)))
    found.append(f"Never kept: {'; '.join(NEVER)}.")
    if fit.replayed is not None:
        found += _replayed(fit.replayed)
    found += [marked("Note: {note}", note=note) for note in fit.notes]
    if fit.output is not None:
        found.append(marked("Workload: {file}", file=fit.output))
    return found


def _table(fit: TraceFit) -> Table:
    from rich.table import Table

    title = marked("{file} and the workload fitted to it", file=fit.source.name)
    table = Table(title=title, title_justify="left")
    for name in ("property", "trace", "synthetic", "error", "kept within"):
        table.add_column(name, justify="left" if name == "property" else "right", overflow="fold")
    for row in fit.rows:
        verdict = row.within_text() if row.kept else "no"
        table.add_row(row.property, *row.values(), row.error_text(), verdict)
    return table


def _short(machine: str) -> str:
    """A machine's name, or that of its file."""
    return Path(machine).name if machine.endswith(".toml") else machine


def _replayed(both: Replayed) -> list[Table | Text | str]:
    from rich.table import Table

    title = marked("Both on {machine} (trace: {issue})", machine=_short(both.machine), issue=both.issue)
    table = Table(title=title, title_justify="left")
    for name in ("", "trace", "synthetic", "difference"):
        table.add_column(name, justify="left" if not name else "right", overflow="fold")
    for side in both.sides:
        of = "" if side.direction == "all" else f", {side.direction}s"
        error = "–" if side.error is None else f"{side.error:+.1f} %"
        table.add_row(f"{side.figure}{of}", _value(side, side.trace), _value(side, side.synthetic), error)
    return [table, *(marked("Note: {note}", note=note) for note in both.notes)]


def _value(side: Side, value: float | None) -> str:
    if value is None:
        return "–"
    return in_unit(value, "_ns") if side.unit == "ns" else f"{value:,.1f}"
