"""Permission to write a device or a file: its identity, checked through a descriptor, and its other users.

Reading is always allowed. Nothing here opens anything for writing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text import numbers
from hotband.execution.devices import blocks
from hotband.execution.devices.contents import is_made_here
from hotband.execution.devices.device import by_id, device_of, kind_of, what_it_is
from hotband.execution.devices.host import Host
from hotband.execution.devices.mounts import mount_of
from hotband.execution.devices.nodes import Node, node_at, node_of, open_at
from hotband.execution.devices.refusals import Seen, of_block, of_file

_MADE_HERE = object()
# Places that are read of a device before it is written, and bytes of each.
LOOKS, LOOK = 64, 4096


@dataclass(frozen=True)
class Permission:
    """Permitted actions on a target; only the function `permission` creates a `Permission`.

    `path` is the resolved path, or the URI as named; `kind` is block, file or uri. `may_write` permits opening for
    writing. `identity` is the text that had to be typed; `node` identifies it whatever its name, so that
    `hotband.execution.devices.held` notices a replacement; None for a URI, and for a file that does not exist yet.
    `notes` are shown before it is written.
    """

    path: str
    kind: str
    may_write: bool
    identity: str | None = None
    node: Node | None = None
    notes: tuple[str, ...] = ()
    host: Host = field(default=Host(), repr=False)
    _made: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self._made is not _MADE_HERE:
            raise TypeError("a Permission is made by hotband.execution.devices.safety.permission alone")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        raise TypeError("a Permission holds in the process that it was given in, and for it alone")


def refusals(
    path: str | Path, host: Host | None = None, seen: Seen | None = None, *, is_claimed: bool = False
) -> list[str]:
    """Return the reasons not to write a device or a file, one per line; empty if its data seems unused. `seen`
    is shared by several checks; a device `is_claimed` if this process holds it exclusively. Raises UserError for
    anything else."""
    host, text = host or Host(), os.path.abspath(path)
    kind, seen = host.kind(text), seen or Seen(host)
    if kind == "file":
        return of_file(text, seen)
    if kind != "block":
        raise UserError(str(path), "", "", what_it_is(text, host))
    reasons = of_block(text, seen, is_claimed=is_claimed)
    if not reasons and identity_of(text, host, seen) is None:
        reasons.append("has no serial and no name in /dev/disk/by-id: nothing distinguishes it from another device")
    return reasons


def identity_of(path: str | Path, host: Host | None = None, seen: Seen | None = None) -> str | None:
    """Return the text that permits erasing it: the serial of a disk (SERIAL-partN for a partition); the path of the
    file below a loop device; POOL/IMAGE of a mapped RBD; the name of a logical volume; a name in /dev/disk/by-id if it
    has no serial, or shares it with another; the full path of a file. None if nothing identifies it."""
    host, text = host or Host(), os.path.abspath(path)
    if host.kind(text) == "file":
        return host.real(text)
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
    """A disk's serial, if no other disk of the machine has the same (cheap bridges and virtual disks share serials)."""
    serial = seen.serials.get(disk)
    if serial is None or list(seen.serials.values()).count(serial) > 1:
        return None
    return serial


def permission(path: str | Path, host: Host | None = None, *, writes: bool, erase: str | None) -> Permission:
    """Return the permission for a run on `place`, a path or a URI, that writes or only reads.

    Writing requires that no reason to refuse the target exists, and that `erase` is `identity_of` the target; for a
    URI, which does not identify its target, the URI itself. The text typed for a run that only reads must also be
    right. A file that Hotband made (`contents.is_made_here`), a new or an empty one needs no `erase`. Raises UserError
    with the reason.
    """
    host = host or Host()
    if "://" in str(path) or str(path).startswith("rbd:"):
        if writes or erase is not None:
            _expect_typed(str(path), str(path), erase, f"the data behind {path} would be overwritten")
        return Permission(str(path), "uri", writes, identity=str(path), host=host, _made=_MADE_HERE)
    text = os.path.abspath(path)
    kind = host.kind(text)
    if kind == "absent" and os.path.isdir(host.at(os.path.dirname(text))) and not text.startswith(("/dev/", "/sys/")):
        return Permission(text, "file", writes, host=host, _made=_MADE_HERE)
    if kind not in ("block", "file"):
        raise UserError(str(path), "", "", what_it_is(text, host))
    real = host.real(text)
    with _opened(real, host) as (at, node):
        if not writes:
            if erase is not None:
                # Whoever types what may be lost means this device, or another one by mistake.
                _expect_typed(str(path), str(identity_of(at, host)), erase, "")
            return Permission(real, kind, False, node=node, host=host, _made=_MADE_HERE)
        reasons = refusals(at, host)
        if reasons:
            raise UserError(str(path), "", "", "is not written: " + "; ".join(reasons))
        identity = identity_of(at, host)
        size = host.size(at)
        if kind == "block" or (size and not is_made_here(str(host.at(at)), real)):
            if kind == "file":
                expect_one_name(str(path), at, host)
            what = "the device" if kind == "block" else f"{numbers.size(size)} that Hotband did not write"
            _expect_typed(str(path), str(identity), erase, f"{what} would be overwritten")
        return Permission(real, kind, True, identity, node, tuple(_notes(real, at, kind, host)), host, _MADE_HERE)


def expect_one_name(path: str, at: str, host: Host) -> None:
    """Raise UserError for a file, opened `at`, with hard links: another name may be in a folder where nothing is
    overwritten, which no table of the kernel shows."""
    if (names := host.at(at).stat().st_nlink) > 1:
        raise UserError(path, "", "", f"is not written: has {names} names (hard links); expected a file with one name")


@contextmanager
def _opened(real: str, host: Host) -> Iterator[tuple[str, Node | None]]:
    """Open a target for reading; yield a path that leads to the open file, even if its name changes, and its node.
    A target that cannot be opened is examined by its name; the failure is a reason to refuse it."""
    descriptor = None
    if host.root is None:
        with suppress(OSError):
            descriptor = open_at(real, os.O_RDONLY | os.O_NONBLOCK)
    if descriptor is None:
        yield real, node_at(real, host)
        return
    try:
        yield f"/proc/self/fd/{descriptor}", node_of(descriptor)
    finally:
        os.close(descriptor)


def _expect_typed(path: str, identity: str, erase: str | None, what: str) -> None:
    """Raise UserError unless the identity was typed, letter for letter."""
    import shlex

    quoted = shlex.quote(identity)
    if erase is None:
        accepted = f"{what}, and all that is on it lost: expected question.erase {quoted} if it may be"
        raise UserError(path, "", "", accepted)
    if erase != identity:
        raise UserError("question.erase", "", erase, f"is not {path}: expected {quoted} for it, letter for letter")


def _notes(real: str, at: str, kind: str, host: Host) -> Iterator[str]:
    """Yield warnings to show before it is written that are no reasons to refuse it."""
    if kind == "file":
        mount = mount_of(real, host)
        if mount is not None and mount.kind.startswith(("nfs", "cifs", "ceph", "gfs", "ocfs", "lustre", "glusterfs")):
            yield f"the file lies on {mount.kind}: whether other hosts use it is not known"
        return
    device = device_of(at, host)
    if device.transport in ("iscsi", "fc", "fcoe", "nvme-tcp", "nvme-rdma", "nvme-fc") or device.kind in ("nbd", "rbd"):
        yield f"the device is reached over {device.transport or device.kind}: whether other hosts use it is not known"
    held_places = _places_with_data(at, host)
    if held_places:
        yield f"the device holds data that no signature explains, in {held_places} of {LOOKS} sampled places"
    if os.geteuid() != 0 and host.root is None:
        yield "Hotband does not run as root: files that processes of other users have open are unknown"
    if host.has("/.dockerenv") or host.has("/run/.containerenv"):
        yield "Hotband runs in a container: files that processes of its host have open are unknown"


def _places_with_data(path: str, host: Host) -> int:
    """Places over a whole device that are not all zeros or all ones, as they are after a purge."""
    size = (host.size(path) or 0) // LOOK * LOOK
    offsets = {number * (size - LOOK) // (LOOKS - 1) // LOOK * LOOK for number in range(LOOKS)} if size else set()
    return sum(len(set(host.read(path, at, LOOK))) > 1 for at in offsets)
