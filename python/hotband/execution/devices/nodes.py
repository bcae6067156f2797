"""Identity of a file or a block device whatever its name, by the kernel's numbers.

A path is not an identity: hard links, bind mounts, device nodes and other mount namespaces give one file many names.
The number of its file system and its inode identify a file; its own number and, since numbers are reused, the kernel's
sequence number of the disk identify a block device.

Left out: an overlay and the folder below it show one file under two numbers (`has_writer` handles that).
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import struct
from dataclasses import dataclass, field
from typing import Literal

from hotband.execution.devices.host import Host

# linux/loop.h: LOOP_GET_STATUS64 fills a struct loop_info64 of 232 bytes. It begins with the number of the file system,
# the inode and (of a block device) the number of what lies below, encoded as stat(2) has them.
LOOP_GET_STATUS64, LOOP_INFO_BYTES = 0x4C05, 232
# linux/fs.h: BLKGETDISKSEQ.
BLKGETDISKSEQ = 0x80081280
# asm-generic/fcntl.h; Python has no name for it.
F_SETSIG = 10
DELETED = " (deleted)"
"""Suffix that the kernel adds to the path of a removed file."""


@dataclass(frozen=True)
class Node:
    """A file or a block device: `number` is DEVICE:INODE of a file and MAJOR:MINOR of a block device, `sequence` the
    number of this very disk (diskseq), which no later disk gets; None before Linux 5.15."""

    kind: Literal["block", "file"]
    number: str
    sequence: str | None = field(default=None, compare=False)

    def is_same(self, other: Node | None) -> bool:
        """Return whether both are the same, disk and all."""
        if other is None or self != other:
            return False
        return None in (self.sequence, other.sequence) or self.sequence == other.sequence


def node_at(path: str, host: Host) -> Node | None:
    """The node behind a path, links followed; None for other types than files and block devices."""
    if host.root is not None:
        name = host.block_name(path)
        if name:
            return Node("block", host.text(f"{host.sysfs(name)}/dev") or name, _sequence(host.sysfs(name), host))
        path = str(host.at(host.real(path)))
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    return _node(status, _sequence(f"/sys/dev/block/{number}", host) if stat.S_ISBLK(status.st_mode) else None)


def node_of(descriptor: int) -> Node | None:
    """The node that is open; None for other types than files and block devices. Raises OSError."""
    status = os.fstat(descriptor)
    sequence = None
    if stat.S_ISBLK(status.st_mode):
        try:
            sequence = str(*struct.unpack("Q", fcntl.ioctl(descriptor, BLKGETDISKSEQ, bytes(8))))
        except OSError as error:
            # ENOTTY: older than Linux 5.15.
            if error.errno not in (errno.ENOTTY, errno.EINVAL):
                raise
    return _node(status, sequence)


def node_below(loop: str, host: Host) -> Node | None:
    """Return the node below a loop device: the one the kernel has open, else (without permission) that at its path."""
    if host.root is None:
        try:
            descriptor = os.open(f"/dev/{loop}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                status = fcntl.ioctl(descriptor, LOOP_GET_STATUS64, bytes(LOOP_INFO_BYTES))
            finally:
                os.close(descriptor)
            device, inode, number = struct.unpack("QQQ", status[:24])
            if number:
                return Node("block", f"{os.major(number)}:{os.minor(number)}")
            return Node("file", f"{device}:{inode}")
        except OSError:
            pass
    path = host.text(f"{host.sysfs(loop)}/loop/backing_file")
    return node_at(path.removesuffix(DELETED), host) if path else None


def open_at(path: str, flags: int, mode: int = 0o600) -> int:
    """Open the file at an absolute path, from a descriptor of its folder; its last name must not be a symbolic link.
    Raises OSError."""
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return os.open(os.path.basename(path), flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    finally:
        os.close(folder)


def has_writer(path: str) -> bool:
    """Return whether any process has a file open for writing: its file system grants a read lease only if none has
    (fcntl(2)). False if the file system cannot check."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        # Whoever opens it in this moment has us told by a signal, which by default would end us: this one does not.
        fcntl.fcntl(descriptor, F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    else:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return False
    finally:
        os.close(descriptor)


def _node(status: os.stat_result, sequence: str | None) -> Node | None:
    if stat.S_ISBLK(status.st_mode):
        return Node("block", f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}", sequence)
    return Node("file", f"{status.st_dev}:{status.st_ino}") if stat.S_ISREG(status.st_mode) else None


def _sequence(folder: str, host: Host) -> str | None:
    """The disk's, of a partition too."""
    return host.text(f"{folder}/diskseq") or host.text(f"{folder}/../diskseq")
