"""What keeps a device or a file from being written, and the permission to write it.

Reading is always allowed. Nothing here opens anything for writing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hotband.devices.host import Host

_MADE_HERE = object()


@dataclass(frozen=True)
class Permission:
    """What may be done with a place; only `permission` makes one.

    `path` is that behind symbolic links, or the URI as it was named. `may_write` is whether it may be opened for
    writing. `identity` is what had to be typed, `number` and `sequence` are the device number and the kernel's number
    of this very device (diskseq), by which `held` sees that another has taken its name. `notes` are to be said before
    it is written.
    """

    path: str
    kind: str
    may_write: bool
    identity: str | None = None
    number: str | None = None
    sequence: str | None = None
    notes: tuple[str, ...] = ()
    host: Host = field(default=Host(), repr=False)
    _made: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self._made is not _MADE_HERE:
            raise TypeError("a Permission is made by hotband.devices.safety.permission alone")


def refusals(path: str | Path, host: Host | None = None) -> list[str]:
    """Why a device or a file must not be written, a reason a line; nothing where nobody seems to need what it holds.
    Raises UserError where it is no device and no file."""
    raise NotImplementedError


def identity_of(path: str | Path, host: Host | None = None) -> str | None:
    """What must be typed to have it erased: the serial of a disk (SERIAL-partN of a partition); a name in
    /dev/disk/by-id where it has none or shares it with another; the path of the file below a loop device; the name of
    a file. None where it has nothing by which it could be told from others."""
    raise NotImplementedError


def permission(
    place: str | Path, host: Host | None = None, *, writes: bool, erase: str | None, is_ours: bool = False
) -> Permission:
    """The permission for a run on `place`, a path or a URI, that writes or only reads.

    Writing needs that nothing refuses it, and `erase` must be `identity_of` it; of a URI, which tells nothing of what
    lies behind it, the URI itself. A file that is ours (`is_ours`: made by us), new or empty needs no `erase`. Raises
    UserError with the reason.
    """
    raise NotImplementedError


@contextmanager
def held(permission: Permission) -> Iterator[None]:
    """Holds what may be written for the time of the block: a block device exclusively (O_EXCL, so that nobody mounts
    it), a file with a lock (flock). Sees first that it is still what was permitted. One that is only read is not
    held. Raises UserError."""
    raise NotImplementedError
    yield
