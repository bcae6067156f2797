"""Runs on real hardware, through fio: an executor of the same points that models run, which leaves the same records."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text import numbers
from hotband.data.catalog.named import NONE
from hotband.data.importers.fio.importer import read
from hotband.data.importers.stages import in_turn
from hotband.data.inputs.specify import Named
from hotband.execution.experiment.executor import Cancelled, Done, Progress, Tick
from hotband.execution.experiment.point import Point
from hotband.execution.targets.asked import Asked, asked_of, expect_real
from hotband.execution.targets.fio_child import Status, find_fio, has_engine, run_fio
from hotband.execution.targets.fio_job import job_at
from hotband.execution.targets.fio_record import finished_of, measured_in
from hotband.execution.targets.hosts import HostClock, clocks, local, not_known
from hotband.execution.targets.outlook import Outlook
from hotband.execution.targets.own_file import laid_out, size_for
from hotband.execution.targets.place import Place
from hotband.execution.targets.watched import Watched, drive_state

if TYPE_CHECKING:
    from hotband.data.documents.record import ExpectedHereDoc, RecordDoc
    from hotband.data.record.finished import Finished
    from hotband.execution.devices.held import Held
    from hotband.execution.devices.safety import Permission

Shown = Callable[[float, float, str], None]
"""Takes the share of a run that is done, its I/Os so far, and what it does."""
Predict = Callable[
    ["Sequence[RecordDoc]", Named, Place, "str | None", "Callable[[Progress], None] | None"],
    "tuple[ExpectedHereDoc | None, str]",
]
"""Takes what was measured, the workload, where it was measured, the product and who is told the progress; a prediction
beside it, and why there is none."""
# Seconds beyond those that a run asks for until fio is taken to hang: opening, layout of its memory, last answers.
GRACE_S = 60.0


@dataclass(frozen=True)
class How:
    """How a place is measured: hosts that ask instead of this one (none: this one), bytes of a file that we make (0: as
    the workload needs), whether that is kept, seconds between two readings of counters, a command that prints watts,
    and the product by whose model `predict` predicts it (else by the nearest; without `predict` nothing is)."""

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
    """An `Executor` that runs points one after the other on a place.

    `permission` is what `hotband.execution.devices.safety` granted: without its `may_write` nothing is opened for
    writing, and a point that writes is refused. It is None for a file that we make, which gets its own once it is
    there. `say` takes sentences for the user; `confirm` what is ahead, before anything is written, and says whether to
    go on. A file or device that is `held` already (`standing`) is not opened a second time.
    """

    place: Place
    permission: Permission | None
    how: How = How()
    say: Callable[[str], None] = field(default=lambda _: None, kw_only=True)
    confirm: Callable[[Outlook], bool] = field(default=lambda _: True, kw_only=True)
    held: Held | None = field(default=None, kw_only=True)
    _cancelled: threading.Event = field(default_factory=threading.Event, init=False)
    _clocks: list[HostClock] = field(default_factory=list, init=False)
    _holds: str = field(default="as found", init=False)

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """See `Executor`. Raises Cancelled, too, where `confirm` says no."""
        self._cancelled.clear()
        asked = [self._checked(point) for point in points]
        if not asked:
            return
        self.expect_ready(any(one.writes for one in asked))
        with ExitStack() as stack:
            held = stack.enter_context(self._holding())
            place = self._sized(asked)
            self._expect_room(asked, place)
            self._say_outlook(asked, place, held)
            place, held = stack.enter_context(self._laid_out(asked, place, held, tick))
            if place.is_ours:
                self._holds = "filled"
            for number, (point, one) in enumerate(zip(points, asked, strict=True)):
                done(point, self._run(one, place, held, number, len(points), tick))
                tick(Progress((number + 1) / len(points), 0, number + 1, len(points)))

    def cancel(self) -> None:
        """See `Executor`: fio is ended within two seconds."""
        self._cancelled.set()

    @contextmanager
    def standing(
        self, seed: int, shown: Callable[[float], None], *, goes_on: bool = False, stays: bool = False
    ) -> Iterator[OnDevice]:
        """The same for many calls of `execute` on one place: it is held all the time, and a file of ours is there all
        the time, too, and may be written. See `own_file.laid_out` for `shown`, `goes_on` and `stays`. Raises UserError,
        OSError."""
        if not self.place.is_ours:
            with self._holding() as held:
                yield replace(self, held=held)
            return
        size = size_for(self.place, self.how.size_bytes, 0)
        with laid_out(self.place, size, seed, self.how.keep_file, shown, goes_on=goes_on, stays=stays) as laid:
            place, held = laid
            made = replace(self, place=replace(place, is_ours=False), permission=held.permission, held=held)
            made._holds = "as left" if goes_on else "filled"
            yield made

    def _holding(self) -> AbstractContextManager[Held | None]:
        from hotband.execution.devices.held import held

        if self.held is not None or self.permission is None:
            return nullcontext(self.held)
        return held(self.permission)

    def expect_ready(self, writes: bool) -> None:
        """Raises UserError without fio and its engine, and for hosts that cannot be asked."""
        find_fio()
        needed = {"nbd": "nbd", "rbd": "rbd"}.get(self.place.kind, "libaio")
        if not has_engine(needed):
            accepted = f"needs fio with its engine {needed}, which this fio was built without"
            raise UserError("question.on", "", self.place.text, accepted)
        if self.how.hosts and (self.place.is_ours or (self.place.kind == "block" and writes)):
            what = "a folder" if self.place.is_ours else "a device that is written, which is looked at here alone"
            accepted = f"several hosts are not asked on {what}: expected a file, NBD or RBD that all of them reach"
            raise UserError("question.hosts", "", self.place.text, accepted)
        self._clocks = clocks(self.how.hosts)
        for clock in self._clocks:
            self.say(clock.line())

    # --- before ---------------------------------------------------------------------------------------------

    def _checked(self, point: Point) -> Asked:
        asked = asked_of(point.spec)
        expect_real(asked)
        may_write = self.place.is_ours or (self.permission is not None and self.permission.may_write)
        if asked.writes and not may_write:
            raise UserError("question.on", "", self.place.text, "may only be read here, and the workload writes to it")
        if asked.smallest_bytes % self.place.block_bytes and self.place.kind == "block":
            accepted = (
                f"I/Os of {asked.smallest_bytes} bytes: expected multiples of its block, {self.place.block_bytes}"
            )
            raise UserError("question.on", "", self.place.text, accepted)
        return asked

    def _sized(self, asked: Sequence[Asked]) -> Place:
        """The place with its size, of a file of ours, too. Raises UserError if there is no room."""
        if not self.place.is_ours:
            return self.place
        return self.place.sized(size_for(self.place, self.how.size_bytes, max(one.end_bytes for one in asked)))

    @contextmanager
    def _laid_out(
        self, asked: Sequence[Asked], place: Place, held: Held | None, tick: Tick
    ) -> Iterator[tuple[Place, Held]]:
        """The place as it is measured, held; a file of ours is there for the time of the block."""
        if not place.is_ours:
            assert held is not None, "what is not made here was permitted, and is held"
            yield place, held
            return

        def shown(share: float) -> None:
            self._expect_to_go_on()
            tick(Progress(0.0, 0, 0, len(asked), f"laying out its file, {numbers.share(share)}"))

        with laid_out(place, place.size_bytes, asked[0].spec.seed, self.how.keep_file, shown) as laid:
            yield laid

    def _expect_room(self, asked: Sequence[Asked], place: Place) -> None:
        """Raises UserError if a workload goes beyond the end, or its I/Os are larger than the place."""
        for one in asked:
            least = max(one.end_bytes, one.largest_bytes)
            if place.kind != "rbd" and least > place.size_bytes:
                accepted = f"has {place.size_bytes:,} bytes, and {one.spec.workload} needs {least:,}"
                raise UserError("question.on", "", place.text, accepted)

    def _say_outlook(self, asked: Sequence[Asked], place: Place, held: Held | None) -> None:
        from hotband.execution.targets.ahead import ahead

        found = ahead(asked, place, held, self.how, self.say, self._expect_to_go_on)
        if place.is_ours:
            self.say(f"{place.path} is laid out first, {place.size_bytes:,} bytes, and measured")
        for line in [*found.lines(), *(self.permission.notes if self.permission else ())]:
            self.say(line)
        if found.writes and not self.confirm(found):
            raise Cancelled

    # --- a run ----------------------------------------------------------------------------------------------

    def _run(self, asked: Asked, place: Place, held: Held, number: int, of: int, tick: Tick) -> Finished:
        """One run. Raises Cancelled, KeyboardInterrupt, UserError."""

        def shown(share: float, ios: float, phase: str) -> None:
            self._expect_to_go_on()
            tick(Progress((number + share) / of, round(ios), number, of, phase))

        sections: dict[str, object] = {}
        if asked.state is not None:
            sections["state_kept"] = self._prepared(asked, place, held, shown)
            self._holds = asked.state
        job = job_at(asked, place, with_hosts=bool(self.how.hosts))
        # fio's servers open a place by its path, as the record names it; fio here is given what is held.
        given = None if self.how.hosts else held
        job_here = job if given is None else job_at(asked, place, opened=given.name)
        with tempfile.TemporaryDirectory(prefix="hotband-fio-") as folder:
            with Watched(place, self.how) as watched:
                look = self._looking(asked, watched, shown)
                clients = [local(host, Path(folder)) for host in self.how.hosts]
                result = run_fio(job_here, Path(folder), look, clients, only_reads=not asked.writes, held=given)
            imported = measured_in(asked, Path(folder))
            foretold, why_not = self._expected(asked, result, place, shown)
        sections |= foretold | watched.sections
        sections["drive_state"] = drive_state(place, watched.context, self._holds)
        if asked.writes_itself:
            self._holds = "as left"
        sections["job"] = job
        if self._clocks:
            sections["hosts"] = [clock.document() for clock in self._clocks]
        notes = (*watched.notes, *(clock.line() for clock in self._clocks), *not_known(self._clocks), *why_not)
        return finished_of(asked, imported, "real", sections=sections, tables=watched.tables, notes=notes)

    def _looking(self, asked: Asked, watched: Watched, shown: Shown) -> Callable[[Status], None]:
        """What looks at fio while it runs: tells how far it is, and ends it where it hangs."""
        expected = asked.seconds

        def look(status: Status) -> None:
            share = status.share if status.share is not None else 0.0
            if expected:
                share = max(share, min(status.seconds / expected, 0.99))
                if status.seconds > expected + GRACE_S:
                    accepted = f"is not done {GRACE_S:.0f} s after its time: the target does not answer"
                    raise UserError("fio", "", self.place.text, accepted)
            shown(share, (status.iops or 0.0) * status.seconds, "measuring")
            watched.measuring(status.seconds - asked.warm_up_s)

        return look

    def _expected(
        self, asked: Asked, result: Path, place: Place, shown: Shown
    ) -> tuple[dict[str, object], tuple[str, ...]]:
        """The section of the record with the prediction beside it, and why there is none."""
        if self.how.product == NONE or self.how.predict is None:
            return {}, ()
        workload = Named(asked.spec.workload, asked.text)
        records = [one for imported in read([result]) for one in in_turn(imported.record, result)]
        found, why_not = self.how.predict(
            records, workload, place, self.how.product, lambda _: shown(1.0, 0.0, "predicting")
        )
        return {} if found is None else {"expected": found}, (why_not,) if why_not else ()

    def _prepared(
        self,
        asked: Asked,
        place: Place,
        held: Held,
        shown: Shown,
    ) -> object:
        """Brings the place into the state that is asked for; the section of the record that says how."""
        from hotband.execution.targets.states import STATES, Data, Step, prepare

        if not held.permission.may_write:
            raise UserError("question.settings", "state", str(asked.state), "is for a place that may be written")

        def progress(step: Step) -> None:
            shown(0.0, 0.0, step.words())

        [state] = [one for one in STATES if one == asked.state]
        data = Data(asked.compressed_pct, seed=asked.spec.seed)
        size, stop = place.size_bytes, self._cancelled.is_set
        by = self.how.purge_by
        kept = prepare(held, state, size_bytes=size, data=data, progress=progress, stop=stop, purge_by=by)
        return kept.document()

    def _expect_to_go_on(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled
