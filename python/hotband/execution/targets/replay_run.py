"""A trace as a run on the wall clock: its I/Os where and when a replay on a model has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import hotband._core as _core
from hotband.base.errors import UserError, reason_of
from hotband.base.heavy import np
from hotband.base.text.quantities import span_ns
from hotband.base.text.tomltable import loads
from hotband.data.traces.files import rows_of
from hotband.data.traces.io_log import FUA, STREAM, UNKNOWN
from hotband.data.traces.rows import head_of, mapped_rows, tail_of
from hotband.execution.replay.loop import Io, Times, issue
from hotband.execution.replay.ports import (
    FLUSH,
    LARGEST,
    LARGEST_TRIM,
    MOST_OUTSTANDING,
    READ,
    TRIM,
    UNIT,
    WRITE,
    NbdPort,
    aio_port,
    random_data,
)
from hotband.execution.replay.schedule import AfterCompletion, Fast, Recorded, Schedule
from hotband.execution.runs.run import prepare
from hotband.execution.serve.served import nbd_uri
from hotband.execution.serve.speed import socket_in
from hotband.execution.targets.client_run import Amounts, ClientRun, Issued, Rate, named_text, text_and_state
from hotband.execution.targets.fio_child import Look, Status
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_job import INTERVAL_NS
from hotband.execution.targets.remote import connected
from hotband.execution.targets.replay_record import Recording, imported_of_replay, replayed_of, sections_of
from hotband.execution.targets.way import DRIVE_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.data.documents.run import RunSpec
    from hotband.execution.devices.held import Held
    from hotband.execution.replay.ports import Data, Port
    from hotband.execution.serve.served import ServedVolume, ServeSpec
    from hotband.execution.targets.real_target import RealTarget
    from hotband.execution.targets.remote import Export

ALONE = "expected a workload with one [trace] and nothing else that issues I/Os, or a model"
RECORDED, AFTER_COMPLETION, FAST = "recorded", "after-completion", "as-fast-as-possible"
MOST_IOS = 5_000_000
"""I/Os of a replay. Each takes 200 B of memory, with after-completion 390 B: 1 or 2 GB."""
WAY_IOS = 500
"""I/Os by which the path to a served drive is measured."""


@dataclass(frozen=True)
class Volume:
    """A target of I/Os: its name, bytes, and logical block."""

    name: str
    size: int
    block: int


@lru_cache(maxsize=8)
def _recording_of(path: Path) -> Recording:
    """Return the contents of a file of rows. The rows stay in the file, which all runs of a sweep share."""
    head = head_of(path)
    unmeasured = head["unmeasured"] if head["unmeasured"] < head["ios"] else 0
    names = tuple(stream["name"] for stream in head["streams"])
    devices = tuple(stream.get("volume") for stream in head["streams"])
    return Recording(mapped_rows(path, head["ios"]), names, devices, unmeasured, tail_of(path))


@dataclass(frozen=True)
class ReplayRun:
    """A run that replays a trace; see `ClientRun`. `table` is the section `[trace]` of its text with the settings, and
    `rows` is the file of the selected I/Os."""

    spec: RunSpec
    text: str
    state: str | None
    table: Mapping[str, Any]
    rows: Path

    @property
    def recording(self) -> Recording:
        """Return the selected I/Os of the trace."""
        return _recording_of(self.rows)

    @property
    def issue(self) -> str:
        """Return when I/Os are issued: a value of the key `issue`."""
        return str(self.table.get("issue", RECORDED))

    @property
    def speed(self) -> float:
        return float(self.table.get("speed", 1.0))

    @property
    def ops(self) -> NDArray[np.uint8]:
        """Return the operation of each I/O."""
        return self.recording.ops

    @property
    def _sizes(self) -> NDArray[np.uint64]:
        sizes: NDArray[np.uint64] = self.recording.rows[self.ops != FLUSH, 4]
        return sizes

    @property
    def duration_ns(self) -> int | None:
        """Return the length of the measured part, if the user limits it."""
        return None if self.spec.duration is None else round(span_ns(self.spec.duration) or 0)

    @property
    def model_text(self) -> str:
        """Return the text of the replay on a model, which ends as this one does."""
        ends = (
            "" if self.spec.duration is None else f'\n[[phases]]\nmeasure = true\nduration = "{self.spec.duration}"\n'
        )
        return f"{self.text}{ends}"

    # --- what a run states before it begins (`ClientRun`) -------------------------------------------------------------

    @property
    def seconds(self) -> float | None:
        if self.issue != RECORDED:
            return None
        last = int(self.recording.rows[-1, 0]) / self.speed / 1e9
        return last if self.duration_ns is None else min(last, self.warm_up_s + self.duration_ns / 1e9)

    @property
    def warm_up_s(self) -> float:
        first = self.recording.unmeasured
        return int(self.recording.rows[first, 0]) / self.speed / 1e9 if first and self.issue == RECORDED else 0.0

    @property
    def writes(self) -> bool:
        return self.state is not None or self.writes_itself

    @property
    def writes_itself(self) -> bool:
        return bool(np.isin(self.ops, (WRITE, TRIM)).any())

    @property
    def end_bytes(self) -> int:
        if self.table.get("beyond", "refuse") != "refuse":
            return 0
        rows = self.recording.rows[self.ops != FLUSH]
        return int((rows[:, 3] + rows[:, 4]).max(initial=0))

    @property
    def largest_bytes(self) -> int:
        return int(self._sizes.max(initial=0))

    @property
    def smallest_bytes(self) -> int:
        return int(self._sizes.min(initial=self.largest_bytes))

    @property
    def flushes_aside(self) -> bool:
        return False

    @property
    def compressed_pct(self) -> int:
        return 0

    @property
    def differences(self) -> tuple[str, ...]:
        is_set = "data" in loads(self.text, "question.workload")
        line = "replay: entropy is ignored: written data does not compress"
        return (line,) if is_set and (self.ops == WRITE).any() else ()

    @property
    def volumes(self) -> Mapping[str, str]:
        devices = {name: f"trace.map.{device}" for device, name in self.table.get("map", {}).items()}
        named = {"trace.volume": str(self.table["volume"])} if "volume" in self.table else {}
        return named | {key: name for name, key in devices.items()}

    def amounts(self, _: Callable[[ClientRun], Rate]) -> Amounts:
        has_trims = bool((self.ops == TRIM).any())
        written = int(self.recording.rows[np.isin(self.ops, (WRITE, TRIM)), 4].sum())
        return self.seconds, float(written), "sum of the trace's writes" + " and trims" * has_trims

    def expect_servable(self, serve: ServeSpec) -> None:
        """Raise UserError if an I/O cannot be issued on the served machine, in the words of the model."""
        settings = tuple(dict([*self.spec.set, *serve.set]).items())
        spec = replace(self.spec, machine=serve.machine, machine_text=serve.machine_text, set=settings)
        prepare(replace(spec, out=None, io_log=None, events=()))

    def expect_on(self, target: RealTarget, hosts: Sequence[str]) -> None:
        if hosts:
            raise UserError("question.hosts", "", ", ".join(hosts), "replays of traces run on this computer alone")
        if target.kind == "rbd":
            accepted = "a trace is replayed on a block device, a file or NBD: expected the device of rbd map"
            raise UserError("question.on", "", target.text, accepted)
        if target.kind != "nbd" and (self.ops == TRIM).any():
            accepted = "has trims, which a replay on hardware cannot issue: expected direction without trim in [trace]"
            raise UserError(self.spec.workload, "trace.direction", "", accepted)
        for _ in self._ios([_volume(target)]):
            pass

    # --- I/Os -----------------------------------------------------------------------------------------------------

    def way_ns(self, folder: Path) -> int:
        folder.mkdir()
        path = socket_in(folder, "way.sock")
        server = _core.FixedServer(path, DRIVE_NS)
        ios = [Io(0, READ, 0, 4096, False)] * WAY_IOS
        try:
            with _nbd_port("way", nbd_uri(path, "drive"), random_data(4096, 0)) as port:
                times = issue(ios, Fast(len(ios), 1), [port])
        finally:
            server.stop()
        return max(0, int((times.completed - times.issued).min()) - DRIVE_NS)

    def on_served(self, volumes: Mapping[str, ServedVolume], folder: Path, look: Look | None) -> Issued:
        targets = [Volume(name, volume.size, volume.block) for name, volume in volumes.items()]
        data = self._data()
        with ExitStack() as stack:
            ports = [
                stack.enter_context(_nbd_port(self.spec.machine, str(volume.uri), data)) for volume in volumes.values()
            ]
            return self._issued(targets, ports, look)

    def on_target(
        self, target: RealTarget, held: Held, folder: Path, look: Look | None, hosts: Sequence[str]
    ) -> Issued:
        volume = _volume(target)
        data = self._data()
        if target.kind == "nbd":
            with connected(target.text, str(target.uri)) as (client, export):
                self._expect_taken(target.text, export)
                return self._issued([volume], [NbdPort(client, data)], look)
        read_bytes = max(UNIT, self._largest(READ))
        with aio_port(held.path, data, writes=self.writes_itself, read_bytes=read_bytes) as port:
            return self._issued([volume], [port], look)

    def _expect_taken(self, on: str, export: Export) -> None:
        """Raise UserError for a kind of I/O of the trace that an export does not take."""
        writes = np.isin(self.ops, (WRITE, TRIM))
        has_fua = self.recording.has(FUA)
        for missing, needed, words in (
            (export.read_only, writes, 'takes no writes: expected direction = "read"'),
            (not export.flushes, self.ops == FLUSH, "takes no flushes: expected direction without flush"),
            (not export.trims, self.ops == TRIM, "takes no trims: expected direction without trim"),
            (not export.fua, writes & has_fua, 'takes no FUA: expected direction = "read"'),
        ):
            if missing and needed.any():
                raise UserError("question.on", "", on, f"{words} in [trace], or an export that does")

    def _data(self) -> Data:
        """Return the data that is written. Raises UserError for an I/O that is too large."""
        rows = self.recording.rows
        most = np.where(self.ops == TRIM, LARGEST_TRIM, LARGEST).astype(np.uint64)
        for _, _, _, offset, size, row in rows[(self.ops != FLUSH) & (rows[:, 4] > most)][:1].tolist():
            accepted = f"expected at most {LARGEST:,} B, or {LARGEST_TRIM:,} B of a trim, on the wall clock"
            raise UserError(str(self.table["file"]), f"row {row}", f"{size} B at {offset}", accepted)
        written = self._largest(WRITE)
        return random_data(max(written, MOST_OUTSTANDING * UNIT) if written else 0, self.spec.seed)

    def _largest(self, op: int) -> int:
        return int(self.recording.rows[self.ops == op, 4].max(initial=0))

    def _issued(self, targets: Sequence[Volume], ports: Sequence[Port], look: Look | None) -> Issued:
        """Issue all I/Os on volumes, each through its port."""
        ios, moved = [], 0
        for io, is_moved in self._ios(targets):
            ios.append(io)
            moved += is_moved
        whole = len(ios)
        recording, duration = self.recording, self.duration_ns
        try:
            times = issue(ios, self._schedule(), ports, _status(look, whole), duration, recording.unmeasured)
        except OSError as error:
            if look is not None:
                look(Status(0.0))  # It may know why: the machine's power went off.
            raise UserError(self.spec.machine, "", "", f"does not take I/Os of the trace: {reason_of(error)}") from None
        return self._left(times, recording, duration, moved)

    def _left(self, times: Times, recording: Recording, duration: int | None, moved: int) -> Issued:
        replayed = replayed_of(recording, times, duration)
        is_fast = self.issue == FAST
        beyond = {"beyond": {"how": self.table["beyond"], "moved": moved}} if moved else {}
        trace = {
            "file": self.table["file"],
            "issue": self.issue,
            "speed": None if is_fast else self.speed,
            "depth": int(self.table.get("depth", 1)) if is_fast else None,
            **beyond,
        }
        interval = loads(self.text, "question.workload").get("interval")
        interval_ns = round(span_ns(str(interval)) or INTERVAL_NS) if interval is not None else INTERVAL_NS
        return Issued(
            lambda: imported_of_replay(replayed, self.spec.machine, interval_ns),
            lambda: (imported_of_replay(replayed, self.spec.machine, interval_ns).record,),
            sections_of(replayed, trace, has_times=not is_fast),
        )

    def _schedule(self) -> Schedule:
        times = self.recording.rows[:, 0]
        if self.issue == FAST:
            return Fast(len(times), min(int(self.table.get("depth", 1)), MOST_OUTSTANDING))
        if self.issue == AFTER_COMPLETION:
            return AfterCompletion(times.tolist(), self.recording.rows[:, 1].tolist(), self.speed)
        return Recorded(times.tolist() if self.speed == 1.0 else np.rint(times / self.speed).astype("i8").tolist())

    def _ios(self, targets: Sequence[Volume]) -> Iterator[tuple[Io, bool]]:
        """Yield the I/Os on these volumes, and whether each is not where it was recorded. Raises UserError for the
        first that a volume cannot take."""
        ports = self._ports([volume.name for volume in targets])
        beyond = str(self.table.get("beyond", "refuse"))
        ends = [0] * len(targets)
        if beyond == "scale":
            for _, _, what, offset, size, _ in self.recording.each():
                port = ports[what >> STREAM]
                ends[port] = max(ends[port], offset + size)
        for _, latency, what, offset, size, row in self.recording.each():
            port, op = ports[what >> STREAM], what & 0xFF
            volume = targets[port]
            at = placed(beyond, offset, size, volume, ends[port])
            if op != FLUSH:
                self._expect_fitting(row, at, size, volume)
            if latency == UNKNOWN and self.issue == AFTER_COMPLETION:
                accepted = 'the trace has no latency here: issue = "after-completion" needs them all'
                raise UserError(str(self.table["file"]), f"row {row}", "", accepted)
            yield Io(port, op, at, size, bool(what >> FUA & 1)), at != offset

    def _expect_fitting(self, row: int, offset: int, size: int, volume: Volume) -> None:
        file, value = str(self.table["file"]), f"{size} B at {offset}"
        if not size or offset % volume.block or size % volume.block:
            accepted = f'expected multiples of the {volume.block} B blocks of "{volume.name}"'
            raise UserError(file, f"row {row}", value, accepted)
        if offset + size > volume.size:
            accepted = f'ends beyond "{volume.name}", which has {volume.size} B; beyond = "wrap" or "scale" moves it'
            raise UserError(file, f"row {row}", value, accepted)

    def _ports(self, names: Sequence[str]) -> list[int]:
        """Return the number of the volume of each stream, by the rules of a model. Raises UserError for a device that
        is no volume."""
        devices = self.recording.devices
        known = sorted({device for device in devices if device is not None})
        if len(names) == 1 and ("volume" in self.table or "map" in self.table or len(known) <= 1):
            return [0] * len(devices)
        if len(names) == 1:
            accepted = f"has devices {', '.join(known)}, and there is one target: expected one of them as device"
            raise UserError(self.spec.workload, "trace.device", "", accepted)
        mapped = self.table.get("map", {})
        return [names.index(str(self.table.get("volume", mapped.get(device, device)))) for device in devices]


def _volume(target: RealTarget) -> Volume:
    return Volume(target.text, target.size_bytes, target.block_bytes)


def placed(beyond: str, offset: int, size: int, volume: Volume, end: int) -> int:
    """Return the offset on a volume: the rules of crates/workloads/src/sources/trace/beyond.rs. `end` is that of the
    last I/O there, for a trace that is scaled."""
    if size > volume.size or (beyond == "scale" and end <= volume.size):
        return offset
    last = (volume.size - size) // volume.block * volume.block
    if beyond == "wrap" and offset + size > volume.size:
        return min(offset % volume.size, last)
    if beyond == "scale":
        return min(offset * volume.size // end // volume.block * volume.block, last)
    return offset


@contextmanager
def _nbd_port(on: str, uri: str, data: Data) -> Iterator[NbdPort]:
    with connected(on, uri) as (client, _):
        yield NbdPort(client, data)


def _status(look: Look | None, ios: int) -> Callable[[float, int], None]:
    def looked(seconds: float, done: int) -> None:
        if look is not None:
            look(Status(seconds, min(done / ios, 1.0), done / seconds if seconds else None))

    return looked


def replay_run_of(spec: RunSpec) -> ReplayRun:
    """Return the run of a trace. Raises UserError for a workload that does more, for a mistake in it, and for a trace
    that cannot be read; OSError."""
    text, state = text_and_state(spec)
    table = loads(text, spec.workload)
    beside = next((key for key in ("streams", "phases", "scripts", "app", "load") if key in table), None)
    if beside is not None or isinstance(table["trace"], list):
        what = "a trace is replayed alone on the wall clock"
        raise UserError(spec.workload, beside or "trace", "", f"{what}: {ALONE}")
    [rows] = rows_of(spec.workload, text)
    if (ios := head_of(rows)["ios"]) > MOST_IOS:
        accepted = (
            f"has {ios:,} I/Os, and at most {MOST_IOS:,} are replayed on the wall clock: select some by from and for"
        )
        raise UserError(spec.workload, "trace", "", accepted)
    return ReplayRun(spec, text, state, cast("Mapping[str, Any]", table["trace"]), rows)


def client_run_of(spec: RunSpec) -> ClientRun:
    """Return the run of `spec` on hardware: the replay of a trace, or fio. Raises UserError; OSError."""
    return replay_run_of(spec) if replays(spec) else fio_run_of(spec)


def replays(spec: RunSpec) -> bool:
    """Return whether a run replays a trace."""
    return "trace" in loads(named_text(spec), spec.workload)
