"""Whether the drive still answers: what a program is told afterwards is told by a computer without power.

A trial cuts the power of the drive alone, and the kernel goes on. For some microseconds it may call things done that
are not: an fsync of ext4 finds that its transaction is no longer under way and returns 0, though that transaction has
just failed (jbd2_complete_transaction in fs/jbd2/journal.c waits for, and asks for errors of, a transaction that runs
or commits, no other). So an acknowledgement counts where a read of the drive that begins after it is answered."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from types import TracebackType

SECTOR = 4096


class Probe:
    """Reads the first sector of a device, past the page cache. Of one thread at a time."""

    def __init__(self, device: Path) -> None:
        self._file = os.open(device, os.O_RDONLY | os.O_DIRECT)
        self._memory = mmap.mmap(-1, SECTOR)

    def __enter__(self) -> Probe:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)
        self._memory.close()

    def answers(self) -> bool:
        """Whether it is read."""
        try:
            return os.preadv(self._file, [self._memory], 0) == SECTOR
        except OSError:
            return False
