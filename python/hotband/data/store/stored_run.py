"""The stored form of a run: its cells, factors, document, buckets of latency, and tables over time.

The key of a run, `run`, is a hash of its document without intervals and predictions, which can be added later.
Hotband's runs follow from spec, seed and version, so a run is stored once however often it is added; a repeated
measurement on hardware is another run.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from hotband.base.errors import UserError
from hotband.base.heavy import np, pa, pl
from hotband.data.documents.record import source_file
from hotband.data.inputs.values import ENDINGS, base_of, spelled
from hotband.data.inputs.words import ours
from hotband.data.store.columns import WHOLE, Cell, cell, cells_of, sound

if TYPE_CHECKING:
    import numpy.typing as npt

    from hotband.data.documents.record import RecordDoc
    from hotband.data.record.files import Table

KEY_DIGITS = 20
"""Hexadecimal digits of a key, 80 bits: among a hundred million runs two share a key with a chance of 4 in a
billion."""
ADDED_LATER = ("intervals", "expected")
"""Keys of a record that do not describe the run itself."""
TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""Name of a table over time, also that of a folder and of a view in SQL."""
OWN_TABLES = ("runs", "summary", "factors", "histograms", "records", "manifest", "journal")
LONGEST_FACTOR = 200
"""Characters of a factor's value. Longer values are tables or texts that are no filters; the record has them in
full."""
SMALL_DIGITS = 6
"""Binary digits after the first of a bucket's value in a small store: FIO_IO_U_PLAT_BITS of fio's stat.h, so that its
buckets are those of fio, 1.6 % wide, with the same boundaries in every run."""

Value = str | int | float | bool


@dataclass(frozen=True)
class Factor:
    """A setting of a run: as text and, if it is a quantity, as a number in `unit` (bytes, ns; "" for a count)."""

    name: str
    text: str
    number: float | None
    unit: str


@dataclass(frozen=True)
class Buckets:
    """Latencies of one direction of a stream (its index in the record): `pairs` has one row per bucket, its value in ns
    and its count."""

    index: int
    stream: str
    direction: str
    kind: str
    pairs: npt.NDArray[np.int64]


@dataclass(frozen=True)
class StoredRun:
    """The stored form of a run. `document` is JSON without buckets, "" if only a row is known; `tables` are those over
    time."""

    run: str
    added_us: int
    experiment: str
    cells: Mapping[str, Cell]
    factors: tuple[Factor, ...]
    document: str = ""
    buckets: tuple[Buckets, ...] = ()
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


def stored_run_of(
    record: RecordDoc,
    tables: Mapping[str, pa.Table],
    factors: Mapping[str, Value],
    *,
    added_us: int,
    experiment: str,
    small: bool,
) -> StoredRun:
    """Return a record in stored form; a small one has no tables over time, and fio's buckets. Raises UserError."""
    expect_names(tables)
    slim, buckets = without_buckets(record)
    whole = json.dumps(slim, ensure_ascii=True, separators=(",", ":"))
    if any(key in slim for key in ADDED_LATER):
        fixed = {key: value for key, value in slim.items() if key not in ADDED_LATER}
        key = key_of(json.dumps(fixed, ensure_ascii=True, separators=(",", ":")), buckets)
    else:
        key = key_of(whole, buckets)
    if small:
        buckets = [coarser(bucket) for bucket in buckets]
    named = {**settings_of(record), **{name: value for name, value in factors.items() if value is not None}}
    return StoredRun(
        key,
        added_us,
        sound(experiment),
        cells_of(record),
        tuple(factor_of(name, value) for name, value in named.items() if len(str(value)) <= LONGEST_FACTOR),
        whole,
        tuple(buckets),
        {} if small else tables,
    )


def key_of(document: str, buckets: Sequence[Buckets]) -> str:
    """Return the key of a run: a hash of its document and of the sample counts of its buckets."""
    sizes = [[bucket.index, bucket.direction, len(bucket.pairs), int(bucket.pairs[:, 1].sum())] for bucket in buckets]
    return hashlib.sha256(f"{document}{json.dumps(sizes)}".encode()).hexdigest()[:KEY_DIGITS]


def expect_names(tables: Mapping[str, object]) -> None:
    """Raise UserError for a table whose name cannot be a folder and a view, or belongs to the store."""
    for name in tables:
        if TABLE_NAME.fullmatch(name) is None or name in OWN_TABLES:
            accepted = (
                "a name of a record's table uses lower-case letters, digits and _; the store's names are reserved"
            )
            raise UserError("record", "series", name, accepted)


def without_buckets(record: RecordDoc) -> tuple[dict[str, object], list[Buckets]]:
    """Return a record's document without buckets, and the buckets. Buckets that are not pairs of whole numbers stay in
    the document."""
    removed: list[Buckets] = []
    streams: list[object] = []
    for index, stream in enumerate(cast("list[Any]", record.get("streams") or [])):
        if not isinstance(stream, dict):
            streams.append(stream)
            continue
        slim = dict(stream)
        for direction, side in stream.items():
            side_buckets = _buckets(index, str(stream.get("name")), direction, side)
            if side_buckets is not None:
                removed.append(side_buckets)
                slim[direction] = {**side, "histogram": {**side["histogram"], "buckets": []}}
        streams.append(slim)
    return {**record, "streams": streams}, removed


def _buckets(index: int, stream: str, direction: str, side: object) -> Buckets | None:
    histogram = side.get("histogram") if isinstance(side, dict) else None
    pairs = histogram.get("buckets") if isinstance(histogram, dict) else None
    if not pairs or not isinstance(pairs, list) or not isinstance(histogram, dict):
        return None
    whole_pairs = _whole_pairs(pairs)
    if whole_pairs is None or direction != sound(direction) or whole_pairs.min() < 0:
        return None
    return Buckets(index, sound(stream), direction, sound(str(histogram.get("kind"))), whole_pairs)


def _whole_pairs(pairs: list[Any]) -> npt.NDArray[np.int64] | None:
    """Return pairs of whole numbers [pairs, 2], None if one is not. `struct` takes half the time of `numpy.array` for
    the thousands of a run, and unlike it refuses other values."""
    try:
        if set(map(len, pairs)) != {2}:
            return None
        packed = struct.pack(f"{2 * len(pairs)}q", *chain.from_iterable(pairs))
    except (TypeError, struct.error):
        return None
    return np.frombuffer(packed, np.int64).reshape(-1, 2)


def with_buckets(document: RecordDoc, buckets: Sequence[Buckets]) -> RecordDoc:
    """Return the document with the buckets put back."""
    for side_buckets in buckets:
        side = cast("dict[str, Any]", document["streams"][side_buckets.index])[side_buckets.direction]
        side["histogram"]["buckets"], side["histogram"]["kind"] = side_buckets.pairs.tolist(), side_buckets.kind
    return document


def coarser(buckets: Buckets) -> Buckets:
    """Return the samples in the buckets of fio, each named by its middle (plat_idx_to_val of fio's stat.c): within 0.8
    % of every sample."""
    values, counts = buckets.pairs[:, 0], buckets.pairs[:, 1]
    # Binary digits before the point; for values beyond 2^53 ns, a hundred days, possibly one more.
    digits = np.frexp(values.astype(np.float64))[1].astype(np.int64)
    widths = np.maximum(digits - 1 - SMALL_DIGITS, 0)
    middles = ((values >> widths) << widths) + ((1 << widths) >> 1)
    merged, places = np.unique(middles, return_inverse=True)
    summed = np.zeros(len(merged), np.int64)
    np.add.at(summed, places, counts)
    kind = "fio" if buckets.kind in ("hdr3", "hdr") else buckets.kind
    return replace(buckets, kind=kind, pairs=np.column_stack((merged, summed)))


def settings_of(record: RecordDoc) -> dict[str, Value]:
    """Return a record's settings: keys of `--set` for our runs, options of the only job for fio's, under our names.
    Results of other tools have the total of I/Os in flight as `qd`, as models do, instead of one thread's depth."""
    spec: object = record.get("spec")
    settings: dict[str, object] = {}
    if isinstance(spec, dict):
        settings |= spec["set"] if isinstance(spec.get("set"), dict) else {}
        jobs = spec.get("jobs")
        if isinstance(jobs, dict) and len(jobs) == 1:
            for options in (spec.get("global"), *jobs.values()):
                if isinstance(options, dict):
                    settings |= {ours(str(name)): value for name, value in options.items()}
    total = cell(WHOLE, cast("Mapping[str, object]", record).get("concurrency"))
    if source_file(record) and total is not None:
        settings.pop("depth", None)
        settings["qd"] = total
    return {str(name): value for name, value in settings.items() if isinstance(value, str | int | float)}


def factor_of(name: str, value: Value) -> Factor:
    """Return a setting as a factor. Raises UserError for an invalid number."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, float) and value != value:
        raise UserError("factors", name, text, "expected a number or a text")
    if isinstance(value, float) and value - value == 0:
        # A text may have more digits than anyone writes for a quantity.
        return Factor(sound(name), text, value, "")
    spelled_alike, number, unit = _quantity(text)
    return Factor(sound(name), sound(spelled_alike), number, unit)


@lru_cache(maxsize=4096)
def _quantity(text: str) -> tuple[str, float | None, str]:
    """Return a value as normalized text, as a number, and the number's unit; no number if it is not a quantity."""
    parsed = base_of(text)
    if parsed is None:
        return text, None, ""
    if not parsed[0]:
        return text, parsed[1], ""
    unit, scale = ENDINGS[parsed[0]]
    return spelled(text), parsed[1] * scale, unit


def arrow_of_table(table: Table) -> pa.Table:
    """Return a table of a run, with the types that its file has."""
    kinds = {"u64": pa.uint64(), "f64": pa.float64(), "text": pa.string()}
    return pa.table(
        {name: _column(cells, table.kinds[name], kinds[table.kinds[name]]) for name, cells in table.columns.items()}
    )


def _column(cells: Sequence[Cell], kind: str, type_: pa.DataType) -> pa.Array:
    """Return cells as a column. Numbers without gaps are copied as bytes: a quarter of the time."""
    code = {"u64": "Q", "f64": "d"}.get(kind)
    if code is not None:
        with suppress(TypeError, OverflowError):
            return pa.Array.from_buffers(
                type_, len(cells), [None, pa.py_buffer(array(code, cast("list[float]", cells)))]
            )
    return pa.array(cells, type_)


def arrow_of_frame(frame: pl.DataFrame) -> pa.Table:
    """Return a table of a loaded record, with the types that the files of records have."""

    def kind(type_: pl.DataType) -> type[pl.DataType]:
        if type_.is_unsigned_integer() or type_ == pl.Boolean:
            return pl.UInt64
        if type_.is_integer():
            return pl.Int64
        return pl.Float64 if type_.is_numeric() or type_ == pl.Null else pl.String

    kinds = {name: kind(type_) for name, type_ in frame.schema.items()}
    columns = [pl.col(name).cast(type_, strict=False) for name, type_ in kinds.items()]
    return frame.select(columns).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(_schema(kinds))


def _schema(kinds: Mapping[str, type[pl.DataType]]) -> pa.Schema:
    arrow = {pl.UInt64: pa.uint64(), pl.Int64: pa.int64(), pl.Float64: pa.float64(), pl.String: pa.string()}
    return pa.schema([(name, arrow[kind]) for name, kind in kinds.items()])
