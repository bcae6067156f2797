"""A boot storm: user-mode-Linux guests that are powered on one after the other, each with a disk of its own.

A guest boots a stock kernel, mounts its disk, reads the files that a boot would read, and writes. Their sizes are those
of the workload `boot-storm` of the catalog (assumed there: 4 to 128 KiB, mean 19.5 KiB); the amount is a setting, for
a guest here has 64 MB of memory and no desktop. The disks are files on the volume, direct I/O, served to the guests by
qemu-storage-daemon (vhost-user-blk). Left out: that a desktop computes while it boots.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
import threading
import time
from pathlib import Path

from hotband.base.child import Child
from hotband.base.errors import UserError
from hotband.base.text import numbers
from hotband.execution.programs.needs import built, path_of
from hotband.execution.programs.processes import ProgramFailed, last_words
from hotband.execution.programs.program import Count, Need, Outcome, Program, Size, figure, percentile
from hotband.execution.programs.work import Work

SHIM = "uml-xstate.so"
"""Without it user-mode Linux ends at once on processors with AMX ("ptrace set fp regs failed, errno = 14"): the state
of their registers is longer than its kernel 6.1 knows. `make programs` builds it from scripts/uml_xstate.c."""
FILE_KIB = {4: 40, 8: 12, 16: 18, 32: 20, 64: 8, 128: 2}
"""Percent of the files by size in KiB."""
MODULES = "usr/lib/uml/modules/*/kernel/drivers/block/virtio_blk.ko"
MEMORY = "64M"
WRITE_KIB = 8
"""Size of a guest's write: 7.2 KiB on average in the workload of the catalog."""
READ, DONE = "hotband-read", "hotband-done"
"""Messages of a guest when it has read everything, and when its writes are on its disk."""
GUEST_S = 900.0
TRIES = 2
"""A guest in forty gives up while it starts on a loaded host (2 of 73, measured): it is started once more."""

INIT = f"""#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t devtmpfs dev /dev
$b insmod /virtio_blk.ko
n=0
while [ ! -b /dev/vda ] && [ $n -lt 200 ]; do $b sleep 0.05; n=$((n + 1)); done
$b mount -t ext4 /dev/vda /mnt || $b poweroff -f
cd /mnt
$b xargs $b cat < list.0 > /dev/null
for part in 1 2 3 4; do $b xargs $b cat < list.$part > /dev/null & done
wait
echo {READ}
$b dd if=/dev/zero of=written bs={WRITE_KIB}k count=$written conv=fsync 2> /dev/null
$b umount /mnt 2> /dev/null || $b sync
echo {DONE}
$b poweroff -f
"""
"""The first half of the files is read one after the other (kernel), the rest by four at once (services)."""


def run(work: Work) -> Outcome:
    """Make the disks, then power the guests on."""
    environment = shim()
    guests, folder = work.count("guests"), work.folder("data")
    work.expect_space("guests", guests * disk_bytes(work))
    work.tell(f"making {guests} disks with {numbers.size(work.count('read'))} of files each")
    disks = make_disks(work, folder, guests)
    work.cold()
    ramdisk = work.temporary / "initrd.gz"
    ramdisk.write_bytes(gzip.compress(initrd(), 1))
    storm = Storm(work, ramdisk, disks, environment)
    began = time.monotonic()
    while storm.unfinished():
        storm.step(time.monotonic() - began, work.count("stagger"))
        time.sleep(0.02)
    times = sorted(storm.times.values())
    found_figures = [
        figure("guests", len(times), "guests"),
        figure("storm", time.monotonic() - began, "s"),
        figure("boot mean", sum(times) / len(times), "s"),
        *(figure(f"boot p{rank}", percentile(times, rank), "s") for rank in (50, 95, 99)),
        figure("boot longest", times[-1], "s"),
    ]
    lines = [f"guest {number}: {seconds:.3f} s\n" for number, seconds in sorted(storm.times.items())]
    notes = [f"{storm.again} guests were started twice"] if storm.again else []
    return Outcome(version(work), found_figures, "".join(lines), notes)


class Storm:
    """Guests that are off, running and done."""

    def __init__(self, work: Work, ramdisk: Path, disks: list[Path], environment: dict[str, str]) -> None:
        self.work, self.ramdisk, self.environment = work, ramdisk, environment
        self.sockets = [work.temporary / f"v{number}" for number in range(len(disks))]
        self.waiting = list(range(len(disks)))
        self.running: dict[int, tuple[Child, float]] = {}
        self.tries = dict.fromkeys(self.waiting, 0)
        self.times: dict[int, float] = {}
        self.again = 0
        self._done: dict[int, float] = {}
        self._lock = threading.Lock()
        self.server = self._serve(disks)

    def _serve(self, disks: list[Path]) -> Child:
        """One daemon that serves all disks."""
        words: list[str | Path] = [path_of("qemu-storage-daemon")]
        for number, (disk, socket) in enumerate(zip(disks, self.sockets, strict=True)):
            node = f"driver=file,node-name=d{number},filename={disk},cache.direct=on,aio=native"
            export = f"type=vhost-user-blk,id=e{number},node-name=d{number},addr.type=unix,addr.path={socket}"
            words += ["--blockdev", node, "--export", f"{export},writable=on"]
        server = self.work.processes.start(words)
        until = time.monotonic() + 60
        while not all(socket.exists() for socket in self.sockets):
            if not server.running() or time.monotonic() > until:
                raise ProgramFailed(server.name, f"did not start{last_words(server)}")
            time.sleep(0.02)
        return server

    def unfinished(self) -> bool:
        """Return whether a guest is not done."""
        return bool(self.waiting or self.running)

    def step(self, now: float, stagger: int) -> None:
        """Start the guests whose time has come, and look after those that run."""
        total = len(self.sockets)
        started = total - len(self.waiting)
        if self.waiting and now >= started * stagger:
            self._start(self.waiting.pop(0))
        for number, (guest, began) in list(self.running.items()):
            with self._lock:
                done = self._done.get(number)
            if done is not None:
                self.times[number] = done - began
                self.work.tell(f"guest {number} is up after {done - began:.1f} s ({len(self.times)} of {total})")
            elif not guest.running():
                self._failed(number, guest)
            elif time.monotonic() - began > GUEST_S:
                raise ProgramFailed("linux.uml", f"guest {number} was not up within {numbers.number(GUEST_S)} s")
            if done is not None or not guest.running():
                self.work.processes.end(guest)
                if self.running[number][0] is guest:
                    del self.running[number]

    def _start(self, number: int) -> None:
        device = f"virtio_uml.device={self.sockets[number]}:2"
        writes = max(1, self.work.count("written") // (WRITE_KIB << 10))
        silent = ["con0=null,fd:1", "con=null", "ssl=null", "quiet"]
        identity = [f"umid=hotband{os.getpid()}-{number}", f"uml_dir={self.work.temporary}"]
        kernel = [path_of("linux.uml"), f"mem={MEMORY}", f"initrd={self.ramdisk}"]
        self.tries[number] += 1

        def hear(line: str) -> None:
            if DONE in line:
                with self._lock:
                    self._done[number] = time.monotonic()

        words = [*kernel, *silent, *identity, device, f"written={writes}"]
        # Once it is done its disk is unmounted; a request to end would meet it while it powers off, and be lost.
        kill = signal.SIGKILL
        guest = self.work.processes.start(words, environment=self.environment, tell=hear, end_signal=kill)
        self.running[number] = guest, time.monotonic()

    def _failed(self, number: int, guest: Child) -> None:
        """Start a guest once more that has ended without being done."""
        if self.tries[number] >= TRIES:
            raise ProgramFailed("linux.uml", f"guest {number} ended before it was up{last_words(guest)}")
        self.work.processes.end(guest)
        self.again += 1
        self._start(number)


def shim() -> dict[str, str]:
    """Return additions to a guest's environment. Raises UserError if the processor needs the shim and it is missing."""
    library = built() / SHIM
    if library.is_file():
        return {"LD_PRELOAD": str(library)}
    if "amx_tile" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"):
        raise UserError(
            "question.name", "", "boot-storm", f"needs {SHIM} on a processor with AMX; install with: make programs"
        )
    return {}


def make_disks(work: Work, folder: Path, guests: int) -> list[Path]:
    """An ext4 with files, and a copy of it a guest; clones that share nothing."""
    tree = work.temporary / "tree"
    tree.mkdir()
    names = write_tree(tree, work.count("read"), random.Random(work.count("seed")))
    half = len(names) // 2
    lists = [names[:half], *(names[half + part :: 4] for part in range(4))]
    for number, part in enumerate(lists):
        (tree / f"list.{number}").write_text("".join(f"{name}\n" for name in part), encoding="utf-8")
    first = folder / "disk0"
    work.call(
        ["mkfs.ext4", "-q", "-F", "-d", tree, "-N", str(len(names) + 100), first, f"{disk_bytes(work) >> 20}M"], 600
    )
    disks = [first, *(folder / f"disk{number}" for number in range(1, guests))]
    for disk in disks[1:]:
        shutil.copyfile(first, disk)
    shutil.rmtree(tree)
    return disks


def disk_bytes(work: Work) -> int:
    """Return the bytes of a guest's disk: its reads and half as much again for tables and journal, and its writes."""
    return (32 << 20) + work.count("read") * 3 // 2 + work.count("written")


def write_tree(tree: Path, size: int, source: random.Random) -> list[str]:
    """Write files with this total size; return their names in the order in which a boot reads them."""
    kinds, weights, data = list(FILE_KIB), list(FILE_KIB.values()), os.urandom(max(FILE_KIB) << 10)
    names: list[str] = []
    while size > 0:
        length = source.choices(kinds, weights)[0] << 10
        folder = tree / f"d{len(names) // 100}"
        folder.mkdir(exist_ok=True)
        file = folder / f"f{len(names)}"
        file.write_bytes(data[:length])
        names.append(f"{folder.name}/{file.name}")
        size -= length
    source.shuffle(names)
    return names


def initrd() -> bytes:
    """Return a guest's initial files: busybox, its disk driver and a script, as a cpio archive ("newc", cpio(5))."""
    busybox = Path(path_of("busybox")).read_bytes()
    if b"ld-linux" in busybox[:4096]:
        accepted = "needs a busybox without libraries; install with: apt-get install busybox-static"
        raise UserError("question.name", "", "boot-storm", accepted)
    driver = next(Path("/").glob(MODULES), None)
    if driver is None:
        raise ProgramFailed("linux.uml", f"has no driver /{MODULES}")
    folders = b"".join(cpio(name, 0o40755) for name in ("bin", "dev", "proc", "mnt"))
    files = [("bin/busybox", 0o100755, busybox), ("virtio_blk.ko", 0o100644, driver.read_bytes())]
    console = cpio("dev/console", 0o20600, device=(5, 1))
    rest = b"".join(cpio(*entry) for entry in [*files, ("init", 0o100755, INIT.encode()), ("TRAILER!!!", 0, b"")])
    return folders + console + rest


def cpio(name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """One entry of the archive: a header of hexadecimal numbers, the name, the data, each padded to four bytes."""
    path = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + path
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def version(work: Work) -> str:
    """Return the version of the guests' kernel."""
    return f"user-mode Linux {work.call(['linux.uml', '--version'], 20).strip().splitlines()[-1]}"


PROGRAM = Program(
    name="boot-storm",
    title="Boot storm: user-mode-Linux guests powered on one after the other",
    asks="small random reads of many disks at once, 4 to 128 KiB, direct; some writes and a flush per guest",
    needs=(
        Need("linux.uml", "user-mode-linux"),
        Need("qemu-storage-daemon", "qemu-system-common"),
        Need("busybox", "busybox-static"),
        Need("mkfs.ext4", "e2fsprogs"),
    ),
    settings={
        "guests": Count(8, "guests with 64 MB of memory", 1, 256),
        "stagger": Count(3, "seconds from one power-on to the next", 0, 3600),
        "read": Size("24 MiB", "of files that a guest reads", "1 MiB", "4 GiB"),
        "written": Size("1 MiB", "that a guest writes", "8 KiB", "1 GiB"),
        "seed": Count(1, "of sizes and order of the files", 0, 2**31 - 1),
    },
    stands_for={"boot-storm": ""},
    run=run,
)
