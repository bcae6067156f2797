"""A run whose I/Os a client on this computer issues on the wall clock: fio, or the replay of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.data.catalog.named import STATE
from hotband.data.inputs.convert import text_named

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.run import RunSpec
    from hotband.data.record.imported import Imported
    from hotband.execution.devices.held import Held
    from hotband.execution.serve.served import ServedVolume, ServeSpec
    from hotband.execution.targets.fio_child import Look
    from hotband.execution.targets.real_target import RealTarget

Rate = tuple[float | None, str]
"""I/Os per second that a closed loop will reach, None if they are unknown, and the source of the rate."""
Amounts = tuple[float | None, float | None, str]
"""Seconds of a run and bytes that it writes, None if unknown, and the source of the rate that they follow from."""


@dataclass(frozen=True)
class Issued:
    """Results of a run before they are read: its record with the series, and the records of its stages. `sections` are
    further parts of the record."""

    measured: Callable[[], Imported]
    stages: Callable[[], Sequence[RecordDoc]]
    sections: Mapping[str, object]


class ClientRun(Protocol):
    """A run for the wall clock: the workload's text with its settings, and the required state before it."""

    @property
    def spec(self) -> RunSpec: ...
    @property
    def text(self) -> str: ...
    @property
    def state(self) -> str | None: ...
    @property
    def model_text(self) -> str:
        """Return the text of the workload whose run on a model predicts this run."""

    @property
    def seconds(self) -> float | None:
        """Return its length with the warm-up; None if it is not known in advance."""

    @property
    def warm_up_s(self) -> float:
        """Return the seconds before the measured time begins."""

    @property
    def writes(self) -> bool:
        """Return whether anything is written or trimmed, the state before included."""

    @property
    def writes_itself(self) -> bool:
        """Return whether its own I/Os write anything."""

    @property
    def end_bytes(self) -> int:
        """Return the last byte that an absolute range reaches; 0 if ranges are shares of the target."""

    @property
    def largest_bytes(self) -> int:
        """Return the bytes of the largest I/O."""

    @property
    def smallest_bytes(self) -> int:
        """Return the bytes of the smallest I/O."""

    @property
    def flushes_aside(self) -> bool:
        """Return whether fio flushes while other I/Os are outstanding, and repeats the flush over a network."""

    @property
    def compressed_pct(self) -> int:
        """Return the percentage that compression saves on written data."""

    @property
    def differences(self) -> tuple[str, ...]:
        """Return the differences between this run and the workload, one per line."""

    @property
    def volumes(self) -> Mapping[str, str]:
        """Return the volumes that it names, by key of the workload."""

    def expect_servable(self, serve: ServeSpec) -> None:
        """Raise UserError if a served machine cannot take its I/Os."""

    def expect_on(self, target: RealTarget, hosts: Sequence[str]) -> None:
        """Raise UserError, before anything is written, if a real target cannot take its I/Os, or those hosts cannot
        issue them."""

    def amounts(self, rate: Callable[[ClientRun], Rate]) -> Amounts:
        """Return its length and writes; `rate` is called only if they depend on the speed of the target."""

    def way_ns(self, folder: Path) -> int:
        """Return the minimum latency of the path from its client to a served drive and back."""

    def on_served(self, volumes: Mapping[str, ServedVolume], folder: Path, look: Look | None) -> Issued:
        """Issue its I/Os on a served machine; see `run_fio` for `look`. Raises UserError, OSError."""

    def on_target(
        self,
        target: RealTarget,
        held: Held,
        folder: Path,
        look: Look | None,
        hosts: Sequence[str],
    ) -> Issued:
        """Issue its I/Os on a real target that is held, from other hosts if there are any. Raises UserError,
        OSError."""


def named_text(spec: RunSpec) -> str:
    """Return the text of the workload that a run names. Raises UserError."""
    return text_named(spec.workload) if spec.workload_text is None else spec.workload_text


def text_and_state(spec: RunSpec) -> tuple[str, str | None]:
    """Return the text of a workload with the settings of a run, and the state that the drive must have before. Raises
    UserError for a mistake in either."""
    of_workload = [pair for pair in spec.set if pair[0] != STATE]
    with mistakes_of(spec.machine):
        text = _core.workload(named_text(spec), spec.workload, of_workload, spec.duration)["text"]
    return text, dict(spec.set).get(STATE)
