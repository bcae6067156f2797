"""Adding what is on disk: folders of records, of experiments, studies and reviews, rows of sweeps, results of other
tools."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.order import natural
from hotband.base.text.regular import file_bytes
from hotband.data.inputs.values import ENDINGS
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.load import records_in
from hotband.data.record.parquet import read_parquet
from hotband.data.results.manifest import EXPERIMENT_FILE, read_manifest
from hotband.data.results.records import load_all
from hotband.data.results.sweep_journal import FRAME_FILE, JOURNAL_FILE, parsed
from hotband.data.results.sweep_rows import kept_of
from hotband.data.store.columns import COLUMNS, SEED, TEXT, cell
from hotband.data.store.journal import Entry
from hotband.data.store.kept import KEY_DIGITS, Value, arrow_of_frame

if TYPE_CHECKING:
    from hotband.data.record.record import Record
    from hotband.data.store.writer import Writer


@dataclass(frozen=True)
class Added:
    """How many runs were new, and how many were there already."""

    new: int = 0
    there: int = 0

    def __add__(self, other: Added) -> Added:
        return Added(self.new + other.new, self.there + other.there)


Tick = Callable[[int, int], None]
"""Is told how many of how many are added."""


def add_all(writer: Writer, paths: Sequence[Path], experiment: str = "", tick: Tick = lambda done, of: None) -> Added:
    """Adds everything that these paths hold. Raises UserError for the first that holds nothing, or is broken; what was
    added before stays."""
    places = [place for path in paths for place in _places(path)]
    done = Added()
    for number, place in enumerate(places):
        tick(number, len(places))
        done += _add(writer, place, experiment)
    tick(len(places), len(places))
    return done


def _places(path: Path) -> list[Path]:
    """Records, and frames of sweeps that have more than these, below a folder; else the path itself, which an importer
    may know."""
    if not path.exists():
        raise UserError(str(path), "", "", "no such file or folder; expected records, or results of another tool")
    frames = sorted(path.rglob(FRAME_FILE)) if path.is_dir() else []
    if not frames:
        return records_in(path)
    records = sorted((file.parent for file in path.rglob(RECORD_FILE)), key=lambda one: natural(str(one)))
    return [*records, *(frame for frame in frames if not _has_its_records(frame))]


def _has_its_records(frame: Path) -> bool:
    """Return whether the runs of a sweep's frame lie beside it, each in a folder of its own, as `Sweep.save` writes
    them."""
    if frame.with_name(JOURNAL_FILE).exists():
        return False
    beside = sum(file.parent.name.isdecimal() for file in frame.parent.glob(f"*/{RECORD_FILE}"))
    return beside > 0 and beside == len(list(_rows(frame)))


def _add(writer: Writer, place: Path, experiment: str) -> Added:
    if place.name == FRAME_FILE:
        return _add_sweep(writer, place, experiment)
    of, point = _experiment_of(place)
    done = Added()
    with refusing_incomplete([place]):
        for record in _read(place):
            entry = _entry(record, experiment or of, {"point": point} if point else {})
            is_new = writer.add(entry, record.document)[1]
            done += Added(int(is_new), int(not is_new))
    return done


def _read(place: Path) -> list[Record]:
    return load_all(place)


def _entry(record: Record, experiment: str, factors: Mapping[str, Value]) -> Entry:
    tables = {name: arrow_of_frame(frame) for name, frame in record.tables.items()}
    return Entry(time.time_ns() // 1000, experiment, factors, json.dumps(record.document), tables)


def _experiment_of(place: Path) -> tuple[str, str]:
    """What experiment a record's folder is of, and which point of it; both empty if it is of none."""
    for above in list(place.parents)[:3]:
        if (above / EXPERIMENT_FILE).is_file():
            before = read_manifest(above / EXPERIMENT_FILE)
            folder = str(place.relative_to(above))
            named = (name for name, entry in before.entries.items() if entry.folder == folder)
            return before.what, next(named, "")
    return "", ""


def _version_of_sweep(frame: Path) -> str | None:
    """The version that made a sweep, as the journal beside its frame says and as records have it."""
    journal = frame.with_name(JOURNAL_FILE)
    head = parsed(file_bytes(journal).partition(b"\n")[0]) if journal.is_file() else None
    said = (head or {}).get("hotband")
    return said.partition("+")[0] if isinstance(said, str) else None


def _records_of_sweep(frame: Path) -> list[Record]:
    """The records that the journal beside a sweep's frame holds, if it holds any."""
    journal = frame.with_name(JOURNAL_FILE)
    lines = file_bytes(journal).split(b"\n")[1:] if journal.is_file() else []
    entries = [entry for line in lines if (entry := parsed(line)) is not None and "record" in entry]
    kept = {str(entry["key"]): kept_of(entry, records=True) for entry in entries}
    return [one.record for one in kept.values() if one is not None and one.record is not None]


def _add_sweep(writer: Writer, frame: Path, experiment: str) -> Added:
    """The records of a sweep, or its rows where it kept these alone."""
    named = experiment or f"the sweep in {frame.parent.name}"
    done = Added()
    with refusing_incomplete([frame.with_name(JOURNAL_FILE)]):
        for record in _records_of_sweep(frame):
            is_new = writer.add(_entry(record, named, {}), record.document)[1]
            done += Added(int(is_new), int(not is_new))
    return done if done.new or done.there else _add_rows(writer, frame, named)


def _add_rows(writer: Writer, frame: Path, experiment: str) -> Added:
    """The rows of a sweep: figures by the names of their columns, all else is a factor."""
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
        # Numbers of settings with units: they are made again of these.
        numbers = {f"{name}_{unit}" for name in factors for unit, _ in ENDINGS.values()}
        given = {name: value for name, value in factors.items() if name not in numbers}
        entry = Entry(time.time_ns() // 1000, experiment, given, cells=cells)
        is_new = writer.add(entry)[1]
        done += Added(int(is_new), int(not is_new))
    return done


def _rows(frame: Path) -> Iterator[dict[str, Value]]:
    yield from read_parquet(frame, "the frame of a sweep").iter_rows(named=True)
