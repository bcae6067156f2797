"""Results as rows: what each run of a file measured, and the load that it was of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.numbers import counted, number, percent
from hotband.data import importers
from hotband.data.catalog import entries
from hotband.data.importers.stages import in_turn
from hotband.data.inputs.loads import Load
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.load import records_in
from hotband.data.results.walk import Walk, is_walked, walk
from hotband.inference.audit.load import load_one
from hotband.questions.expect import of_fio, of_vdbench, of_windows
from hotband.questions.expect.rebuilt import CannotRebuild, Rebuilt, measured_read_pct

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.inputs.specify import Named

KEPT_UP = 0.9
"""Where a tool was held to a rate and reached less than this share of it, it waited for the target: a closed loop."""
BUSY = 0.5
"""And where at least half of what it may have outstanding was, on average: else it did not ask for more."""
FAR_OFF = 2.0
"""Points of percent by which the measured share of reads may lie off the one that was asked for."""
READERS = {
    "fio": of_fio.rebuild,
    "vdbench": of_vdbench.rebuild,
    "diskspd": of_windows.rebuild_diskspd,
    "iometer": of_windows.rebuild_iometer,
}


@dataclass
class Row:
    """A run of a result: its name, what was measured, its load as far as it can be rebuilt, else why not. A row that
    `is_named` has the name that its folder gives it."""

    name: str
    record: RecordDoc
    file: str
    load: Rebuilt | None = None
    why_not: str = ""
    notes: list[str] = field(default_factory=list)
    is_named: bool = False


def read_rows(paths: Sequence[Path], workload: Named | None, notes: list[str] | None = None) -> list[Row]:
    """Return every run in the results at `paths`; `workload` is what was run, if the user names it. Add to `notes` a
    sentence on the other files of each folder. Raises UserError for what is no result of another tool."""
    rows = []
    for path in paths:
        if is_walked(path):
            rows += _rows_of(walk(path), [] if notes is None else notes)
            continue
        for record in _records(path):
            for stage in in_turn(record, path):
                rows.append(Row(_name(stage), stage, str(path)))
    _name_apart(rows)
    for row in rows:
        try:
            row.load = _given(row, workload) if workload is not None else _rebuilt(row)
            _as_measured(row, row.load)
        except CannotRebuild as why:
            row.load, row.why_not = None, str(why)
    return rows


def _rows_of(folder: Walk, notes: list[str]) -> list[Row]:
    """Return the runs of a folder, each named by its series, if there are several, and its test. Records of a model
    are left out."""
    several = len(folder.series) > 1
    rows = []
    predicted = 0
    for entry in folder.results:
        if entry.record.record["target"].get("kind") == "model":
            predicted += 1
            continue
        stages = in_turn(entry.record.record, entry.path)
        name = entry.name if several else entry.test
        rows += [
            Row(name if len(stages) == 1 else f"{name}: {_name(stage)}", stage, str(entry.path), is_named=True)
            for stage in stages
        ]
    notes += [folder.skipped_words] if folder.skipped else []
    notes += [f"left out {counted(predicted, 'record')} of the model itself"] if predicted else []
    return rows


def row_of(record: RecordDoc, file: str, workload: Named) -> Row:
    """A run whose record is there already, of a workload that is known; one that measures several steps is rebuilt from
    the record."""
    row = Row(_name(record), record, file)
    try:
        text = workload.text or ""
        row.load = _given(row, workload) if len(Load(text, workload.name).measured()) == 1 else _rebuilt(row)
        _as_measured(row, row.load)
    except CannotRebuild as why:
        row.load, row.why_not = None, str(why)
    return row


def _name(record: RecordDoc) -> str:
    """Of a record; a run of vdbench goes by its own name, without the parameters behind it."""
    return record["streams"][0]["name"] if record["source"]["tool"] == "vdbench" else record["name"]


def _records(path: Path) -> list[RecordDoc]:
    """The records of a result. UserError for one of our own, for a study and for a table."""
    if path.is_dir() and ((path / "study.toml").is_file() or (path / "result.json").is_file()):
        accepted = "is a study, which has its own comparison: hotband study run; expected a result of another tool"
        raise UserError(str(path), "", "", accepted)
    if path.is_dir() and not any(path.glob(f"**/{RECORD_FILE}")):
        return [entry.record for entry in importers.load(path)]
    records = [entry.record for file in records_in(path) for entry in load_one(file)]
    for record in records:
        kind = record["target"].get("kind")
        if kind == "model":
            accepted = (
                "is a record of the model itself: hotband compare compares two; expected a result of another tool"
            )
            raise UserError(str(path), "", "", accepted)
        if kind == "published" or "source" not in record:
            accepted = (
                "is a table of figures, which hotband audit reads; expected a result of fio, vdbench, DiskSpd, Iometer"
            )
            raise UserError(str(path), "", "", accepted)
    return records


def _name_apart(rows: Sequence[Row]) -> None:
    """Names that differ: of several files the file's, with the row's own where it has several; a number where that does
    not help."""
    files = [row.file for row in rows]
    if len(set(files)) > 1:
        for row in rows:
            if row.is_named:
                continue
            stem = Path(row.file).stem
            row.name = stem if files.count(row.file) == 1 else f"{stem}: {row.name}"
    seen: dict[str, int] = {}
    for row in rows:
        seen[row.name] = seen.get(row.name, 0) + 1
        if seen[row.name] > 1:
            row.name = f"{row.name} ({seen[row.name]})"


def _rebuilt(row: Row) -> Rebuilt:
    tool = str(row.record["source"]["tool"])
    if row.record["summary"]["count"] == 0:
        raise CannotRebuild("no I/O was measured")
    if tool not in READERS:
        raise CannotRebuild(
            f"a result of {tool} says nothing of sizes and directions; expected -w JOB with what was run"
        )
    return READERS[tool](row.record)


def _given(row: Row, workload: Named) -> Rebuilt:
    """The load that the user says was run."""
    text = workload.text if workload.text is not None else str(entries.workload(workload.name)["text"])
    load = Load(text, workload.name)
    if len(load.measured()) != 1:
        raise CannotRebuild(f"{workload.name} measures several steps: expected a workload with one")
    return Rebuilt(
        text,
        "open" if load.is_open else "closed",
        row.record["source"]["asked"]["working_set_bytes"],
        [f"{workload.name} was run, as you say"],
    )


def _as_measured(row: Row, load: Rebuilt) -> None:
    """The load at the rate and with the share of reads that were measured, where the tool's own words say otherwise."""
    options, summary = row.record["source"]["asked"], row.record["summary"]
    text = Load(load.text, "the rebuilt load")
    rate, measured, depth = options["rate_iops"], summary["iops"], options["concurrency"]
    if text.says() == "an open loop" and measured:
        single = len(text.varied()) == 1 or "load" in text.table
        busy = depth is not None and (summary["queue_depth_mean"] or 0.0) > BUSY * depth
        if rate and measured < KEPT_UP * rate and depth and busy and single:
            load.text, load.asks = text.with_closed_loop(depth).text(), "closed"
            load.assume(
                f"{depth} I/Os were outstanding: of {number(rate)} a second that were asked for {number(measured)} came"
            )
        else:
            load.text, load.asks = text.with_open_loop(measured, "fixed").text(), "open"
            load.assume("I/Os came at the rate that was measured, at even distances")
    streams = text.table.get("streams")
    share = measured_read_pct(row.record)
    if isinstance(streams, list) and len(streams) == 1 and isinstance(streams[0], dict) and share is not None:
        stated_pct = float(str(streams[0].get("read_pct", 100)).rstrip(" %"))
        if abs(stated_pct - share) > FAR_OFF:
            load.settings["read_pct"] = f"{share:.0f}"
            reads = percent(share, signed=False)
            load.assume(f"{reads} of the I/Os were reads, as measured, although {stated_pct:g} % were asked for")
