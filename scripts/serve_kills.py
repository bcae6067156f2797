"""Kills a server at random moments and looks what its store has: `python scripts/serve_kills.py --kills 50`.

A served machine is written to by two programs at once: fio by NBD, with a checksum in every sector, and threads of
this script by the file that FUSE shows, whose sectors say where they belong and which write they are of. The server
is killed (SIGKILL), started again on the same store, and read: a sector must hold the newest write that was
acknowledged or one that was under way, as a whole. That is more than a drive promises, which may lose what no flush
came after; what was flushed before the kill is counted apart.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SECTOR = 512
STAMPS = SECTOR // 16
"""A sector repeats its number and that of the write."""

FIO_BYTES = 64 << 20
REGION = 4 << 20
THREADS = 4
FLUSH_EVERY = 16
READY_S = 60.0
"""A server that is not there by then is taken as failed."""

FIO = [
    *("fio", "--name=kills", "--ioengine=nbd", f"--size={FIO_BYTES}", "--rw=randwrite", "--bs=4k", "--iodepth=8"),
    *("--verify=crc32c", f"--verify_interval={SECTOR}", f"--fsync={FLUSH_EVERY}"),
]

LOG = ["--write_lat_log=fio", "--log_offset=1"]
"""Where each write that was acknowledged was: fio's own state knows only how many were begun, and takes the last of
them as under way, which others overtake."""


LOAD = ["--verify_state_load=1", "--continue_on_error=verify"]


@dataclass
class Writer:
    """A thread that writes its own sectors, and knows which write each may hold."""

    first: int
    seed: int
    acknowledged: np.ndarray = field(default_factory=lambda: np.zeros(REGION // SECTOR, np.uint64))
    flushed: np.ndarray = field(default_factory=lambda: np.zeros(REGION // SECTOR, np.uint64))
    under_way: tuple[int, int, int] = (0, 0, 0)
    writes: int = 0

    def run(self, file: int) -> None:
        """Writes until an error says that the server is gone."""
        drawn = random.Random(self.seed + self.writes)
        try:
            while True:
                sectors = drawn.choice((1, 2, 8, 8, 16, 64))
                start = drawn.randrange(REGION // SECTOR - sectors + 1)
                number = self.writes + 1
                self.under_way = (start, sectors, number)
                stamps = np.empty((sectors, STAMPS, 2), np.uint64)
                stamps[:, :, 0] = np.arange(self.first + start, self.first + start + sectors)[:, None]
                stamps[:, :, 1] = number
                if os.pwrite(file, stamps.tobytes(), (self.first + start) * SECTOR) != sectors * SECTOR:
                    raise OSError("a short write")
                self.acknowledged[start : start + sectors] = number
                self.writes, self.under_way = number, (0, 0, 0)
                if number % FLUSH_EVERY == 0:
                    os.fsync(file)
                    self.flushed[:] = self.acknowledged
        except OSError:
            return

    def check(self, file: int) -> tuple[int, int, int]:
        """Sectors that are torn, that lost what was flushed, and that lost what was only acknowledged."""
        data = b"".join(os.pread(file, 1 << 20, self.first * SECTOR + at) for at in range(0, REGION, 1 << 20))
        stamps = np.frombuffer(data, np.uint64).reshape(-1, STAMPS, 2)
        numbers = stamps[:, 0, 1]
        torn = ~(stamps == stamps[:, :1, :]).all(axis=(1, 2))
        places = np.arange(self.first, self.first + REGION // SECTOR, dtype=np.uint64)
        torn |= (numbers > 0) & (stamps[:, 0, 0] != places)
        start, sectors, number = self.under_way
        newest = np.zeros(len(numbers), bool)
        newest[start : start + sectors] = numbers[start : start + sectors] == number
        lost = ~torn & ~newest & (numbers != self.acknowledged)
        of_flushed = lost & (numbers < self.flushed)
        # What is there now is what the next round begins with.
        self.acknowledged[:] = numbers
        self.flushed[:] = numbers
        self.writes, self.under_way = max(self.writes, number), (0, 0, 0)
        return int(torn.sum()), int(of_flushed.sum()), int((lost & ~of_flushed).sum())


class Server:
    """A server with a store in `folder`, in a process of its own."""

    def __init__(self, machine: str, folder: Path, base: Path | None) -> None:
        self.socket, mounted = folder / "nbd.sock", folder / "files"
        self.socket.unlink(missing_ok=True)
        kept = ["--store", str(folder / "store.img"), *(["--base", str(base)] if base is not None else [])]
        command = ["serve", machine, "--nbd", str(self.socket), "--fuse", str(mounted), "--anyway", "--no-priority"]
        self._log = (folder / "server.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from hotband.faces.cli import main; main()", *command, *kept],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        self.file = self._wait(mounted, folder / "server.log")

    def _wait(self, mounted: Path, log: Path) -> Path:
        end = time.monotonic() + READY_S
        while time.monotonic() < end and self.process.poll() is None:
            # The files are mounted after the socket is there; what a dead server left mounted gives errors until then.
            try:
                found = sorted(mounted.iterdir()) if self.socket.exists() else []
            except OSError:
                found = []
            if found:
                return found[0]
            time.sleep(0.02)
        self.kill()
        raise SystemExit(f"the server did not start: {log.read_text()}")

    def uri(self) -> str:
        """Where fio finds its volume."""
        return f"--uri=nbd+unix:///{self.file.name}?socket={self.socket}"

    def kill(self) -> None:
        """As nobody can refuse."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._log.close()

    def end(self) -> None:
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(READY_S)
        self._log.close()


@dataclass
class Found:
    """What was found over all kills."""

    kills: int = 0
    writes: int = 0
    torn: int = 0
    lost_of_flushed: int = 0
    lost_of_acknowledged: int = 0
    fio_writes: int = 0
    fio_lost: int = 0
    fio_under_way: int = 0

    def is_whole(self) -> bool:
        """Nothing that was acknowledged is lost, and no sector torn."""
        return not (self.torn or self.lost_of_flushed or self.lost_of_acknowledged or self.fio_lost)


def write_until_killed(server: Server, writers: list[Writer], after_s: float, seed: int, folder: Path) -> None:
    """Lets fio and the writers work on the server for so long, and kills it."""
    fio = subprocess.Popen(
        [*FIO, server.uri(), f"--randseed={seed}", "--do_verify=0", *LOG],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    file = os.open(server.file, os.O_RDWR)
    threads = [threading.Thread(target=writer.run, args=(file,)) for writer in writers]
    for thread in threads:
        thread.start()
    time.sleep(after_s)
    server.kill()
    for thread in threads:
        thread.join()
    os.close(file)
    fio.wait(READY_S)


def acknowledged_to_fio(log: Path) -> set[int]:
    """First bytes of the writes that were acknowledged; columns of the log are time, latency, direction (1: write),
    bytes and offset."""
    rows = (line.split(",") for line in log.read_text().splitlines())
    return {int(row[4]) for row in rows if len(row) > 4 and int(row[2]) == 1}


def check_fio(server: Server, seed: int, folder: Path, found: Found) -> None:
    """Lets fio read what it wrote; one that was killed before it was connected wrote nothing."""
    state, log = folder / "local-kills-0-verify.state", folder / "fio_lat.1.log"
    if state.exists() and log.exists():
        verify = subprocess.run(
            [*FIO, server.uri(), f"--randseed={seed}", "--verify_only", *LOAD],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        done = acknowledged_to_fio(log)
        missed = {int(at) for at in re.findall(r"requested block: offset=(\d+)", verify.stdout + verify.stderr)}
        if verify.returncode != 0 and not missed:
            raise SystemExit(f"fio did not verify: {verify.stderr[-2000:]}")
        found.fio_writes += len(done)
        found.fio_lost += len(missed & done)
        found.fio_under_way += len(missed - done)
    for left in (state, log):
        left.unlink(missing_ok=True)


def check(server: Server, writers: list[Writer], seed: int, folder: Path, found: Found) -> None:
    """Reads what the store has."""
    check_fio(server, seed, folder, found)
    file = os.open(server.file, os.O_RDONLY)
    for writer in writers:
        torn, of_flushed, of_acknowledged = writer.check(file)
        found.torn += torn
        found.lost_of_flushed += of_flushed
        found.lost_of_acknowledged += of_acknowledged
    os.close(file)


def kill_often(machine: str, kills: int, seed: int, folder: Path, base: Path | None = None) -> Found:
    """Kills a server of `machine` so often, whose store is in `folder`, and says what was lost."""
    drawn, found = random.Random(seed), Found()
    first = FIO_BYTES // SECTOR
    writers = [Writer(first + number * REGION // SECTOR, 1000 * seed + number) for number in range(THREADS)]
    (folder / "files").mkdir()
    server = Server(machine, folder, base)
    try:
        while found.kills < kills:
            at = drawn.uniform(0.1, 1.5)
            write_until_killed(server, writers, at, seed + found.kills, folder)
            server = Server(machine, folder, base)
            check(server, writers, seed + found.kills, folder, found)
            found.kills += 1
            found.writes = sum(writer.writes for writer in writers)
            print(f"{found}", flush=True)
    finally:
        if server.process.poll() is None:
            server.end()
        else:
            # What a server that died left mounted is in the way of taking the folder away.
            subprocess.run(["umount", "--lazy", folder / "files"], check=False)
    return found


def main() -> int:
    """Kills so often, and says what it saw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--machine", default="s4500-960")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", action="store_true", help="over a base image of zeros that is 64 MiB long")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hotband-kills-") as name:
        folder, base = Path(name), None
        if asked.base:
            base = folder / "base.img"
            base.write_bytes(bytes(FIO_BYTES + REGION))
        found = kill_often(asked.machine, asked.kills, asked.seed, folder, base)
    print("nothing acknowledged is lost, no sector torn" if found.is_whole() else "LOST OR TORN")
    return 0 if found.is_whole() else 1


if __name__ == "__main__":
    raise SystemExit(main())
