"""Runs whose I/Os fio issues: the job and its target, and what fio leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.importers.fio.importer import read
from hotband.data.importers.stages import in_turn
from hotband.data.inputs.convert import converted_to
from hotband.data.jobs.tables import conversion_of
from hotband.execution.targets.client_run import Amounts, ClientRun, Issued, Rate, named_text, text_and_state
from hotband.execution.targets.fio_child import Look, Status, run_fio
from hotband.execution.targets.fio_flushes import expect_connections, slots_as_jobs
from hotband.execution.targets.fio_job import NBD, job_at, job_on, on_volumes
from hotband.execution.targets.fio_record import measured_in
from hotband.execution.targets.fio_run import PLACE, FioRun, expect_expressible
from hotband.execution.targets.hosts import local
from hotband.execution.targets.outlook import amounts_of_steps
from hotband.execution.targets.way import way_of_fio

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.run import RunSpec
    from hotband.execution.devices.held import Held
    from hotband.execution.serve.served import ServedVolume, ServeSpec
    from hotband.execution.targets.real_target import RealTarget

GRACE_S = 60.0
"""Time beyond that of a run after which fio is taken to hang: opening, layout of its memory, last answers."""


@dataclass(frozen=True)
class FioClientRun(FioRun):
    """A run that fio issues; see `ClientRun`."""

    @property
    def model_text(self) -> str:
        """Return the text of the workload, whose run on a model predicts this run."""
        return self.text

    def expect_servable(self, _: ServeSpec) -> None:
        """Raise UserError if it needs more connections than a served machine accepts."""
        expect_connections(self.spec.workload, self.converted.text)

    def expect_on(self, target: RealTarget, hosts: Sequence[str]) -> None:
        """Accept every target; see `ClientRun`."""

    def amounts(self, rate: Callable[[ClientRun], Rate]) -> Amounts:
        """Return its length and writes; see `ClientRun`."""
        return amounts_of_steps(self, lambda: rate(self))

    def way_ns(self, folder: Path) -> int:
        """Return the minimum latency of fio's path to a served drive."""
        return way_of_fio(folder).least_ns

    def on_served(self, volumes: Mapping[str, ServedVolume], folder: Path, look: Look | None) -> Issued:
        """Run fio on a served machine; see `ClientRun`."""
        job = slots_as_jobs(job_on(self, NBD, on_volumes(volumes)))
        return self._issued(job, folder, run_fio(job, folder, look))

    def on_target(
        self, target: RealTarget, held: Held, folder: Path, look: Look | None, hosts: Sequence[str]
    ) -> Issued:
        """Run fio on a real target; see `ClientRun`."""
        job = job_at(self, target, with_hosts=bool(hosts))
        # fio's servers open a place by its path, as the record names it; fio here is given what is held.
        given = None if hosts else held
        job_here = job if given is None else job_at(self, target, opened=given.name)
        clients = [local(host, folder) for host in hosts]
        ending = self._ending(look, target)
        result = run_fio(job_here, folder, ending, clients, only_reads=not self.writes, held=given)
        return self._issued(job, folder, result)

    def _ending(self, look: Look | None, target: RealTarget) -> Look:
        """Return a callback that also ends fio if it hangs."""

        def looked(status: Status) -> None:
            if self.seconds and status.seconds > self.seconds + GRACE_S:
                accepted = f"has not ended {GRACE_S:.0f} s after its time: the target does not respond"
                raise UserError("fio", "", target.text, accepted)
            if look is not None:
                look(status)

        return looked

    def _issued(self, job: str, folder: Path, result: Path) -> Issued:
        def stages() -> list[RecordDoc]:
            return [record for imported in read([result]) for record in in_turn(imported.record, result)]

        return Issued(partial(measured_in, self, folder), stages, {"job": job})


def fio_run_of(spec: RunSpec) -> FioClientRun:
    """Return the run of `spec` through fio. Raises UserError for what fio cannot express, and for a mistake in the
    workload or its settings."""
    expect_expressible(spec.workload, named_text(spec))
    text, state = text_and_state(spec)
    converted = converted_to(spec.workload, text, "fio", PLACE)
    conversion = conversion_of(spec.workload, text, "fio")
    fio_run = FioClientRun(
        spec, text, converted, tuple(conversion.streams), tuple(conversion.steps), conversion.warm_up, state
    )
    data = dict(spec.set).get("data")
    if data is not None and not fio_run.writes:
        raise UserError(
            "question.settings",
            "data",
            data,
            "applies to written data, but nothing is written: expected a workload that writes",
        )
    return fio_run
