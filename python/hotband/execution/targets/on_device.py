"""Runs on real hardware, through fio: an executor of the same points as models, with the same records."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.temporary import TemporaryFolder
from hotband.base.text import numbers
from hotband.data.catalog.named import NONE
from hotband.data.documents.record import KIND_REAL
from hotband.data.inputs.specify import Named
from hotband.execution.experiment.executor import Cancelled, Done, Progress, Tick
from hotband.execution.experiment.point import Point
from hotband.execution.targets.client_run import ClientRun, Issued
from hotband.execution.targets.fio_child import Look, Status, find_fio, has_engine
from hotband.execution.targets.fio_record import finished_of
from hotband.execution.targets.fio_run import FioRun, expect_real
from hotband.execution.targets.hosts import HostClock, clocks, not_known
from hotband.execution.targets.outlook import Outlook
from hotband.execution.targets.own_file import laid_out, size_for
from hotband.execution.targets.real_target import RealTarget
from hotband.execution.targets.replay_run import client_run_of
from hotband.execution.targets.watched import Watched, drive_state

if TYPE_CHECKING:
    from hotband.data.documents.record import ExpectedHereDoc, RecordDoc
    from hotband.data.record.finished import Finished
    from hotband.execution.devices.held import Held
    from hotband.execution.devices.safety import Permission

Shown = Callable[[float, float, str], None]
"""Receives the share of a run that is done, its I/Os so far, and its activity."""
Predict = Callable[
    ["Sequence[RecordDoc]", Named, RealTarget, "str | None", "Callable[[Progress], None] | None"],
    "tuple[ExpectedHereDoc | None, str]",
]
"""Receives the results, the workload, the target, the product and a progress callback; returns a prediction
beside it, and why there is none."""


@dataclass(frozen=True)
class Setup:
    """Settings of a measurement: hosts that issue I/Os instead of this one, bytes of the file in a folder (0: as the
    workload needs), whether it is kept, seconds between two readings of counters, a command that prints watts, and the
    product whose model `predict` uses (else the nearest; without `predict` there is no prediction)."""

    hosts: tuple[str, ...] = ()
    size_bytes: int = 0
    keep_file: bool = False
    counters_every_s: float = 10.0
    power_command: str | None = None
    product: str | None = None
    probe_s: float = 5.0
    purge_by: str | None = None
    predict: Predict | None = None


@dataclass
class OnDevice:
    """An `Executor` that runs points one after the other on a target.

    `permission` is what `hotband.execution.devices.safety` granted: without its `may_write` nothing is opened for
    writing, and a point that writes is refused. It is None for a file that we make, which gets its own once it
    exists. `say` receives sentences for the user; `confirm` receives the outlook before anything is written, and
    returns whether to go on. A file or device that is `held` already (`standing`) is not opened a second time. `kind`
    is that of the records' target.
    """

    target: RealTarget
    permission: Permission | None
    setup: Setup = Setup()
    say: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    confirm: Callable[[Outlook], bool] = field(default=lambda _: True, kw_only=True)
    held: Held | None = field(default=None, kw_only=True)
    kind: str = field(default=KIND_REAL, kw_only=True)
    _cancelled: threading.Event = field(default_factory=threading.Event, init=False)
    _clocks: list[HostClock] = field(default_factory=list, init=False)
    _holds: str = field(default="as found", init=False)

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """Run the points; see `Executor`. Raises Cancelled also if `confirm` declines."""
        self._cancelled.clear()
        client_runs = [self._checked(point) for point in points]
        if not client_runs:
            return
        target = self._sized(client_runs)
        self._expect_room(client_runs, target)
        for client_run in client_runs:
            client_run.expect_on(target, self.setup.hosts)
        # A state other than purged is written by fio.
        self.expect_ready(
            any(client_run.writes for client_run in client_runs),
            with_fio=any(isinstance(run, FioRun) or run.state not in (None, "purged") for run in client_runs),
        )
        with ExitStack() as stack:
            held = stack.enter_context(self._holding())
            self._say_outlook(client_runs, target, held)
            target, held = stack.enter_context(self._laid_out(client_runs, target, held, tick))
            if target.is_ours:
                self._holds = "filled"
            for number, (point, client_run) in enumerate(zip(points, client_runs, strict=True)):
                done(point, self._run(client_run, target, held, number, len(points), tick))
                tick(Progress((number + 1) / len(points), 0, number + 1, len(points)))

    def cancel(self) -> None:
        """Cancel the run; see `Executor`. fio ends within two seconds."""
        self._cancelled.set()

    @contextmanager
    def standing(
        self, seed: int, shown: Callable[[float], None], *, goes_on: bool = False, stays: bool = False
    ) -> Iterator[OnDevice]:
        """Hold one target for many calls of `execute`; a file of ours exists all the time and may be written. See
        `own_file.laid_out` for `shown`, `goes_on` and `stays`. Raises UserError, OSError."""
        if not self.target.is_ours:
            with self._holding() as held:
                yield replace(self, held=held)
            return
        size = size_for(self.target, self.setup.size_bytes, 0)
        with laid_out(self.target, size, seed, self.setup.keep_file, shown, goes_on=goes_on, stays=stays) as laid:
            target, held = laid
            made = replace(self, target=replace(target, is_ours=False), permission=held.permission, held=held)
            made._holds = "as left" if goes_on else "filled"
            yield made

    def _holding(self) -> AbstractContextManager[Held | None]:
        from hotband.execution.devices.held import held

        if self.held is not None or self.permission is None:
            return nullcontext(self.held)
        return held(self.permission)

    def expect_ready(self, writes: bool, *, with_fio: bool = True) -> None:
        """Raise UserError without fio and its engine if the runs need it, and for hosts that cannot be used."""
        if with_fio:
            find_fio()
            needed = {"nbd": "nbd", "rbd": "rbd"}.get(self.target.kind, "libaio")
            if not has_engine(needed):
                accepted = f"needs fio with its engine {needed}, which this fio was built without"
                raise UserError("question.on", "", self.target.text, accepted)
        if self.setup.hosts and (self.target.is_ours or (self.target.kind == "block" and writes)):
            what = "a folder" if self.target.is_ours else "a written device, which only this host checks"
            accepted = f"several hosts cannot share {what}: expected a file, NBD or RBD that all of them reach"
            raise UserError("question.hosts", "", self.target.text, accepted)
        self._clocks = clocks(self.setup.hosts)
        for clock in self._clocks:
            self.say(clock.line())

    # --- before ---------------------------------------------------------------------------------------------

    def _checked(self, point: Point) -> ClientRun:
        client_run = client_run_of(point.spec)
        expect_real(client_run)
        may_write = self.target.is_ours or (self.permission is not None and self.permission.may_write)
        if client_run.writes and not may_write:
            raise UserError("question.on", "", self.target.text, "is read-only here, and the workload writes to it")
        if client_run.smallest_bytes % self.target.block_bytes and self.target.kind == "block":
            accepted = (
                f"I/Os of {client_run.smallest_bytes} bytes: expected multiples of its block, {self.target.block_bytes}"
            )
            raise UserError("question.on", "", self.target.text, accepted)
        if client_run.flushes_aside and self.target.kind in ("nbd", "rbd"):
            accepted = (
                f"flushes during other I/Os, which fio's engine {self.target.kind} repeats in every free slot: "
                "expected one I/O at a time, or a block device (nbd-client, rbd map)"
            )
            raise UserError("question.on", "", self.target.text, accepted)
        return client_run

    def _sized(self, client_runs: Sequence[ClientRun]) -> RealTarget:
        """Return the target with its size, also for a file of ours. Raises UserError if there is no room."""
        if not self.target.is_ours:
            return self.target
        return self.target.sized(
            size_for(self.target, self.setup.size_bytes, max(client_run.end_bytes for client_run in client_runs))
        )

    @contextmanager
    def _laid_out(
        self, client_runs: Sequence[ClientRun], target: RealTarget, held: Held | None, tick: Tick
    ) -> Iterator[tuple[RealTarget, Held]]:
        """Hold the target for the block; a file of ours exists meanwhile."""
        if not target.is_ours:
            assert held is not None, "what is not made here was permitted, and is held"
            yield target, held
            return

        def shown(share: float) -> None:
            self._expect_to_go_on()
            tick(Progress(0.0, 0, 0, len(client_runs), f"laying out its file, {numbers.share(share)}"))

        with laid_out(target, target.size_bytes, client_runs[0].spec.seed, self.setup.keep_file, shown) as laid:
            yield laid

    def _expect_room(self, client_runs: Sequence[ClientRun], target: RealTarget) -> None:
        """Raise UserError if a workload goes beyond the end, or its I/Os are larger than the target."""
        for client_run in client_runs:
            least = max(client_run.end_bytes, client_run.largest_bytes)
            if target.kind != "rbd" and least > target.size_bytes:
                accepted = f"has {target.size_bytes:,} bytes, and {client_run.spec.workload} needs {least:,}"
                raise UserError("question.on", "", target.text, accepted)

    def _say_outlook(self, client_runs: Sequence[ClientRun], target: RealTarget, held: Held | None) -> None:
        from hotband.execution.targets.ahead import ahead

        outlook = ahead(client_runs, target, held, self.setup, self.say, self._expect_to_go_on)
        if target.is_ours:
            self.say(f"{target.path} is laid out first, {target.size_bytes:,} bytes, and measured")
        for line in [*outlook.lines(), *(self.permission.notes if self.permission else ())]:
            self.say(line)
        if outlook.writes and not self.confirm(outlook):
            raise Cancelled

    # --- a run ----------------------------------------------------------------------------------------------

    def _run(
        self, client_run: ClientRun, target: RealTarget, held: Held, number: int, total: int, tick: Tick
    ) -> Finished:
        """Run one point. Raises Cancelled, KeyboardInterrupt, UserError."""

        def shown(share: float, ios: float, phase: str) -> None:
            self._expect_to_go_on()
            tick(Progress((number + share) / total, round(ios), number, total, phase))

        sections: dict[str, object] = {}
        if client_run.state is not None:
            sections["state_kept"] = self._prepared(client_run, target, held, shown)
            self._holds = client_run.state
        with TemporaryFolder("fio") as folder:
            with Watched(target, self.setup) as watched:
                look = self._looking(client_run, watched, shown)
                issued = client_run.on_target(target, held, Path(folder), look, self.setup.hosts)
            imported = issued.measured()
            foretold, why_not = self._expected(client_run, issued, target, shown)
        sections |= {**issued.sections, **foretold, **watched.sections}
        sections["drive_state"] = drive_state(target, watched.context, self._holds)
        if client_run.writes_itself:
            self._holds = "as left"
        if self._clocks:
            sections["hosts"] = [clock.document() for clock in self._clocks]
        notes = (*watched.notes, *(clock.line() for clock in self._clocks), *not_known(self._clocks), *why_not)
        return finished_of(client_run, imported, self.kind, sections=sections, tables=watched.tables, notes=notes)

    def _looking(self, client_run: ClientRun, watched: Watched, shown: Shown) -> Look:
        """Return the callback that watches a run and reports its progress."""

        def look(status: Status) -> None:
            shown(status.share_of(client_run.seconds), status.ios, "measuring")
            watched.measuring(status.seconds - client_run.warm_up_s)

        return look

    def _expected(
        self, client_run: ClientRun, issued: Issued, target: RealTarget, shown: Shown
    ) -> tuple[dict[str, object], tuple[str, ...]]:
        """Return the section of the record with the prediction, and the reason if there is none."""
        if self.setup.product == NONE or self.setup.predict is None:
            return {}, ()
        workload = Named(client_run.spec.workload, client_run.model_text)
        records = issued.stages()
        if not records:
            return {}, ()
        prediction, why_not = self.setup.predict(
            records, workload, target, self.setup.product, lambda _: shown(1.0, 0.0, "predicting")
        )
        return {} if prediction is None else {"expected": prediction}, (why_not,) if why_not else ()

    def _prepared(
        self,
        client_run: ClientRun,
        target: RealTarget,
        held: Held,
        shown: Shown,
    ) -> object:
        """Bring the target into the required state; return the section of the record about it."""
        from hotband.execution.targets.states import STATES, Data, Step, prepare

        if not held.permission.may_write:
            raise UserError(
                "question.settings", "state", str(client_run.state), "requires a target that may be written"
            )

        def progress(step: Step) -> None:
            shown(0.0, 0.0, step.words())

        [state] = [known_state for known_state in STATES if known_state == client_run.state]
        data = Data(client_run.compressed_pct, seed=client_run.spec.seed)
        size, stop = target.size_bytes, self._cancelled.is_set
        by = self.setup.purge_by
        preparation = prepare(held, state, size_bytes=size, data=data, progress=progress, stop=stop, purge_by=by)
        return preparation.document()

    def _expect_to_go_on(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled
