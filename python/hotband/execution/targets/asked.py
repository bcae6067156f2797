"""What a run asks of a target that fio drives: the workload with its settings, as a job, and what it will do there."""

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
"""Stands in a job file for what is measured until it is known where that is."""


@dataclass(frozen=True)
class Asked:
    """A run as fio will ask for it: the workload's text with its settings, the job on `PLACE`, the state before."""

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
        """How long it takes, the warm-up included; None if I/Os are counted, not time."""
        if any(step.seconds is None for step in self.steps):
            return None
        return self.warm_up_s + sum(step.seconds or 0.0 for step in self.steps)

    @property
    def end_bytes(self) -> int:
        """The last byte that is asked for by its number; 0 if ranges are shares of the target."""
        ends = [stream.range[1] for step in self.steps for stream in step.streams]
        return max((int(end.value) for end in ends if not end.is_share), default=0)

    @property
    def largest_bytes(self) -> int:
        """The largest I/O."""
        return max(size for step in self.steps for stream in step.streams for size, _ in stream.sizes)

    @property
    def smallest_bytes(self) -> int:
        """The smallest I/O."""
        return min(size for step in self.steps for stream in step.streams for size, _ in stream.sizes)

    @property
    def compressed_pct(self) -> int:
        """How much of what is written goes away when it is compressed, as the first stream that writes says; where none
        writes, as the first says of what was written before."""
        streams = sorted(
            (stream for step in self.steps for stream in step.streams), key=lambda one: one.read_pct == 100
        )
        said = (self.entropy(stream) for stream in streams)
        return round(100 - 100 * next((mean for mean in said if mean is not None), 1.0))

    def entropy(self, stream: Stream) -> float | None:
        """The mean entropy of what a stream writes; None if nothing is said of it."""
        data = stream.table.get("data", loads(self.text, "question.workload").get("data"))
        if isinstance(data, Mapping):
            return float(data.get("mean", 1.0))
        return None if data is None else float(data)

    @property
    def differences(self) -> tuple[str, ...]:
        """What fio does otherwise than the workload says, a line each."""
        kept = LossReport("", "", dict.fromkeys(self.converted.losses))
        return tuple(f"fio: {line}" for line in shortest(kept.matters()))


def asked_of(spec: RunSpec) -> Asked:
    """What `spec` asks of fio. Raises UserError for what fio cannot say, and for a mistake in the workload or its
    settings."""
    named = text_named(spec.workload) if spec.workload_text is None else spec.workload_text
    # What fio cannot say at all is told first.
    converted_to(spec.workload, named, "fio", PLACE)
    state = dict(spec.set).get(STATE)
    of_workload = [pair for pair in spec.set if pair[0] != STATE]
    with mistakes_of(spec.machine):
        text = _core.workload(named, spec.workload, of_workload, spec.duration)["text"]
    converted = converted_to(spec.workload, text, "fio", PLACE)
    conversion = conversion_of(spec.workload, text, "fio")
    asked = Asked(spec, text, converted, tuple(conversion.streams), tuple(conversion.steps), conversion.warm_up, state)
    data = dict(spec.set).get("data")
    if data is not None and not asked.writes:
        raise UserError(
            "question.settings", "data", data, "is of what is written, and nothing is: expected a workload that writes"
        )
    return asked


def expect_real(asked: Asked) -> None:
    """Raises UserError for what only a model has: volumes, states of its own, what happens in virtual time."""
    from hotband.execution.targets.states import STATES

    spec, repair = asked.spec, asked.spec.repair
    if asked.state is not None and asked.state not in STATES:
        raise UserError("question.settings", STATE, asked.state, f"expected one of {', '.join(STATES)}")
    for one in asked.streams:
        if "volume" in one.table:
            accepted = "names a volume, which hardware has not: expected a workload on one address space"
            raise UserError(spec.workload, one.key("volume"), str(one.table["volume"]), accepted)
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
            raise UserError(option, "", "", "is for runs in virtual time: leave it out, or run on a machine's model")
