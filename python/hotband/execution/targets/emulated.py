"""One workload on a machine twice: in virtual time, and through fio on the same machine as a served drive."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.errors import UserError
from hotband.base.text.tomltable import loads
from hotband.base.text.write import write_file
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.named import STATE, expect_model
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.convert import converted_to, text_named
from hotband.data.inputs.texts import text_of
from hotband.data.record.files import CLIENT, JOB_FILE, MODEL, SERVED
from hotband.data.record.finished import Finished
from hotband.data.record.imported import Imported
from hotband.data.record.writable import check_writable
from hotband.data.store.taken import taker_of
from hotband.execution.experiment import Progress
from hotband.execution.experiment.experiment import execute
from hotband.execution.runs.run import save
from hotband.execution.serve import Served, ServeSpec, Serving
from hotband.execution.serve.lateness import lateness_lines
from hotband.execution.targets.fio_child import find_fio, run_fio
from hotband.execution.targets.fio_job import NBD, job_on, on_volumes
from hotband.execution.targets.fio_record import finished_of, measured_in
from hotband.execution.targets.fio_run import PLACE, FioRun, fio_run_of
from hotband.execution.targets.outlook import in_words
from hotband.execution.targets.way import way_of_fio

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Emulated:
    """Results of a workload on a model and on the emulated drive.

    `model` is the run in virtual time; `fio` is what fio measured on the served drive, as a record; `served` is what
    the drive itself saw; `job` is the job file.
    """

    model: Finished
    fio: Finished
    served: Finished
    job: str
    losses: tuple[str, ...]


def emulate(
    spec: RunSpec,
    *,
    progress: Callable[[Progress], None] | None = None,
    say: Callable[[str], None] | None = None,
    anyway: bool = False,
) -> Emulated:
    """Run `spec` in virtual time and through fio on the served machine. Raises UserError for what fio cannot express,
    for a mistake in the workload or the machine, and for a machine faster than the host can serve, unless `anyway`."""
    expect_model(spec.machine, "what is emulated are")
    find_fio()
    if spec.out is not None:
        check_writable(spec.out)
    workload = text_named(spec.workload) if spec.workload_text is None else spec.workload_text
    machine = text_of(spec.machine, "machine") if spec.machine_text is None else spec.machine_text
    # What fio cannot say at all is told first; values are the engine's to check, which it does before it runs.
    converted_to(spec.workload, workload, "fio", PLACE)
    of_workload, of_machine = divided(spec.set, spec.workload, spec.machine, (workload, machine))
    state = tuple(pair for pair in of_workload if pair[0] == STATE)
    model_out = None if spec.out is None else spec.out / MODEL
    [model] = execute([replace(spec, out=model_out, in_use=True)], progress)
    fio_run = fio_run_of(replace(spec, set=tuple(of_workload), workload_text=workload))
    with tempfile.TemporaryDirectory(prefix="hotband-fio-") as folder:
        serve = ServeSpec(
            spec.machine,
            (*of_machine, *state),
            spec.seed,
            spec.events,
            out=None if spec.out is None else spec.out / SERVED,
            machine_text=machine,
            precondition=precondition_of(workload),
            in_use=True,
            anyway=anyway,
            way_ns=way_of_fio(Path(folder) / "way").least_ns,
        )
        with Served(serve) as served:
            job = job_on(fio_run, NBD, on_volumes(served.volumes))
            if say is not None:
                say(f"the same through fio on the served machine: {in_words(fio_run.seconds)}")
            run_fio(job, Path(folder), lambda _: _still_served(served))
        imported = measured_in(fio_run, Path(folder))
    assert served.finished is not None, "it has ended"
    measured = _told(replace(fio_run, spec=spec), imported, served.finished)
    if spec.out is not None:
        _save(spec.out, measured, job)
    what = f"the runs {spec.workload} on emulated:{spec.machine}"
    if (taker := taker_of(what)) is not None:
        for record in (model, measured):
            taker(what, record, {})
    return Emulated(model, measured, served.finished, job, fio_run.differences)


def precondition_of(workload: str) -> Mapping[str, object] | None:
    """Return the precondition of a workload's drives, which the served machine applies too."""
    return cast("Mapping[str, object] | None", loads(workload, "question.workload").get("precondition"))


def _still_served(served: Served) -> None:
    if served.is_stopped():
        raise UserError("question.events", "", "power-off", "power went off before fio ended: expected a later time")


def _told(fio_run: FioRun, imported: Imported, served: Finished) -> Finished:
    """Return fio's record as that of an emulated machine, with its parts and the emulation delay."""
    served_record = cast("dict[str, Any]", served.record)
    late = Serving.of(served_record["serving"])
    kept_sections = ("parts", "drive_state")
    sections: dict[str, object] = {name: served_record[name] for name in kept_sections if name in served_record}
    sections["serving"] = {**served_record["serving"], "duration_ns": served_record["duration_ns"]}
    sections["name"] = f"{fio_run.spec.workload} on {fio_run.spec.machine}, emulated"
    notes = (*lateness_lines(late), *([] if late.late is None else [late.late]))
    return finished_of(fio_run, imported, "emulated", sections=sections, notes=notes)


def _save(out: Path, measured: Finished, job: str) -> None:
    check_writable(out / CLIENT)
    write_file(out / JOB_FILE, job)
    save(measured, out / CLIENT)


def divided(pairs: Pairs, workload: str, machine: str, texts: tuple[str | None, str | None]) -> tuple[Pairs, Pairs]:
    """Split settings into those of the workload and those of the machine. `texts` are of the workload and of the
    machine, if they are files. Raises UserError for a key that neither has."""
    if not pairs:
        return (), ()
    with mistakes_of(machine):
        keys = _core.set_keys(CATALOG_DIR, workload, machine, workload_text=texts[0], machine_text=texts[1])
    of_workload = {key["key"] for key in keys if key["part"] == "workload"}
    return (
        tuple(pair for pair in pairs if pair[0] in of_workload),
        tuple(pair for pair in pairs if pair[0] not in of_workload),
    )
