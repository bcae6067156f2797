"""Numbered records that are appended to files of a file system, and what is left of them.

A record's size and bytes follow from its number, so that nobody needs to keep them: what was promised is, for every
writer, the number of its last record that was followed by an fsync without an error."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crash.host import until
from crash.probe import Probe

WRITERS = 4
A_FILE = 48
"""Records in a file; then the next begins, and the folder is synced, too: new files are as much a promise as bytes."""
SMALLEST, LARGEST = 100, 65536
TOGETHER = 3
"""At most so many records before an fsync."""
WRITERS_END_S = 40.0
"""Whoever waits longer hangs: a write of 64 KiB that was under way is answered in 50 ms on the slowest drive here."""


@dataclass
class Promise:
    """What a writer was promised: its first `last` records."""

    writer: int
    last: int = 0


@dataclass
class Left:
    """What is left of what was promised."""

    lost: int = 0
    faults: list[str] = field(default_factory=list)


def record(writer: int, number: int) -> bytes:
    """Record `number` of a writer, from 1 on; sizes are spread evenly over their logarithms."""
    draw = random.Random(f"{writer}/{number}")
    size = round(SMALLEST * (LARGEST / SMALLEST) ** draw.random())
    head = f"{writer}/{number}/{size}\n".encode()
    return head + draw.randbytes(size - len(head))


def path(folder: Path, writer: int, number: int) -> Path:
    """The file of a record."""
    return folder / f"{writer}" / f"{(number - 1) // A_FILE:04d}"


def write(folder: Path, promise: Promise, probe: Probe, stop: threading.Event) -> None:
    """Appends records until the file system fails, or the drive does not answer any more."""
    draw = random.Random(f"together/{promise.writer}")
    own = folder / f"{promise.writer}"
    number = promise.last
    try:
        own.mkdir(exist_ok=True)
        sync_folder(folder)
        while not stop.is_set():
            first = number + 1
            number = min(number + draw.randint(1, TOGETHER), (number // A_FILE + 1) * A_FILE)
            target = path(folder, promise.writer, first)
            is_new = not target.exists()
            with open(target, "ab", buffering=0) as file:
                for one in range(first, number + 1):
                    data = record(promise.writer, one)
                    if file.write(data) != len(data):
                        raise OSError("a short write")
                os.fsync(file.fileno())
            if is_new:
                sync_folder(own)
            if not probe.answers():
                return
            promise.last = number
    except OSError:
        # What the crash leaves of a file system.
        return


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Writers:
    """Writers beside this thread, until the file system below them fails."""

    def __init__(self, folder: Path, device: Path) -> None:
        self.promises = [Promise(writer) for writer in range(WRITERS)]
        self._stop = threading.Event()
        # Daemons: one that waits for a device for ever shall not keep the trial alive.
        self._threads = [
            threading.Thread(target=self._write, args=(folder, device, one), daemon=True) for one in self.promises
        ]
        for thread in self._threads:
            thread.start()

    def _write(self, folder: Path, device: Path, promise: Promise) -> None:
        with Probe(device) as probe:
            write(folder, promise, probe, self._stop)

    def wait(self) -> None:
        """Waits for their end: a drive that is gone fails all that is asked of it, and lets nobody wait."""
        until(lambda: not any(thread.is_alive() for thread in self._threads), "writers end", WRITERS_END_S)

    def stop(self) -> None:
        """They end after the next fsync."""
        self._stop.set()


def left(folder: Path, promises: list[Promise]) -> Left:
    """Compares every promised record with what the files hold where it belongs."""
    found = Left()
    for promise in promises:
        bad = [number for number, is_whole in compared(folder, promise) if not is_whole]
        found.lost += len(bad)
        if bad:
            found.faults.append(f"writer {promise.writer}: {len(bad)} of {promise.last} records, from {bad[0]} on")
    return found


def compared(folder: Path, promise: Promise) -> Iterator[tuple[int, bool]]:
    """Numbers of the promised records, and whether each is there and whole."""
    for first in range(1, promise.last + 1, A_FILE):
        try:
            have = path(folder, promise.writer, first).read_bytes()
        except OSError:
            have = b""
        at = 0
        for number in range(first, min(first + A_FILE, promise.last + 1)):
            wanted = record(promise.writer, number)
            yield number, have[at : at + len(wanted)] == wanted
            at += len(wanted)
