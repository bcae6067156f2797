"""A store as read-only views of DuckDB: only statements that select, only files of the store.

The request may come from anyone (a page in a browser): the connection can neither access another file nor load an
extension, and these limits cannot be changed. Texts of records are rows; names of factors become names of columns,
quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from hotband.base.errors import UserError, characters
from hotband.base.foreign import shortened
from hotband.base.heavy import duckdb, pl
from hotband.base.text.nearest import repeated
from hotband.data.store.columns import COLUMNS, FIXED
from hotband.data.store.manifest import Snapshot, broken, snapshot
from hotband.data.store.parts import tables_of
from hotband.data.store.store_folder import StoreFolder

T = TypeVar("T")

TRIES = 5
"""Retries of a reader whose files `hotband store compact` removed."""
SIGNALS_EVERY_S = 0.05
"""Longest time until an interrupt is noticed."""
EXACT = 2**53
"""Numbers below this are exact as floating-point numbers, so that whole ones are shown as such."""
NEEDED_BY_RUNS = ("summary", "factors")
LISTING = re.compile(r"\b(show|describe|information_schema|duckdb_\w+|pragma\w*)\b", re.IGNORECASE)
"""Statements that may read all views without their names."""
LINES = "\n\nLINE "
"""Text before the lines of a DuckDB error that point into the statement."""
SEALED = (
    "set python_enable_replacements = false",
    "set enable_external_access = false",
    "set enable_progress_bar = false",
    "set lock_configuration = true",
)


Take = Callable[["duckdb.DuckDBPyConnection", str], T]
"""Runs a statement, and converts its result."""


def query(store: StoreFolder, sql: str, take: Take[T], *, argument: tuple[str, str] | None = None) -> T:
    """Return the result of `take` for one selecting statement. Raises UserError, which names the argument and its
    value, `argument`, if the statement was built from one."""
    where, value = argument or ("SQL", sql)
    last = ""
    for _ in range(TRIES):
        now = snapshot(store)
        try:
            with _connected(now, sql) as connection:
                _expect_select(connection, sql, where, value)
                return _interruptible(connection, take, sql)
        except (duckdb.IOException, FileNotFoundError) as error:
            last = said_of(error)
            if snapshot(store) == now:
                raise UserError(str(store.path), "", "", f"{last}: hotband store check lists the damage") from None
        except (UnicodeDecodeError, RuntimeError) as error:
            # DuckDB accepts names and texts of files unchanged, and nanobind reports only that it cannot convert them.
            problem = f"contains invalid text ({shortened(error)}): hotband store check lists the damage"
            raise UserError(str(store.path), "", "", problem) from None
        except duckdb.Error as error:
            raise _damage(now, error) or UserError(where, "", value, said_of(error)) from None
    raise UserError(str(store.path), "", "", f"its files change while they are read: {last}")


def _interruptible(connection: duckdb.DuckDBPyConnection, take: Take[T], sql: str) -> T:
    """Return the result of `take` for a statement. It runs in another thread, because DuckDB checks for signals late
    within a statement, if at all, and reports them as its own errors."""
    with ThreadPoolExecutor(1) as worker:
        taken = worker.submit(take, connection, sql)
        try:
            # With the engine's handler, waits without a limit continue (SA_RESTART).
            while not wait([taken], SIGNALS_EVERY_S).done:
                continue
            return taken.result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def _damage(now: Snapshot, error: duckdb.Error) -> UserError | None:
    """Return the error for a file of the store that DuckDB cannot read, None if the statement is wrong. Most errors
    name the file in quotes; others of its Parquet reader have no class of their own."""
    for path in (path for table in now.tables for path in now.files(table)):
        if any(f"{quote}{path.absolute()}{quote}" in str(error).partition(LINES)[0] for quote in "'\""):
            return broken(path, error)
    if type(error) is duckdb.Error:
        problem = f"a file cannot be read: {said_of(error)}: hotband store check lists the damage"
        return UserError(str(now.store.path), "", "", problem)
    return None


def said_of(error: Exception) -> str:
    """Return DuckDB's message without the lines that point into the statement, shortened if it is long."""
    return shortened(str(error).partition(LINES)[0].strip(), 600)


def _expect_select(connection: duckdb.DuckDBPyConnection, sql: str, where: str, value: str) -> None:
    """Raise UserError unless the text is one statement that selects. A `pivot` is several statements."""
    kinds = [extract_statement.type for extract_statement in connection.extract_statements(characters(where, sql))]
    allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)
    if len(kinds) != 1:
        raise UserError(where, "", value, f"expected one statement, not {len(kinds)}")
    if kinds[0] not in allowed:
        raise UserError(where, "", value, "expected a statement that selects: this only reads a store")


@contextmanager
def _connected(now: Snapshot, sql: str) -> Iterator[duckdb.DuckDBPyConnection]:
    # A result that does not fit into memory is refused, not written to a disk.
    settings: dict[str, Any] = {
        "temp_directory": "",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    with duckdb.connect(":memory:", config=settings) as connection:
        files = [path for table in now.tables for path in now.files(table)]
        for name, text in views(now, sql, connection):
            connection.execute(f"create view {quoted(name)} as {text}")
        connection.execute(f"set allowed_paths = [{', '.join(literal(str(path.absolute())) for path in files)}]")
        for statement in SEALED:
            connection.execute(statement)
        yield connection


def views(now: Snapshot, sql: str, connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, str]]:
    """Yield the views that a statement may use, each with its definition; opening all of their files takes time."""
    lower = sql.lower()
    every = LISTING.search(sql) is not None
    names = list(dict.fromkeys([*FIXED, *now.tables]))
    wanted = {name for name in names if every or name in lower}
    with_runs = every or "runs" in lower
    for name in names:
        if name in wanted or (with_runs and name in NEEDED_BY_RUNS):
            yield name, _table(now, name)
    if with_runs:
        yield "runs", _runs(connection)


def _table(now: Snapshot, name: str) -> str:
    """Return a table as a statement; one without files has its columns, and no rows."""
    files = now.files(name)
    if not files:
        return _empty(name)
    listed = ", ".join(literal(str(path.absolute())) for path in files)
    # Another version may have added columns to tables over time.
    by_name = "false" if name in FIXED else "true"
    source = f"read_parquet([{listed}], hive_partitioning = false, union_by_name = {by_name})"
    if name == "histograms":
        return f"select * replace (unnest(value_ns) as value_ns, unnest(count) as count) from {source}"
    return f"select * from {source}"


def _empty(name: str) -> str:
    schema = tables_of([])[name].schema
    kinds = {"int64": "bigint", "int32": "integer", "double": "double", "string": "varchar", "uint64": "ubigint"}
    kinds |= {"bool": "boolean", "timestamp[us]": "timestamp", "list<item: int64>": "bigint"}
    columns = ", ".join(f"cast(null as {kinds[str(column.type)]}) as {quoted(column.name)}" for column in schema)
    return f"select {columns} where false"


def _runs(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the statement of `runs`: one row per run with its identity, one column per factor (one more for its
    number, if it has a unit), and its figures."""
    # As text, whatever the types of columns in a damaged file.
    rows = connection.execute(
        "select name, count(*) = count(number) and max(unit) = '' as plain, "
        f"bool_and(number = trunc(number) and abs(number) < {EXACT}) as whole, max(unit), count(distinct unit) "
        "from (select cast(factor as varchar) as name, cast(unit as varchar) as unit, number from factors) "
        "where name is not null group by name order by name"
    ).fetchall()
    taken = {name.lower() for name in COLUMNS}
    columns = []
    for factor, is_plain, is_whole, unit, units in rows:
        filter_ = f"filter (where factor = {literal(factor)})"
        number = "cast(number as bigint)" if is_whole else "number"
        columns.append(f"any_value({number if is_plain else 'text'}) {filter_} as {quoted(_free(factor, taken))}")
        if unit and units == 1:
            columns.append(f"any_value(number) {filter_} as {quoted(_free(f'{factor}_{unit}', taken))}")
    if not columns:
        return "select * from summary"
    first = ", ".join(quoted(name) for name in list(COLUMNS)[: list(COLUMNS).index("duration_ns")])
    return (
        f"select {first}, set_of.* exclude (run), summary.* exclude ({first}) from summary left join "
        f"(select run, {', '.join(columns)} from factors group by run) as set_of using (run)"
    )


def _free(name: str, taken: set[str]) -> str:
    """Return an unused column name; SQL ignores case."""
    free = name if name.lower() not in taken else f"factor_{name}"
    number = 1
    while free.lower() in taken:
        number += 1
        free = f"factor_{name}_{number}"
    taken.add(free.lower())
    return free


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace("\0", "").replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[Sequence[Any]]]:
    """Return names of columns and rows of a result."""
    connection.execute(sql)
    names = [column[0] for column in connection.description or ()]
    fetched: Iterable[Sequence[Any]] = connection.fetchall()
    return names, list(fetched)


def frame(connection: duckdb.DuckDBPyConnection, sql: str) -> pl.DataFrame:
    """Return a result as a frame. Raises UserError if two of its columns have one name."""
    table = connection.sql(sql).to_arrow_table()
    twice = repeated(table.column_names)
    if twice is not None:
        raise UserError("query", "", twice, "two columns have this name; expected another for one of them (as ...)")
    result = pl.from_arrow(table)
    assert isinstance(result, pl.DataFrame), "a table is a frame"
    return result
