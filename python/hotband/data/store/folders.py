"""Add results from disk: folders of records, of experiments, studies and reviews, rows of sweeps, results of other
tools."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.regular import file_bytes
from hotband.data.inputs.values import ENDINGS
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.load import records_below, records_in
from hotband.data.record.parquet import read_parquet
from hotband.data.results.manifest import EXPERIMENT_FILE, read_manifest
from hotband.data.results.records import load_all
from hotband.data.results.sweep_journal import FRAME_FILE, JOURNAL_FILE, parsed
from hotband.data.results.sweep_rows import kept_of
from hotband.data.store.columns import COLUMNS, SEED, TEXT, cell
from hotband.data.store.journal import Entry
from hotband.data.store.stored_run import KEY_DIGITS, Value, arrow_of_frame

if TYPE_CHECKING:
    from hotband.data.record.record import Record
    from hotband.data.store.writer import Writer


@dataclass(frozen=True)
class Added:
    """Number of new runs, and of runs that were present already."""

    new: int = 0
    present: int = 0

    @classmethod
    def of(cls, added: tuple[str, bool]) -> Added:
        """Return the number for one run, from what its writer returned: its key, and whether it is new."""
        return cls(int(added[1]), int(not added[1]))

    def __add__(self, other: Added) -> Added:
        return Added(self.new + other.new, self.present + other.present)


Tick = Callable[[int, int], None]
"""Receives the number of added items and their total."""


def add_all(
    writer: Writer, paths: Sequence[Path], experiment: str = "", tick: Tick = lambda done, total: None
) -> Added:
    """Add everything in these paths. Raises UserError for the first that has no results or is broken; earlier results
    stay added."""
    places = [path_ for path in paths for path_ in _places(path)]
    done = Added()
    for number, path_ in enumerate(places):
        tick(number, len(places))
        done += _add(writer, path_, experiment)
    tick(len(places), len(places))
    return done


def _places(path: Path) -> list[Path]:
    """Return the records, and frames of sweeps with more rows than records, below a folder; else the path itself, for
    an importer."""
    if not path.exists():
        raise UserError(str(path), "", "", "no such file or folder; expected records, or results of another tool")
    frames = sorted(Path(folder, FRAME_FILE) for folder, _, names in os.walk(path) if FRAME_FILE in names)
    if not frames:
        return records_in(path)
    return [*records_below(path), *(frame for frame in frames if not _has_its_records(frame))]


def _has_its_records(frame: Path) -> bool:
    """Return whether the runs of a sweep's frame are next to it, each in its own folder, as `Sweep.save` writes
    them."""
    if frame.with_name(JOURNAL_FILE).exists():
        return False
    beside = sum(file.parent.name.isdecimal() for file in frame.parent.glob(f"*/{RECORD_FILE}"))
    return beside > 0 and beside == len(list(_rows(frame)))


def _add(writer: Writer, path: Path, experiment: str) -> Added:
    if path.name == FRAME_FILE:
        return _add_sweep(writer, path, experiment)
    experiment_name, point = _experiment_of(path)
    done = Added()
    with refusing_incomplete([path]):
        for record in load_all(path):
            entry = _entry(record, experiment or experiment_name, {"point": point} if point else {})
            done += Added.of(writer.add(entry, record.document))
    return done


def _entry(record: Record, experiment: str, factors: Mapping[str, Value]) -> Entry:
    tables = {name: arrow_of_frame(frame) for name, frame in record.tables.items()}
    return Entry(time.time_ns() // 1000, experiment, factors, json.dumps(record.document), tables)


def _experiment_of(folder_: Path) -> tuple[str, str]:
    """Return the experiment of a record's folder and its point in it; both empty if it belongs to none."""
    for above in list(folder_.parents)[:3]:
        if (above / EXPERIMENT_FILE).is_file():
            before = read_manifest(above / EXPERIMENT_FILE)
            folder = str(folder_.relative_to(above))
            named = (name for name, entry in before.entries.items() if entry.folder == folder)
            return before.what, next(named, "")
    return "", ""


def _version_of_sweep(frame: Path) -> str | None:
    """Return the version that made a sweep, from the journal next to its frame, in the form that records use."""
    journal = frame.with_name(JOURNAL_FILE)
    head = parsed(file_bytes(journal).partition(b"\n")[0]) if journal.is_file() else None
    version = (head or {}).get("hotband")
    return version.partition("+")[0] if isinstance(version, str) else None


def _records_of_sweep(frame: Path) -> list[Record]:
    """Return the records in the journal next to a sweep's frame, if any."""
    journal = frame.with_name(JOURNAL_FILE)
    lines = file_bytes(journal).split(b"\n")[1:] if journal.is_file() else []
    entries = [entry for line in lines if (entry := parsed(line)) is not None and "record" in entry]
    rows = {str(entry["key"]): kept_of(entry, records=True) for entry in entries}
    return [row.record for row in rows.values() if row is not None and row.record is not None]


def _add_sweep(writer: Writer, frame: Path, experiment: str) -> Added:
    """Add the records of a sweep, or its rows if it has no records."""
    named = experiment or f"the sweep in {frame.parent.name}"
    done = Added()
    with refusing_incomplete([frame.with_name(JOURNAL_FILE)]):
        for record in _records_of_sweep(frame):
            done += Added.of(writer.add(_entry(record, named, {}), record.document))
    return done if done.new or done.present else _add_rows(writer, frame, named)


def _add_rows(writer: Writer, frame: Path, experiment: str) -> Added:
    """Add the rows of a sweep: figures by column name, other columns as factors."""
    done, version = Added(), cell(TEXT, _version_of_sweep(frame))
    for row in _rows(frame):
        cells = {name: cell(COLUMNS[name], value) for name, value in row.items() if name in COLUMNS and name != "seed"}
        cells |= {"seed": cell(SEED, row.get("seed")), "kind": "model", "hotband": version}
        for name in ("target", "workload"):
            cells[name] = cell(TEXT, row.get(name)) or ""
        cells["name"] = f"{cells['workload']} on {cells['target']}"
        text = json.dumps(row, sort_keys=True, default=str)
        cells["run"] = hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]
        factors = {name: value for name, value in row.items() if name not in COLUMNS and value is not None}
        # Numbers of settings with units are derived from these again.
        numbers = {f"{name}_{unit}" for name in factors for unit, _ in ENDINGS.values()}
        given = {name: value for name, value in factors.items() if name not in numbers}
        entry = Entry(time.time_ns() // 1000, experiment, given, cells=cells)
        done += Added.of(writer.add(entry))
    return done


def _rows(frame: Path) -> Iterator[dict[str, Value]]:
    yield from read_parquet(frame, "the frame of a sweep").iter_rows(named=True)
