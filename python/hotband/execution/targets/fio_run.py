"""A run through fio: the workload with its settings as a job, and its I/Os on the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.tomltable import loads
from hotband.data.catalog.named import STATE
from hotband.data.inputs.convert import converted_to
from hotband.data.jobs.loss import LossReport, shortest
from hotband.data.jobs.tables import Step, Stream
from hotband.execution.programs import stand_in
from hotband.execution.targets.client_run import ClientRun

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.data.jobs.converted import Converted

PLACE = "/dev/MEASURED"
"""Placeholder for the measured target in a job file."""


@dataclass(frozen=True)
class FioRun:
    """A run for fio: the workload's text with its settings, the job on `PLACE`, the required state before it."""

    spec: RunSpec
    text: str
    converted: Converted
    streams: tuple[Stream, ...]
    steps: tuple[Step, ...]
    warm_up_s: float
    state: str | None

    @property
    def writes(self) -> bool:
        """Return whether anything is written or trimmed, the state before included."""
        return self.state is not None or self.writes_itself

    @property
    def writes_itself(self) -> bool:
        """Return whether its own I/Os write anything."""
        return any(stream.read_pct < 100 for step in self.steps for stream in step.streams)

    @property
    def seconds(self) -> float | None:
        """Return its length with the warm-up; None if it counts I/Os instead of time."""
        if any(step.seconds is None for step in self.steps):
            return None
        return self.warm_up_s + sum(step.seconds or 0.0 for step in self.steps)

    @property
    def end_bytes(self) -> int:
        """Return the last byte that an absolute range reaches; 0 if ranges are shares of the target."""
        ends = [stream.range[1] for step in self.steps for stream in step.streams]
        return max((int(end.value) for end in ends if not end.is_share), default=0)

    @property
    def largest_bytes(self) -> int:
        """Return the bytes of the largest I/O."""
        return max(size for step in self.steps for stream in step.streams for size, _ in stream.sizes)

    @property
    def smallest_bytes(self) -> int:
        """Return the bytes of the smallest I/O."""
        return min(size for step in self.steps for stream in step.streams for size, _ in stream.sizes)

    @property
    def flushes_aside(self) -> bool:
        """Return whether a stream flushes while other I/Os are outstanding."""
        sections = self.converted.text.split("\n[")
        flushing = [section for section in sections if "\nfsync=" in section]
        return any("\niodepth=1\n" not in section for section in flushing)

    @property
    def compressed_pct(self) -> int:
        """Return the percentage that compression saves on written data, for the first stream that writes; if none
        writes, for the first stream's data written before."""
        streams = sorted(
            (stream for step in self.steps for stream in step.streams), key=lambda stream_: stream_.read_pct == 100
        )
        entropies = (self.entropy(stream) for stream in streams)
        return round(100 - 100 * next((mean for mean in entropies if mean is not None), 1.0))

    def entropy(self, stream: Stream) -> float | None:
        """Return the mean entropy of a stream's writes; None if it is not set."""
        data = stream.table.get("data", loads(self.text, "question.workload").get("data"))
        if isinstance(data, Mapping):
            return float(data.get("mean", 1.0))
        return None if data is None else float(data)

    @property
    def differences(self) -> tuple[str, ...]:
        """Return the differences between fio's run and the workload, one per line."""
        report = LossReport("", "", dict.fromkeys(self.converted.losses))
        return tuple(f"fio: {line}" for line in shortest(report.matters()))

    @property
    def volumes(self) -> Mapping[str, str]:
        """Return the volumes that its streams name, by key."""
        return {
            stream.key("volume"): str(stream.table["volume"]) for stream in self.streams if "volume" in stream.table
        }


def expect_expressible(workload: str, text: str) -> None:
    """Raise UserError for a workload that fio cannot express, with the program that stands for it."""
    try:
        converted_to(workload, text, "fio", PLACE)
    except UserError as error:
        if error.key in ("app", "scripts"):
            program = stand_in(workload)
            instead = (
                f"on a folder or an emulated machine {program} replaces it"
                if program
                else ("hotband program lists programs for a folder or an emulated machine")
            )
        else:
            raise
        raise UserError(error.where, error.key, error.value, f"{error.accepted}; {instead}") from None


def expect_real(client_run: ClientRun) -> None:
    """Raise UserError for features of models only: volumes, states, events in virtual time."""
    from hotband.execution.targets.states import STATES

    spec = client_run.spec
    if client_run.state is not None and client_run.state not in STATES:
        raise UserError("question.settings", STATE, client_run.state, f"expected one of {', '.join(STATES)}")
    for key, volume in client_run.volumes.items():
        accepted = "names a volume, which hardware does not have: expected a workload on one address space"
        raise UserError(spec.workload, key, volume, accepted)
    expect_wall_clock(spec)


SERVED_ALSO = ("io_log", "events")
"""Fields of a run that a served machine accepts and hardware does not."""
_INSTEAD = {
    "precision": "runs on the wall clock last as long as the workload states (question.duration)",
    "io_log": "run on the model or on emulated:MACHINE, or trace hardware by blktrace",
    "events": "remove it, or run on the model or on emulated:MACHINE",
    "power_loss": "remove it, or run on the model; hotband serve takes the event 'at 30 s: power-off'",
    "fail": "on emulated:MACHINE expected question.events 'at 60 s: fail d3'; hardware has no events",
    "spares": "remove it, or run on the model",
    "rebuild_rate": "remove it, or run on the model",
    "rebuild_after": "remove it, or run on the model",
}
"""What to do instead of what only virtual time has, by the field of the question."""


def expect_wall_clock(spec: RunSpec, also: Sequence[str] = ()) -> None:
    """Raise UserError for features that only runs in virtual time have; `also` are those that the target has, too."""
    repair = spec.repair
    given = {"fail": repair.fail, "spares": repair.spares, "rebuild_rate": repair.rate, "rebuild_after": repair.after}
    given |= {name: getattr(spec, name) for name in ("precision", "io_log", "events", "power_loss")}
    for name, instead in _INSTEAD.items():
        if given[name] and name not in also:
            shown = str(given[name]) if isinstance(given[name], str) else ""
            raise UserError(f"question.{name}", "", shown, f"is for runs in virtual time: {instead}")
