"""One workload on a machine twice: in virtual time, and through fio on the same machine as a served drive."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hotband.errors import UserError
from hotband.jobs.loss import LossReport, shortest
from hotband.runs.run import Finished, RunSpec, check_writable, execute, text_of
from hotband.serve import Served, ServeSpec, Serving
from hotband.serve.show import lateness_lines
from hotband.targets.fio_child import find_fio, run_fio
from hotband.targets.settings import applied, divided
from hotband.targets.way import way_of_fio

if TYPE_CHECKING:
    from hotband.experiment import Progress
    from hotband.importers.imported import Imported
    from hotband.jobs.converted import Converted
    from hotband.record.document import RecordDoc

# What stands for the served drive in a job file until it is known where that is.
PLACE = "/dev/SERVED"


@dataclass(frozen=True)
class Emulated:
    """A workload on a model and on the emulated drive.

    `model` is the run in virtual time; `fio` is what fio measured on the served drive, as a record; `served` is what
    the drive itself saw; `job` is the job file.
    """

    model: Finished
    fio: Imported
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
    """Runs `spec` in virtual time and through fio on the served machine. Raises UserError for what fio cannot say, for
    what is wrong with the workload or the machine, and for one that is faster than the host can serve, unless
    `anyway`."""
    from hotband.importers.fio.importer import read
    from hotband.jobs.convert import converted_to, text_named

    find_fio()
    if spec.out is not None:
        check_writable(spec.out)
    workload = text_named(spec.workload) if spec.workload_text is None else spec.workload_text
    machine = text_of(spec.machine, "machine") if spec.machine_text is None else spec.machine_text
    # What fio cannot say at all is told first; values are the engine's to check, which it does before it runs.
    converted_to(spec.workload, workload, "fio", PLACE)
    of_workload, of_machine = divided(spec.set, spec.workload, spec.machine, (workload, machine))
    state = tuple(pair for pair in of_workload if pair[0] == "state")
    asked = tuple(pair for pair in of_workload if pair[0] != "state")
    model_out = None if spec.out is None else spec.out / "model"
    [model] = execute([replace(spec, out=model_out, in_use=True)], progress)
    text = applied(workload, asked, spec.duration)
    converted = converted_to(spec.workload, text, "fio", PLACE)
    with tempfile.TemporaryDirectory(prefix="hotband-fio-") as folder:
        serve = ServeSpec(
            spec.machine,
            (*of_machine, *state),
            spec.seed,
            spec.events,
            out=None if spec.out is None else spec.out / "served",
            machine_text=machine,
            precondition=precondition_of(workload),
            in_use=True,
            anyway=anyway,
            way_ns=way_of_fio(Path(folder) / "way"),
        )
        with Served(serve) as served:
            job = job_on(converted.text, served)
            seconds = seconds_of(text)
            if say is not None:
                say(f"the same through fio on the served machine: about {seconds:.0f} s")
            result = run_fio(job, Path(folder), lambda: _still_served(served))
        [imported] = read([result])
    assert served.finished is not None, "it has ended"
    imported = _told(imported, spec, served.finished)
    if spec.out is not None:
        _save(spec.out, imported, job)
    return Emulated(model, imported, served.finished, job, tuple(differences(converted)))


def differences(converted: Converted) -> list[str]:
    """What fio does otherwise than the workload says."""
    kept = LossReport("", "", dict.fromkeys(converted.losses))
    return [f"fio: {line}" for line in shortest(kept.matters())]


def precondition_of(workload: str) -> Mapping[str, object] | None:
    """What a workload's drives hold before it, which the served machine holds, too."""
    return tomllib.loads(workload).get("precondition")


def job_on(text: str, served: Served) -> str:
    """A job file whose targets are volumes of a served machine, reached by fio's engine for NBD."""
    volumes = served.volumes
    lines = []
    for line in text.splitlines():
        if line == "ioengine=libaio":
            # Latencies of this engine are whole only from submission to completion (its completion times leave out
            # what it waits in its own submission).
            lines += ["ioengine=nbd", "lat_percentiles=1", "clat_percentiles=0", "thread=1"]
        elif line.startswith(f"filename={PLACE}"):
            name = line.removeprefix(f"filename={PLACE}").removeprefix("-")
            volume = volumes[name] if name in volumes else next(iter(volumes.values()))
            lines.append(f"uri={volume.uri}")
        elif line != "direct=1":
            lines.append(line)
    return "\n".join(lines) + "\n"


def seconds_of(text: str) -> float:
    """How long a workload takes, warm-up included, where its phases say it in time."""
    from hotband.text.quantities import span_ns

    phases = tomllib.loads(text).get("phases", [])
    return sum((span_ns(str(phase.get("duration", "0 s"))) or 0.0) / 1e9 for phase in phases)


def _still_served(served: Served) -> None:
    if served.is_stopped():
        raise UserError("--event", "", "power-off", "power went off before fio was done: expected a later time")


def _told(imported: Imported, spec: RunSpec, served: Finished) -> Imported:
    """fio's record as that of an emulated machine: with its parts, and how late answers were."""
    record = dict(cast("dict[str, Any]", imported.record))
    own = cast("dict[str, Any]", served.record)
    record["target"] = {"kind": "emulated", "machine": spec.machine}
    record["name"] = f"{spec.workload} on {spec.machine}, emulated"
    record["parts"] = own["parts"]
    record["serving"] = own["serving"]
    record["seed"] = str(spec.seed)
    if "drive_state" in own:
        record["drive_state"] = own["drive_state"]
    # What fio's engine says when it connects is no result.
    notes = [note for note in record["notes"] if not note.startswith("text before the JSON")]
    late = Serving.of(own["serving"])
    record["notes"] = [*notes, *lateness_lines(late), *([] if late.late is None else [late.late])]
    return imported._replace(record=cast("RecordDoc", record))


def _save(out: Path, imported: Imported, job: str) -> None:
    from hotband.record.files import save_imported
    from hotband.text.write import write_file

    write_file(out / "job.fio", job)
    save_imported(out, [imported])
