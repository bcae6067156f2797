"""Runs: what the user asks for, checked and prepared, executed one at a time. `hotband.execution.experiment` runs
many."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hotband import _core
from hotband.base import memory
from hotband.base.errors import UserError, no_text, reason_of
from hotband.base.text.regular import text_bytes
from hotband.base.text.write import expect_no_disk, is_mistake, is_special, named, part_of, remove
from hotband.data.catalog import CATALOG_DIR, is_file
from hotband.data.jobs.loss import in_job_file, notes_of
from hotband.data.record.files import Cell, Table, save_record
from hotband.data.record.iolog import check_ending, save_log
from hotband.data.record.written import record_text
from hotband.data.traces.files import rows_of

if TYPE_CHECKING:
    from hotband.data.record.document import RecordDoc, RunBeforeDoc, SequenceDoc
    from hotband.execution.experiment import Progress


MOST_SPARES = 2**32 - 1


@dataclass(frozen=True)
class Repair:
    """Drives that fail (DRIVE@TIME each), spares for them, the most a rebuild writes in a second and how long after a
    failure it begins, as text."""

    fail: tuple[str, ...] = ()
    spares: int = 0
    rate: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class RunSpec:
    """One run as the user asks for it.

    `machine` is a catalog drive, a short form or a TOML file; `workload` a catalog name, a TOML file, a job file of
    another tool or a trace. Where their texts are given, they are only the names that errors use. `set` holds `--set`
    pairs; `out` is the folder for the record (nothing is written where None); of several runs those of the largest
    `weight` start first. A run `after` another (its id) begins on the machine as that one left it. `events` say what
    happens to it at a time ("at 60 s: fail d3").
    With `in_use` solid-state drives of which neither workload nor `set` says what they hold are written over first, at
    a scale at which that takes seconds where nothing says which.
    """

    id: str
    machine: str
    workload: str
    set: tuple[tuple[str, str], ...] = ()
    seed: int = 1
    duration: str | None = None
    out: Path | None = None
    io_log: Path | None = None
    power_loss: str | None = None
    machine_text: str | None = field(default=None, kw_only=True)
    workload_text: str | None = field(default=None, kw_only=True)
    weight: float = field(default=1.0, kw_only=True)
    after: str = field(default="", kw_only=True)
    repair: Repair = field(default=Repair(), kw_only=True)
    events: tuple[str, ...] = field(default=(), kw_only=True)
    in_use: bool = field(default=False, kw_only=True)


@dataclass
class Finished:
    """A run that is done: its record (parsed and as text), its tables by name and the I/Os that were simulated."""

    spec: RunSpec
    record: RecordDoc
    text: str
    tables: Mapping[str, Table]
    ios: int

    def columns(self, name: str) -> dict[str, list[Cell]]:
        """The columns of a table; none where the run left no such table."""
        return self.tables[name].columns if name in self.tables else {}


@dataclass
class Prepared:
    """A run that was checked and can be executed; `used` is what was set of it, once it was: what is asked for, and
    what was chosen of drives in use."""

    spec: RunSpec
    run: _core.Run
    raw_log: Path | None = None
    used: dict[str, str] = field(default_factory=dict)


def user_error(error: _core.SpecError) -> UserError:
    """The engine's mistake report as the command line's."""
    file, key, value, accepted = error.args
    return UserError(file, key, value, accepted)


@contextmanager
def mistakes_of(machine: str) -> Iterator[None]:
    """What the engine says of a machine, as UserError: a mistake in it, or that it takes more memory than there is."""
    try:
        yield
    except _core.SpecError as error:
        raise user_error(error) from None
    except _core.OutOfMemory as error:
        raise too_large(machine, *error.args) from None


@contextmanager
def mistakes_without_load(
    machine: str, settings: Sequence[tuple[str, str]], accepted: str, taken: Sequence[str] = ()
) -> Iterator[None]:
    """The same where settings are of the machine alone, or the load is not the user's: a key of a workload that is none
    of `taken` is refused as `accepted` says, and is not named among those that are taken."""
    own = [key for key in _core.SET_KEYS if key not in taken]
    for key, value in settings:
        if key in own or key.startswith("app."):
            raise UserError("--set", key, value, f"is of a workload, {accepted}")
    try:
        with mistakes_of(machine):
            yield
    except UserError as error:
        before, one_of, keys = error.accepted.partition("expected one of ")
        left = ", ".join(key for key in keys.split(", ") if key not in own)
        before = "" if any(f'"{key}"?' in before for key in own) else before
        raise UserError(error.where, error.key, error.value, f"{before}{one_of}{left}") from None


def text_of(argument: str, what: str) -> str | None:
    """Text of a TOML file that an argument names, or None where it is a catalog name. A job file of another tool is the
    workload that it asks for, a trace is the replay of it."""
    if not is_file(argument):
        refuse_other_files(argument, what)
        return None
    path = Path(argument)
    # A pipe can be read only once; what is no file is refused.
    piped = None if path.is_file() else bytes_of(argument, what)
    if what == "workload":
        from hotband.data.jobs.job_file import job_text
        from hotband.data.traces.files import is_trace, refuse_other_traces, trace_text

        if is_trace(path):
            return trace_text(path)
        refuse_other_traces(path)
        text = job_text(path, piped)
        if text is not None:
            return text
    try:
        return (bytes_of(argument, what) if piped is None else piped).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UserError(argument, "", "", f"not a {what}: the file is not UTF-8 text") from None


def bytes_of(argument: str, what: str) -> bytes:
    """What is in a file that the user named. Raises UserError where it cannot be read, is none, or is too large to be
    text that somebody wrote."""
    return text_bytes(argument, what)


def refuse_other_files(argument: str, what: str) -> None:
    """Raises UserError for a file that does not end as workloads or machines do, or for a folder, where the catalog has
    no entry that begins so: the list of its entries would not help."""
    from hotband.data.catalog import entries

    path = Path(argument)
    # A short form, such as raid5:4xDRIVE, names no file, whatever stands there.
    if not argument or ":" in argument or not os.path.exists(argument):
        return
    known = entries.workloads() if what == "workload" else entries.drives()
    if any(one["name"].startswith(argument) for one in known):
        return
    if path.is_dir():
        accepted = {
            "workload": "a catalog name, a TOML file, a job file or an I/O log",
            "machine": "a drive of the catalog, LAYOUT:COUNTxDRIVE or a TOML file",
        }
        raise UserError(what.upper(), "", argument, f"is a folder; expected {accepted[what]}")
    said = f"is no name of the catalog; expected ./{argument} for the file here"
    raise UserError(what.upper(), "", argument, said)


RESULT_FILES = (
    *("record.json", "series.parquet", "caches.parquet", "smart.parquet", "power.parquet"),
    *("finished.json", "experiment.json", "result.json", "sweep.journal", "sweep.parquet"),
)
"""Files that commands write into a folder of results; of a run, first."""


def check_writable(folder: Path, option: str = "--out") -> None:
    """Creates a folder of results and a file in it, so that one that cannot be written is told before the work. Raises
    UserError where the path is wrong, or something stands there in the place of a result, else OSError."""
    check_folder(folder, option)
    for one in (folder / name for name in RESULT_FILES):
        if is_special(one):
            raise UserError(option, "", str(one), "is a pipe, a socket or a device; expected a folder of files")


def check_folder(folder: Path, option: str) -> None:
    """The same of a folder of any files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if not is_mistake(error):
            raise OSError(error.errno, error.strerror, str(folder)) from None
        if folder.is_symlink() and not folder.exists():
            accepted = f"is a link to {os.readlink(folder)}, which is not there: expected a folder"
            raise UserError(option, "", str(folder), accepted) from None
        raise UserError(option, "", str(folder), f"the folder cannot be written: {reason_of(error)}") from None


def prepare(spec: RunSpec, *, is_followed: bool = False) -> Prepared:
    """Reads and checks everything a run names; `is_followed` where others follow on its machine. Raises UserError for
    the first mistake."""
    if spec.out is not None:
        check_writable(spec.out)
    raw_log, workload = None, spec.workload_text
    if spec.io_log is not None:
        if spec.io_log.is_dir():
            raise UserError("--io-log", "", str(spec.io_log), "is a folder; expected a file to write")
        check_ending(spec.io_log)
        expect_no_disk("--io-log", spec.io_log)
        check_folder(spec.io_log.parent, "--io-log")
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
        )
    except _core.OutOfMemory as error:
        raise too_large(spec.machine, *error.args) from None
    except _core.SpecError as error:
        raise in_job_file(user_error(error), spec.workload, workload) from None
    except UnicodeEncodeError as error:
        raise no_text("arguments", error.object) from None
    return Prepared(spec, run, raw_log)


def too_large(machine: str, needs: int, left: int | None) -> UserError:
    """A machine that does not fit into memory, and the way out."""
    there = "the system refuses it" if left is None else f"{memory.in_gigabytes(left)} are available"
    way = "--set scale=64 simulates its solid-state drives at a 64th of their size"
    return UserError("MACHINE", "", machine, f"needs {memory.in_gigabytes(needs)} of memory, {there}: {way}")


def execute_one(line: Sequence[Prepared], place: int) -> Finished:
    """Executes one run of a line, on the machine that the one before it left."""
    prepared, spec = line[place], line[place].spec
    try:
        after = line[place - 1].run if place else None
        with nullcontext() if spec.io_log is None else named(spec.io_log, prepared.raw_log):
            left = prepared.run.execute(after, place + 1 < len(line))
        record, text = json.loads(left.record), left.record
        prepared.used = record["spec"]["set"]
        converted = notes_of(record["spec"]["workload"])
        record["notes"] += converted
        if len(line) > 1:
            record["sequence"] = sequence_of([one.spec for one in line], place)
            for before, one in zip(record["sequence"]["before"], line, strict=False):
                before["set"] = one.used
        if len(line) > 1 or converted:
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
    """What the record of a run says of the runs before it on its machine: with them it can be repeated."""
    runs = [run_before(one) for one in line]
    name = hashlib.sha256(json.dumps([line[0].machine, runs]).encode()).hexdigest()[:12]
    seeds = "fixed" if len({one.seed for one in line}) < len(line) else "fresh"
    return {"id": name, "place": place + 1, "seeds": seeds, "before": runs[:place]}


def run_before(spec: RunSpec) -> RunBeforeDoc:
    """A run of a sequence, as it was asked for."""
    asked: RunBeforeDoc = {
        "workload": spec.workload,
        "set": dict(spec.set),
        "seed": str(spec.seed),
        "duration": spec.duration,
    }
    events = [*spec.events, *(failure_event(text) for text in spec.repair.fail)]
    return {**asked, "events": events} if events else asked


def failure_event(text: str) -> str:
    """The short form of a failure, `d3@60 s`, as an event."""
    drive, _, time = text.rpartition("@")
    return f"at {time.strip()}: fail {drive.strip()}"


def execute(
    specs: Sequence[RunSpec],
    progress: Callable[[Progress], None] | None = None,
    jobs: int | None = None,
) -> list[Finished]:
    """Executes runs on all cores and returns them in the order asked: an experiment without measures, every run saved
    where its spec says. Raises UserError, OSError, or RunsInterrupted (with the runs that were finished)."""
    from hotband.execution.experiment import Experiment, points_of

    return Experiment(points_of(specs)).run(progress=progress, jobs=jobs).finished


def sequences(prepared: Sequence[Prepared]) -> list[list[int]]:
    """Indices of runs by line: a run alone, or runs on one machine in their order. Raises UserError where a run cannot
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
