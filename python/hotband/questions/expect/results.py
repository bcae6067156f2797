"""Results as rows: the record of each run of a file, and its load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.base.text.numbers import counted, number, percent
from hotband.data import importers
from hotband.data.catalog import entries
from hotband.data.catalog.named import STATE
from hotband.data.documents.record import KIND_EMULATED, KIND_REAL
from hotband.data.importers.stages import in_turn
from hotband.data.inputs.loads import Load
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.load import records_in
from hotband.data.record.overload import completed_rate
from hotband.data.results.walk import Walk, is_walked, walk
from hotband.inference.audit.load import load_one
from hotband.inference.traces.fit.replay import RECORDED
from hotband.questions.expect import of_fio, of_vdbench, of_windows
from hotband.questions.expect.rebuilt import CannotRebuild, Rebuilt, measured_read_pct

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.inputs.specify import Named

KEPT_UP = 0.9
"""Share of its requested rate below which a tool waited for the target, as a closed loop."""
BUSY = 0.5
"""Least mean share of the allowed outstanding I/Os for that: otherwise the tool did not issue more."""
FAR_OFF = 2.0
"""Percentage points by which the measured share of reads may differ from the requested one."""
FILLED = "filled"
MODEL_STATES = {"purged": "fob", FILLED: "preconditioned"}
"""States of hardware before a run that a model names otherwise, or does not have."""
READERS = {
    "fio": of_fio.rebuild,
    "vdbench": of_vdbench.rebuild,
    "diskspd": of_windows.rebuild_diskspd,
    "iometer": of_windows.rebuild_iometer,
}


@dataclass
class Row:
    """A run of a result: its name, its record, and its load, or the reason why it cannot be rebuilt. A row that
    `is_named` has the name from its folder."""

    name: str
    record: RecordDoc
    file: str
    load: Rebuilt | None = None
    why_not: str = ""
    notes: list[str] = field(default_factory=list)
    is_named: bool = False


def read_rows(paths: Sequence[Path], workload: Named | None, notes: list[str] | None = None) -> list[Row]:
    """Return every run in the results at `paths`; `workload` is their workload, if the user names it. Add to `notes` a
    sentence on the other files of each folder. Raises UserError for files that are not results of other tools."""
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
            row.load = _recorded(row) if workload is None else _given(row, workload)
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
    notes += [f"left out {counted(predicted, 'record')} of the model"] if predicted else []
    return rows


def row_of(record: RecordDoc, file: str, workload: Named) -> Row:
    """Return the row of a record with a known workload; a workload that measures several steps is rebuilt from the
    record, and a trace is replayed as it is."""
    row = Row(_name(record), record, file)
    text = workload.text or ""
    if "trace" in Load(text, workload.name).table:
        row.name, row.load = workload.name, _of_trace(text, workload.name)
        return row
    try:
        row.load = _given(row, workload) if len(Load(text, workload.name).measured()) == 1 else _rebuilt(row)
        _as_measured(row, row.load)
    except CannotRebuild as why:
        row.load, row.why_not = None, str(why)
    return row


def _name(record: RecordDoc) -> str:
    """Return the name of a record; for vdbench that of the run, without its parameters."""
    return record["streams"][0]["name"] if record["source"]["tool"] == "vdbench" else record["name"]


def _records(path: Path) -> list[RecordDoc]:
    """Return the records of a result. Raises UserError for our records, for a study and for a table."""
    if path.is_dir() and ((path / "study.toml").is_file() or (path / "result.json").is_file()):
        accepted = "is a study; hotband study run compares it; expected a result of another tool"
        raise UserError(str(path), "", "", accepted)
    if path.is_dir() and not any(path.glob(f"**/{RECORD_FILE}")):
        return [entry.record for entry in importers.load(path)]
    records = [entry.record for file in records_in(path) for entry in load_one(file)]
    for record in records:
        kind = record["target"].get("kind")
        if kind == "model":
            accepted = "is a record of the model; hotband compare compares two; expected a result of another tool"
            raise UserError(str(path), "", "", accepted)
        if kind == "published" or "source" not in record:
            accepted = (
                "is a table of figures; hotband audit reads it; expected a result of fio, vdbench, DiskSpd, Iometer"
            )
            raise UserError(str(path), "", "", accepted)
    return records


def _name_apart(rows: Sequence[Row]) -> None:
    """Make names unique: with several files use the file's name, and the row's if a file has several rows; loops of a
    run of vdbench get their parameters, and other duplicates a number."""
    files = [row.file for row in rows]
    names = [(row.file, row.name) for row in rows]
    for row in rows:
        if names.count((row.file, row.name)) > 1 and not row.is_named:
            row.name = row.record["name"]
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


def _recorded(row: Row) -> Rebuilt:
    """Return the load of a result: Hotband's own records of emulated machines and hardware have their workload, others
    the options of their tool."""
    spec: Mapping[str, Any] = row.record.get("spec") or {}
    text = spec.get("workload")
    if not isinstance(text, str) or row.record["target"].get("kind") not in (KIND_EMULATED, KIND_REAL):
        return _rebuilt(row)
    load = Load(text, row.name)
    if "trace" in load.table:
        return _of_trace(text, row.name)
    if len(load.measured()) != 1:
        return _rebuilt(row)
    _expect_ios(row)
    rebuilt = _of_load(row, load, text, [])
    # A run states the contents of its drives next to its workload.
    state = (spec.get("set") or {}).get(STATE)
    if state is not None:
        rebuilt.settings[STATE] = MODEL_STATES.get(str(state), str(state))
    if state == FILLED:
        rebuilt.assume("the drive, which was filled in order, is predicted as preconditioned")
    return rebuilt


def _expect_ios(row: Row) -> None:
    if row.record["summary"]["count"] == 0:
        raise CannotRebuild("no read or write was measured")


def _rebuilt(row: Row) -> Rebuilt:
    tool = str(row.record["source"]["tool"])
    _expect_ios(row)
    if tool not in READERS:
        raise CannotRebuild(
            f"a result of {tool} does not state sizes and directions; expected -w JOB with the workload"
        )
    return READERS[tool](row.record)


def _given(row: Row, workload: Named) -> Rebuilt:
    """Return the load that the user names."""
    text = workload.text if workload.text is not None else str(entries.workload(workload.name)["text"])
    load = Load(text, workload.name)
    if len(load.measured()) != 1:
        raise CannotRebuild(f"{workload.name} measures several steps; expected a workload with one")
    return _of_load(row, load, text, [f"{workload.name} was run, according to you"])


def _of_load(row: Row, load: Load, text: str, assumed: list[str]) -> Rebuilt:
    """Return a known load."""
    loop = "open" if load.is_open else "closed"
    return Rebuilt(text, loop, row.record["source"]["asked"]["working_set_bytes"], assumed)


def _of_trace(text: str, name: str) -> Rebuilt:
    """Return the load of a replay, whose I/Os and times are those of its trace."""
    trace = Load(text, name).table["trace"]
    issue = str(trace.get("issue", RECORDED)) if isinstance(trace, dict) else RECORDED
    words = f"the I/Os of the trace were replayed, issue = {issue}"
    return Rebuilt(text, "open" if issue == RECORDED else "closed", None, [words])


def _as_measured(row: Row, load: Rebuilt) -> None:
    """Set the load to the measured rate and share of reads, if they differ from the tool's options."""
    options, summary = row.record["source"]["asked"], row.record["summary"]
    text = Load(load.text, "the rebuilt load")
    rate, measured, depth = options["rate_iops"], summary["iops"], options["concurrency"]
    if text.says() == "an open loop" and measured:
        single = len(text.varied()) == 1 or "load" in text.table
        busy = depth is not None and (summary["queue_depth_mean"] or 0.0) > BUSY * depth
        if rate and measured < KEPT_UP * rate and depth and busy and single:
            load.text, load.asks = text.with_closed_loop(depth).text(), "closed"
            load.assume(
                f"{depth} I/Os were outstanding: of {number(rate)} requested IOPS {number(measured)} were completed"
            )
        else:
            load.text, load.asks = text.with_open_loop(completed_rate(summary), "fixed").text(), "open"
            load.assume("I/Os were issued at the measured rate, evenly spaced")
    streams = text.table.get("streams")
    share = measured_read_pct(row.record)
    if isinstance(streams, list) and len(streams) == 1 and isinstance(streams[0], dict) and share is not None:
        stated_pct = float(str(streams[0].get("read_pct", 100)).rstrip(" %"))
        if abs(stated_pct - share) > FAR_OFF:
            load.settings["read_pct"] = f"{share:.0f}"
            reads = percent(share, signed=False)
            load.assume(f"{reads} of the I/Os were reads, as measured, although {stated_pct:g} % were requested")
