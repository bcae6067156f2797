"""Resources of a running program: folders and disks on the volumes, processes, progress. All of it is undone at the
end, also after a failure or an interruption: processes end, file systems are unmounted, files are removed."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Self

from hotband.base.child import Told, run_child
from hotband.base.errors import UserError, reason_of
from hotband.base.temporary import TemporaryFolder
from hotband.base.text import numbers
from hotband.execution.programs.devices import Devices
from hotband.execution.programs.needs import path_of
from hotband.execution.programs.processes import Processes, ProgramFailed, last_words
from hotband.execution.programs.program import Settings

INODES = 1 << 18
"""Most inodes of an ext4 on a large volume: 64 MiB of tables at 256 bytes each (mke2fs.conf), which are written before
the program begins. By itself a terabyte gets 16 GiB of tables."""
BYTES_PER_INODE = 16384
"""mke2fs.conf's `inode_ratio`."""
UNMOUNT_TRIES = 50
PREFIX = "hotband-program-"
"""Beginning of the names of Hotband's folders."""
SYNC_S = 3600.0
"""Time that writing a host's dirty pages to a slow drive may take."""


class Work(AbstractContextManager["Work"]):
    """The surroundings of one run of a program."""

    def __init__(
        self, name: str, devices: Devices, settings: Settings, tell: Told, texts: Mapping[str, str] | None = None
    ) -> None:
        self.name, self.devices, self.settings, self.tell = name, devices, settings, tell
        self.texts = texts or {}
        """Settings as the user wrote them, for messages."""
        self.notes: list[str] = []
        self.processes = Processes()
        self._folders: dict[str, Path] = {}
        self._mounted: list[Path] = []
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        # Short, since a socket's path has at most 107 bytes (unix(7)), and open to the users that servers run as.
        self._temporary = TemporaryFolder("program")
        self.temporary = Path(self._temporary.name)
        self.temporary.chmod(0o755)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.processes.end_all()
        finally:
            for mount in reversed(self._mounted):
                unmount(mount)
            if not any(mount.is_mount() for mount in self._mounted):
                for folder in reversed(self._made):
                    shutil.rmtree(folder, ignore_errors=True)
                self._temporary.cleanup()

    # --- settings ---

    def count(self, key: str) -> int:
        """A setting that is a number: a count, or the bytes of a size."""
        value = self.settings[key]
        assert isinstance(value, int)
        return value

    def word(self, key: str) -> str:
        """A setting that is a word."""
        return str(self.settings[key])

    # --- places ---

    def folder(self, role: str) -> Path:
        """An empty folder for `role` on its volume: in the folder that the volume is, or in a file system that is made
        on the device. A role that has no volume of its name shares that of the first."""
        path = self.place(self.devices.volume(role)) / role
        path.mkdir(exist_ok=True)
        path.chmod(0o755)
        return path

    def place(self, volume: str) -> Path:
        """Return the path of a volume's files."""
        if volume not in self._folders:
            device = self.devices.volumes[volume]
            self._folders[volume] = self._mount(volume, device) if device.is_block_device() else self._make(device)
        return self._folders[volume]

    def expect_space(self, key: str, size: float, role: str = "data") -> None:
        """Raise UserError, before anything is written, where a volume has less free than a program will write; `key`
        is the setting that requires the space."""
        space = os.statvfs(self.folder(role))
        free = space.f_bavail * space.f_frsize
        if size > free:
            accepted = f"{self.name} writes about {numbers.size(size)}, {numbers.size(free)} are free; expected less"
            raise UserError("question.settings", key, self.texts.get(key, ""), accepted)

    def disks(self, count: int, size: int) -> list[Path]:
        """Return `count` disks: the block devices of the volumes if there are enough, else new sparse files of `size`
        bytes on the first volume."""
        devices = [path for path in self.devices.volumes.values() if path.is_block_device()]
        if len(devices) >= count:
            assert self.devices.served, "a device of the host is never written"
            return devices[:count]
        files = [self.folder("data") / f"disk{n}" for n in range(count)]
        for file in files:
            with file.open("wb") as made:
                made.truncate(size)
        return files

    def _make(self, folder: Path) -> Path:
        try:
            made = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{self.name}-", dir=folder))
        except OSError as error:
            raise UserError("question.on", "", str(folder), f"cannot be written: {reason_of(error)}") from None
        self._made.append(made)
        made.chmod(0o755)
        return made

    def _mount(self, volume: str, device: Path) -> Path:
        assert self.devices.served, "a device of the host is never formatted"
        kind = self.word("fs")
        self.tell(f"making {kind} on {volume} ({device})")
        self.call(make_file_system(kind, device, size_of(device)), 600)
        mount = self.temporary / f"volume-{volume}"
        mount.mkdir()
        self.call(["mount", "-t", kind, device, mount], 60)
        self._mounted.append(mount)
        return mount

    def cold(self) -> None:
        """Write dirty pages, and drop the files of all volumes from the host's memory: reads reach the drive."""
        for folder in self._folders.values():
            self.call(["sync", "--file-system", folder], SYNC_S)
            for file in folder.rglob("*"):
                with suppress(OSError):
                    if stat.S_ISREG(file.lstat().st_mode):
                        forget(file)

    # --- processes ---

    def call(
        self,
        command: Sequence[str | Path],
        within_s: float,
        *,
        user: str | None = None,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        tell: Told | None = None,
    ) -> str:
        """Run a command to its end; return its output. Raises ProgramFailed if it fails."""
        words = [path_of(str(command[0])), *command[1:]]
        started = self.processes.start(words, user=user, folder=folder, environment=environment, tell=tell)
        return self.processes.wait(started, within_s)

    def run_for(self, command: Sequence[str | Path], seconds: float, *, tell: Told | None = None) -> str:
        """Run a command for `seconds` and end it; return its output. Raises ProgramFailed if it ends by itself
        before."""
        started = self.processes.start([path_of(str(command[0])), *command[1:]], tell=tell)
        if started.ended_within(seconds):
            self.processes.wait(started, 1)
            raise ProgramFailed(started.name, f"ended before its time{last_words(started)}")
        self.processes.end(started)
        return started.text()


def make_file_system(kind: str, device: Path, size: int) -> list[str | Path]:
    """The command that makes a file system whose tables are all written before it is used: nothing of it comes later,
    between the I/Os of the program."""
    if kind == "xfs":
        return ["mkfs.xfs", "-f", "-q", device]
    inodes = min(INODES, size // BYTES_PER_INODE)
    whole = "lazy_itable_init=0,lazy_journal_init=0"
    return ["mkfs.ext4", "-F", "-q", "-E", whole, "-N", str(inodes), device]


def size_of(device: Path) -> int:
    """Bytes of a block device."""
    with device.open("rb") as file:
        return file.seek(0, os.SEEK_END)


def forget(file: Path) -> None:
    """Take a file out of the page cache, as far as it is clean."""
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def unmount(mount: Path) -> None:
    """Unmount a file system; in the end even one that is in use."""
    for _ in range(UNMOUNT_TRIES):
        if not mount.is_mount() or run_child(["umount", mount]).code == 0:
            return
        time.sleep(0.1)
    run_child(["umount", "--lazy", mount])


def expect_reachable(folder: Path, user: str | None) -> None:
    """Raise UserError if a folder is closed to the user that a server runs as."""
    if user is None or os.geteuid() != 0:
        return
    if run_child(["test", "-x", folder], user=user).code != 0:
        accepted = f"is not accessible to user {user}, who runs the server; expected a folder that others may enter"
        raise UserError("question.on", "", str(folder), accepted)


__all__ = ["ProgramFailed", "Work"]
