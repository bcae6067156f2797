"""A machine that is served: its volumes as NBD exports, files or loop devices, as long as the block lasts."""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from types import TracebackType
from typing import cast
from urllib.parse import quote

import hotband._core as _core
from hotband.base.engine import mistakes_without_load, user_error
from hotband.base.errors import UserError, reason_of
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.quantities import SPAN_FORM
from hotband.base.text.tomltext import toml_value
from hotband.base.text.write import expect_no_disk, remove
from hotband.data.catalog import CATALOG_DIR
from hotband.data.documents.run import RunSpec
from hotband.data.documents.serving import Serving
from hotband.data.inputs.texts import text_of
from hotband.data.record.files import Table
from hotband.data.record.finished import Finished
from hotband.data.record.iolog import save_log
from hotband.data.record.record import Record, record_of
from hotband.data.record.writable import check_folder, check_writable
from hotband.execution.runs.run import prepare, save
from hotband.execution.serve.ending import Ending
from hotband.execution.serve.released import release_left, release_mount, remember_mount
from hotband.execution.serve.speed import (
    LONGEST_SOCKET,
    expect_servable,
    socket_in,
    speed_of_host,
    speed_of_machine,
    way_ns,
)

# So often the server is looked at, in seconds.
LOOK_EVERY_S = 0.2
# The one key of workloads that is about the drives: what they hold.
OF_DRIVES = "state"
# A thousand times what a disk's cache takes to answer.
LONGEST_SPIN_NS = 1e6


@dataclass(frozen=True)
class ServeSpec:
    """A machine to serve, with the settings of the server.

    `machine` is a catalog drive, a short form or a TOML file; `set` holds pairs of values. NBD clients connect to
    `socket` (default: a temporary path), `folder` has the volumes as files (FUSE; default: not mounted), with `loop` as
    block devices, too. `store` keeps the bytes after the server has ended; `base` is an image that is read where
    nothing was written. `spin`, `priority` and `awake` (cores do not sleep) set how answers are timed; `way_ns` is the
    minimum latency of the path from a client and back (default: measured). `precondition` is the content of the drives
    at the start, as in a workload; with `in_use` solid-state drives are preconditioned first, as in runs. `for_fio`
    completes the flushes that fio's engine for NBD repeats without the machine. `out_option` is the option that set
    `out`. Wrong paths raise UserError once it begins.
    """

    machine: str
    set: tuple[tuple[str, str], ...] = ()
    seed: int = 1
    events: tuple[str, ...] = ()
    socket: Path | None = None
    folder: Path | None = None
    loop: bool = False
    nbd: bool = True
    store: Path | None = None
    base: Path | None = None
    out: Path | None = None
    io_log: Path | None = None
    spin: str = "200 us"
    priority: bool = True
    machine_text: str | None = field(default=None, kw_only=True)
    precondition: Mapping[str, object] | None = field(default=None, kw_only=True)
    in_use: bool = field(default=False, kw_only=True)
    anyway: bool = field(default=False, kw_only=True)
    tcp: str | None = field(default=None, kw_only=True)
    tls: Path | None = field(default=None, kw_only=True)
    insecure_loopback: bool = field(default=False, kw_only=True)
    awake: bool = field(default=True, kw_only=True)
    way_ns: int | None = field(default=None, kw_only=True)
    for_fio: bool = field(default=False, kw_only=True)
    out_option: str = field(default="question.out", kw_only=True)


@dataclass(frozen=True)
class ServedVolume:
    """A volume that is served: its bytes, the smallest unit of an I/O, and what it is reached by (None if it is
    not); `uri` is that of TCP where it is served there, else that of the unix socket."""

    name: str
    size: int
    block: int
    uri: str | None
    file: Path | None
    device: Path | None


def spin_ns(text: str) -> int:
    """Nanoseconds of a busy wait. Raises UserError for what is no time, or too long."""
    try:
        ns = 1e9 * _core.quantity("time", text)
    except ValueError:
        ns = math.inf
    if ns > LONGEST_SPIN_NS:
        raise UserError("question.spin", "", text, f"expected {SPAN_FORM}, at most 1 ms")
    return round(ns)


def workload_text(volumes: list[str], precondition: Mapping[str, object] | None = None) -> str:
    """The workload of a served machine: one stream per volume, whose clients issue any I/Os."""
    streams = "".join(
        f"\n[[streams]]\nname = {json.dumps(name)}\nvolume = {json.dumps(name)}\nload = {{ clients = {{}} }}\n"
        for name in volumes
    )
    head = 'title = "served: I/Os of programs"\nsource = "the clients of the served machine"\n'
    before = "" if precondition is None else f"precondition = {toml_value(dict(precondition))}\n"
    return f'{head}{before}{streams}\n[[phases]]\nname = "served"\nuntil = "drained"\nmeasure = true\n'


def nbd_uri(socket: Path, export: str) -> str:
    """Return the URI of an export of a unix socket for NBD clients, by the NBD URI specification."""
    return f"nbd+unix:///{quote(export, safe='')}?socket={quote(str(socket))}"


def address_of(tcp: str) -> tuple[IPv4Address | IPv6Address, int]:
    """Return address and port. Raises UserError for what is neither."""
    host, _, port = tcp.rpartition(":")
    try:
        return ip_address(host.strip("[]")), int(port)
    except ValueError:
        raise UserError("question.tcp", "", tcp, "expected ADDRESS:PORT, such as 127.0.0.1:10809") from None


def tcp_uri(address: IPv4Address | IPv6Address, port: int, export: str, tls: Path | None) -> str:
    """Return the URI of an export on TCP, by the NBD URI specification; with the folder of its certificates, which is
    an extension of libnbd. An address that stands for all of this host is reached by its loopback."""
    if address.is_unspecified:
        address = ip_address("127.0.0.1" if address.version == 4 else "::1")
    host = str(address) if address.version == 4 else f"[{address}]"
    where = f"{host}:{port}/{quote(export, safe='')}"
    return f"nbd://{where}" if tls is None else f"nbds://{where}?tls-certificates={quote(str(tls.absolute()))}"


def refused(option: str, error: OSError) -> UserError:
    """Return the user's error for something that the host refuses."""
    return UserError(option, "", str(error.filename or ""), reason_of(error))


@contextmanager
def refusing(option: str) -> Iterator[None]:
    """Raise UserError for what the host refuses within it."""
    try:
        yield
    except OSError as error:
        raise refused(option, error) from None


def expect_image(base: Path) -> None:
    """Raise UserError for a base that is no file, or one that cannot be read."""
    with refusing("question.base"):
        # Of a device the engine would take no size, of a pipe it would wait for a writer.
        if not stat.S_ISREG(base.stat().st_mode):
            raise UserError("question.base", "", str(base), "expected a file")
        base.open("rb").close()


def made_beside(run: _core.Run, make: Callable[[], _core.Server]) -> _core.Server:
    """Call `make` in another thread and return its server. Python handles signals only in the main thread, and an array
    of preconditioned drives takes minutes. Raises the errors of `make`, and KeyboardInterrupt."""
    with ThreadPoolExecutor(1, "serve") as pool:
        try:
            return pool.submit(make).result()
        except KeyboardInterrupt:
            run.stop()
            raise


def expect_fitting(base: Path, volumes: Sequence[tuple[str, int]]) -> None:
    """Raise UserError for an image that is larger than the volume that begins with it."""
    size, (_, room) = base.stat().st_size, volumes[0]
    if size > room:
        accepted = f"has {size:,} bytes, and the drive {room:,}: expected an image of at most that size"
        raise UserError("question.base", "", str(base), accepted)


class Served:
    """A machine on the wall clock, for a `with` block; what it leaves is in `finished` behind it, and in
    `busy` who still used its devices when it ended.

    Raises UserError for a mistake in what is asked, and where the host refuses it (no right to mount, a socket in use).
    """

    def __init__(self, spec: ServeSpec) -> None:
        self.spec = spec
        self.finished: Finished | None = None
        self.busy: list[str] = []
        self._stack = ExitStack()
        self._began = 0.0

    def __enter__(self) -> Served:
        spec = self.spec
        with self._stack:
            text = text_of(spec.machine, "machine") if spec.machine_text is None else spec.machine_text
            of_machine = [pair for pair in spec.set if pair[0] != OF_DRIVES]
            accepted = f"but clients set the load here: expected a key of the machine, or {OF_DRIVES}"
            with mistakes_without_load(spec.machine, of_machine, accepted):
                offer = _core.machine_offer(CATALOG_DIR, spec.machine, text, of_machine)
                volumes = [name for name, _ in offer["volumes"]]
            run_spec = RunSpec(
                "served",
                spec.machine,
                "served",
                spec.set,
                spec.seed,
                None,
                spec.out,
                spec.io_log,
                machine_text=text,
                workload_text=workload_text(volumes, spec.precondition),
                events=spec.events,
                in_use=spec.in_use,
            )
            self._expect_files()
            if spec.base is not None:
                expect_fitting(spec.base, offer["volumes"])
            self._prepared = prepare(run_spec)
            if self._prepared.raw_log is not None:
                self._stack.callback(remove, self._prepared.raw_log)
            # Left last: a folder in it is mounted until the machine has ended.
            release_left()
            self._temporary = Path(self._stack.enter_context(TemporaryFolder()))
            if spec.folder is not None:
                release_mount(spec.folder.absolute())
                remember_mount(self._temporary, spec.folder.absolute())
            if not spec.anyway:
                expect_servable(
                    spec.machine,
                    speed_of_machine(spec.machine, of_machine, text, volumes[0]),
                    speed_of_host(self._temporary),
                )
            self._server = self._begin()
            self._began = time.monotonic()
            self._stack.callback(self._end)
            self._reach()
            self._stack = self._stack.pop_all()
        return self

    def _expect_files(self) -> None:
        """Raise UserError for a place that cannot be read or written, with the option that names it, and for options
        of TCP without it."""
        spec = self.spec
        if spec.tcp is None and (spec.tls is not None or spec.insecure_loopback):
            option, value = (
                ("question.tls", str(spec.tls)) if spec.tls is not None else ("question.insecure_loopback", "")
            )
            raise UserError(option, "", value, "is for NBD on TCP: expected question.tcp HOST:PORT with it")
        if spec.tls is not None and spec.insecure_loopback:
            raise UserError(
                "question.insecure_loopback", "", "", "is for TCP without certificates: remove it, or question.tls"
            )
        if spec.out is not None:
            check_writable(spec.out, spec.out_option)
        if spec.base is not None:
            expect_image(spec.base)
            if spec.store is not None and spec.store.exists() and spec.store.samefile(spec.base):
                raise UserError(
                    "question.store", "", str(spec.store), "is the base, which must not change: expected another"
                )
        if spec.folder is not None:
            # Before a store is made. What a server that died left mounted there gives another error, and goes later.
            try:
                spec.folder.stat()
            except FileNotFoundError as error:
                raise refused("question.fuse", error) from None
            except OSError:
                pass

    def _begin(self) -> _core.Server:
        spec = self.spec
        way = spec.way_ns
        if way is None:
            # Of files and devices the kernel is the client, whose way is not known.
            way = way_ns(self._temporary) if spec.nbd or spec.tcp is not None else 0
        store = spec.store
        if store is not None:
            expect_no_disk("question.store", store)
            check_folder(store.parent, "question.store")
        if store is None and spec.base is not None:
            store = self._temporary / "store"
        make = partial(
            _core.Server,
            self._prepared.run,
            store=store,
            base=spec.base,
            spin_ns=spin_ns(spec.spin),
            priority=spec.priority,
            awake=spec.awake,
            way_ns=way,
        )
        try:
            return made_beside(self._prepared.run, make)
        except _core.SpecError as error:
            raise user_error(error) from None
        except OSError as error:
            raise refused("question.store", error) from None

    def _reach(self) -> None:
        """Open the ways by which programs reach the volumes."""
        spec = self.spec
        self.socket: Path | None = None
        if spec.nbd:
            self.socket = spec.socket if spec.socket is not None else socket_in(self._temporary, "nbd.sock")
            if len(os.fsencode(self.socket.absolute())) > LONGEST_SOCKET:
                accepted = f"is too long for a socket: expected a path of at most {LONGEST_SOCKET} bytes"
                raise UserError("question.socket", "", str(self.socket), accepted)
            with refusing("question.socket"):
                self._server.serve_nbd(self.socket.absolute(), skips_repeated_flushes=spec.for_fio)
        self.port = None if spec.tcp is None else self._listen(spec.tcp)
        files: dict[str, Path] = {}
        devices: dict[str, Path] = {}
        if spec.folder is not None or spec.loop:
            folder = spec.folder
            if folder is None:
                folder = self._temporary / "volumes"
                folder.mkdir()
            with refusing("question.fuse"):
                files = dict(self._server.mount(folder.absolute()))
        if spec.loop:
            with refusing("question.loop"):
                devices = dict(self._server.attach_loop())
        self.volumes = {
            name: ServedVolume(
                name,
                size,
                block,
                self._uri(name),
                files.get(name),
                devices.get(name),
            )
            for name, size, block in self._server.volumes()
        }

    def _uri(self, volume: str) -> str | None:
        """Return the URI of a volume: on TCP, else on the unix socket; None if neither is served."""
        spec = self.spec
        if spec.tcp is not None and self.port is not None:
            return tcp_uri(address_of(spec.tcp)[0], self.port, volume, spec.tls)
        return None if self.socket is None else nbd_uri(self.socket.absolute(), volume)

    def _listen(self, tcp: str) -> int | None:
        """Open a TCP port; return its number."""
        spec = self.spec
        address, number = address_of(tcp)
        if not 0 <= number < 65536:
            raise UserError("question.tcp", "", tcp, "expected a port from 0 (any that is free) to 65535")
        if spec.tls is None and not (spec.insecure_loopback and address.is_loopback):
            accepted = "expected certificates (question.tls DIR), or a loopback address and question.insecure_loopback"
            raise UserError("question.tcp", "", tcp, accepted)
        certificates: tuple[Path | None, ...] = (None, None, None)
        if spec.tls is not None:
            certificates = tuple(spec.tls / f"{name}.pem" for name in ("server-cert", "server-key", "ca-cert"))
            certificates = (
                *certificates[:2],
                certificates[2] if certificates[2] is not None and certificates[2].exists() else None,
            )
        try:
            return self._server.serve_nbd_tcp(address, number, *certificates)
        except OSError as error:
            # Of a certificate the engine names the file.
            if spec.tls is not None and str(spec.tls) in reason_of(error):
                raise UserError("question.tls", "", str(spec.tls), reason_of(error)) from None
            raise refused("question.tcp", error) from None

    @property
    def record(self) -> Record:
        """Return the record after the block. Raises RuntimeError within it."""
        if self.finished is None:
            raise RuntimeError("a served machine writes its record when its block ends")
        return record_of(self.finished)

    @property
    def seconds(self) -> float:
        """Return how long it has been served."""
        return time.monotonic() - self._began

    def serving(self) -> Serving:
        """Return the counts so far."""
        return Serving.of(json.loads(self._server.serving()))

    def is_stopped(self) -> bool:
        """Return whether it has ended by itself: power went off."""
        return self._server.is_stopped()

    def wait(self, seconds: float | None = None, look: Callable[[Served], None] | None = None) -> None:
        """Wait until it has ended, or for so long; `look` is called now and then."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self.is_stopped() and (end is None or time.monotonic() < end):
            left = LOOK_EVERY_S if end is None else min(LOOK_EVERY_S, end - time.monotonic())
            time.sleep(max(0.0, left))
            if look is not None:
                look(self)

    def _end(self) -> None:
        """Close what programs reach it by, and keep what it leaves."""
        try:
            self.busy = [] if self.is_stopped() else self._server.close()
            left = self._server.finish()
            record = json.loads(left.record)
            if self.spec.io_log is not None and self._prepared.raw_log is not None:
                names = [name for name, _, _ in self._server.volumes()]
                save_log(self._prepared.raw_log, self.spec.io_log, names, volumes=names)
            tables = cast("dict[str, Table]", left.tables)
            self.finished = Finished(self._prepared.spec, record, left.record, tables, left.ios)
        except _core.SpecError as error:
            raise user_error(error) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with Ending.closing():
            self._stack.__exit__(kind, error, trace)
            if self.finished is not None and self.spec.out is not None:
                save(self.finished, self.spec.out)
