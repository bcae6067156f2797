"""Holding the permitted device or file, and passing it to fio: only the checked target is written.

A place is opened once, from the descriptor of its folder and never through a symbolic link at its end. That descriptor
is claimed (a block device with O_EXCL) or locked (a file), compared with what was permitted, and all checks are
repeated on the descriptor. fio gets the descriptor: its job names /dev/fd/N, which the kernel resolves to the very file
that is open (proc(5), /proc/PID/fd), not to a path. Therefore no rename, link or mount between check and write leads
elsewhere. As a further check, the files that fio has open are compared with the descriptor from its start to its end;
a fio with another file open is killed.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError, reason_of
from hotband.base.folders import real_path
from hotband.execution.devices.contents import is_made_here, mark
from hotband.execution.devices.host import Host
from hotband.execution.devices.nodes import Node, node_at, node_of, open_at
from hotband.execution.devices.safety import Permission, expect_one_name, identity_of, refusals
from hotband.execution.devices.users import Opened, opened_by


@dataclass(frozen=True)
class Held:
    """The permitted device or file, held open: `descriptor` is None for a URI or a recorded machine."""

    permission: Permission
    descriptor: int | None = None
    node: Node | None = None

    @property
    def name(self) -> str | None:
        """Return the name by which fio opens it; None without a descriptor."""
        return None if self.descriptor is None else f"/dev/fd/{self.descriptor}"

    @property
    def path(self) -> str:
        """Return the name by which this process opens it, whatever its path leads to now."""
        return self.permission.path if self.descriptor is None else f"/proc/self/fd/{self.descriptor}"

    def expect_named(self) -> None:
        """Raise UserError if its path now leads to something else: for tools that only accept a path."""
        if self.node is not None and not self.node.is_same(node_at(self.permission.path, self.permission.host)):
            raise _another(self.permission.path)

    def expect_opened(self, process: int, folder: Path) -> bool:
        """Return whether a process that was given the descriptor has opened it again by now. Raises UserError if it has
        another block device open, or writes a file that is neither this one nor below `folder`, where its results
        are."""
        seen = list(opened_by(str(process), Host()))
        foreign = self._foreign(seen, folder)
        if foreign:
            # A row is of several readings: what was closed between two of them is not there at a second look.
            foreign &= self._foreign(opened_by(str(process), Host()), folder)
        for foreigner in foreign:
            accepted = f"has {foreigner.link} open, which was not permitted; it was killed"
            raise UserError("fio", "", self.permission.path, accepted)
        return any(handle.node.is_same(self.node) and handle.descriptor != self.descriptor for handle in seen)

    def _foreign(self, opened: Iterable[Opened], folder: Path) -> set[Opened]:
        """Return opened files other than the given file or device, results, and files that are only read."""
        results = real_path(folder)
        return {
            handle
            for handle in opened
            if not handle.node.is_same(self.node)
            and (
                handle.descriptor == self.descriptor
                or handle.node.kind == "block"
                or (handle.writes and not Path(handle.link).is_relative_to(results))
            )
        }


@contextmanager
def held(permission: Permission) -> Iterator[Held]:
    """Hold the permitted device or file during the block. One that may be written is protected from others: a block
    device exclusively (O_EXCL, which prevents mounts), a file with a lock (flock). Checks that it is still the
    permitted one and that no reason to refuse it has appeared: the user's confirmation may have taken long. A missing
    file is created. Raises UserError."""
    if permission.kind == "uri" or permission.host.root is not None:
        yield Held(permission)
        return
    descriptor = _opened(permission)
    try:
        yield holding(permission, descriptor)
    finally:
        os.close(descriptor)


def holding(permission: Permission, descriptor: int) -> Held:
    """Hold an open descriptor, which its opener closes, like `held`. Raises UserError."""
    node = node_of(descriptor)
    if permission.node is not None and not permission.node.is_same(node):
        raise _another(permission.path)
    made = Held(permission, descriptor, node)
    if permission.may_write and permission.node is not None:
        if permission.kind == "file":
            _lock(descriptor, permission.path)
            if os.fstat(descriptor).st_size and not is_made_here(made.path, permission.path):
                expect_one_name(permission.path, made.path, permission.host)
        reasons = refusals(made.path, permission.host, is_claimed=True)
        if reasons:
            accepted = f"is now in use, and was not when it was permitted: {'; '.join(reasons)}"
            raise UserError(permission.path, "", "", accepted)
        if identity_of(made.path, permission.host) != permission.identity:
            raise _another(permission.path)
    if node_at(str(made.name), permission.host) != node:
        raise UserError("/dev/fd", "", "", "does not lead to the files of a process: expected a mounted /proc")
    return made


def _opened(permission: Permission) -> int:
    """Open the permitted device or file; no other process can claim it while it may be written."""
    path, flags = permission.path, os.O_RDONLY | os.O_NONBLOCK
    if permission.may_write and permission.kind == "block":
        # O_EXCL without O_CREAT is a claim on a block device, whatever it is opened for (open(2)).
        flags |= os.O_EXCL
    elif permission.may_write and permission.node is None:
        flags |= os.O_CREAT | os.O_EXCL
    try:
        descriptor = open_at(path, flags)
    except OSError as error:
        if error.errno in (errno.EBUSY, errno.EEXIST):
            why = "; ".join(refusals(path, permission.host)) or "another process holds it, or created it"
            raise UserError(path, "", "", f"is now in use: {why}; nothing was written") from None
        if error.errno == errno.ELOOP:
            raise _another(path) from None
        raise UserError(path, "", "", f"cannot be opened: {reason_of(error)}; nothing was written") from None
    if flags & os.O_CREAT:
        mark(descriptor)
    return descriptor


def _another(path: str) -> UserError:
    accepted = "is no longer the permitted device or file; nothing was written"
    return UserError(path, "", "", accepted)


def _lock(descriptor: int, path: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UserError(path, "", "", "is locked by another process; nothing was written") from None
