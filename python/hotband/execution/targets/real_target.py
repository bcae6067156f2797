"""The target that `real:` names: a block device, a file, a folder (in which we make a file), a served device (NBD), or
an image of a pool (RBD). This finds its size and logical block without opening it for writing."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from hotband.base.errors import UserError, reason_of
from hotband.base.folders import real_path
from hotband.data.catalog.named import REAL
from hotband.execution.devices.contents import OWN_FILE

ACCEPTED = "expected real:PATH of a block device, a file or a folder, real:nbd+unix://..., or real:rbd:POOL/IMAGE"
Kind = Literal["block", "file", "nbd", "rbd"]
FILE_BLOCK = 4096
"""Bytes of a block of a file or of an image: what direct I/O to them is aligned to (page and file system block; RBD
and NBD take 512, too, but no workload asks for less than a sector)."""
# linux/fs.h: BLKSSZGET and BLKGETSIZE64.
_BLKSSZGET, _BLKGETSIZE64 = 0x1268, 0x80081272
_RBD = re.compile(r"rbd:(?P<pool>[^/@\s]+)/(?P<image>[^/@\s]+)")


@dataclass(frozen=True)
class RealTarget:
    """The destination of I/Os on hardware.

    `text` is as named (`real:/dev/sdb`); `path` is of a block device or a file, `uri` of the others (`nbd+unix://...`,
    `rbd:POOL/IMAGE`). `size_bytes` is 0 for a file of ours that is not laid out yet (`is_ours`), and for an image whose
    size only its cluster knows. `block_bytes` is the logical block.
    """

    text: str
    kind: Kind
    path: Path | None
    uri: str | None
    size_bytes: int
    block_bytes: int
    is_ours: bool = False

    def sized(self, size_bytes: int) -> RealTarget:
        """Return the target with a known size."""
        return replace(self, size_bytes=size_bytes)


def real_target_of(on: str) -> RealTarget:
    """Return the target that `on` names, with or without `real:`. Raises UserError if it is invalid or unusable."""
    named = on.removeprefix(REAL)
    if not named:
        raise UserError("question.on", "", on, ACCEPTED)
    if named.startswith(("nbd+unix://", "nbd://")):
        from hotband.execution.targets.remote import export_of

        export = export_of(on, named)
        return RealTarget(on, "nbd", None, named, export.size_bytes, export.block_bytes)
    if named.startswith("rbd:"):
        if _RBD.fullmatch(named) is None:
            raise UserError("question.on", "", on, "expected real:rbd:POOL/IMAGE")
        return RealTarget(on, "rbd", None, named, 0, FILE_BLOCK)
    return _of_path(on, Path(named).expanduser().absolute())


def _of_path(on: str, path: Path) -> RealTarget:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UserError("question.on", "", on, f"cannot be used: {reason_of(error).lower()}; {ACCEPTED}") from None
    if stat.S_ISDIR(mode):
        if not os.access(path, os.W_OK | os.X_OK):
            raise UserError(
                "question.on", "", on, "is a folder that you cannot write: expected one in which a file can be made"
            )
        return RealTarget(on, "file", path / OWN_FILE, None, 0, FILE_BLOCK, is_ours=True)
    if stat.S_ISBLK(mode):
        size, block = _of_device(on, path)
        return RealTarget(on, "block", path, None, size, block)
    if not stat.S_ISREG(mode):
        what = {stat.S_IFCHR: "a character device", stat.S_IFSOCK: "a socket", stat.S_IFIFO: "a pipe"}
        kind_words = what.get(stat.S_IFMT(mode), "not a storage target")
        way = f": expected real:nbd+unix:///?socket={path}" if stat.S_ISSOCK(mode) else f"; {ACCEPTED}"
        raise UserError("question.on", "", on, f"is {kind_words}{way}")
    if (real := real_path(path)).is_relative_to("/dev") and not real.is_relative_to("/dev/shm"):
        accepted = "is a plain file in memory, created while no device had its name: is the device attached and mapped?"
        raise UserError("question.on", "", on, accepted)
    if not os.access(path, os.R_OK):
        raise UserError("question.on", "", on, "cannot be read: expected a file that you may read")
    return RealTarget(on, "file", path, None, path.stat().st_size, FILE_BLOCK)


def _of_device(on: str, path: Path) -> tuple[int, int]:
    """Return the bytes of a block device and of its logical block; it is opened read-only."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UserError("question.on", "", on, f"cannot be opened: {reason_of(error).lower()}") from None
    try:
        size = struct.unpack("Q", fcntl.ioctl(opened, _BLKGETSIZE64, bytes(8)))[0]
        block = struct.unpack("i", fcntl.ioctl(opened, _BLKSSZGET, bytes(4)))[0]
    finally:
        os.close(opened)
    return int(size), int(block)
