"""Records on disk: one JSON document and the series as Parquet (docs/guides/records.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.text.write import make_folder, write_file, write_files

if TYPE_CHECKING:
    from hotband.importers.imported import Imported
    from hotband.record.document import RecordDoc

RECORD_FILE = "record.json"
SERIES_FILE = "series.parquet"
CACHES_FILE = "caches.parquet"
OPERATIONS_FILE = "operations.parquet"
SMART_FILE = "smart.parquet"
POWER_FILE = "power.parquet"
TABLE_FILES = (SERIES_FILE, CACHES_FILE, OPERATIONS_FILE, SMART_FILE, POWER_FILE)
DIRECTIONS = ["read", "write"]


def save_record(
    folder: Path,
    text: str,
    series: dict[str, list[Any]],
    caches: dict[str, list[Any]],
    smart: dict[str, list[Any]],
    streams: list[str],
) -> None:
    """Writes `record.json`, `series.parquet` and, where there are caches to watch or drives that wear, `caches.parquet`
    and `smart.parquet` into `folder`, which exists: all of them or, where one cannot be written, none."""
    import io

    files: dict[Path, bytes | str] = {}
    buffer = io.BytesIO()
    write_series(buffer, series, streams)
    files[folder / SERIES_FILE] = buffer.getvalue()
    if caches["time_ns"]:
        buffer = io.BytesIO()
        write_caches(buffer, caches)
        files[folder / CACHES_FILE] = buffer.getvalue()
    if smart["time_ns"]:
        buffer = io.BytesIO()
        write_smart(buffer, smart)
        files[folder / SMART_FILE] = buffer.getvalue()
    write_files({**files, folder / RECORD_FILE: text + "\n"})


def save_operations(folder: Path, record: RecordDoc, operations: dict[str, list[Any]]) -> None:
    """Writes `operations.parquet` into `folder`, which exists, where the workload has an app."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    if "app" not in record:
        return
    names = [operation["name"] for operation in record["app"]["operations"]]
    table = pa.table(
        {
            "time_ns": pa.array(operations["time_ns"], pa.uint64()),
            "operation": pa.array([names[index] for index in operations["operation"]], pa.string()),
            "ops_per_s": pa.array(operations["ops_per_s"], pa.float64()),
            "latency_mean_ns": pa.array(operations["latency_mean_ns"], pa.float64()),
        }
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    write_file(folder / OPERATIONS_FILE, buffer.getvalue())


def save_power(folder: Path, power: dict[str, list[Any]]) -> None:
    """Writes `power.parquet` into `folder`, which exists, where it is known what drives draw."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    if not power["time_ns"]:
        return
    kinds = {"time_ns": pa.uint64(), "length_ns": pa.uint64(), "drive": pa.string()}
    table = pa.table({name: pa.array(column, kinds.get(name, pa.float64())) for name, column in power.items()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    write_file(folder / POWER_FILE, buffer.getvalue())


def write_series(buffer: Any, series: dict[str, list[Any]], streams: list[str]) -> None:
    """Writes the series columns of a run, streams and directions by number, as Parquet to a binary file object."""
    named = {
        "stream": [streams[index] for index in series["stream"]],
        "direction": [DIRECTIONS[index] for index in series["direction"]],
    }
    write_named_series(buffer, {**series, **named})


def write_named_series(buffer: Any, series: Mapping[str, Sequence[Any]]) -> None:
    """Writes series columns with streams and directions by name as Parquet to a binary file object."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "time_ns": pa.array(series["time_ns"], pa.uint64()),
            "stream": pa.array(series["stream"], pa.string()),
            "direction": pa.array(series["direction"], pa.string()),
            "iops": pa.array(series["iops"], pa.float64()),
            "bandwidth_bytes_per_s": pa.array(series["bandwidth_bytes_per_s"], pa.float64()),
            "latency_mean_ns": pa.array(series["latency_mean_ns"], pa.float64()),
            "latency_p99_ns": pa.array(series["latency_p99_ns"], pa.uint64()),
            "queue_depth": pa.array(series["queue_depth"], pa.float64()),
        }
    )
    pq.write_table(table, buffer)


def write_caches(buffer: Any, caches: dict[str, list[Any]]) -> None:
    """Writes the columns of the caches over time as Parquet to a binary file object."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"state": pa.string()}
    table = pa.table({name: pa.array(column, kinds.get(name, pa.uint64())) for name, column in caches.items()})
    pq.write_table(table, buffer)


def write_smart(buffer: Any, smart: dict[str, list[Any]]) -> None:
    """Writes the columns of the SMART attributes over time as Parquet to a binary file object."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {name: pa.float64() for name in ("write_amplification", "write_amplification_total")}
    kinds |= {"erases_mean": pa.float64(), "percentage_used": pa.float64(), "drive": pa.string()}
    table = pa.table({name: pa.array(column, kinds.get(name, pa.uint64())) for name, column in smart.items()})
    pq.write_table(table, buffer)


def save_imported(folder: Path, imported: Sequence[Imported]) -> list[Path]:
    """Writes imported records and their series, each into its own folder under `folder`; returns the files."""
    import io
    import json
    import re

    saved: list[Path] = []
    for record, series in imported:
        # A file name has 255 bytes; half of that leaves room for a number.
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(record["name"]).name)[:120].strip("-.") or "record"
        name, number = base, 1
        while folder / name / RECORD_FILE in saved:
            number += 1
            name = f"{base}-{number}"
        make_folder(folder / name)
        files: dict[Path, bytes | str] = {}
        if series is not None:
            buffer = io.BytesIO()
            write_named_series(buffer, series)
            files[folder / name / SERIES_FILE] = buffer.getvalue()
        path = folder / name / RECORD_FILE
        write_files({**files, path: json.dumps(record, indent=2, ensure_ascii=False) + "\n"})
        saved.append(path)
    return saved
