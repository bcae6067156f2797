"""Compaction of small parts into large ones: one entry replaces the others, then their files are removed.

Hotband's reader retries if a file is gone. Other tools that read while files are removed may find runs twice, or files
missing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from hotband.base.heavy import pa, pq
from hotband.base.text.numbers import counted
from hotband.base.text.regular import opened
from hotband.base.text.write import remove, temporary, write_file
from hotband.data.record.lock import Lock
from hotband.data.store.manifest import INTENT, File, Part, enter, keys_in, read_with, snapshot, tidy
from hotband.data.store.parts import options, rows_of_group
from hotband.data.store.store_folder import StoreFolder
from hotband.data.store.writer import recover

RUNS_OF_LARGE = 100_000
"""Runs from which a part is not merged again: some hundred megabytes of documents and buckets."""


@dataclass(frozen=True)
class Compacted:
    """Number of parts before and after."""

    before: int
    after: int


def compact(store: StoreFolder, say: Callable[[str], None] = lambda text: None) -> Compacted:
    """Merge the small parts of every month, after recovering journals of writers that ended. Raises UserError if
    another process compacts, OSError."""
    with Lock(store.journal, "question.path"):
        recovered = recover(store, say)
        if recovered:
            say(f"recovered from a writer that ended: {counted(recovered, 'run')}")
        for left in store.journal.glob(".part-*.parquet.*.part"):
            remove(left)
        now = snapshot(store)
        for month, parts in _months(now.parts).items():
            if len(parts) > 1:
                _merge(store, month, parts)
        return Compacted(len(now.parts), len(snapshot(store).parts))


def _months(parts: Sequence[Part]) -> dict[str, list[Part]]:
    by_month: dict[str, list[Part]] = {}
    for part in parts:
        if part.runs < RUNS_OF_LARGE:
            month = next(Path(file.path).parts[1] for file in part.files)
            by_month.setdefault(month, []).append(part)
    return by_month


def _merge(store: StoreFolder, month: str, parts: Sequence[Part]) -> None:
    name = f"part-{token_hex(6)}-00000"
    runs, again = _keys(store, parts)
    with ExitStack() as stack:
        merged: list[tuple[Path, File]] = []
        for table in sorted({file.table for part in parts for file in part.files}):
            # In a folder that readers do not search, until all of them are complete.
            file = stack.enter_context(temporary(store.journal / f"{name}.{table}.parquet"))
            _copy(store, table, parts, again, file)
            merged.append((file, _described(f"{table}/{month}/{name}.parquet", file)))
        with store.lock():
            intent = store.journal / f"{name}{INTENT}"
            write_file(intent, json.dumps([file_.path for _, file_ in merged]) + "\n")
            for file, merged_file in sorted(merged, key=lambda pair: pair[1].table == "summary"):
                os.replace(file, store.path / merged_file.path)
            enter(
                store,
                Part(name, runs, tuple(merged_file for _, merged_file in merged), tuple(part.name for part in parts)),
            )
            tidy(store)


def _keys(store: StoreFolder, parts: Sequence[Part]) -> tuple[int, dict[str, set[str]]]:
    """Return the number of runs of these parts, and by part the keys that an earlier part also has: without locks two
    writers may have added the same run."""
    seen: set[str] = set()
    again: dict[str, set[str]] = {}
    for part in parts:
        part_keys = keys_in(store, [part])
        again[part.name] = part_keys & seen
        seen |= part_keys
    return len(seen), again


def _copy(store: StoreFolder, table: str, parts: Sequence[Part], again: Mapping[str, set[str]], out: Path) -> None:
    """Copy the rows of a table of these parts, in order, in row groups of full size. Raises UserError for a file that
    is missing or broken."""
    sources = [(part, path) for part in parts for path in part.paths(store, table)]
    schema = common([read_with(path, lambda parquet: parquet.schema_arrow) for _, path in sources])
    group = rows_of_group(table)
    with pq.ParquetWriter(out, schema, **options(table, small=store.small)) as writer:
        held: list[pa.Table] = []
        for part, path in sources:
            for rows in read_with(
                path, lambda parquet: [parquet.read_row_group(n) for n in range(parquet.num_row_groups)]
            ):
                held.append(_fitted(_without(rows, again[part.name]), schema))
                if sum(piece.num_rows for piece in held) >= group:
                    writer.write_table(pa.concat_tables(held), row_group_size=group)
                    held = []
        writer.write_table(pa.concat_tables([schema.empty_table(), *held]), row_group_size=group)
    with out.open("rb") as file:
        os.fsync(file.fileno())


def _without(rows: pa.Table, keys: set[str]) -> pa.Table:
    import pyarrow.compute as pc

    if not keys:
        return rows
    return rows.filter(pc.invert(pc.is_in(rows["run"], value_set=pa.array(sorted(keys)))))


def common(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Return a schema that fits the rows of all: mixed numbers become real, numbers mixed with text become text."""
    kinds: dict[str, list[pa.DataType]] = {}
    for schema in schemas:
        for field in schema:
            known = kinds.setdefault(field.name, [])
            if field.type not in known:
                known.append(field.type)
    return pa.schema([(name, types[0] if len(types) == 1 else _wider(types)) for name, types in kinds.items()])


def _wider(kinds: Sequence[pa.DataType]) -> pa.DataType:
    return pa.string() if any(pa.types.is_string(kind) for kind in kinds) else pa.float64()


def _fitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the rows with the columns of a schema; missing cells are null."""
    columns = [
        rows[field.name].cast(field.type) if field.name in rows.column_names else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _described(path: str, file: Path) -> File:
    with opened(file) as data:
        return File(path, file.stat().st_size, hashlib.file_digest(data, "sha256").hexdigest())
