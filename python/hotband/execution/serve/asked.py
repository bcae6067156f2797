"""Questions that serve or mount a machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hotband.base.question import Ending, Question, asks, seed
from hotband.data.inputs.kinds import Machine, Settings, Texts
from hotband.execution.serve.left import ServedLeft
from hotband.execution.serve.served import ServeSpec


@dataclass(frozen=True, kw_only=True)
class OfMachine(Question):
    """Base of questions whose first field is a machine."""

    on: Machine = asks("A drive, LAYOUT:COUNTxDRIVE, or a TOML file.", metavar="MACHINE", positional=True)


@dataclass(frozen=True, kw_only=True)
class Places(OfMachine):
    """Addresses at which clients connect to a served machine."""

    socket: Path | None = asks(
        "Unix socket for NBD clients. Default: a temporary one.", default=None, metavar="SOCKET", called="nbd"
    )
    tcp: str | None = asks(
        "NBD on TCP, with question.tls or question.insecure_loopback.", default=None, metavar="HOST:PORT"
    )
    tls: Path | None = asks("server-cert.pem, server-key.pem, ca-cert.pem.", default=None, metavar="DIR")
    insecure_loopback: bool = asks("TCP without TLS, for this host only.", default=False)
    fuse: Path | None = asks("Mount one file per volume in this folder.", default=None, metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class MountPoint(OfMachine):
    """Folder in which a mounted machine appears."""

    fuse: Path = asks("Folder in which the file of each volume appears.", metavar="DIR", called="mount")


@dataclass(frozen=True, kw_only=True)
class Serving(OfMachine):
    """Settings of serving a machine, and its results."""

    loop: bool = asks("With one loop device per volume (needs root).", default=False)
    store: Path | None = asks("File that stores written data. Default: memory.", default=None, metavar="FILE")
    base: Path | None = asks(
        "Image to read for blocks not yet written; it is never changed.", default=None, metavar="IMAGE"
    )
    out: Path | None = asks("Folder for the record.", default=None, metavar="DIR", called="record")
    fresh: bool = asks("Overwrite the record in the folder.", default=False, hidden=True)
    io_log: Path | None = asks("Log every I/O, to .parquet or .csv.", default=None, metavar="FILE")
    settings: Settings = asks("Change a value.", default=(), metavar="KEY=VALUE")
    events: Texts = asks(
        "An event, such as 'at 60 s: power-off'. May be repeated.",
        default=(),
        metavar="EVENT",
        called="event",
        timed=True,
    )
    seed: int = seed()
    duration: str | None = asks(
        "Time to serve. Default: until interrupted.", default=None, metavar="TIME", unit="s", hidden=True
    )
    run: str | None = asks(
        "Run it in a shell with $uri, $file, $device, then end.", default=None, metavar="COMMAND", hidden=True
    )
    live: bool = asks("A line with rates and the emulation delay, twice per second.", default=False, hidden=True)
    spin: str = asks(
        'Busy wait before a completion is due; "0 us" for none.', default="200 us", metavar="TIME", unit="s"
    )
    priority: bool = asks(
        "Real-time priority for slow drives, otherwise the highest other priority, if permitted.", default=True
    )
    awake: bool = asks("Prevent the host's cores from sleeping, if permitted.", default=True)
    anyway: bool = asks("Serve it even if it is faster than this host can serve.", default=False)

    def spec(self) -> ServeSpec:
        """Return what is served."""
        return ServeSpec(
            self.on.name,
            self.settings,
            self.seed,
            self.events,
            loop=self.loop,
            store=self.store,
            base=self.base,
            out=self.out,
            io_log=self.io_log,
            spin=self.spin,
            priority=self.priority,
            machine_text=self.on.text,
            awake=self.awake,
            anyway=self.anyway,
        )

    def ending(self, result: ServedLeft) -> Ending | None:
        """Return the exit code of a command that ran beside, where it is another than 0."""
        return Ending(result.code) if result.code else None


@dataclass(frozen=True, kw_only=True)
class ServeQuestion(Serving, Places):
    """Serve an emulated machine in real time as a block device: NBD, a file or a loop device.

    It is served during a `with` block. Within it `.volumes["d0"]` has `uri` (NBD on TCP, else a unix socket), `file`
    (with `fuse`, a folder, or `loop`) and `device` (with `loop`: a block device; both need root); `.serving()` returns
    what was completed so far and how late; `.wait(seconds)` waits; `.port` is that of `tcp` ("127.0.0.1:0"). After the
    block, `.record` is its Record. After a power-off among `events`, `store` holds what the drives hold.

    Raises UserError for a mistake, for what the host refuses, and for a machine that is faster than the host can serve
    unless it is served `anyway`.
    """

    name = "serve"
    schema = "hotband-record"
    answers = "hotband.execution.serve.left:ServedLeft"
    enters = "hotband.execution.serve.served:Served"

    nbd: bool = asks("Whether clients of NBD are served on a unix socket.", default=True, only_python=True)

    def spec(self) -> ServeSpec:
        """Return what is served, and where."""
        return replace(
            super().spec(),
            socket=self.socket,
            folder=self.fuse,
            nbd=self.nbd,
            tcp=self.tcp,
            tls=self.tls,
            insecure_loopback=self.insecure_loopback,
        )


@dataclass(frozen=True, kw_only=True)
class MountQuestion(Serving, MountPoint):
    """Mount an emulated machine: one file per volume, with --loop also block devices, while the command runs."""

    name = "mount"
    schema = "hotband-record"
    answers = "hotband.execution.serve.left:ServedLeft"

    def spec(self) -> ServeSpec:
        """Return what is served, and where."""
        return replace(super().spec(), folder=self.fuse, nbd=False)
