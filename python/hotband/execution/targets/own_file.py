"""A file that we make in a folder, to be measured in: laid out in full before, removed afterwards."""

from __future__ import annotations

import fcntl
import os
import random
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hotband.base.errors import UserError, reason_of
from hotband.execution.devices.contents import OWN_FILE, is_made_here, mark
from hotband.execution.targets.real_target import RealTarget

if TYPE_CHECKING:
    from hotband.execution.devices.held import Held

# Where neither the workload nor the user says a size: more than the caches of a drive (256 MB of a disk's, 1 to 4 GB
# of an SSD's DRAM and some GB of SLC are usual), still laid out in seconds to a minute.
USUAL_BYTES = 4 << 30
# The file is a multiple of this, so that the largest I/Os of usual workloads fit whole.
UNIT_BYTES = 1 << 20
# Data sheets promise their figures for data that does not compress; one buffer over and over would not be that for a
# drive that removes copies, so each piece begins with its own number.
_PIECE_BYTES = 4 << 20
# What a file system needs besides the file's bytes, and what others may write meanwhile (estimate).
_SPARE_BYTES = 64 << 20


def size_for(target: RealTarget, asked_bytes: int, end_bytes: int) -> int:
    """Return the bytes of the file: as requested, else up to the workload's last byte, else the default. Raises
    UserError if the folder has less room, or the workload goes beyond the requested size."""
    assert target.path is not None, "a file of ours has a path"
    if asked_bytes and end_bytes > asked_bytes:
        accepted = f"is less than the workload's range, which ends at {end_bytes:,} bytes"
        raise UserError("question.size", "", f"{asked_bytes:,} B", accepted)
    size = -(-(asked_bytes or end_bytes or USUAL_BYTES) // UNIT_BYTES) * UNIT_BYTES
    free = os.statvfs(target.path.parent)
    with suppress(OSError):
        # One that was left is used again.
        size_there = target.path.stat().st_size
        if size_there == size:
            return size
    room = free.f_bavail * free.f_frsize - _SPARE_BYTES
    if size > room:
        accepted = (
            f"has room for {max(0, room):,} bytes, and the file takes {size:,}: expected less (question.size), or room"
        )
        raise UserError("question.on", "", target.text, accepted)
    return size


@contextmanager
def laid_out(
    target: RealTarget,
    size: int,
    seed: int,
    keep: bool,
    shown: Callable[[float], None],
    *,
    goes_on: bool = False,
    stays: bool = False,
) -> Iterator[tuple[RealTarget, Held]]:
    """Yield the target with its file of `size` bytes, fully written to the device, and the file held; `shown` receives
    the share done, and an exception in it ends the work. The file is exclusive (flock) and removed afterwards unless
    `keep`. With `stays` it remains if the block ends with an exception, and with `goes_on` such a file of the right
    size is reused. Raises UserError, OSError."""
    from hotband.execution.devices.nodes import open_at

    assert target.path is not None, "a file of ours has a path"
    path = os.path.join(os.path.realpath(target.path.parent), target.path.name)
    try:
        descriptor = open_at(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK)
    except OSError as error:
        reason = reason_of(error).lower()
        raise UserError("question.on", "", target.text, f"{target.path.name} cannot be made in it: {reason}") from None
    is_ours, is_whole = False, False
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            accepted = f"another hotband measures in it ({target.path.name} is locked): expected another folder"
            raise UserError("question.on", "", target.text, accepted) from None
        is_ours = _is_new(descriptor)
        held = _expect_ours(target, path, descriptor)
        is_ours = True
        if not (goes_on and os.fstat(descriptor).st_size == size):
            _fill(descriptor, size, seed, shown)
        yield target.sized(size), held
        is_whole = True
    finally:
        if is_ours and not keep and (is_whole or not stays):
            with suppress(OSError):
                # Whatever took its name by now is not ours to remove.
                if os.path.samestat(os.lstat(path), os.fstat(descriptor)):
                    os.unlink(path)
        os.close(descriptor)


def _is_new(descriptor: int) -> bool:
    """Mark a file that is empty as ours; return whether it is."""
    status = os.fstat(descriptor)
    is_new = stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and not status.st_size
    if is_new:
        mark(descriptor)
    return is_new


def _expect_ours(target: RealTarget, path: str, descriptor: int) -> Held:
    """Return the file held, which nobody else uses: its name may have existed before us. Raises UserError."""
    from hotband.execution.devices.held import holding
    from hotband.execution.devices.safety import permission

    status = os.fstat(descriptor)
    is_file = stat.S_ISREG(status.st_mode)
    if not is_file or status.st_nlink != 1 or not is_made_here(f"/proc/self/fd/{descriptor}", path):
        links = f"has {status.st_nlink} names (hard links)" if status.st_nlink != 1 else "was not marked by Hotband"
        what = links if is_file else "is no file"
        accepted = f"{OWN_FILE} in it {what}, so Hotband did not make it: expected another folder, or remove it"
        raise UserError("question.on", "", target.text, accepted)
    return holding(permission(path, writes=True, erase=None), descriptor)


def _fill(descriptor: int, size: int, seed: int, shown: Callable[[float], None]) -> None:
    """Write every byte: the file system completes reads of unwritten blocks without the device."""
    os.ftruncate(descriptor, size)
    piece = bytearray(random.Random(seed).randbytes(_PIECE_BYTES))
    for at in range(0, size, _PIECE_BYTES):
        shown(at / size)
        for block in range(0, _PIECE_BYTES, 4096):
            piece[block : block + 8] = (at + block).to_bytes(8, "little")
        view = memoryview(piece)[: min(_PIECE_BYTES, size - at)]
        while view:
            view = view[os.pwrite(descriptor, view, at + min(_PIECE_BYTES, size - at) - len(view)) :]
    os.fsync(descriptor)
    # What is in the page cache is not to be there when it is measured.
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    shown(1.0)
