"""One trial: a served machine that crashes under a load, comes back, and is looked through."""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from crash import database, records
from crash.database import Clients, Cluster
from crash.host import HostError, call, clear, until, write_cache
from crash.records import Left, Promise, Writers
from crash.serving import ServedApart

CACHES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "volatile": ("ent-15k", (("wce", "on"),)),
    "off": ("ent-15k", (("wce", "off"),)),
    # Advanced Write Cache: the energy of the spindle saves it (docs/models/repair.md). Sectors of 4 KiB inside.
    "protected": ("exos-15e900-512e", (("awc", "on"),)),
    # A drive of desktops, whose buffer a loss of power empties, and one of data centres, whose capacitors save it.
    "volatile SSD": ("980-1tb", ()),
    "protected SSD": ("nytro-1351-960", ()),
}
"""Machines by what becomes of their write cache: products of the catalog, and what is set of them."""
VOLATILE = ("volatile", "volatile SSD")
FILE_SYSTEMS = ("ext4", "xfs")
PROGRAMS = (*FILE_SYSTEMS, "postgresql")
SIZE = "1G"
"""Bytes of a file system: a trial writes some hundred megabytes at most, and small ones are made and checked soon."""
MAKE = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K", "-d", f"size={SIZE}"),
}
CHECK = {"ext4": ("e2fsck", "-f", "-n"), "xfs": ("xfs_repair", "-n")}
FIRST_S = 30.0
"""A load that is promised nothing by then is stuck."""


@dataclass(frozen=True)
class Trial:
    """What is tried: `crash` is "power-off" or "kill", `program` one of PROGRAMS, which lies on `file_system`, `cache`
    one of CACHES; with `flushes` the kernel hands them on. `moment_s`: when it crashes, in seconds since it is served
    (power), or since something was promised (kill); `again_s`: when it crashes once more, while what lies on it
    recovers.
    """

    key: str
    crash: str
    program: str
    file_system: str
    cache: str
    flushes: bool
    moment_s: float
    again_s: float | None = None

    @property
    def may_lose(self) -> bool:
        """Whether something that was promised may be lost: the kernel keeps flushes from a volatile cache that loses
        power. A server that is killed is no drive without power: its store has what was answered."""
        return self.crash == "power-off" and self.cache in VOLATILE and not self.flushes


@dataclass
class Outcome:
    """What came of it. `recovered`: mounted (and started) again, and what checks it finds nothing wrong. `ledger` is
    what the model says of the power cut. `early`: there was no file system yet. `broken`: why the trial itself failed.
    """

    trial: Trial
    acknowledged: int = 0
    lost: int = 0
    recovered: bool = False
    faults: list[str] = field(default_factory=list)
    ledger: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    early: bool = False
    broken: str = ""

    @property
    def whole(self) -> bool:
        """Whether everything that was promised is there."""
        return self.recovered and not self.lost and not self.faults and not self.broken

    @property
    def expected(self) -> bool:
        """Whether it is as it must be. Without flushes a volatile cache may lose anything, and need not."""
        return self.early or self.whole or (self.trial.may_lose and not self.broken)

    def told(self) -> dict[str, Any]:
        """For a line of JSON."""
        return {**asdict(self), "whole": self.whole, "expected": self.expected, "may_lose": self.trial.may_lose}


class Load(Protocol):
    """Who writes, and what was promised to it."""

    promises: list[Promise]

    def wait(self) -> None:
        """Waits until it has noticed the crash, where that is the kernel's to see to."""

    def stop(self) -> None:
        """Ends it."""


def make_file_system(kind: str, device: Path) -> None:
    """A new file system."""
    call(*MAKE[kind], device, *([SIZE] if kind == "ext4" else []))


def mount(kind: str, device: Path, folder: Path) -> None:
    """Mounts a device; the file system goes through its log first."""
    point = folder / "fs"
    point.mkdir(exist_ok=True)
    # xfs refuses two file systems with one id, which copies of one cluster are.
    call("mount", "-t", kind, "-o", "nouuid" if kind == "xfs" else "defaults", device, point)


def template(place: Path, machine: str, kind: str) -> Path:
    """A store of `machine` with a database cluster on a file system, made once: its folder."""
    made = place / f"template-{machine}-{kind}"
    if made.exists():
        return made
    folder = place / f"making-{machine}-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server, cluster = ServedApart(folder, machine, (), None), None
    try:
        make_file_system(kind, server.device)
        mount(kind, server.device, folder)
        cluster = Cluster(folder / "fs", folder / "sockets")
        cluster.make()
        call("umount", folder / "fs")
        server.end()
    finally:
        if cluster is not None:
            cluster.crash()
        server.close()
    folder.rename(made)
    return made


def copy_store(of: Path, to: Path) -> None:
    """A store of its own; holes stay holes."""
    for name in ("store.img", "store.img.hotband.json"):
        call("cp", "--sparse=always", "--reflink=auto", of / name, to / name)


@contextmanager
def loaded(trial: Trial, folder: Path, device: Path) -> Iterator[Load]:
    """The program of a trial while it writes to a device; nothing of it is left behind."""
    fresh = trial.program in FILE_SYSTEMS
    if fresh:
        make_file_system(trial.file_system, device)
    mount(trial.file_system, device, folder)
    if fresh:
        writers = Writers(folder / "fs", device)
        try:
            yield writers
        finally:
            writers.stop()
            writers.wait()
        return
    cluster = Cluster(folder / "fs", folder / "sockets")
    clients = None
    try:
        cluster.start()
        clients = Clients(cluster, device, trial.key)
        yield clients
    finally:
        if clients is not None:
            clients.stop()
        cluster.crash()


def crashed(trial: Trial, folder: Path) -> tuple[list[Promise], dict[str, int]]:
    """Serves, writes and crashes; what was promised, and what the model says of it."""
    machine, settings = CACHES[trial.cache]
    is_cut = trial.crash == "power-off"
    event = f"at {trial.moment_s:.3f} s: power-off" if is_cut else None
    server = ServedApart(folder, machine, settings, event)
    promises: list[Promise] = []
    try:
        # Set both ways: a device keeps what another trial, or another program, has set.
        write_cache(server.device, "write back" if trial.flushes else "write through")
        with loaded(trial, folder, server.device) as load:
            promises = load.promises
            if is_cut:
                server.reap()
            else:
                until(lambda: any(promise.last for promise in promises), "something is promised", FIRST_S)
                time.sleep(trial.moment_s)
                server.end(kill=True)
            load.wait()
        record = server.end() if is_cut else {}
        if is_cut and "power_loss" not in record:
            raise HostError("the server left no record of a power cut")
    except (HostError, OSError):
        # Power may go off before there is a file system, too: then nothing was promised.
        if promises or not is_cut or time.monotonic() < server.began + trial.moment_s:
            raise
        record = server.end()
    finally:
        # The next who gets this device wants flushes; while a file system is mounted on it nobody else has it.
        write_cache(server.device, "write back")
        server.close()
    loss = record.get("power_loss") or {}
    return promises, {key: value for key, value in loss.items() if isinstance(value, int)}


def crashed_again(trial: Trial, folder: Path, again_s: float) -> None:
    """Serves the store, and crashes while the program recovers, or just behind that."""
    machine, settings = CACHES[trial.cache]
    is_cut = trial.crash == "power-off"
    server = ServedApart(folder, machine, settings, f"at {again_s:.3f} s: power-off" if is_cut else None)
    cluster = None
    timer = threading.Timer(again_s, os.kill, (server.process, signal.SIGKILL))
    try:
        write_cache(server.device, "write back" if trial.flushes else "write through")
        if not is_cut:
            timer.start()
        with suppress(HostError, OSError):
            mount(trial.file_system, server.device, folder)
            if trial.program == "postgresql":
                cluster = Cluster(folder / "fs", folder / "sockets")
                cluster.start()
        server.reap()
    finally:
        timer.cancel()
        if cluster is not None:
            cluster.crash()
        write_cache(server.device, "write back")
        server.close()


def examined(trial: Trial, folder: Path, promises: list[Promise], outcome: Outcome) -> None:
    """Serves the store again, lets the program recover, and compares; what cannot is a fault of the outcome."""
    machine, settings = CACHES[trial.cache]
    server = ServedApart(folder, machine, settings, None)
    cluster = None
    outcome.acknowledged = sum(promise.last for promise in promises)
    # Until it is found.
    outcome.lost = outcome.acknowledged
    try:
        write_cache(server.device, "write back")
        try:
            mount(trial.file_system, server.device, folder)
            if trial.program == "postgresql":
                cluster = Cluster(folder / "fs", folder / "sockets")
                cluster.start()
                found = database.left(cluster, promises)
            else:
                found = records.left(folder / "fs", promises)
            take(outcome, found)
            if cluster is not None:
                cluster.check()
            call("umount", folder / "fs")
            call(*CHECK[trial.file_system], server.device)
            outcome.recovered = True
        except HostError as error:
            outcome.faults.append(str(error))
        if cluster is not None:
            cluster.crash()
            cluster = None
        if outcome.recovered:
            server.end()
    finally:
        if cluster is not None:
            cluster.crash()
        server.close()


def take(outcome: Outcome, found: Left) -> None:
    """What was found of the promises."""
    outcome.lost = found.lost
    outcome.faults += found.faults


def run(trial: Trial, folder: Path, templates: Path) -> Outcome:
    """Runs a trial in a folder of its own, which is empty behind it."""
    began, outcome = time.monotonic(), Outcome(trial)
    # One that was interrupted may have left its folder.
    clear(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.chmod(folder, 0o755)
    try:
        if trial.program == "postgresql":
            copy_store(template(templates, CACHES[trial.cache][0], trial.file_system), folder)
        promises, outcome.ledger = crashed(trial, folder)
        if trial.again_s is not None:
            crashed_again(trial, folder, trial.again_s)
        if trial.program == "postgresql" or promises:
            examined(trial, folder, promises, outcome)
        else:
            outcome.early = True
    except (HostError, OSError) as error:
        outcome.broken = str(error)
    finally:
        outcome.seconds = round(time.monotonic() - began, 2)
        if outcome.expected:
            shutil.rmtree(folder, ignore_errors=True)
    return outcome


def moment(key: str, seed: int, earliest_s: float, latest_s: float) -> float:
    """When it crashes: drawn from its name, so that a trial that is repeated crashes at the same time."""
    return round(random.Random(f"{seed}/{key}").uniform(earliest_s, latest_s), 3)
