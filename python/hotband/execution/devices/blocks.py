"""How block devices lie on one another: disks and partitions, slaves and holders, loop devices and their files."""

from __future__ import annotations

import os

from hotband.execution.devices.host import Host
from hotband.execution.devices.mounts import Mount, mount_of


def path_of(name: str) -> str:
    """The node of a device; the kernel writes `/` in names as `!`."""
    return "/dev/" + name.replace("!", "/")


def number_of(name: str, host: Host) -> str:
    """MAJOR:MINOR; empty if it is not known."""
    return host.text(f"{host.sysfs(name)}/dev") or ""


def named(number: str, host: Host) -> str:
    """The kernel's name of a block device, by MAJOR:MINOR; empty if sysfs does not know it."""
    if host.root is not None:
        return next(iter(numbered_names(host).get(number, [])), "")
    place = f"/sys/dev/block/{number}"
    return os.path.basename(host.real(place)) if host.has(place) else ""


def disk_of(name: str, host: Host) -> str:
    """The whole disk of a partition; itself for all else."""
    folder = host.sysfs(name)
    if not host.has(f"{folder}/partition"):
        return name
    for disk in host.names("/sys/block"):
        if host.has(f"/sys/block/{disk}/{name}/partition"):
            return disk
    return name


def partitions_of(disk: str, host: Host) -> list[str]:
    """Partitions of a disk."""
    folder = host.sysfs(disk)
    return [name for name in host.names(folder) if host.has(f"{folder}/{name}/partition")]


def extent_of(name: str, host: Host) -> tuple[int, int]:
    """Where a partition begins and ends on its disk, in units of 512 bytes."""
    folder = host.sysfs(name)
    start, size = host.number(f"{folder}/start") or 0, host.number(f"{folder}/size") or 0
    return start, start + size


def overlapping(name: str, host: Host) -> list[str]:
    """Other partitions of the same disk that share sectors with a partition."""
    disk = disk_of(name, host)
    begin, end = extent_of(name, host)
    others = ((one, *extent_of(one, host)) for one in partitions_of(disk, host) if one != name)
    return [one for one, first, last in others if disk != name and first < end and begin < last]


def holders_of(name: str, host: Host) -> list[str]:
    """Devices that are made of this one (dm, md, bcache)."""
    return host.names(f"{host.sysfs(name)}/holders")


def slaves_of(name: str, host: Host) -> list[str]:
    """Devices that this one is made of."""
    return host.names(f"{host.sysfs(name)}/slaves")


def backing_file(name: str, host: Host) -> str | None:
    """The file (or device) below a loop device."""
    return host.text(f"{host.sysfs(name)}/loop/backing_file")


def loops(host: Host) -> dict[str, str]:
    """Loop devices in use, and what lies below each."""
    found = ((name, backing_file(name, host)) for name in host.names("/sys/block") if name.startswith("loop"))
    return {name: file for name, file in found if file}


def below(name: str, host: Host, seen: set[str] | None = None) -> set[str]:
    """All devices that a device lies on, itself and the whole disk of every partition included."""
    seen = set() if seen is None else seen
    if not name or name in seen:
        return seen
    seen.add(name)
    for one in (disk_of(name, host), *slaves_of(name, host)):
        below(one, host, seen)
    file = backing_file(name, host)
    if file:
        for one in below_file(file, host):
            below(one, host, seen)
    return seen


def below_file(path: str, host: Host) -> list[str]:
    """The devices that a file (or, of a loop device on one, a device) lies on directly."""
    own = host.block_name(path)
    if own:
        return [own]
    mount = mount_of(path, host)
    return [] if mount is None else below_mount(mount, host)


def below_mount(mount: Mount, host: Host) -> list[str]:
    """The devices that a file system lies on directly: by number, by name, and those that btrfs lists as its own."""
    found = [host.block_name(source) for source in mount.sources()]
    numbered = os.path.basename(host.real(f"/sys/dev/block/{mount.number}"))
    if host.has(f"/sys/dev/block/{mount.number}") and host.sysfs(numbered):
        found.append(numbered)
    found += [name for name in numbered_names(host).get(mount.number, [])]
    for label in host.names("/sys/fs/btrfs"):
        members = host.names(f"/sys/fs/btrfs/{label}/devices")
        if any(name in members for name in found):
            found += members
    return [name for name in dict.fromkeys(found) if name]


def numbered_names(host: Host) -> dict[str, list[str]]:
    """Names of devices and partitions by MAJOR:MINOR. A tree of files has no links by number."""
    found: dict[str, list[str]] = {}
    if host.root is not None:
        for disk in host.names("/sys/block"):
            for name in (disk, *partitions_of(disk, host)):
                found.setdefault(number_of(name, host), []).append(name)
    return found


def base_disk(path: str, host: Host) -> str | None:
    """The one disk that lies below a path, whatever is between: partitions, loop devices, volumes, a file system. None
    where there are several, or nobody tells."""
    own = host.block_name(path)
    direct = [own] if own else below_file(host.real(path), host)
    all_below = {one for name in direct for one in below(name, host)}
    disks = [one for one in all_below if disk_of(one, host) == one and not slaves_of(one, host)]
    disks = [disk for disk in disks if backing_file(disk, host) is None]
    return disks[0] if len(disks) == 1 else None


def image_of(disk: str, host: Host) -> str | None:
    """POOL/IMAGE of a mapped RBD (Documentation/ABI/testing/sysfs-bus-rbd); None of anything else."""
    if not disk.startswith("rbd") or not disk[3:].isdigit():
        return None
    folder = f"/sys/bus/rbd/devices/{disk[3:]}"
    pool, namespace, name = (host.text(f"{folder}/{key}") for key in ("pool", "pool_ns", "name"))
    return "/".join(filter(None, (pool, namespace, name))) if pool and name else None
