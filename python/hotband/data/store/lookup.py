"""Restore a run of a store as a record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from hotband.base.errors import UserError
from hotband.base.heavy import np, pl
from hotband.data.documents.record import RecordDoc
from hotband.data.record.record import Record
from hotband.data.record.tables import Tables
from hotband.data.store.store_folder import StoreFolder
from hotband.data.store.stored_run import KEY_DIGITS, Buckets, with_buckets
from hotband.data.store.views import frame, literal, query, quoted, rows

BEGINNING = re.compile(f"[0-9a-f]{{1,{KEY_DIGITS}}}")


def key_of(store: StoreFolder, run: str) -> str:
    """Return the key of the only run whose key begins with `run`. Raises UserError."""
    if BEGINNING.fullmatch(run) is None:
        accepted = (
            f"expected a run's key or its beginning, up to {KEY_DIGITS} digits 0 to f: hotband store list shows them"
        )
        raise UserError("question.run", "", run, accepted)
    sql = f"select run from summary where starts_with(run, {literal(run)}) order by run limit 6"
    keys = [str(row[0]) for row in query(store, sql, rows)[1]]
    if not keys:
        raise UserError("question.run", "", run, "no run of the store begins with this: hotband store list shows them")
    if len(keys) > 1:
        listed = ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")
        raise UserError("question.run", "", run, f"is the beginning of several runs: {listed}")
    return keys[0]


def record_of(store: StoreFolder, run: str) -> Record:
    """Return a run's record. Raises UserError for a run of which only a row is stored."""
    key = key_of(store, run)
    selector = f"where run = {literal(key)}"
    selected = query(store, f"select document, tables from records {selector}", rows)[1]
    if not selected:
        raise UserError("question.run", "", key, "has no record: its sweep stored figures only")
    # The rows are in the order of the file.
    listed = query(store, f"select place, direction, stream, kind, value_ns, count from histograms {selector}", rows)[1]
    buckets = [_buckets(list(of_side)) for _, of_side in groupby(listed, lambda row: tuple(row[:4]))]
    document: RecordDoc = json.loads(selected[0][0])
    return Record(with_buckets(document, buckets), _tables(store, key, json.loads(selected[0][1])))


def _buckets(of_side: Sequence[Sequence[Any]]) -> Buckets:
    """Return the buckets of one direction of a stream."""
    index, direction, stream, kind = of_side[0][:4]
    return Buckets(index, stream, direction, kind, np.array([row[4:] for row in of_side], np.int64))


def _tables(store: StoreFolder, key: str, columns: Mapping[str, Sequence[str]]) -> Tables:
    """Return the tables over time of a run that had these columns; other runs may have others."""
    tables: dict[str, pl.DataFrame | Callable[[], pl.DataFrame]] = {}
    for name, listed in columns.items():
        chosen = ", ".join(quoted(column) for column in listed)
        tables[name] = query(store, f"select {chosen} from {quoted(name)} where run = {literal(key)}", frame)
    return Tables(tables)
