"""The record of a run from fio's files, in the same shape for every target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc
from hotband.data.importers.fio.importer import read
from hotband.data.record.files import Table, file_key, series_table
from hotband.data.record.finished import Finished
from hotband.data.record.imported import Imported
from hotband.data.record.written import record_text
from hotband.execution.targets.fio_child import RESULT
from hotband.execution.targets.fio_run import FioRun
from hotband.execution.targets.fio_steps import by_stream, series_of_streams, steps_of

if TYPE_CHECKING:
    from hotband.execution.targets.client_run import ClientRun

# What fio and its libraries say when they connect is no result; what our own choice of logs leaves is no loss; how its
# jobs followed one another is known.
_NO_RESULT = (
    *("text before the JSON", "not carried over: submission latencies", "not carried over: disk utilisation"),
    *("fio does not print the order of its", "the jobs ran in"),
)


def imported_of(folder: Path) -> Imported:
    """Return the only result with its logs in a folder where fio ran. Raises UserError."""
    [imported] = read([folder])
    return imported


def measured_in(fio_run: FioRun, folder: Path) -> Imported:
    """Return that result with the workload's steps and streams."""
    try:
        record, series = imported_of(folder)
    except UserError as error:
        # What was measured for hours is not lost for a line of a log.
        [(record, series)] = read([folder / RESULT])
        record["notes"].append(f"no series: {Path(error.where).name}: {error.accepted}")
    steps = steps_of(fio_run, record, folder / RESULT)
    if steps:
        record["steps"] = steps
    record["streams"] = by_stream(fio_run, record["streams"])
    return Imported(record, None if series is None else series_of_streams(fio_run, series))


def finished_of(
    client_run: ClientRun,
    imported: Imported,
    kind: str,
    *,
    sections: Mapping[str, object] | None = None,
    tables: Mapping[str, Table] | None = None,
    notes: tuple[str, ...] = (),
) -> Finished:
    """Return the finished run. `kind` is real or emulated; `sections` and `tables` are further parts of the record."""
    spec = client_run.spec
    record = dict(cast("dict[str, Any]", imported.record))
    series = dict(record["series"] or {})
    tables_ = dict(tables or {})
    if imported.series is not None:
        tables_["series"] = series_table(imported.series)
    for name in tables_:
        series[file_key(name)] = f"{name}.parquet"
    record |= {
        "name": f"{spec.workload} on {spec.machine}",
        "target": {"kind": kind, "machine": spec.machine},
        "seed": str(spec.seed),
        "spec": {
            **record["spec"],
            "workload": client_run.text,
            "machine": spec.machine,
            "set": dict(spec.set),
            "duration": spec.duration,
        },
        "series": dict(sorted(series.items())) or None,
        **(sections or {}),
    }
    # The client's own files are gone by now; what counts of them is here.
    record["source"] = {**record["source"], "file": Path(record["source"]["file"]).name, "target": spec.machine}
    record["notes"] = [note for note in record["notes"] if not note.startswith(_NO_RESULT)]
    record["notes"] += [*client_run.differences, *notes]
    text = record_text(record)
    return Finished(spec, cast("RecordDoc", record), text, tables_, record["summary"]["count"] or 0)
