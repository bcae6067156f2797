"""One run of a store as a record again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.base.heavy import np
from hotband.data.record.record import Record
from hotband.data.record.tables import Tables
from hotband.data.store.kept import KEY_DIGITS, Buckets, with_buckets
from hotband.data.store.place import Place
from hotband.data.store.views import frame, literal, query, quoted, rows

if TYPE_CHECKING:
    import polars as pl

    from hotband.data.documents.record import RecordDoc

BEGINNING = re.compile(f"[0-9a-f]{{1,{KEY_DIGITS}}}")


def key_of(place: Place, run: str) -> str:
    """The key of the one run whose key begins so. Raises UserError."""
    if BEGINNING.fullmatch(run) is None:
        accepted = (
            f"expected a run's key or its beginning, up to {KEY_DIGITS} digits 0 to f: hotband store list has them"
        )
        raise UserError("question.run", "", run, accepted)
    sql = f"select run from summary where starts_with(run, {literal(run)}) order by run limit 6"
    found = [str(row[0]) for row in query(place, sql, rows)[1]]
    if not found:
        raise UserError("question.run", "", run, "no run of the store begins so: hotband store list has them")
    if len(found) > 1:
        listed = ", ".join(found[:5]) + (", ..." if len(found) > 5 else "")
        raise UserError("question.run", "", run, f"is the beginning of several runs: {listed}")
    return found[0]


def record_of(place: Place, run: str) -> Record:
    """A run's record. Raises UserError for a run of which rows alone are kept."""
    key = key_of(place, run)
    of = f"where run = {literal(key)}"
    found = query(place, f"select document, tables from records {of}", rows)[1]
    if not found:
        raise UserError(
            "question.run", "", key, "has no record: of the runs of a sweep that kept none, figures alone are known"
        )
    # Rows come in the order in which they stand in the file.
    listed = query(place, f"select place, direction, stream, kind, value_ns, count from histograms {of}", rows)[1]
    buckets = [_buckets(list(of_side)) for _, of_side in groupby(listed, lambda row: tuple(row[:4]))]
    document: RecordDoc = json.loads(found[0][0])
    return Record(with_buckets(document, buckets), _tables(place, key, json.loads(found[0][1])))


def _buckets(of_side: Sequence[Sequence[Any]]) -> Buckets:
    """Those of one direction of a stream."""
    place, direction, stream, kind = of_side[0][:4]
    return Buckets(place, stream, direction, kind, np.array([row[4:] for row in of_side], np.int64))


def _tables(place: Place, key: str, columns: Mapping[str, Sequence[str]]) -> Tables:
    """The tables over time of a run, which had these columns; other runs may have others."""
    found: dict[str, pl.DataFrame | Callable[[], pl.DataFrame]] = {}
    for name, listed in columns.items():
        chosen = ", ".join(quoted(one) for one in listed)
        found[name] = query(place, f"select {chosen} from {quoted(name)} where run = {literal(key)}", frame)
    return Tables(found)
