"""An emulated machine under a test of many runs. It is served for the whole test, so that each run begins with the
state that the previous one left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from hotband.base.question import INVALID
from hotband.base.temporary import TemporaryFolder
from hotband.data.catalog.named import REAL
from hotband.data.documents.record import KIND_EMULATED, DriveStatesDoc, SummaryDoc
from hotband.data.documents.serving import Serving
from hotband.execution.experiment import Point, Tick, unwatched
from hotband.execution.experiment.executor import Done
from hotband.execution.serve.lateness import lateness_lines
from hotband.execution.serve.served import Served, ServeSpec
from hotband.execution.targets.fio_child import find_fio
from hotband.execution.targets.on_device import OnDevice, Setup
from hotband.execution.targets.target import executor_of
from hotband.execution.targets.validity import reasons
from hotband.execution.targets.way import way_of_fio


@dataclass
class OnServedMachine:
    """An `Executor` of runs through fio on one emulated machine with one volume, during the block of `standing`.

    When the block has ended, `invalid` has the reasons why the figures are not the drive's, `notes` has the emulation
    delay, and `drive_state` describes the drives as served.
    """

    serve: ServeSpec
    setup: Setup
    writes: bool
    invalid: tuple[str, ...] = field(default=(), init=False)
    notes: tuple[str, ...] = field(default=(), init=False)
    drive_state: DriveStatesDoc | None = field(default=None, init=False)
    device: OnDevice | None = field(default=None, init=False)
    _summaries: list[SummaryDoc] = field(default_factory=list, init=False)

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """Run the points; see `Executor`."""
        assert self.device is not None, "it is served for the whole test"

        def counted(point: Point, finished: Any) -> None:
            self._summaries.append(finished.record["summary"])
            done(point, finished)

        self.device.execute(points, counted, tick)

    def cancel(self) -> None:
        """Cancel the run; see `Executor`."""
        if self.device is not None:
            self.device.cancel()

    @contextmanager
    def standing(self) -> Iterator[OnServedMachine]:
        """Serve the machine during the block. Raises UserError, OSError."""
        find_fio()
        with TemporaryFolder("fio") as temporary:
            way_ns = way_of_fio(Path(temporary) / "way").least_ns
            with Served(replace(self.serve, way_ns=way_ns)) as served:
                [volume] = served.volumes.values()
                device = executor_of(f"{REAL}{volume.uri}", writes=self.writes, erase=self._erase(volume.uri))
                assert device is not None, "an address of NBD is one of hardware"
                with replace(device, setup=self.setup, kind=KIND_EMULATED).standing(self.serve.seed, unwatched) as held:
                    self.device = held
                    yield self
        assert served.finished is not None, "it has ended"
        record = cast("dict[str, Any]", served.finished.record)
        serving = Serving.of(record["serving"])
        self.drive_state = record.get("drive_state")
        self.invalid = tuple(f"{INVALID}: {reason}" for reason in reasons(None, self._summaries, serving))
        self.notes = tuple(lateness_lines(serving))

    def _erase(self, uri: str | None) -> str | None:
        """Return the text that permits writing: the drive is our own, and empty."""
        return uri if self.writes else None
