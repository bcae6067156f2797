"""Stored result of a sweep's run: its figures, the notes needed to read them, and its record if requested."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from hotband.data.record.durability import COMMIT_FIGURES, SHARE, commit_figures
from hotband.data.record.files import frame_of, parquet_of, read_table
from hotband.data.record.finished import Finished
from hotband.data.record.overload import missed_rate, only_script
from hotband.data.record.pools import machine_state_lines
from hotband.data.record.record import Record
from hotband.data.record.remarks import remarks_of
from hotband.data.record.stats import FIGURES as INTERVAL_FIGURES
from hotband.data.record.tables import Tables

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.data.documents.interval import RunIntervalsDoc
    from hotband.data.documents.record import FiguresDoc, RecordDoc
    from hotband.data.results.sweep_journal import Entry

FIGURES = (*INTERVAL_FIGURES, "latency_max_ns", "queue_depth_mean", "errors")
"""Figures of every run in a frame, by column: keys of the summary, and of the summary of each direction."""
DIRECTION_FIGURES = ("iops", "latency_mean_ns", "latency_p99_ns")
NAMES = (*FIGURES, *(f"{direction}_{name}" for direction in ("read", "write") for name in DIRECTION_FIGURES))
"""The columns of figures."""
COMMIT_NAMES = tuple(f"commit_{name}" for name in (*COMMIT_FIGURES, SHARE))
"""Further columns of runs that flush: a commit is a write with its flush."""
TRANSACTIONS, DURATIONS = "transactions_per_s", ("mean", "p50", "p99", "p999")
TRANSACTION_NAMES = (TRANSACTIONS, *(f"transaction_latency_{name}_ns" for name in DURATIONS))
"""Further columns of runs of one script: a transaction is a run of the script, whatever it calls that."""
REQUESTED, REQUESTED_TRANSACTIONS = "requested_iops", "requested_transactions_per_s"
"""Further columns of runs that missed the rate of their open loops, or of their script."""
FURTHER = (*COMMIT_NAMES, *TRANSACTION_NAMES, REQUESTED, REQUESTED_TRANSACTIONS)
"""Columns that only some runs have."""


@dataclass(frozen=True)
class Intervals:
    """Bounds that hold `level` percent of such predictions, by figure; `draws` is the requested number of samples."""

    level: float
    draws: int
    bounds: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Row:
    """A run that ended: figures by the names of their columns, the state of its drives, the notes of its record, and
    intervals if they were requested."""

    figures: Mapping[str, float | None]
    state: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    intervals: Intervals | None = None


@dataclass(frozen=True)
class Kept:
    """A run that ended, with its record if that is kept."""

    row: Row
    record: Record | None = None


def row_of(record: RecordDoc) -> Row:
    """A record's row, with the names and units of its summary."""
    summary = record["summary"]
    figures = {name: _number(summary, name) for name in FIGURES}
    for direction in ("read", "write"):
        side: FiguresDoc = summary["read"] if direction == "read" else summary["write"]
        figures |= {f"{direction}_{name}": _number(side, name) for name in DIRECTION_FIGURES}
    figures |= {f"commit_{name}": value for name, value in commit_figures(record).items()}
    missed = missed_rate(record)
    script = only_script(record)
    if script is not None:
        figures |= {TRANSACTIONS: script["per_second"]}
        durations = zip(TRANSACTION_NAMES[1:], DURATIONS, strict=True)
        figures |= {column: _number(script, f"duration_{name}_ns") for column, name in durations}
    if missed is not None:
        figures[REQUESTED_TRANSACTIONS if script is not None else REQUESTED] = missed.requested
    notes = (*remarks_of(record), *(record.get("notes") or ()))
    return Row(figures, tuple(machine_state_lines(record)), notes)


def row_of_run(finished: Finished) -> Row:
    """A run's row."""
    return row_of(finished.record)


def _number(figures: Mapping[str, object] | None, name: str) -> float | None:
    value = (figures or {}).get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def bounds_of(intervals: RunIntervalsDoc, draws: int) -> Intervals:
    """Return the intervals of a record in the form of a row."""
    known = {figure["figure"]: (figure["low"], figure["high"]) for figure in intervals["figures"]}
    return Intervals(intervals["level"], draws, {name: known[name] for name in INTERVAL_FIGURES if name in known})


def entry_of(key: str, row: Row, finished: Finished | None) -> Entry:
    """Return the journal entry of a run; `finished` is given if its record is to be stored."""
    entry: dict[str, Json] = {"key": key, "figures": dict(row.figures)}
    entry |= {"state": list(row.state), "notes": list(row.notes)}
    if row.intervals is not None:
        bounds: dict[str, Json] = {name: [low, high] for name, (low, high) in row.intervals.bounds.items()}
        entry["intervals"] = {"level": row.intervals.level, "draws": row.intervals.draws, "bounds": bounds}
    if finished is not None:
        tables = {name: base64.b64encode(parquet_of(table)).decode() for name, table in finished.tables.items()}
        text = json.dumps({"text": finished.text, "tables": tables})
        # Records are text that repeats itself: the quickest level takes them to a sixth.
        entry["record"] = base64.b64encode(zlib.compress(text.encode(), 1)).decode()
    return entry


def kept_of(entry: Entry, *, records: bool) -> Kept | None:
    """Return a stored run; None if a requested part is missing. The journal's checksum shows that the entry is
    unchanged."""
    held = entry.get("record")
    if records and not isinstance(held, str):
        return None
    figures = cast("Mapping[str, float | None]", entry["figures"])
    state, notes = (tuple(cast("list[str]", entry[name])) for name in ("state", "notes"))
    known = {name: figures.get(name) for name in NAMES}
    known |= {name: figures[name] for name in FURTHER if name in figures}
    row = Row(known, state, notes, _intervals(entry.get("intervals")))
    return Kept(row, _record(held) if records and isinstance(held, str) else None)


def _intervals(held: Json) -> Intervals | None:
    if not isinstance(held, dict):
        return None
    table = cast("Mapping[str, list[float]]", held["bounds"])
    bounds = {name: (low, high) for name, (low, high) in table.items()}
    return Intervals(cast("float", held["level"]), cast("int", held["draws"]), bounds)


def _record(held: str) -> Record:
    table = json.loads(zlib.decompress(base64.b64decode(held)))
    frames = {name: frame_of(read_table(base64.b64decode(data))) for name, data in table["tables"].items()}
    return Record(json.loads(table["text"]), Tables(dict(frames)))
