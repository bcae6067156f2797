"""`ResultsStore`: runs are added to it, listed, asked for in SQL, and given back as records."""

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
from hotband.data.store.kept import Value, arrow_of_frame, arrow_of_table, settings_of
from hotband.data.store.lookup import record_of
from hotband.data.store.place import STORE_FILE, Place, made, opened
from hotband.data.store.taken import given_to
from hotband.data.store.views import frame, query
from hotband.data.store.writer import Writer


class ResultsStore:
    """The results of many runs in a folder (docs/guides/store.md). Used in a `with` block, or closed, what was added is
    in Parquet files at its end; else it is in a journal, which the next writer makes files of. Methods may be called
    from several threads."""

    def __init__(self, path: Path, small: bool | None = None) -> None:
        """Raises UserError for a folder that is something else."""
        self.path, self._small = path, small
        self._writer: Writer | None = None
        self._lock = threading.Lock()
        if (path / STORE_FILE).exists():
            made(path, small)

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
        """Adds a run, which is kept from then on; one that is there already is not added again. Returns its key.

        `factors` are its coordinates besides the settings that its record has, `experiment` says what it belongs to.
        Raises UserError, OSError where the disk fails.
        """
        return self.add(run, factors, experiment=experiment)[0]

    @public
    def add(
        self, run: Record | Finished, factors: Mapping[str, Value] | None = None, *, experiment: str = ""
    ) -> tuple[str, bool]:
        """As `append`; also whether the run is new."""
        now = time.time_ns() // 1000
        keeps_tables = not self._opened().place.small
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
        """Adds all records below a folder (of `--out` of run, study or review, of an import), the records or rows of a
        sweep, or the results of another tool. Raises UserError if there is none."""
        return add_all(self._opened(), [Path(path)])

    @contextmanager
    def taking(self, *, at_end: bool = False) -> Iterator[None]:
        """Within the block, in this thread, every run of `hb.run`, `hb.sweep`, a study or an experiment with a name is
        added as it is finished; `at_end` at the end of the block, for runs that get intervals when they are finished.

        ```python
        with hb.store("results") as results, results.taking():
            hb.sweep("fio-randread", on="ent-10k", qd="1..64", records=False)
        ```
        """
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
            for one in left:
                self._take(*one)

    def _take(self, what: str, run: Finished, at: Mapping[str, Value]) -> None:
        """Adds a run of an experiment; coordinates that its record has are as they stand there."""
        known = {*COLUMNS, *settings_of(run.record)}
        self.append(run, {name: value for name, value in at.items() if name not in known}, experiment=what)

    def flush(self) -> None:
        """Makes Parquet files of what was added: then every reader has it. Raises OSError."""
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.flush()

    def close(self) -> None:
        """Ends adding; the store can be read and added to afterwards. Raises OSError."""
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

    def _place(self) -> Place:
        """The store as it is for readers: with what this object has added."""
        place = opened(self.path)
        self.flush()
        return place

    @public
    def runs(self, where: str = "") -> pl.DataFrame:
        """One row per run: `run` (its key), what ran, one column per factor, its figures (units end the names). `where`
        is a condition in SQL: "qd >= 8 and target = 'ent-10k'". Raises UserError."""
        return query(self._place(), runs_sql(where), frame, asked=("where", where) if where else None)

    @public
    def query(self, sql: str) -> pl.DataFrame:
        """What one statement of SQL (DuckDB) selects from `runs`, `summary`, `factors`, `histograms`, `records` and the
        tables over time: `series` and so on. It can read nothing else, and write nothing. Raises UserError."""
        return query(self._place(), sql, frame)

    @public
    def record(self, run: str) -> Record:
        """A run's record as it was added; of a small store without tables, and with the buckets of fio. `run` is its
        key, or the beginning of one. Raises UserError."""
        return record_of(self._place(), run)

    # --- keeping --------------------------------------------------------------------------------------------

    def compact(self) -> Compacted:
        """Merges many small parts into few large ones, and takes over what writers that were killed left: how many
        there were `before` and are `after`. Ends adding, as `close` does. Raises UserError if another process
        compacts it, OSError."""
        self.close()
        return compact(self._place(), lambda _: None)

    def check(self) -> Checked:
        """Compares every file with its digest: `runs`, `files`, `damaged` (those that are not as they were written, or
        missing), `strange` (those that are in no part) and `journals` of writers. Raises UserError."""
        return check(self._place())

    def __len__(self) -> int:
        return manifest.snapshot(self._place()).runs


def runs_sql(where: str = "") -> str:
    """The statement that lists runs, those added last first."""
    return f"select * from runs{condition(where)} order by added_utc desc, run"


def condition(where: str) -> str:
    """A condition as part of a statement. The line's end behind it keeps a comment in it from reaching further."""
    return f" where ({where}\n)" if where.strip() else ""
