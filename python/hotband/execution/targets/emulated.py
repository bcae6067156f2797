"""Runs on emulated machines, through fio: an executor of the same points as models, with the same records; and one
workload twice, in virtual time and on the emulated machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.errors import UserError
from hotband.base.question import INVALID
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.tomltable import loads
from hotband.base.text.write import write_file
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.named import STATE, expect_model, served_machine
from hotband.data.documents.record import KIND_EMULATED, SummaryDoc
from hotband.data.documents.run import RunSpec
from hotband.data.documents.serving import Serving
from hotband.data.inputs.rate import KEY as RATE
from hotband.data.inputs.texts import text_of
from hotband.data.record.files import CLIENT, JOB_FILE, MODEL, SERVED
from hotband.data.record.finished import Finished
from hotband.data.record.imported import Imported
from hotband.data.record.writable import check_writable
from hotband.data.store.taken import taker_of
from hotband.execution.experiment import Cancelled, Point, Progress, Tick
from hotband.execution.experiment.executor import Done
from hotband.execution.experiment.experiment import execute
from hotband.execution.experiment.lines import lines_of
from hotband.execution.runs.run import save, sequence_of
from hotband.execution.serve.lateness import lateness_lines
from hotband.execution.serve.served import Served, ServeSpec
from hotband.execution.targets.client_run import ClientRun, Issued, named_text
from hotband.execution.targets.fio_child import Look, Status, find_fio
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_flushes import as_served, flush_notes
from hotband.execution.targets.fio_record import finished_of
from hotband.execution.targets.fio_run import SERVED_ALSO, FioRun, expect_expressible, expect_wall_clock
from hotband.execution.targets.outlook import in_words
from hotband.execution.targets.replay_run import replay_run_of, replays
from hotband.execution.targets.validity import reasons

Pairs = Sequence[tuple[str, str]]
OF_SERVED = ("parts", "drive_state", "energy")
"""Sections that the server's record has and fio's has not."""


@dataclass(frozen=True)
class Emulated:
    """Results of a workload on a model and on the emulated drive.

    `model` is the run in virtual time; `fio` is what fio measured on the served drive, as a record; `served` is what
    the drive itself saw; `job` is the job file. `invalid` has the reasons why the two cannot be compared.
    """

    model: Finished
    fio: Finished
    served: Finished
    job: str
    losses: tuple[str, ...]
    invalid: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A run for an emulated machine, checked: the run of the client, and what is served for it."""

    spec: RunSpec
    client_run: ClientRun
    serve: ServeSpec


@dataclass
class OnServed:
    """An `Executor` that runs points one after the other through fio on the machines that they name, each served anew;
    runs that follow each other share one. `anyway` serves a machine that is faster than this host can serve. `say`
    takes sentences for the user."""

    anyway: bool = False
    say: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    _cancelled: threading.Event = field(default_factory=threading.Event, init=False)

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """Run the points; see `Executor`."""
        self._cancelled.clear()
        by_id = {point.id: point for point in points}
        lines = [[self.plan(spec) for spec in line] for line in lines_of([point.spec for point in points])]
        _expect_fio([plan for line in lines for plan in line])
        over = 0
        for line in lines:
            first = over

            def shown(share: float, ios: float, number: int, first: int = first) -> None:
                tick(Progress((first + number + share) / len(points), round(ios), first + number, len(points)))

            self.say(f"{line[0].spec.machine} is served: {in_words(_seconds(line))}")
            for measured in self.run(line, shown).measured:
                done(by_id[measured.spec.id], measured)
            over += len(line)
            tick(Progress(over / len(points), 0, over, len(points)))

    def cancel(self) -> None:
        """Cancel the run; see `Executor`. fio ends within two seconds."""
        self._cancelled.set()

    def plan(self, spec: RunSpec) -> Plan:
        """Check a run. Raises UserError for what fio or a served machine cannot do, and for a mistake."""
        machine = served_machine(spec.machine)
        expect_model(machine, "what is emulated are")
        expect_wall_clock(spec, SERVED_ALSO)
        workload = named_text(spec)
        text = text_of(machine, "machine") if spec.machine_text is None else spec.machine_text
        is_replay = replays(spec)
        if not is_replay:
            expect_expressible(spec.workload, workload)
        of_workload, of_machine = divided(spec.set, spec.workload, machine, (workload, text))
        state = tuple(pair for pair in of_workload if pair[0] == STATE)
        expressed = replace(spec, machine=machine, set=tuple(of_workload), workload_text=workload)
        client_run = replay_run_of(expressed) if is_replay else as_served(fio_run_of(expressed))
        serve = ServeSpec(
            machine,
            (*of_machine, *state),
            spec.seed,
            spec.events,
            io_log=spec.io_log,
            machine_text=text,
            precondition=precondition_of(workload),
            in_use=True,
            anyway=self.anyway,
            for_fio=not is_replay,
        )
        client_run.expect_servable(serve)
        return Plan(spec, client_run, serve)

    def run(
        self, line: Sequence[Plan], shown: Callable[[float, float, int], None], model: SummaryDoc | None = None
    ) -> ServedRuns:
        """Serve the machine of a line, and run fio on it; `model` is the summary of its run in virtual time, if that
        exists. Raises Cancelled, UserError, OSError."""
        with TemporaryFolder("fio") as temporary:
            folders = [Path(temporary) / str(number) for number in range(len(line))]
            serve = replace(line[0].serve, way_ns=line[0].client_run.way_ns(Path(temporary) / "way"))
            issued: list[Issued] = []
            with Served(serve) as served:
                for number, (plan, folder) in enumerate(zip(line, folders, strict=True)):
                    folder.mkdir()
                    look = self._looking(plan, served, partial(_numbered, shown, number))
                    issued.append(plan.client_run.on_served(served.volumes, folder, look))
            imported = [each.measured() for each in issued]
        assert served.finished is not None, "it has ended"
        serving, records = _serving(served.finished), [read.record for read in imported]
        # Before anything is compared: fio counts flushes that the machine did not get.
        flushes = flush_notes(records, served.finished.record["summary"], serving)
        invalid = reasons(model, [record["summary"] for record in records], serving)
        of_runs = enumerate(zip(imported, issued, strict=True))
        measured = [
            _measured(line, number, read, served.finished, each.sections, (invalid, flushes[number]))
            for number, (read, each) in of_runs
        ]
        return ServedRuns(measured, served.finished, invalid)

    def _looking(self, plan: Plan, served: Served, shown: Callable[[float, float], None]) -> Look:
        """Return the callback that watches the client, shows its progress, and ends it."""

        def look(status: Status) -> None:
            if self._cancelled.is_set():
                raise Cancelled
            if served.is_stopped():
                accepted = "power went off before the run ended: expected a later time"
                raise UserError("question.events", "", "power-off", accepted)
            shown(status.share_of(plan.client_run.seconds), status.ios)

        return look


@dataclass(frozen=True)
class ServedRuns:
    """Results of the runs on one served machine: a record of each, and the server's record of all."""

    measured: Sequence[Finished]
    served: Finished
    invalid: tuple[str, ...]


def emulate(
    spec: RunSpec,
    *,
    progress: Callable[[Progress], None] | None = None,
    say: Callable[[str], None] | None = None,
    anyway: bool = False,
) -> Emulated:
    """Run `spec` in virtual time and through fio on the served machine. Raises UserError for what fio cannot express,
    for a mistake in the workload or the machine, and for a machine faster than the host can serve, unless `anyway`."""
    if spec.out is not None:
        check_writable(spec.out)
    executor = OnServed(anyway)
    plan = executor.plan(spec)
    _expect_fio([plan])
    [model] = execute([replace(spec, out=None, io_log=None, in_use=True)], progress)
    if say is not None:
        say(f"the same on the served machine: {in_words(plan.client_run.seconds)}")
    left = executor.run([plan], lambda *_: None, model.record["summary"])
    [measured] = left.measured
    served, job = left.served, cast("dict[str, Any]", measured.record).get("job", "")
    if spec.out is not None:
        # Nothing is saved before all of it exists: parts of an interrupted run are no result.
        model, served = (_saved(spec.out / part, run) for part, run in ((MODEL, model), (SERVED, served)))
        if job:
            write_file(spec.out / JOB_FILE, job)
        measured = _saved(spec.out / CLIENT, measured)
    what = f"the runs {spec.workload} on emulated:{spec.machine}"
    if (taker := taker_of(what)) is not None:
        for record in (model, measured):
            taker(what, record, {})
    return Emulated(model, measured, served, job, plan.client_run.differences, left.invalid)


def _expect_fio(plans: Sequence[Plan]) -> None:
    if any(isinstance(plan.client_run, FioRun) for plan in plans):
        find_fio()


def _numbered(shown: Callable[[float, float, int], None], number: int, share: float, ios: float) -> None:
    shown(share, ios, number)


def _seconds(line: Sequence[Plan]) -> float | None:
    known = [plan.client_run.seconds for plan in line if plan.client_run.seconds is not None]
    return sum(known) if len(known) == len(line) else None


def precondition_of(workload: str) -> Mapping[str, object] | None:
    """Return the precondition of a workload's drives, which the served machine applies too."""
    return cast("Mapping[str, object] | None", loads(workload, "question.workload").get("precondition"))


def _serving(served: Finished) -> Serving:
    return Serving.of(cast("dict[str, Any]", served.record)["serving"])


def _measured(
    line: Sequence[Plan],
    number: int,
    imported: Imported,
    served: Finished,
    of_client: Mapping[str, object],
    remarks: tuple[Sequence[str], Sequence[str]],
) -> Finished:
    """Return the client's record as that of an emulated machine. Its parts, their power and the emulation delay are
    counted over the whole time that the machine was served: the last run of a line has them. `remarks` are the
    reasons why the line is invalid, and the notes on the run's flushes."""
    plan, served_record = line[number], cast("dict[str, Any]", served.record)
    sections: dict[str, object] = {
        "name": f"{plan.client_run.spec.workload} on {plan.client_run.spec.machine}, emulated"
    }
    invalid, flushes = remarks
    notes = [f"{INVALID}: {reason}" for reason in invalid]
    if number == len(line) - 1:
        sections |= {name: served_record[name] for name in OF_SERVED if name in served_record}
        served_for = {"duration_ns": served_record["duration_ns"], "invalid": list(invalid)}
        sections["serving"] = {**served_record["serving"], **served_for}
        notes += lateness_lines(_serving(served))
    notes += flushes
    if len(line) > 1:
        sections["sequence"] = sequence_of([each.spec for each in line], number)
    sections |= of_client
    finished = finished_of(plan.client_run, imported, KIND_EMULATED, sections=sections, notes=tuple(notes))
    return replace(finished, spec=plan.spec)


def _saved(folder: Path, finished: Finished) -> Finished:
    """Save a record in its folder, and return it with the folder."""
    check_writable(folder)
    save(finished, folder)
    return replace(finished, spec=replace(finished.spec, out=folder))


def divided(pairs: Pairs, workload: str, machine: str, texts: tuple[str | None, str | None]) -> tuple[Pairs, Pairs]:
    """Split settings into those of the workload and those of the machine. `texts` are of the workload and of the
    machine, if they are files. Raises UserError for a key that neither has."""
    if not pairs:
        return (), ()
    with mistakes_of(machine):
        keys = _core.set_keys(CATALOG_DIR, workload, machine, workload_text=texts[0], machine_text=texts[1])
    of_workload = {RATE, *(key["key"] for key in keys if key["part"] == "workload")}
    return (
        tuple(pair for pair in pairs if pair[0] in of_workload),
        tuple(pair for pair in pairs if pair[0] not in of_workload),
    )
