"""Adding runs to a store: to a journal at once, to a part in batches.

Several processes may write at once, each into its own journal and parts; only one at a time publishes a part. A stored
run is not added again.
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
from hotband.data.store.manifest import keys_in, put, snapshot, tidy
from hotband.data.store.parts import fits, parquet, tables_of
from hotband.data.store.same import Same, intervals_of
from hotband.data.store.store_folder import StoreFolder
from hotband.data.store.stored_run import StoredRun, factor_of, stored_run_of

if TYPE_CHECKING:
    import pyarrow as pa

    from hotband.data.documents.record import RecordDoc

RUNS_OF_PART = 2000
"""Runs of a part: some megabytes of documents, a second of work; 100,000 runs are 50 parts."""
JOURNAL_BYTES = 256 << 20
"""Largest journal: its content is also in memory."""
SECONDS_OF_PART = 30.0
"""Seconds after which a part is made; a tenth of the writer's age if that is longer. A long sweep thus makes few parts,
and its results can be read before it ends."""


class Writer:
    """Adds runs to a store from any thread. `close` makes a part of the remaining runs."""

    def __init__(self, store: StoreFolder) -> None:
        """Recover the journals of writers that ended. Raises UserError, OSError."""
        self.store = store
        self._name, self._number = token_hex(6), 0
        self._lock = threading.RLock()
        self._journal: Journal | None = None
        self._batch: dict[str, StoredRun] = {}
        self._schemas: dict[str, pa.Schema] = {}
        self._same = Same(store)
        self._bounds_left, self._records_left = set[str](), set[str]()
        self._began = self._first = time.monotonic()
        recover(store)
        # The lock prevents a compaction from removing parts while they are read.
        with store.lock():
            self._seen = {part.name: part for part in snapshot(store).parts}
            self._known = keys_in(store, self._seen.values())

    def add(self, entry: Entry, record: RecordDoc | None = None) -> tuple[str, bool]:
        """Add a run, whose `record` may be passed in addition to its text; return its key, and whether it is new. The
        run is then durable, whatever happens to this process. Raises UserError, OSError."""
        stored = stored_run_from(entry, self.store.small, record)
        frame = None if stored.run in self._known else frame_of(_trimmed(entry, self.store.small))
        with self._lock:
            known_as = self._there(stored)
            if frame is None or known_as is not None:
                return known_as or stored.run, False
            if not fits(self._schemas, stored.tables):
                self._put()
            journal = self._opened()
            journal.add(frame)
            self._known.add(stored.run)
            self._batch[stored.run] = stored
            self._same.added(stored)
            for name, table in stored.tables.items():
                self._schemas.setdefault(name, table.schema)
            is_due = journal.is_due()
            if self._is_full(journal):
                self._put()
                is_due = False
        if is_due:
            # Others may add in the meantime; a finished journal needs no flush.
            with suppress(OSError):
                journal.flush()
        return stored.run, True

    def _there(self, stored: StoredRun) -> str | None:
        """Return the key of this run if the store has it, and note intervals or a record that the store lacks. Raises
        UserError."""
        run = stored.run if stored.run in self._known else self._same.of(stored)
        if run is None:
            return None
        if stored.document and run != stored.run:
            self._records_left.add(run)
        bounds = intervals_of(stored.cells)
        if bounds is not None:
            held = self._batch.get(run)
            if bounds != (self._same.intervals(run) if held is None else intervals_of(held.cells)):
                self._bounds_left.add(run)
        return run

    def _tell(self) -> None:
        """Warn about intervals and records that were not added to runs that the store already had."""
        for what, runs in (("intervals", self._bounds_left), ("records", self._records_left)):
            if runs:
                subject = f"{counted(len(runs), 'run')} {'was' if len(runs) == 1 else 'were'} there already"
                why = "runs of a store do not change; use a new store"
                _warn(f"warning: {self.store.path}: {subject} without these {what}, which were not added: {why}")
                runs.clear()

    def _opened(self) -> Journal:
        if self._journal is None:
            self._journal = Journal(self.store.journal, f"part-{self._name}-{self._number:05d}")
            self._number += 1
            self._first = time.monotonic()
        return self._journal

    def _is_full(self, journal: Journal) -> bool:
        now = time.monotonic()
        patience = max(SECONDS_OF_PART, (now - self._began) / 10)
        return len(self._batch) >= RUNS_OF_PART or journal.length >= JOURNAL_BYTES or now - self._first >= patience

    def flush(self) -> None:
        """Make a part of the added runs, which every reader then finds. Raises OSError."""
        with self._lock:
            self._put()

    def _put(self) -> None:
        if self._journal is None:
            return
        journal, runs = self._journal, dict(self._batch)
        contents = contents_of(journal.part, list(runs.values()), small=self.store.small)
        with self.store.lock():
            parts = snapshot(self.store).parts
            others = keys_in(self.store, [part for part in parts if part.name not in self._seen])
            if others & runs.keys():
                runs = {key: run for key, run in runs.items() if key not in others}
                contents = contents_of(journal.part, list(runs.values()), small=self.store.small)
            if runs:
                part = put(self.store, journal.part, len(runs), contents)
                self._seen[part.name] = part
            self._seen |= {part.name: part for part in parts}
            self._known |= others
            self._same.put()
            journal.remove()
        self._journal, self._batch, self._schemas = None, {}, {}

    def close(self) -> None:
        """Make a part of the remaining runs. Raises OSError; runs that could not be written stay in the journal."""
        with self._lock:
            try:
                self._put()
                self._tell()
            finally:
                if self._journal is not None:
                    self._journal.close()
                    self._journal, self._batch = None, {}


@contextmanager
def writing(store: StoreFolder) -> Iterator[Writer]:
    """Yield a writer that is closed at the end."""
    writer = Writer(store)
    try:
        yield writer
    finally:
        writer.close()


def stored_run_from(entry: Entry, small: bool, record: RecordDoc | None = None) -> StoredRun:
    """Return an added run in stored form. Raises UserError."""
    if entry.cells is not None:
        return _rows_alone(entry)
    return stored_run_of(
        json.loads(entry.text) if record is None else record,
        entry.tables or {},
        entry.factors,
        added_us=entry.added_us,
        experiment=entry.experiment,
        small=small,
    )


def _rows_alone(entry: Entry) -> StoredRun:
    cells = dict(entry.cells or {})
    factors = tuple(factor_of(name, value) for name, value in entry.factors.items())
    return StoredRun(str(cells.pop("run")), entry.added_us, entry.experiment, cells, factors)


def _trimmed(entry: Entry, small: bool) -> Entry:
    """Remove parts that a small store omits."""
    return replace(entry, tables=None) if small else entry


def contents_of(part: str, runs: Sequence[StoredRun], *, small: bool) -> dict[str, bytes]:
    """Return the files of a part, by their paths in the store."""
    if not runs:
        return {}
    month = datetime.fromtimestamp(runs[0].added_us / 1e6, UTC).strftime("%Y-%m")
    tables = tables_of(runs)
    return {f"{name}/month={month}/{part}.parquet": parquet(name, tables[name], small=small) for name in tables}


def _warn(text: str) -> None:
    sys.stderr.write(f"hotband: {visible(text)}\n")


def recover(store: StoreFolder, say: Callable[[str], None] = _warn) -> int:
    """Make parts of the journals whose writers ended, remove half-written files, and return the number of recovered
    runs. A damaged journal is renamed and reported. Raises OSError."""
    count = 0
    for path in left_behind(store.journal):
        journal = Abandoned(path)
        with journal as entries:
            if entries is not None:
                count += _taken_over(store, path.stem, entries)
                aside = journal.end()
                if aside is not None:
                    runs = counted(len(entries), "run")
                    say(f"warning: {path} is damaged: {runs} of it could be read; kept as {aside.name}")
    with store.lock():
        # No other process writes there now.
        for part in store.path.glob("*/month=*/.part-*.part"):
            remove(part)
        tidy(store)
    return count


def _taken_over(store: StoreFolder, part: str, entries: Sequence[Entry]) -> int:
    """Make the part of a journal under the name that its writer would have used, so that nothing is stored twice if
    that writer was killed just before the end."""
    runs = {stored.run: stored for stored in (stored_run_from(entry, store.small) for entry in entries)}
    with store.lock():
        parts = snapshot(store)
        if part in {other.name for other in (*parts.parts, *parts.replaced)}:
            return 0
        present = keys_in(store, parts.parts)
        left = [run for key, run in runs.items() if key not in present]
        if left:
            put(store, part, len(left), contents_of(part, left, small=store.small))
        return len(left)
