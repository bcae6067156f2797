"""A run through fio: the workload with its settings as a job, and its I/Os on the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.errors import UserError
from hotband.base.text.tomltable import loads
from hotband.data.catalog.named import STATE
from hotband.data.inputs.convert import converted_to, text_named
from hotband.data.jobs.loss import LossReport, shortest
from hotband.data.jobs.tables import Step, Stream, conversion_of

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


def fio_run_of(spec: RunSpec) -> FioRun:
    """Return the run of `spec` through fio. Raises UserError for what fio cannot express, and for a mistake in the
    workload or its settings."""
    named = text_named(spec.workload) if spec.workload_text is None else spec.workload_text
    # First report what fio cannot express at all.
    converted_to(spec.workload, named, "fio", PLACE)
    state = dict(spec.set).get(STATE)
    of_workload = [pair for pair in spec.set if pair[0] != STATE]
    with mistakes_of(spec.machine):
        text = _core.workload(named, spec.workload, of_workload, spec.duration)["text"]
    converted = converted_to(spec.workload, text, "fio", PLACE)
    conversion = conversion_of(spec.workload, text, "fio")
    fio_run = FioRun(
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


def expect_real(fio_run: FioRun) -> None:
    """Raise UserError for features of models only: volumes, states, events in virtual time."""
    from hotband.execution.targets.states import STATES

    spec, repair = fio_run.spec, fio_run.spec.repair
    if fio_run.state is not None and fio_run.state not in STATES:
        raise UserError("question.settings", STATE, fio_run.state, f"expected one of {', '.join(STATES)}")
    for stream in fio_run.streams:
        if "volume" in stream.table:
            accepted = "names a volume, which hardware does not have: expected a workload on one address space"
            raise UserError(spec.workload, stream.key("volume"), str(stream.table["volume"]), accepted)
    given = {
        "question.io_log": spec.io_log,
        "question.power_loss": spec.power_loss,
        "question.fail": repair.fail,
        "question.spares": repair.spares,
        "question.rebuild_rate": repair.rate,
        "question.rebuild_after": repair.after,
        "question.events": spec.events,
    }
    for option, value in given.items():
        if value:
            raise UserError(option, "", "", "is for runs in virtual time: remove it, or run on a machine's model")
