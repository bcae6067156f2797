"""Runs on the terminal: their figures, notes on reading them, and the paths written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hotband.base.text.formats import as_rows
from hotband.base.text.table import View, Whole
from hotband.data.documents.record import RecordDoc
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.pools import pool_lines
from hotband.data.record.repair import recovery_lines, repair_lines
from hotband.data.record.states import said_of
from hotband.data.record.steady import of_phases
from hotband.data.record.stopped import stopped_lines
from hotband.data.record.trace import trace_lines
from hotband.data.record.unmodelled import other_notes, unmodelled_notes
from hotband.views.expect import expected_views
from hotband.views.interval import interval_lines, intervals_table
from hotband.views.record.energy import energy_lines
from hotband.views.text.tables import (
    app_tables,
    limits_lines,
    power_loss_lines,
    scripts_table,
    steady_lines,
    summary_table,
)
from hotband.views.text.wear import smart_lines


def run_views(record: RecordDoc, folder: Path | None = None) -> Iterator[View]:
    """Yield the figures of a run, and the path of its record in a folder."""
    yield from (f"! {note}." for note in unmodelled_notes(record))
    yield summary_table(record)
    yield from app_tables(record)
    if "scripts" in record:
        yield scripts_table(record["scripts"])
    if "intervals" in record:
        lines: Sequence[View] = interval_lines(record["intervals"])
        if as_rows() and record["intervals"]["figures"]:
            yield intervals_table(record["intervals"])
            lines = lines[len(record["intervals"]["figures"]) :]
        yield from lines
    yield from said_of(record)
    yield from (f"  pool: {line}" for line in pool_lines(record))
    yield from (f"  note: {note}" for note in other_notes(record))
    yield from (line for verdict in of_phases(record) for line in steady_lines(verdict))
    yield from stopped_lines(record)
    for lines_of in (smart_lines, energy_lines, limits_lines, power_loss_lines, repair_lines):
        yield from lines_of(record)
    yield from (f"  {line}" for line in recovery_lines(record))
    yield from trace_lines(record)
    if "expected" in record:
        yield from expected_views(record)
    if folder is not None:
        yield Whole(f"Record: {folder / RECORD_FILE}")
