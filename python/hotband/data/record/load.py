"""Read a record from disk: `record.json` and, if it has one, its per-second series."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from hotband.base.errors import UserError, reason_of, reason_of_input
from hotband.base.folders import real_path
from hotband.base.foreign import all_visible
from hotband.base.heavy import pl
from hotband.base.text.order import natural
from hotband.base.text.regular import file_text
from hotband.data.record.files import CLIENT, JOB_FILE, MODEL, RECORD_FILE, SERVED, frame_of, record_file
from hotband.data.record.parquet import read_parquet

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.data.documents.record import RecordDoc
    from hotband.data.record.finished import Finished
    from hotband.data.record.imported import SeriesColumns

SCHEMA = "hotband-record"
SCHEMA_VERSION = 1
SERIES_COLUMNS = (
    "time_ns",
    "stream",
    "direction",
    "iops",
    "latency_mean_ns",
    "latency_p99_ns",
    "queue_depth",
)
SERIES_TEXTS, CACHE_TEXTS, SMART_TEXTS, POWER_TEXTS = ("stream", "direction"), ("state",), ("drive",), ("drive",)
CACHE_COLUMNS = ("time_ns", "flash_hits", "flash_misses", "state")
SMART_COLUMNS = ("time_ns", "drive", "host_bytes", "flash_bytes")
POWER_COLUMNS = ("time_ns", "length_ns", "drive", "power_w", "low_w", "high_w")
HEALTH_TEXTS = ("drive",)
# A meter may have an offset, or count what a battery delivers as negative.
BELOW_ZERO = ("temperature_c", "power_w", "low_w", "high_w")
HEALTH_COLUMNS = ("time_ns", "drive", "temperature_c")
# Further tables next to the series: the key of each, its columns, and those of text.
FURTHER = (
    ("caches_file", CACHE_COLUMNS, CACHE_TEXTS),
    ("smart_file", SMART_COLUMNS, SMART_TEXTS),
    ("power_file", POWER_COLUMNS, POWER_TEXTS),
    ("health_file", HEALTH_COLUMNS, HEALTH_TEXTS),
)
# The keys that every page needs, and their types.
SHAPES: dict[str, tuple[type, str]] = {
    "name": (str, "a text"),
    "target": (dict, "an object"),
    "summary": (dict, "an object"),
    "streams": (list, "a list"),
    "parts": (list, "a list"),
}


@dataclass(frozen=True)
class LoadedRecord:
    """A record, its series and those of its caches, SMART and power (None if there are none), and its label.

    `remarks` list unreadable parts in words; a page prints them with the record's own notes.
    """

    record: RecordDoc
    series: pl.DataFrame | None
    label: str
    remarks: tuple[str, ...] = ()
    caches: pl.DataFrame | None = None
    smart: pl.DataFrame | None = None
    power: pl.DataFrame | None = None
    health: pl.DataFrame | None = None

    @property
    def over_time(self) -> dict[str, pl.DataFrame]:
        """Its tables besides the series, by name."""
        tables = {"caches": self.caches, "smart": self.smart, "power": self.power, "health": self.health}
        return {name: table for name, table in tables.items() if table is not None}


def loaded_run(finished: Finished) -> LoadedRecord:
    """Return a run that was just executed, from memory."""
    texts = {"series": SERIES_TEXTS, "caches": CACHE_TEXTS, "smart": SMART_TEXTS, "power": POWER_TEXTS}
    series, caches, smart, power = (
        _numbers(frame_of(finished.tables[name]), columns) if name in finished.tables else None
        for name, columns in texts.items()
    )
    name = finished.record["name"]
    return LoadedRecord(finished.record, series, name, caches=caches, smart=smart, power=power)


def loaded_import(record: RecordDoc, series: SeriesColumns | None) -> LoadedRecord:
    """Return a record that was just imported, from memory; `series` has the columns of a record's series by name."""
    frame = None if series is None else _numbers(pl.DataFrame(series, strict=False))
    return LoadedRecord(record, frame, record["name"])


def loaded_frames(record: RecordDoc, tables: Mapping[str, pl.DataFrame]) -> LoadedRecord:
    """Return a record of the Python API, from memory."""
    texts = {"series": SERIES_TEXTS, "caches": CACHE_TEXTS, "smart": SMART_TEXTS, "power": POWER_TEXTS}
    texts["health"] = HEALTH_TEXTS
    frames = {name: _numbers(tables[name], columns) for name, columns in texts.items() if name in tables}
    series, caches, smart, power, health = (frames.get(name) for name in texts)
    return LoadedRecord(record, series, record["name"], (), caches, smart, power, health)


def load_record(path: Path) -> LoadedRecord:
    """Read `record.json`, or the folder of a run. Bad input is a `UserError`; a lost series a remark."""
    file = record_file(path) if path.is_dir() else path
    record = _read_json(file, pipes=file == path)
    _check(file, record)
    named = record.get("series")
    series, remarks = _read_series(file, named, "file", SERIES_COLUMNS)
    series = _cast(file, "file", series, SERIES_TEXTS)
    further: dict[str, pl.DataFrame | None] = {}
    for key, columns, texts in FURTHER:
        further[key] = None
        if isinstance(named, dict) and named.get(key) is not None:
            frame, more = _read_series(file, named, key, columns)
            further[key], remarks = _cast(file, key, frame, texts), remarks + more
    checked = cast("RecordDoc", record)
    return LoadedRecord(
        checked,
        series,
        checked["name"],
        remarks,
        further["caches_file"],
        further["smart_file"],
        further["power_file"],
        further["health_file"],
    )


def _read_json(file: Path, pipes: bool) -> dict[str, Json]:
    try:
        text = file_text(file, pipes)
        value: Json = json.loads(text, parse_constant=_refuse_constant)
    except FileNotFoundError:
        if file.name == RECORD_FILE and file.parent.is_dir():
            accepted = "contains no record and no result of a tool that Hotband recognises"
            raise UserError(str(file.parent), "", "", accepted) from None
        raise UserError(str(file), "", "", "no such file; expected a record.json or a folder with one") from None
    except OSError as error:
        raise UserError(str(file), "", "", f"cannot be read: {reason_of_input(error)}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(str(file), "", "", f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UserError(str(file), "", type(value).__name__, "expected a JSON object, a record")
    # JSON can hold half a surrogate pair, but frames and files cannot.
    return {all_visible(key): all_visible(item) for key, item in value.items()} if "\\ud" in text.lower() else value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _check(file: Path, record: Mapping[str, Json]) -> None:
    """Refuse a record of an unknown version, or one that lacks values that every page needs."""
    where, schema, version = str(file), record.get("schema"), record.get("schema_version")
    if schema != SCHEMA:
        raise UserError(where, "schema", _short(schema), f"not a record; expected {SCHEMA!r}")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UserError(where, "schema_version", _short(version), f"expected a whole number, 1 to {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        accepted = f"written by a newer Hotband; this version reads schema versions up to {SCHEMA_VERSION}"
        raise UserError(where, "schema_version", str(version), accepted)
    for key, (kind, words) in SHAPES.items():
        if not isinstance(record.get(key), kind):
            raise UserError(where, key, _short(record.get(key)), f"expected {words}")
    duration = record.get("duration_ns")
    if not isinstance(duration, int | float) or isinstance(duration, bool) or duration < 0:
        raise UserError(where, "duration_ns", _short(duration), "expected a number of nanoseconds, 0 or more")
    streams, parts = record["streams"], record["parts"]
    for index, item in enumerate(streams if isinstance(streams, list) else []):
        _check_stream(where, f"streams[{index}]", item)
    for index, item in enumerate(parts if isinstance(parts, list) else []):
        if not (isinstance(item, dict) and isinstance(item.get("counters", {}), dict)):
            raise UserError(where, f"parts[{index}]", _short(item), "expected an object with counters")


def _check_stream(where: str, key: str, stream: object) -> None:
    if not isinstance(stream, dict):
        raise UserError(where, key, _short(stream), "expected an object")
    for direction in ("read", "write"):
        side = stream.get(direction) or {}
        histogram = side.get("histogram") or {} if isinstance(side, dict) else None
        buckets = histogram.get("buckets", []) if isinstance(histogram, dict) else None
        if not (isinstance(buckets, list) and all(_is_bucket(bucket) for bucket in buckets)):
            accepted = "expected an object whose histogram has buckets, a list of [value_ns, count]"
            raise UserError(where, f"{key}.{direction}", _short(side), accepted)


def _is_bucket(bucket: object) -> bool:
    """Return whether an entry is a bucket: a value and a count, neither negative."""
    return (
        isinstance(bucket, list)
        and len(bucket) == 2
        and all(isinstance(n, int | float) and not isinstance(n, bool) and n >= 0 for n in bucket)
    )


def _read_series(
    file: Path, series: object, key: str, columns: tuple[str, ...]
) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Read the Parquet file that a key of `series` names; a missing one is a remark, a broken one an error."""
    if series is None:
        return None, ()
    name = series.get(key) if isinstance(series, dict) else None
    if not isinstance(name, str) or not name:
        raise UserError(str(file), f"series.{key}", _short(name), "expected the name of a Parquet file")
    folder = real_path(file.parent)
    try:
        parquet = real_path(folder / name)
        is_there = parquet.is_file()
    except (OSError, ValueError) as error:
        why = reason_of(error)
        raise UserError(str(file), f"series.{key}", name, f"expected the name of a Parquet file: {why}") from None
    if not parquet.is_relative_to(folder):
        raise UserError(str(file), f"series.{key}", name, "expected a file in the record's folder")
    if not is_there:
        return None, (f"{name} is missing next to {file.name}: no charts over time.",)
    return _read_parquet(parquet, columns), ()


def _read_parquet(parquet: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    frame = read_parquet(parquet)
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise UserError(str(parquet), "columns", ", ".join(missing), "missing from a record's series")
    return frame


def _numbers(frame: pl.DataFrame, texts: tuple[str, ...] = SERIES_TEXTS) -> pl.DataFrame:
    """Check that the columns of a frame are numbers, except for those of text. Raises PolarsError."""
    # Column by column: a query takes ten times as long, and hundreds of runs have three frames each.
    columns = {name: frame[name] for name in (*frame.columns, *texts)}
    return pl.DataFrame([column.cast(pl.String if name in texts else pl.Float64) for name, column in columns.items()])


def _cast(file: Path, key: str, frame: pl.DataFrame | None, texts: tuple[str, ...]) -> pl.DataFrame | None:
    if frame is None:
        return None
    try:
        numbers = _numbers(frame, texts)
    except pl.exceptions.PolarsError as error:
        raise UserError(str(file), f"series.{key}", "", f"expected numbers in its columns: {error}") from None
    for column in numbers.drop(texts).iter_columns():
        wrong = column.filter(~column.is_finite() | ((column < 0) & (column.name not in BELOW_ZERO)))
        if len(wrong):
            where, accepted = f"series.{key}: {column.name}", "expected finite numbers of 0 or more"
            raise UserError(str(file), where, f"{wrong[0]:g}", accepted)
    return numbers


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def records_in(path: Path) -> list[Path]:
    """Return the folders of records in a folder that is not itself a record (as `--out` of imports and studies); else
    the path alone."""
    if not path.is_dir() or record_file(path).exists():
        return [path]
    return records_below(path) or [path]


def records_below(tree: Path) -> list[Path]:
    """Return the folders of runs in a tree, in natural order; an emulated run is one folder."""
    files = {Path(folder): names for folder, _, names in os.walk(tree)}
    emulated = {folder for folder, names in files.items() if JOB_FILE in names and record_file(folder).parent != folder}
    beside = {folder / part for folder in emulated for part in (MODEL, CLIENT, SERVED)}
    folders = {folder for folder, names in files.items() if RECORD_FILE in names}
    return sorted((folders - beside) | emulated, key=lambda folder: natural(str(folder)))
