"""Reasons not to write a device or a file: one check per reason, each with its own words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hotband.base.errors import reason_of
from hotband.execution.devices import blocks
from hotband.execution.devices.contents import folder_of_system, is_hidden_in_home, is_made_here, known_content
from hotband.execution.devices.device import kind_of, serial_of
from hotband.execution.devices.host import Host
from hotband.execution.devices.mounts import Mount, all_mounts, paths_of
from hotband.execution.devices.nodes import DELETED, Node, has_writer, node_at, node_below
from hotband.execution.devices.signatures import image_format, signatures, words_of
from hotband.execution.devices.users import (
    Opened,
    all_opened,
    exports,
    mappers,
    opened_by,
    readers,
    reservations,
    swaps,
    writers,
)


@dataclass(frozen=True)
class Mounted:
    """A mount, the devices that it lies on directly, and all that are below those."""

    mount: Mount
    direct: tuple[str, ...]
    below: frozenset[str]


@dataclass
class Seen:
    """Machine-wide state, read once for all checked devices."""

    host: Host

    @cached_property
    def mounted(self) -> list[Mounted]:
        """Everything that is mounted."""
        mounted_ = []
        for mount in all_mounts(self.host):
            direct = tuple(blocks.below_mount(mount, self.host))
            mounted_.append(Mounted(mount, direct, frozenset(_below(direct, self.host))))
        return mounted_

    @cached_property
    def swaps(self) -> list[tuple[str, tuple[str, ...], frozenset[str]]]:
        """Return active swap: its path, the devices below it directly, and all below those."""
        swaps_ = []
        for path in swaps(self.host):
            direct = tuple(blocks.below_file(path, self.host))
            swaps_.append((path, direct, frozenset(_below(direct, self.host))))
        return swaps_

    @cached_property
    def swap_nodes(self) -> list[Node | None]:
        """Return the nodes of active swap."""
        return [node_at(path, self.host) for path, _, _ in self.swaps]

    @cached_property
    def loops(self) -> dict[str, Node | None]:
        """Return the node below each loop device in use."""
        return {name: node_below(name, self.host) for name in blocks.loops(self.host)}

    @cached_property
    def opened(self) -> list[Opened]:
        """Return the files and devices that processes have open."""
        return all_opened(self.host)

    @cached_property
    def serials(self) -> dict[str, str | None]:
        """Serials of all disks with a size."""
        disks = [name for name in self.host.names("/sys/block") if kind_of(name, self.host) == "disk"]
        return {name: serial_of(name, self.host) for name in disks if self.host.number(f"/sys/block/{name}/size")}

    def twins(self, disk: str) -> list[str]:
        """Return other names of the same drive: paths that no multipath device combines. They share the identifier of
        the logical unit or namespace, if both have one; else serial and size (namespaces of a controller share its
        serial)."""
        host, serial = self.host, self.serials.get(disk)
        same = [
            disk_ for disk_, other in self.serials.items() if disk_ != disk and serial is not None and other == serial
        ]
        texts = []
        for disk_ in same:
            identifiers = [_identifier(name, host) for name in (disk, disk_)]
            is_known = None not in identifiers
            sizes = [host.number(f"/sys/block/{name}/size") for name in (disk, disk_)]
            if identifiers[0] == identifiers[1] if is_known else sizes[0] == sizes[1]:
                texts.append(disk_)
        return texts


def _identifier(name: str, host: Host) -> str | None:
    return host.text(f"/sys/block/{name}/wwid") or host.text(f"/sys/block/{name}/device/wwid")


def _below(names: Iterable[str], host: Host) -> set[str]:
    return {lower for name in names for lower in blocks.below(name, host)}


@dataclass(frozen=True)
class Target:
    """A block device to be written, with its `parts`: itself, the partitions on it, and those that share sectors with
    it. It `is_claimed` if this process holds it exclusively."""

    path: str
    name: str
    disk: str
    parts: tuple[str, ...]
    seen: Seen
    is_claimed: bool = False

    @property
    def with_disk(self) -> tuple[str, ...]:
        """Its parts and the whole disk, which may be in use as a whole."""
        return tuple(dict.fromkeys((*self.parts, self.disk)))


Check = Callable[[Target, Host], Iterator[str]]


def of_block(path: str, seen: Seen, *, is_claimed: bool = False) -> list[str]:
    """The reasons of a block device, each once. It `is_claimed` where this process holds it exclusively."""
    return _of_name(seen.host.block_name(path), seen, is_claimed=is_claimed)


def _of_name(name: str, seen: Seen, above: frozenset[str] = frozenset(), *, is_claimed: bool = False) -> list[str]:
    """By the kernel's name. `above` are devices on it that were asked before."""
    host = seen.host
    if not name:
        return ["sysfs does not list it, so its users are unknown"]
    disk = blocks.disk_of(name, host)
    further = blocks.partitions_of(name, host) if name == disk else blocks.overlapping(name, host)
    target = Target(blocks.path_of(name), name, disk, (name, *further), seen, is_claimed)
    reasons: list[str] = []
    for check in CHECKS:
        reasons += check(target, host)
    file = blocks.backing_file(disk, host)
    if file is not None and disk not in above:
        reasons += _below_loop(disk, file, seen, above | {disk})
    return list(dict.fromkeys(reasons))


def _kind(target: Target, host: Host) -> Iterator[str]:
    """Media that are none to measure, devices without one, and the paths below a multipath namespace."""
    folder = host.sysfs(target.disk)
    if kind_of(target.disk, host) == "optical":
        yield "is a drive for optical disks or floppies"
    # The kernel's names of flash that holds a machine's firmware (drivers/mtd, drivers/mmc/core/block.c).
    if target.disk.startswith("mtd") or re.fullmatch(r"mmcblk\d+(boot\d+|rpmb|gp\d+)", target.disk):
        yield "is flash that may hold this machine's firmware"
    if not host.number(f"{host.sysfs(target.name)}/size"):
        yield "has no size: no medium is in it, or nothing lies below it"
    if host.text(f"{folder}/hidden") == "1":
        yield "is a hidden path of a multipath device"
    for part in target.with_disk:
        if host.text(f"{host.sysfs(part)}/ro") == "1":
            yield f"{_of(part, target)} is read-only"
            break
    for twin in target.seen.twins(target.disk):
        yield f"is one of two paths to the same drive, as is {blocks.path_of(twin)}, or has its serial: use multipath"
    # Zones of such drives take writes in sequence alone (Documentation/ABI/stable/sysfs-block: host-managed).
    if host.text(f"{folder}/queue/zoned") == "host-managed":
        yield "is zoned (host-managed): it accepts no random writes"


def _mounted(target: Target, _: Host) -> Iterator[str]:
    """File systems on it, or above it on whatever is made of it, in any namespace."""
    reported: set[tuple[str, str]] = set()
    for mounted in target.seen.mounted:
        mount, direct, below = mounted.mount, mounted.direct, mounted.below
        where = "" if mount.process == "self" else f" in the namespace of process {mount.process}"
        is_root = mount.point == "/" and mount.process == "self"
        used = [part for part in target.with_disk if part in direct]
        # A whole disk is below its partitions; a partition is not below another.
        for part in used or [part for part in target.parts if part in below]:
            if (part, mount.point) not in reported:
                reported.add((part, mount.point))
                relation = "is" if part in direct else f"is below what ({direct[0]}) is"
                root = ": the root device" if is_root else ""
                yield f"{_of(part, target)} {relation} mounted on {mount.point}{where}{root}"


def _swap(target: Target, _: Host) -> Iterator[str]:
    """Active swap on it, above it, or in a file that lies on it."""
    for path, direct, all_below in target.seen.swaps:
        is_disk = target.disk in direct
        for part in target.parts:
            if part in all_below or is_disk:
                yield f"{_of(part, target)} is active swap ({path})"
                break


def _holders(target: Target, host: Host) -> Iterator[str]:
    """Yield the devices built on it, or on the whole disk: LVM, encryption, multipath, RAID, bcache."""
    for part in target.with_disk:
        for holder in blocks.holders_of(part, host):
            yield f"{_of(part, target)} is in use by {_made(holder, host)}"


def _made(holder: str, host: Host) -> str:
    folder = host.sysfs(holder)
    name, uuid = host.text(f"{folder}/dm/name") or holder, host.text(f"{folder}/dm/uuid") or ""
    # The prefix of a device mapper's UUID names who made it.
    kinds = {"LVM": "the LVM volume", "CRYPT": "the encrypted volume", "mpath": "the multipath device"}
    for begin, what in kinds.items():
        if uuid.startswith(f"{begin}-"):
            return f"{what} {name}"
    if holder.startswith("md"):
        return f"the RAID {holder}"
    return f"the bcache {holder}" if holder.startswith("bcache") else f"{name} (device mapper)"


def _signed(target: Target, host: Host) -> Iterator[str]:
    """File systems, members of arrays, partition tables: on it, and on its partitions."""
    if not host.number(f"{host.sysfs(target.name)}/size"):
        return
    numbered = [part_ for part_ in target.parts if part_ != target.name]
    if target.name == target.disk and numbered:
        listed = ", ".join(numbered[:4]) + (" ..." if len(numbered) > 4 else "")
        yield f"has {len(numbered)} partition{'s' * (len(numbered) > 1)} ({listed})"
    for part in target.parts:
        path = blocks.path_of(part)
        try:
            signatures_ = signatures(path, host)
        except OSError as error:
            yield f"{_of(part, target)} cannot be read, so its contents are unknown: {reason_of(error)}"
            continue
        for signature in signatures_:
            yield f"{_of(part, target)} {words_of(signature)}: wipefs --all {path} if it is not needed"


def _in_use(target: Target, host: Host) -> Iterator[str]:
    """Return processes that write it, kernel servers that export it, and exclusive holders."""
    for part in target.with_disk:
        path = blocks.path_of(part)
        node = Node("block", blocks.number_of(part, host))
        for who in writers(node, host, target.seen.opened):
            yield f"{_of(part, target)} is open for writing by {who}"
        for what in reservations(path, part, host) if part == target.name else ():
            yield f"{_of(part, target)} is reserved by {what}"
        for who in exports(node, host):
            yield f"{_of(part, target)} is exported to other hosts by {who}"
    for part in target.parts:
        # Our own claim on the whole is one on each of its parts, too.
        if target.is_claimed or not host.number(f"{host.sysfs(part)}/size"):
            continue
        try:
            if host.is_busy(blocks.path_of(part)):
                yield f"{_of(part, target)} is held exclusively by another process (O_EXCL)"
        except OSError as error:
            yield f"{_of(part, target)} cannot be opened: {reason_of(error)}"


def _btrfs(target: Target, host: Host) -> Iterator[str]:
    """Members of mounted btrfs file systems of several devices: mount tables name one of them alone."""
    for label in host.names("/sys/fs/btrfs"):
        for part in target.with_disk:
            if part in host.names(f"/sys/fs/btrfs/{label}/devices"):
                yield f"{_of(part, target)} is part of the mounted btrfs {label}"


CHECKS: tuple[Check, ...] = (_kind, _mounted, _swap, _holders, _btrfs, _signed, _in_use)


def _below_loop(loop: str, file: str, seen: Seen, above: frozenset[str]) -> Iterator[str]:
    """Return reasons below a loop device: a file that others use too, or another device with its own reasons."""
    if file.endswith(DELETED):
        yield f"the file below it ({file}) was deleted"
    node = seen.loops.get(loop) or node_at(file, seen.host)
    if node is not None and node.kind == "block":
        name = blocks.named(node.number, seen.host)
        yield from (f"{file} below it {reason}" for reason in _of_name(name, seen, above) if "(O_EXCL)" not in reason)
        return
    for reason in _of_node(file, file, node, seen, loop):
        yield f"the file below it ({file}) {reason}"


def of_file(path: str, seen: Seen) -> list[str]:
    """The reasons of a regular file."""
    return _of_node(path, seen.host.real(path), node_at(path, seen.host), seen)


def _of_node(path: str, name: str, node: Node | None, seen: Seen, loop: str = "") -> list[str]:
    """The reasons of the file `node`, which is read at `path` and called `name`; `loop` is a loop device on it that is
    not to count."""
    host = seen.host
    if node is None:
        return ["cannot be distinguished from other files" if not loop else "is not there"]
    reasons = list(_in_system(name, host, is_made_here(str(host.at(path)), name)))
    if node in seen.swap_nodes:
        reasons.append("is active swap")
    form = image_format(path, host)
    if form is not None and not loop:
        reasons.append(
            f"is an image in the format {form}: its bytes are not those of the disk in it (qemu-nbd serves that)"
        )
    if not loop:
        reasons += known_content(path, host)
    reasons += [f"is mounted on {path}" for path in _mounted_as_it_is(node, seen)]
    reasons += [f"is mapped by {who}" for who in mappers(node, host)]
    reasons += [
        f"backs the loop device {name_}" for name_, below in seen.loops.items() if name_ != loop and below == node
    ]
    reasons += [f"is open for writing by {who}" for who in writers(node, host, seen.opened)]
    reasons += [f"is open for reading by {who}" for who in readers(node, host, seen.opened)]
    reasons += [f"is exported to other hosts by {who}" for who in exports(node, host)]
    if host.root is None and not os.access(path, os.W_OK):
        reasons.append("may not be written by this user, or its file system is read-only")
    # A loop device has it open itself, as we may have.
    if not reasons and not loop and host.root is None and not _is_written_here(node, host) and has_writer(path):
        reasons.append("is open for writing elsewhere (its file system refuses a lease)")
    return reasons


def _in_system(name: str, host: Host, is_ours: bool) -> Iterator[str]:
    """Yield a folder of the system that shows the file, here or where a bind mount has it from, and a home's hidden
    folder or dot file."""
    for path in paths_of(name, host):
        origin = f" ({path})" if path != name else ""
        if folder_of_system(path, is_ours):
            yield f"is in a system folder{origin}"
            return
        if is_hidden_in_home(path) and not is_ours:
            yield f"is a hidden file of a home folder, or in a hidden folder there{origin}"
            return


def _mounted_as_it_is(node: Node, seen: Seen) -> Iterator[str]:
    """Yield the mounts of a file without a device between, as EROFS and file systems of FUSE do."""
    for mounted in seen.mounted:
        source = mounted.mount.source
        if source.startswith("/") and not mounted.direct and node_at(source, seen.host) == node:
            yield mounted.mount.point


def _is_written_here(node: Node, host: Host) -> bool:
    """Return whether this process has it open for writing."""
    return any(handle.writes and handle.node == node for handle in opened_by("self", host))


def _of(part: str, target: Target) -> str:
    """Return the beginning of a reason: empty for the device itself, else the part's name."""
    return f"its {blocks.path_of(part)}" if part != target.name else "it"
