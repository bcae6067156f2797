"""Mounts and loop devices of servers that were killed."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hotband.base.child import run_child
from hotband.base.temporary import left_folders, mounts_below, remove_folder

WRITE_BACK = "write back"
"""The write cache of a new loop device. A server may have set the other mode, which stays with the device: its next
user would send no flushes (tested on Linux 6.18, which resets `rotational`)."""


MOUNT = "mount"
"""Link in a server's temporary folder to the folder that the user had it mount."""


def remember_mount(temporary: Path, folder: Path) -> None:
    """Note in a server's temporary folder where it mounts its volumes, for `release_left`."""
    (temporary / MOUNT).symlink_to(folder)


def release_left() -> None:
    """Detach the loop devices of killed servers below their temporary folders and mounts, unmount file systems there,
    and remove the folders. Anything that the host refuses to release remains."""
    for folder in left_folders():
        if (folder / MOUNT).is_symlink():
            release_mount((folder / MOUNT).readlink())
        _release(folder, mounts_below(folder))
        remove_folder(folder)


def release_mount(folder: Path) -> None:
    """Detach the loop devices of a killed server that mounted its volumes in `folder`, and unmount it. A folder whose
    server lives is unchanged."""
    try:
        # The kernel still answers `stat` from its cache.
        os.statvfs(folder)
    except OSError as error:
        if error.errno == errno.ENOTCONN:
            _release(folder.parent.resolve() / folder.name, [folder])


def _release(folder: Path, mounts: Sequence[Path]) -> None:
    # Before unmounting: afterwards the kernel shows a device's file relative to its mount (tested: `/d0`).
    for device in _loops_below(folder):
        with suppress(OSError):
            _set_write_cache(device.name)
        _try(["losetup", "--detach", str(device)])
    for point in mounts:
        _try(["umount", "--lazy", str(point)])


def _loops_below(folder: Path) -> list[Path]:
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    return [Path("/dev", file.parts[-3]) for file in files if _is_below(file, folder)]


def _is_below(file: Path, folder: Path) -> bool:
    with suppress(OSError):
        return file.read_text(errors="replace").startswith(f"{folder}/")
    return False


def _try(command: list[str]) -> None:
    with suppress(OSError):
        run_child(command)


def _set_write_cache(device: str) -> None:
    attribute = os.open(f"/sys/block/{device}/queue/write_cache", os.O_WRONLY)
    try:
        os.write(attribute, WRITE_BACK.encode())
    finally:
        os.close(attribute)
