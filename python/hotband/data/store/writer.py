"""Adding runs to a store: into a journal as they come, into a part every so many.

Several processes may write at once, each into a journal and parts of its own; only putting a part into its place is
done by one at a time. A run that is there is not added again.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_hex
from typing import TYPE_CHECKING

from hotband.base.foreign import visible
from hotband.base.text.numbers import counted
from hotband.base.text.write import remove
from hotband.data.store.journal import Abandoned, Entry, Journal, frame_of, left_behind
from hotband.data.store.kept import Kept, factor_of, kept_of
from hotband.data.store.manifest import keys_in, put, snapshot, tidy
from hotband.data.store.parts import fits, parquet, tables_of
from hotband.data.store.place import Place
from hotband.data.store.same import Same, intervals_of

if TYPE_CHECKING:
    import pyarrow as pa

    from hotband.data.documents.record import RecordDoc

RUNS_OF_PART = 2000
"""Runs of a part: some megabytes of documents, a second of work; 100,000 runs are 50 parts."""
JOURNAL_BYTES = 256 << 20
"""Largest journal: what is in it is in memory, too."""
SECONDS_OF_PART = 30.0
"""A part is made of what there is after so long, or a tenth of the time since the writer began where that is more: few
parts of a long sweep, and what it found so far can be read."""


class Writer:
    """Adds runs to a store; from any thread. `close` makes a part of what is left."""

    def __init__(self, place: Place) -> None:
        """Takes over what writers that are gone left. Raises UserError, OSError."""
        self.place = place
        self._name, self._number = token_hex(6), 0
        self._lock = threading.RLock()
        self._journal: Journal | None = None
        self._batch: dict[str, Kept] = {}
        self._schemas: dict[str, pa.Schema] = {}
        self._same = Same(place)
        self._bounds_left, self._records_left = set[str](), set[str]()
        self._began = self._first = time.monotonic()
        recover(place)
        # No compaction takes parts away while they are read.
        with place.lock():
            self._seen = {part.name: part for part in snapshot(place).parts}
            self._known = keys_in(place, self._seen.values())

    def add(self, entry: Entry, record: RecordDoc | None = None) -> tuple[str, bool]:
        """Adds a run, whose `record` may be given besides its text: its key, and whether it is new. It is kept from
        then on, whatever happens to this process. Raises UserError, OSError."""
        kept = kept_from(entry, self.place.small, record)
        frame = None if kept.run in self._known else frame_of(_trimmed(entry, self.place.small))
        with self._lock:
            there = self._there(kept)
            if frame is None or there is not None:
                return there or kept.run, False
            if not fits(self._schemas, kept.tables):
                self._put()
            journal = self._opened()
            journal.add(frame)
            self._known.add(kept.run)
            self._batch[kept.run] = kept
            self._same.added(kept)
            for name, table in kept.tables.items():
                self._schemas.setdefault(name, table.schema)
            is_due = journal.is_due()
            if self._is_full(journal):
                self._put()
                is_due = False
        if is_due:
            # Others may add meanwhile; a journal that was ended needs no flush.
            with suppress(OSError):
                journal.flush()
        return kept.run, True

    def _there(self, kept: Kept) -> str | None:
        """The key of this run where it is in the store; what it has more than is there is counted. Raises UserError."""
        run = kept.run if kept.run in self._known else self._same.of(kept)
        if run is None:
            return None
        if kept.document and run != kept.run:
            self._records_left.add(run)
        bounds = intervals_of(kept.cells)
        if bounds is not None:
            held = self._batch.get(run)
            if bounds != (self._same.intervals(run) if held is None else intervals_of(held.cells)):
                self._bounds_left.add(run)
        return run

    def _tell(self) -> None:
        """Says what was not taken of runs that were there already."""
        for what, runs in (("intervals", self._bounds_left), ("records", self._records_left)):
            if runs:
                there = f"{counted(len(runs), 'run')} {'was' if len(runs) == 1 else 'were'} there already"
                why = "runs of a store are not changed; a new store takes them"
                _warn(f"warning: {self.place.path}: {there} without these {what}, which were not added: {why}")
                runs.clear()

    def _opened(self) -> Journal:
        if self._journal is None:
            self._journal = Journal(self.place.journal, f"part-{self._name}-{self._number:05d}")
            self._number += 1
            self._first = time.monotonic()
        return self._journal

    def _is_full(self, journal: Journal) -> bool:
        now = time.monotonic()
        patience = max(SECONDS_OF_PART, (now - self._began) / 10)
        return len(self._batch) >= RUNS_OF_PART or journal.length >= JOURNAL_BYTES or now - self._first >= patience

    def flush(self) -> None:
        """Makes a part of what there is: then every reader has it. Raises OSError."""
        with self._lock:
            self._put()

    def _put(self) -> None:
        if self._journal is None:
            return
        journal, runs = self._journal, dict(self._batch)
        contents = contents_of(journal.part, list(runs.values()), small=self.place.small)
        with self.place.lock():
            parts = snapshot(self.place).parts
            others = keys_in(self.place, [part for part in parts if part.name not in self._seen])
            if others & runs.keys():
                runs = {key: run for key, run in runs.items() if key not in others}
                contents = contents_of(journal.part, list(runs.values()), small=self.place.small)
            if runs:
                part = put(self.place, journal.part, len(runs), contents)
                self._seen[part.name] = part
            self._seen |= {part.name: part for part in parts}
            self._known |= others
            self._same.put()
            journal.remove()
        self._journal, self._batch, self._schemas = None, {}, {}

    def close(self) -> None:
        """Makes a part of what is left. Raises OSError; what could not be written stays in the journal."""
        with self._lock:
            try:
                self._put()
                self._tell()
            finally:
                if self._journal is not None:
                    self._journal.close()
                    self._journal, self._batch = None, {}


@contextmanager
def writing(place: Place) -> Iterator[Writer]:
    """A writer that is closed at the end."""
    writer = Writer(place)
    try:
        yield writer
    finally:
        writer.close()


def kept_from(entry: Entry, small: bool, record: RecordDoc | None = None) -> Kept:
    """A run as it is kept, of what was added. Raises UserError."""
    if entry.cells is not None:
        return _rows_alone(entry)
    return kept_of(
        json.loads(entry.text) if record is None else record,
        entry.tables or {},
        entry.factors,
        added_us=entry.added_us,
        experiment=entry.experiment,
        small=small,
    )


def _rows_alone(entry: Entry) -> Kept:
    cells = dict(entry.cells or {})
    factors = tuple(factor_of(name, value) for name, value in entry.factors.items())
    return Kept(str(cells.pop("run")), entry.added_us, entry.experiment, cells, factors)


def _trimmed(entry: Entry, small: bool) -> Entry:
    """Without what a small store does not keep."""
    return replace(entry, tables=None) if small else entry


def contents_of(part: str, runs: Sequence[Kept], *, small: bool) -> dict[str, bytes]:
    """The files of a part, by their paths in the store."""
    if not runs:
        return {}
    month = datetime.fromtimestamp(runs[0].added_us / 1e6, UTC).strftime("%Y-%m")
    tables = tables_of(runs)
    return {f"{name}/month={month}/{part}.parquet": parquet(name, tables[name], small=small) for name in tables}


def _warn(text: str) -> None:
    sys.stderr.write(f"hotband: {visible(text)}\n")


def recover(place: Place, say: Callable[[str], None] = _warn) -> int:
    """Makes parts of the journals whose writers are gone, and removes what they left half written; how many runs that
    were. A journal that is damaged is kept under another name, and that is said. Raises OSError."""
    count = 0
    for path in left_behind(place.journal):
        journal = Abandoned(path)
        with journal as entries:
            if entries is not None:
                count += _taken_over(place, path.stem, entries)
                aside = journal.end()
                if aside is not None:
                    runs = counted(len(entries), "run")
                    say(f"warning: {path} is damaged: {runs} of it could be read; kept as {aside.name}")
    with place.lock():
        # Nobody else writes there now.
        for part in place.path.glob("*/month=*/.part-*.part"):
            remove(part)
        tidy(place)
    return count


def _taken_over(place: Place, part: str, entries: Sequence[Entry]) -> int:
    """Makes the part of a journal, under the name that its writer would have given it: where that was killed when it
    was nearly done, nothing is there twice."""
    runs = {kept.run: kept for kept in (kept_from(entry, place.small) for entry in entries)}
    with place.lock():
        parts = snapshot(place)
        if part in {one.name for one in (*parts.parts, *parts.replaced)}:
            return 0
        there = keys_in(place, parts.parts)
        left = [run for key, run in runs.items() if key not in there]
        if left:
            put(place, part, len(left), contents_of(part, left, small=place.small))
        return len(left)
