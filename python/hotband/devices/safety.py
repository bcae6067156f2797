"""The permission to write a device or a file, and holding it while it is written.

Reading is always allowed. Nothing here opens anything for writing.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hotband.devices import blocks
from hotband.devices.device import by_id, kind_of, what_it_is
from hotband.devices.host import Host
from hotband.devices.refusals import Seen, of_block, of_file
from hotband.errors import UserError, reason_of

_MADE_HERE = object()
# Places that are read of a device before it is written, and bytes of each.
LOOKS, LOOK = 64, 4096


@dataclass(frozen=True)
class Permission:
    """What may be done with a place; only `permission` makes one.

    `path` is that behind symbolic links, or the URI as it was named; `kind` is block, file or uri. `may_write` is
    whether it may be opened for writing. `identity` is what had to be typed; `number` (of a device MAJOR:MINOR, of a
    file device and inode) and `sequence` (the kernel's number of this very device, diskseq) are those by which `held`
    sees that another has taken its name. `notes` are to be said before it is written.
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

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        raise TypeError("a Permission holds in the process that it was given in, and for it alone")


def refusals(path: str | Path, host: Host | None = None, seen: Seen | None = None) -> list[str]:
    """Why a device or a file must not be written, a reason a line; nothing where nobody seems to need what it holds.
    `seen` is what several have in common. Raises UserError where it is no device and no file."""
    host, text = host or Host(), os.path.abspath(path)
    kind, seen = host.kind(text), seen or Seen(host)
    if kind == "file":
        return of_file(host.real(text), seen)
    if kind != "block":
        raise UserError(str(path), "", "", what_it_is(text, host))
    found = of_block(text, seen)
    if not found and identity_of(text, host, seen) is None:
        found.append("has no serial and no name in /dev/disk/by-id: nothing tells it from another device")
    return found


def identity_of(path: str | Path, host: Host | None = None, seen: Seen | None = None) -> str | None:
    """What must be typed to have it erased: the serial of a disk (SERIAL-partN of a partition); the path of the file
    below a loop device; POOL/IMAGE of a mapped RBD; the name of a logical volume; a name in /dev/disk/by-id of what has
    no serial, or shares it with another; the name of a file. None of what has nothing by which it could be told from
    others."""
    host, text = host or Host(), os.path.abspath(path)
    if host.kind(text) == "file":
        return os.path.basename(host.real(text))
    name = host.block_name(text)
    if not name:
        return None
    disk, kind = blocks.disk_of(name, host), kind_of(name, host)
    part = host.text(f"{host.sysfs(name)}/partition") if kind == "partition" else None
    serial = _own_serial(disk, seen or Seen(host))
    if serial is not None:
        return serial if part is None else f"{serial}-part{part}"
    file = blocks.backing_file(disk, host)
    if file:
        return file if part is None else f"{file}-part{part}"
    image = blocks.image_of(disk, host)
    if image:
        return image if part is None else f"{image}-part{part}"
    volume = host.text(f"{host.sysfs(name)}/dm/name")
    if volume:
        return volume
    named = by_id(name, host)
    if named:
        return named[0]
    return host.text(f"{host.sysfs(name)}/md/uuid") or host.text(f"{host.sysfs(name)}/backend")


def _own_serial(disk: str, seen: Seen) -> str | None:
    """A disk's serial, where no other disk of the machine has the same (cheap bridges and virtual disks have)."""
    serial = seen.serials.get(disk)
    if serial is None or list(seen.serials.values()).count(serial) > 1:
        return None
    return serial


def permission(
    place: str | Path, host: Host | None = None, *, writes: bool, erase: str | None, is_ours: bool = False
) -> Permission:
    """The permission for a run on `place`, a path or a URI, that writes or only reads.

    Writing needs that nothing refuses it, and `erase` must be `identity_of` it; of a URI, which tells nothing of what
    lies behind it, the URI itself. What is typed for a run that only reads must be right, too. A file that is ours
    (`is_ours`: made by us), new or empty needs no `erase`. Raises UserError with the reason.
    """
    host = host or Host()
    if "://" in str(place) or str(place).startswith("rbd:"):
        if writes or erase is not None:
            _expect_typed(str(place), str(place), erase, f"what lies behind {place} would be overwritten")
        return Permission(str(place), "uri", writes, identity=str(place), host=host, _made=_MADE_HERE)
    text = os.path.abspath(place)
    kind = host.kind(text)
    if kind == "absent" and os.path.isdir(host.at(os.path.dirname(text))) and not text.startswith(("/dev/", "/sys/")):
        return Permission(text, "file", writes, host=host, _made=_MADE_HERE)
    if kind not in ("block", "file"):
        raise UserError(str(place), "", "", what_it_is(text, host))
    real = host.real(text)
    if not writes:
        if erase is not None:
            # Whoever types what may be lost means this device, or another one by mistake.
            _expect_typed(str(place), str(identity_of(text, host)), erase, "")
        return Permission(real, kind, False, host=host, _made=_MADE_HERE)
    found = refusals(text, host)
    if found:
        raise UserError(str(place), "", "", "is not written: " + "; ".join(found))
    identity = identity_of(text, host)
    if kind == "block" or not (is_ours or not host.size(real)):
        what = "the device" if kind == "block" else "the file, which Hotband did not make,"
        _expect_typed(str(place), str(identity), erase, f"{what} would be overwritten")
    number, sequence = _numbers(real, kind, host)
    notes = tuple(_notes(real, kind, host))
    return Permission(real, kind, True, identity, number, sequence, notes, host, _MADE_HERE)


def _expect_typed(place: str, identity: str, erase: str | None, what: str) -> None:
    """Raises UserError unless the identity was typed, letter for letter."""
    import shlex

    quoted = shlex.quote(identity)
    if erase is None:
        accepted = f"{what}, and all that is on it lost: expected --erase {quoted} if it may be"
        raise UserError(place, "", "", accepted)
    if erase != identity:
        raise UserError("--erase", "", erase, f"is not {place}: expected {quoted} for it, letter for letter")


def _numbers(real: str, kind: str, host: Host) -> tuple[str | None, str | None]:
    """By what it is known again: number and sequence of a device, device and inode of a file."""
    if kind == "block":
        name = host.block_name(real)
        disk = blocks.disk_of(name, host)
        return blocks.number_of(name, host), host.text(f"{host.sysfs(disk)}/diskseq")
    try:
        found = os.stat(host.at(real))
    except OSError:
        return None, None
    return f"{found.st_dev}:{found.st_ino}", None


def _notes(real: str, kind: str, host: Host) -> Iterator[str]:
    """What is to be known before it is written, though it is no reason to refuse it."""
    if kind == "file":
        from hotband.devices.mounts import mount_of

        mount = mount_of(real, host)
        if mount is not None and mount.kind.startswith(("nfs", "cifs", "ceph", "gfs", "ocfs", "lustre", "glusterfs")):
            yield f"the file lies on {mount.kind}: whether other hosts use it is not known"
        return
    from hotband.devices.device import device_of

    device = device_of(real, host)
    if device.transport in ("iscsi", "fc", "fcoe", "nvme-tcp", "nvme-rdma", "nvme-fc") or device.kind in ("nbd", "rbd"):
        yield f"the device is reached over {device.transport or device.kind}: whether other hosts use it is not known"
    held_places = _places_with_data(real, host)
    if held_places:
        yield f"the device holds data that no signature explains, in {held_places} of {LOOKS} places looked at"
    if os.geteuid() != 0 and host.root is None:
        yield "Hotband does not run as root: what processes of others have open was not seen"
    if host.has("/.dockerenv") or host.has("/run/.containerenv"):
        yield "Hotband runs in a container: what processes of its host have open was not seen"


def _places_with_data(real: str, host: Host) -> int:
    """Places over a whole device that are not all zeros or all ones, as they are after a purge."""
    size = (host.size(real) or 0) // LOOK * LOOK
    offsets = {number * (size - LOOK) // (LOOKS - 1) // LOOK * LOOK for number in range(LOOKS)} if size else set()
    return sum(len(set(host.read(real, at, LOOK))) > 1 for at in offsets)


@contextmanager
def held(permission: Permission) -> Iterator[None]:
    """Holds what may be written for the time of the block: a block device exclusively (O_EXCL, so that nobody mounts
    it), a file with a lock (flock). Sees first that it is still what was permitted, and that nothing refuses it by now:
    who was asked whether to go on may have taken his time. One that is only read is not held, nor is a URI, nor a file
    that is not there yet. Raises UserError."""
    if not permission.may_write or permission.number is None or permission.host.root is not None:
        yield
        return
    path = permission.path
    found = refusals(path, permission.host)
    if found:
        raise UserError(path, "", "", f"is in use by now, and was not when it was permitted: {'; '.join(found)}")
    exclusive = os.O_EXCL if permission.kind == "block" else 0
    try:
        # For reading: O_EXCL without O_CREAT is a claim on a block device, whatever it is opened for (open(2)).
        descriptor = os.open(path, os.O_RDONLY | exclusive | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        reason = "is in use by now" if error.errno == errno.EBUSY else f"cannot be held: {reason_of(error)}"
        raise UserError(path, "", "", f"{reason}; nothing was written") from None
    try:
        _expect_same(descriptor, permission)
        if permission.kind == "file":
            _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _expect_same(descriptor: int, permission: Permission) -> None:
    """Raises UserError where the name now leads to something else than was permitted."""
    found = os.fstat(descriptor)
    number = f"{found.st_dev}:{found.st_ino}"
    if permission.kind == "block":
        number = f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
    sequence = _numbers(permission.path, permission.kind, permission.host)[1]
    same = number == permission.number and sequence == permission.sequence
    if not same or identity_of(permission.path, permission.host) != permission.identity:
        accepted = "is another device or file by now than the one that was permitted; nothing was written"
        raise UserError(permission.path, "", "", accepted)


def _lock(descriptor: int, path: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UserError(path, "", "", "is locked by another process; nothing was written") from None
