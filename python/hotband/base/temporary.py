"""Temporary folders that do not outlive their process: a later process removes those of a killed one."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "hotband-"
LOCK = ".lock"
"""Suffix of a file next to a folder, locked by the folder's process: a folder with a free lock is a leftover. It gets
its name once it is locked, so that no other process takes a folder in creation for a leftover."""


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder `hotband-NAME-…`, removed at the end of the block or by `cleanup`; without a name its path
    is short, for sockets."""

    def __init__(self, name: str = "") -> None:
        remove_left(tempfile.gettempdir())
        super().__init__(prefix=f"{PREFIX}{name and f'{name}-'}", ignore_cleanup_errors=True)
        # The file stays open until the folder is removed: it is a lock and has no content.
        unnamed = Path(self.name, LOCK)
        self._lock = os.open(unnamed, os.O_CREAT | os.O_WRONLY, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(f"{self.name}{LOCK}")

    def cleanup(self) -> None:
        """Remove the folder."""
        super().cleanup()
        if self._lock >= 0:
            Path(f"{self.name}{LOCK}").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = -1


def left_folders() -> list[Path]:
    """Return this user's temporary folders whose process has ended without removing them."""
    # Without symbolic links, because the kernel names mounts and files of loop devices by real paths.
    locks = Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*{LOCK}")
    return [lock.with_suffix("") for lock in locks if _is_free(lock)]


def mounts_below(folder: Path) -> list[Path]:
    """Return the mounts below a folder, the last one first (proc_pid_mountinfo(5): the fifth field)."""
    table = Path("/proc/self/mountinfo").read_text(errors="replace")
    points = [Path(plain(line.split(" ")[4])) for line in table.splitlines()]
    return [point for point in reversed(points) if folder in point.parents]


def plain(text: str) -> str:
    """Decode a path from one of proc's tables, which write blanks and backslashes as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)


@cache
def remove_left(_place: str) -> None:
    """Remove the folders that killed processes left in the folder of temporary files, once per process."""
    for folder in left_folders():
        remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove a leftover folder, except one with a mount below it, whose files are not ours."""
    if not mounts_below(folder):
        shutil.rmtree(folder, ignore_errors=True)
        Path(f"{folder}{LOCK}").unlink(missing_ok=True)


def _is_free(lock: Path) -> bool:
    with suppress(OSError):
        if lock.lstat().st_uid != os.getuid():
            return False
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False
