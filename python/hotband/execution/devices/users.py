"""Users of a device or a file: processes (a virtual machine, a database on a raw disk), and the kernel's own servers
(NVMe and SCSI targets), which claim nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from hotband.base.temporary import plain
from hotband.execution.devices.device import asked_json
from hotband.execution.devices.host import Host
from hotband.execution.devices.mounts import processes
from hotband.execution.devices.nodes import Node, node_at

# Bits of a file's flags in fdinfo, in octal (proc(5), open(2)): O_WRONLY is 1, O_RDWR 2.
ACCESS = 0o3


@dataclass(frozen=True)
class Opened:
    """A file or block device that a process has open: the descriptor and its path, its type, and whether it is open
    for writing."""

    process: str
    descriptor: int
    link: str
    node: Node
    writes: bool


def all_opened(host: Host) -> list[Opened]:
    """Every file and device that another process has open; those of other users are only seen by root."""
    others = (other for other in processes(host) if host.root is not None or int(other) != os.getpid())
    return [opened for process in others for opened in opened_by(process, host)]


def opened_by(process: str, host: Host) -> Iterator[Opened]:
    """Yield the files that a process has open, one row per descriptor."""
    for descriptor in host.names(f"/proc/{process}/fd"):
        descriptor_link = f"/proc/{process}/fd/{descriptor}"
        link = host.link(descriptor_link)
        if not link.startswith("/"):
            # Sockets, pipes and the like have no path.
            continue
        # Links of a recorded machine lead out of its tree.
        named = descriptor_link if host.root is None else link
        node, flags = node_at(named, host), host.text(f"/proc/{process}/fdinfo/{descriptor}")
        # Else it was closed while it was looked at, and the flags may be of what was opened next.
        if node is not None and node_at(named, host) == node:
            yield Opened(process, int(descriptor), link, node, writes(flags))


def writers(node: Node | None, host: Host, opened: list[Opened]) -> list[str]:
    """Processes that have a device or file open for writing, as `qemu-system-x86 (1234)`."""
    numbers = dict.fromkeys(handle.process for handle in opened if handle.writes and handle.node == node)
    return [_shown(process, host) for process in numbers]


def _shown(process: str, host: Host) -> str:
    """Return a process as refusals name it: its command and number."""
    return f"{host.text(f'/proc/{process}/comm') or 'process'} ({process})"


def readers(node: Node, host: Host, opened: list[Opened]) -> list[str]:
    """Processes that have a file open for reading only."""
    users = [handle for handle in opened if handle.node == node]
    writing = {handle.process for handle in users if handle.writes}
    numbers = dict.fromkeys(handle.process for handle in users if handle.process not in writing)
    return [_shown(process, host) for process in numbers]


def mappers(node: Node, host: Host) -> list[str]:
    """Processes that have a file in memory, as programs have theirs (proc(5), maps): the file need not be open."""
    users = []
    for process in processes(host):
        if host.root is None and int(process) == os.getpid():
            continue
        for line in (host.text(f"/proc/{process}/maps") or "").splitlines():
            words = line.split(maxsplit=5)
            if len(words) == 6 and _maps(words, process, node, host):
                users.append(_shown(process, host))
                break
    return users


def _maps(words: list[str], process: str, node: Node, host: Host) -> bool:
    """Return whether a line of a table of mappings is of a file. Some file systems (btrfs) have other numbers of
    devices there than stat(2) reports, so this reads the mapping itself if that is allowed."""
    if host.root is not None:
        return node_at(words[5], host) == node
    inode = node.number.partition(":")[2]
    if words[4] != inode:
        return False
    begin, _, end = words[0].partition("-")
    mapping = node_at(f"/proc/{process}/map_files/{int(begin, 16):x}-{int(end, 16):x}", host)
    if mapping is not None:
        return mapping == node
    major, _, minor = words[3].partition(":")
    return node.number == f"{os.makedev(int(major, 16), int(minor, 16))}:{inode}"


def writes(fdinfo: str | None) -> bool:
    """Return whether flags include writing; unreadable flags count as open for writing."""
    for line in (fdinfo or "").splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8) & ACCESS != 0
    return True


def exports(node: Node | None, host: Host) -> list[str]:
    """Servers in the kernel that hand a device or file to other hosts (configfs: nvmet.rst, target-export-device)."""
    users = []
    base = "/sys/kernel/config/nvmet/subsystems"
    for subsystem in host.names(base):
        for number in host.names(f"{base}/{subsystem}/namespaces"):
            folder = f"{base}/{subsystem}/namespaces/{number}"
            device_path = host.text(f"{folder}/device_path") or ""
            if host.text(f"{folder}/enable") == "1" and _is_at(device_path, node, host):
                users.append(f"the NVMe target {subsystem}")
    base = "/sys/kernel/config/target/core"
    for adapter in host.names(base):
        for name in host.names(f"{base}/{adapter}"):
            device_path = host.text(f"{base}/{adapter}/{name}/udev_path") or ""
            if _is_at(device_path, node, host):
                users.append(f"the SCSI target {adapter}/{name}")
    return users


def _is_at(path: str, node: Node | None, host: Host) -> bool:
    return bool(path) and node is not None and node_at(path, host) == node


def swaps(host: Host) -> list[str]:
    """Active swap: devices and files."""
    lines = (host.text("/proc/swaps") or "").splitlines()[1:]
    return [plain(line.split()[0]) for line in lines if line.split()]


def reservations(path: str, name: str, host: Host) -> list[str]:
    """Yield persistent reservations: another host, or a cluster, reserves the device. NVMe reports a type other than 0
    (NVM Express Base Specification 2.0, 8.19); sg_persist (sg3-utils) queries SCSI drives."""
    if name.startswith("nvme"):
        kind = asked_json(host, [], "nvme", "resv-report", "-o", "json", path).get("rtype")
        return ["a persistent reservation (nvme resv-report)"] if kind not in (None, 0, "0") else []
    output = host.run("sg_persist", "--readonly", "--in", "--read-reservation", path) if name.startswith("sd") else None
    is_held = output is not None and "Reservation follows" in output.text
    return ["a persistent reservation (sg_persist)"] if is_held else []
