"""Who has a device or a file open: processes (a virtual machine, a database on a raw disk), and the kernel's own
servers (NVMe and SCSI targets), which claim nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hotband.devices.host import Host
from hotband.devices.mounts import processes

# Bits of a file's flags in fdinfo, in octal (proc(5), open(2)): O_WRONLY is 1, O_RDWR 2.
ACCESS = 0o3


@dataclass(frozen=True)
class Opened:
    """A file that a process has open: where its link leads, and its place below /proc."""

    process: str
    link: str
    place: str
    flags: str


def all_opened(host: Host) -> list[Opened]:
    """Every file and device that another process has open; those of other users are only seen by root."""
    found = []
    for process in processes(host):
        if host.root is None and int(process) == os.getpid():
            continue
        for descriptor in host.names(f"/proc/{process}/fd"):
            link = host.link(f"/proc/{process}/fd/{descriptor}")
            if link.startswith("/"):
                place, flags = f"/proc/{process}/fd/{descriptor}", f"/proc/{process}/fdinfo/{descriptor}"
                found.append(Opened(process, link, place, flags))
    return found


def writers(path: str, host: Host, opened: list[Opened]) -> list[str]:
    """Processes that have a device or file open for writing, as `qemu-system-x86 (1234)`."""
    real, number = host.real(path), _number(path, host)
    those = (
        one for one in opened if _is_same(one.link, one.place, real, number, host) and _writes(host.text(one.flags))
    )
    numbers = dict.fromkeys(one.process for one in those)
    return [f"{host.text(f'/proc/{process}/comm') or 'process'} ({process})" for process in numbers]


def mappers(path: str, host: Host) -> list[str]:
    """Processes that have a file in memory, shared and for writing (proc(5), maps): it may be open no more."""
    real, found = host.real(path), []
    for process in processes(host):
        if host.root is None and int(process) == os.getpid():
            continue
        for line in (host.text(f"/proc/{process}/maps") or "").splitlines():
            words = line.split(maxsplit=5)
            if len(words) == 6 and words[5] == real and words[1][1] == "w" and words[1][3] == "s":
                found.append(f"{host.text(f'/proc/{process}/comm') or 'process'} ({process})")
                break
    return found


def _number(path: str, host: Host) -> tuple[int, int] | None:
    """What tells a file from others on this machine: device and inode, or the number of a block device."""
    if host.root is not None:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_rdev, -1) if host.kind(path) == "block" else (found.st_dev, found.st_ino)


def _is_same(link: str, descriptor: str, real: str, number: tuple[int, int] | None, host: Host) -> bool:
    """Whether an open file is this one. Names differ in containers; what is looked at closer has the same last name,
    or is a device."""
    if link == real:
        return True
    # Nodes of block devices may have any name; files keep theirs.
    near = link.startswith("/dev/") or os.path.basename(link) == os.path.basename(real)
    return host.root is None and number is not None and near and _number(descriptor, host) == number


def _writes(fdinfo: str | None) -> bool:
    """Whether flags say that it is open for writing; flags that cannot be read are taken to."""
    for line in (fdinfo or "").splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8) & ACCESS != 0
    return True


def exports(path: str, host: Host) -> list[str]:
    """Servers in the kernel that hand a device or file to other hosts (configfs: nvmet.rst, target-export-device)."""
    real, found = host.real(path), []
    base = "/sys/kernel/config/nvmet/subsystems"
    for subsystem in host.names(base):
        for number in host.names(f"{base}/{subsystem}/namespaces"):
            folder = f"{base}/{subsystem}/namespaces/{number}"
            place = host.text(f"{folder}/device_path") or ""
            if host.text(f"{folder}/enable") == "1" and place and host.real(place) == real:
                found.append(f"the NVMe target {subsystem}")
    base = "/sys/kernel/config/target/core"
    for adapter in host.names(base):
        for name in host.names(f"{base}/{adapter}"):
            place = host.text(f"{base}/{adapter}/{name}/udev_path") or ""
            if place and host.real(place) == real:
                found.append(f"the SCSI target {adapter}/{name}")
    return found


def swaps(host: Host) -> list[str]:
    """Active swap: devices and files."""
    lines = (host.text("/proc/swaps") or "").splitlines()[1:]
    return [line.split()[0].replace("\\040", " ") for line in lines if line.split()]


def reservations(path: str, name: str, host: Host) -> list[str]:
    """Persistent reservations: another host, or a cluster, keeps the device for itself. NVMe tells a type other than 0
    (NVM Express Base Specification 2.0, 8.19); sg_persist (sg3-utils) asks SCSI drives."""
    from hotband.devices.device import asked_json

    if name.startswith("nvme"):
        kind = asked_json(host, [], "nvme", "resv-report", "-o", "json", path).get("rtype")
        return ["a persistent reservation (nvme resv-report)"] if kind not in (None, 0, "0") else []
    output = host.run("sg_persist", "--readonly", "--in", "--read-reservation", path) if name.startswith("sd") else None
    is_held = output is not None and "Reservation follows" in output.text
    return ["a persistent reservation (sg_persist)"] if is_held else []
