"""`ResultsStore`: add runs, list them, query them in SQL, and restore them as records."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.data.record.finished import Finished
from hotband.data.record.record import Record
from hotband.data.store import manifest
from hotband.data.store.check import Checked, check
from hotband.data.store.columns import COLUMNS
from hotband.data.store.compact import Compacted, compact
from hotband.data.store.folders import Added, add_all
from hotband.data.store.journal import Entry
from hotband.data.store.lookup import record_of
from hotband.data.store.store_folder import STORE_FILE, StoreFolder, made, opened
from hotband.data.store.stored_run import Value, arrow_of_frame, arrow_of_table, settings_of
from hotband.data.store.taken import given_to
from hotband.data.store.views import frame, query
from hotband.data.store.writer import Writer


class ResultsStore:
    """The results of many runs in a folder (docs/guides/import.md). After a `with` block, or `close`, added runs are in
    Parquet files; before that they are in a journal, from which the next writer makes files. Methods may be called from
    several threads."""

    @public
    def __init__(self, path: str | Path, small: bool | None = None) -> None:
        """Raise UserError for a folder that is not a store."""
        self.path, self._small = Path(path), small
        self._writer: Writer | None = None
        self._lock = threading.Lock()
        if (self.path / STORE_FILE).exists():
            made(self.path, small)

    def __repr__(self) -> str:
        return f"<ResultsStore {str(self.path)!r}>"

    def __enter__(self) -> ResultsStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- adding ---------------------------------------------------------------------------------------------

    @public
    def append(
        self, run: Record | Finished, factors: Mapping[str, Value] | None = None, *, experiment: str = ""
    ) -> str:
        """Add a run, which is durable from then on, and return its key; a run that is present already is not added
        again.

        `factors` are its coordinates in addition to the settings in its record, `experiment` names its experiment.
        Raises UserError, OSError if the disk fails.
        """
        return self.add(run, factors, experiment=experiment)[0]

    @public
    def add(
        self, run: Record | Finished, factors: Mapping[str, Value] | None = None, *, experiment: str = ""
    ) -> tuple[str, bool]:
        """Add a run like `append`; return also whether it is new."""
        now = time.time_ns() // 1000
        keeps_tables = not self._opened().store.small
        if isinstance(run, Finished):
            record, text = run.record, run.text
            tables = {name: arrow_of_table(table) for name, table in run.tables.items()} if keeps_tables else {}
        elif isinstance(run, Record):
            record, text = run.document, json.dumps(run.document)
            tables = {name: arrow_of_frame(frame) for name, frame in run.tables.items()} if keeps_tables else {}
        else:
            raise UserError("run", "", type(run).__name__, "expected a Record, as hb.run and hb.load give")
        return self._opened().add(Entry(now, experiment, dict(factors or {}), text, tables), record)

    @public
    def append_folder(self, path: str | Path) -> Added:
        """Add all records below a folder (of `--out` of run, study or review, of an import), the records or rows of a
        sweep, or the results of another tool. Raises UserError if there is none."""
        return add_all(self._opened(), [Path(path)])

    @contextmanager
    def taking(self, *, at_end: bool = False) -> Iterator[None]:
        """Within the block, in this thread, add every run of `hb.run`, `hb.sweep`, a study or a named experiment as it
        finishes; with `at_end` at the end of the block, for runs that get intervals when they finish."""
        left: list[tuple[str, Finished, Mapping[str, Value]]] = []

        def take(what: str, run: Finished, at: Mapping[str, Value]) -> None:
            if at_end:
                left.append((what, run, at))
            else:
                self._take(what, run, at)

        self._opened()
        try:
            with given_to(take):
                yield
        finally:
            for run_ in left:
                self._take(*run_)

    def _take(self, what: str, run: Finished, at: Mapping[str, Value]) -> None:
        """Add a run of an experiment; coordinates that its record has are taken from the record."""
        known = {*COLUMNS, *settings_of(run.record)}
        self.append(run, {name: value for name, value in at.items() if name not in known}, experiment=what)

    def flush(self) -> None:
        """Write added runs to Parquet files that every reader finds. Raises OSError."""
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.flush()

    def close(self) -> None:
        """End adding; the store can be read and added to afterwards. Raises OSError."""
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _opened(self) -> Writer:
        with self._lock:
            if self._writer is None:
                self._writer = Writer(made(self.path, self._small))
            return self._writer

    # --- reading --------------------------------------------------------------------------------------------

    def _folder(self) -> StoreFolder:
        """Return the store for readers, including the runs added by this object."""
        store = opened(self.path)
        self.flush()
        return store

    @public
    def runs(self, where: str = "") -> pl.DataFrame:
        """Return one row per run: `run` (its key), workload and target, one column per factor, its figures (units end
        the names), in the order in which they were added (runs of a sweep are added as they end). Columns have the
        types of those of `Sweep.frame`. `where` is a condition in SQL: "qd >= 8 and target = 'ent-10k'". Raises
        UserError."""
        return query(self._folder(), runs_sql(where), frame, argument=("where", where) if where else None)

    @public
    def query(self, sql: str) -> pl.DataFrame:
        """Return the result of one SQL statement (DuckDB) on `runs`, `summary`, `factors`, `histograms`, `records` and
        the tables over time, such as `series`. It cannot read anything else, or write. Raises UserError."""
        return query(self._folder(), sql, frame)

    @public
    def record(self, run: str) -> Record:
        """Return a run's record as it was added; a small store has no tables, and fio's buckets. `run` is its key, or
        the beginning of one. Raises UserError."""
        return record_of(self._folder(), run)

    # --- maintenance ----------------------------------------------------------------------------------------

    def compact(self) -> Compacted:
        """Merge many small parts into few large ones, recover journals of killed writers, and return the number of
        parts `before` and `after`. Ends adding, as `close` does. Raises UserError if another process compacts,
        OSError."""
        self.close()
        return compact(self._folder(), lambda _: None)

    def check(self) -> Checked:
        """Compare every file with its digest: `runs`, `files`, `damaged` (changed or missing files), `strange` (files
        of no part) and `journals` of writers. Raises UserError."""
        return check(self._folder())

    def __len__(self) -> int:
        return manifest.snapshot(self._folder()).runs


def runs_sql(where: str = "") -> str:
    """Return the statement that lists runs in the order in which they were added."""
    return f"select * from runs{condition(where)} order by added_utc, run"


def condition(where: str) -> str:
    """Return a condition as part of a statement. The line break after it ends a comment in it."""
    return f" where ({where}\n)" if where.strip() else ""
