"""Runs: what the user requests, checked and prepared, executed one at a time. `hotband.execution.experiment` runs
many."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base import memory
from hotband.base.engine import too_large, user_error
from hotband.base.errors import UserError, no_text
from hotband.base.folders import cache_folder
from hotband.base.text.quantities import SIZE_EXPECTED, size_bytes
from hotband.base.text.write import expect_no_disk, named, part_of, remove
from hotband.data.catalog import CATALOG_DIR
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.texts import text_of
from hotband.data.jobs.loss import in_job_file, notes_of
from hotband.data.record.files import save_record
from hotband.data.record.finished import Finished
from hotband.data.record.iolog import check_ending, save_log
from hotband.data.record.overload import overload_notes
from hotband.data.record.writable import check_folder, check_writable
from hotband.data.record.written import record_text
from hotband.data.traces.files import rows_of

if TYPE_CHECKING:
    from hotband.data.documents.record import RunBeforeDoc, SequenceDoc

CACHE_SIZE = "HOTBAND_DRIVE_CACHE"
"""Environment variable that limits the size of the folder for preconditioned drives; "off" disables it."""
CACHE_SIZE_DEFAULT = "2 GiB"


@dataclass
class Prepared:
    """A run that was checked and can be executed; `used` has its settings after preparation: the requested ones, and
    those chosen for drives in use."""

    spec: RunSpec
    run: _core.Run
    raw_log: Path | None = None
    used: dict[str, str] = field(default_factory=dict)


def prepare(spec: RunSpec, *, is_followed: bool = False) -> Prepared:
    """Reads and checks everything a run names; `is_followed` if others follow on its machine. Raises UserError for
    the first mistake."""
    if spec.out is not None:
        check_writable(spec.out)
    raw_log, workload = None, spec.workload_text
    if spec.io_log is not None:
        if spec.io_log.is_dir():
            raise UserError("question.io_log", "", str(spec.io_log), "is a folder; expected a file to write")
        check_ending(spec.io_log)
        expect_no_disk("question.io_log", spec.io_log)
        check_folder(spec.io_log.parent, "question.io_log")
        raw_log = part_of(spec.io_log)
    try:
        workload = text_of(spec.workload, "workload") if workload is None else workload
        traces = rows_of(spec.workload, workload)
        run = _core.Run(
            CATALOG_DIR,
            spec.machine,
            spec.workload,
            machine_text=text_of(spec.machine, "machine") if spec.machine_text is None else spec.machine_text,
            workload_text=workload,
            set=list(spec.set),
            seed=spec.seed,
            duration=spec.duration,
            precision=spec.precision,
            traces=traces,
            io_log=raw_log,
            power_loss=spec.power_loss,
            fail=list(spec.repair.fail),
            events=list(spec.events),
            spares=spec.repair.spares,
            rebuild_rate=spec.repair.rate,
            rebuild_after=spec.repair.after,
            follows=bool(spec.after),
            is_followed=is_followed,
            in_use=spec.in_use,
            memory=memory.available(),
            cache=contents_cache(),
        )
    except _core.OutOfMemory as error:
        raise too_large(spec.machine, *error.args) from None
    except _core.SpecError as error:
        raise in_job_file(user_error(error), spec.workload, workload) from None
    except UnicodeEncodeError as error:
        raise no_text("arguments", error.object) from None
    return Prepared(spec, run, raw_log)


def contents_cache() -> tuple[Path, Path, int] | None:
    """Return the folder for contents of preconditioned drives in the user's cache, the file of the engine that made
    them, and the folder's size limit in bytes; None without a cache folder. Raises UserError."""
    folder, text = cache_folder(), os.environ.get(CACHE_SIZE) or CACHE_SIZE_DEFAULT
    # An environment without a home folder leaves "~" as it is.
    if text == "off" or not folder.is_absolute():
        return None
    most = size_bytes(text)
    if most is None:
        raise UserError(CACHE_SIZE, "", text, f"expected {SIZE_EXPECTED}, or off")
    return folder / "drives", Path(_core.__file__), int(most)


def execute_one(line: Sequence[Prepared], place: int) -> Finished:
    """Executes one run of a line, on the machine that the one before it left."""
    prepared, spec = line[place], line[place].spec
    try:
        after = line[place - 1].run if place else None
        with nullcontext() if spec.io_log is None else named(spec.io_log, prepared.raw_log):
            left = prepared.run.execute(after, place + 1 < len(line))
        record, text = json.loads(left.record), left.record
        prepared.used = record["spec"]["set"]
        further = [*notes_of(record["spec"]["workload"]), *overload_notes(record)]
        if "rate_iops" in prepared.used and "flush_every" in record["spec"]["workload"]:
            from hotband.execution.runs.rate_mix import mix_notes

            further += mix_notes(record["spec"]["workload"])
        record["notes"] += further
        if len(line) > 1:
            record["sequence"] = sequence_of([one.spec for one in line], place)
            for before, one in zip(record["sequence"]["before"], line, strict=False):
                before["set"] = one.used
        if len(line) > 1 or further:
            text = record_text(record)
        if spec.io_log is not None and prepared.raw_log is not None:
            names = [stream["name"] for stream in record["streams"]]
            volumes = prepared.run.volumes()
            save_log(prepared.raw_log, spec.io_log, names, prepared.run.is_stopped, volumes=volumes)
        return Finished(spec, record, text, left.tables, left.ios)
    except _core.SpecError as error:
        raise user_error(error) from None
    finally:
        if prepared.raw_log is not None:
            remove(prepared.raw_log)


def save(finished: Finished, folder: Path) -> None:
    """Writes a record and its tables into `folder`, which exists."""
    save_record(folder, finished.text, finished.tables)


def sequence_of(line: Sequence[RunSpec], place: int) -> SequenceDoc:
    """Section of a run's record about the runs before it on its machine, which are needed to repeat it."""
    runs = [run_before(one) for one in line]
    name = hashlib.sha256(json.dumps([line[0].machine, runs]).encode()).hexdigest()[:12]
    seeds = "fixed" if len({one.seed for one in line}) < len(line) else "fresh"
    return {"id": name, "place": place + 1, "seeds": seeds, "before": runs[:place]}


def run_before(spec: RunSpec) -> RunBeforeDoc:
    """A run of a sequence, as it was requested."""
    asked: RunBeforeDoc = {
        "workload": spec.workload,
        "set": dict(spec.set),
        "seed": str(spec.seed),
        "duration": spec.duration,
    }
    if spec.precision is not None:
        asked["precision"] = spec.precision
    events = [*spec.events, *(failure_event(text) for text in spec.repair.fail)]
    return {**asked, "events": events} if events else asked


def failure_event(text: str) -> str:
    """The short form of a failure, `d3@60 s`, as an event."""
    drive, _, time = text.rpartition("@")
    return f"at {time.strip()}: fail {drive.strip()}"


def sequences(prepared: Sequence[Prepared]) -> list[list[int]]:
    """Indices of runs by line: a run alone, or runs on one machine in their order. Raises UserError if a run cannot
    follow the one it names, which is among them."""
    index_of = {one.spec.id: index for index, one in enumerate(prepared)}
    follower = {index_of[one.spec.after]: index for index, one in enumerate(prepared) if one.spec.after}
    lines = []
    for index, one in enumerate(prepared):
        if not one.spec.after:
            line = [index]
            while line[-1] in follower:
                line.append(follower[line[-1]])
            lines.append(line)
    for first, *others in lines:
        try:
            for other in others:
                prepared[other].run.follow(prepared[first].run)
            prepared[first].run.check_times()
        except _core.SpecError as error:
            raise user_error(error) from None
    return lines


def attempt(spec: RunSpec) -> Prepared | str:
    """Return a run that was checked, or why the model refuses it."""
    try:
        return prepare(spec)
    except UserError as error:
        return str(error)


def refusal(specs: Iterable[RunSpec], *, is_followed: bool = True) -> str | None:
    """Return why the model refuses one of these runs, such as for two values of a drive that exclude each other; None
    if it refuses none. With `is_followed` other runs follow, in which its events may happen."""
    try:
        for spec in specs:
            prepare(spec, is_followed=is_followed)
    except UserError as error:
        return str(error)
    return None
