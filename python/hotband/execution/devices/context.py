"""What is around a run on real hardware, as the section `context` of its record."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from hotband.execution.devices import blocks
from hotband.execution.devices.background import Background
from hotband.execution.devices.host import Host
from hotband.execution.devices.mounts import mount_of

if TYPE_CHECKING:
    from hotband.execution.devices.device import Device, Queue, SectorFormat


class DeviceDoc(TypedDict):
    """The device that was measured (`hotband.execution.devices.device.Device`)."""

    name: str
    path: str
    kind: str
    disk: str | None
    size_bytes: int
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    model: str | None
    serial: str | None
    firmware: str | None
    transport: str | None
    rotational: bool | None
    rotation_rpm: int | None
    zoned: str | None
    write_cache: str | None
    numa_node: int | None
    link: str | None
    link_max: str | None
    aligned: bool | None
    queue: Queue | None
    formats: list[SectorFormat]


class CpuDoc(TypedDict):
    """Processors of the host; `is_virtual` where a hypervisor shares them."""

    model: str | None
    is_virtual: bool
    count: int
    governor: str | None
    max_mhz: float | None
    numa_nodes: int


class FileSystemDoc(TypedDict):
    """The file system that a file lies on."""

    kind: str
    source: str
    options: list[str]


class ProcessDoc(TypedDict):
    """A process of others: what it did during the run. Bytes are None where they may not be read."""

    name: str
    cpu_ns: int
    read_bytes: int | None
    written_bytes: int | None


class BackgroundDoc(TypedDict):
    """What others did during the run. Shares are of all processors' time, 0 to 1: `ours` is this process and what it
    started, `kernel` its threads and interrupts (they work for us, too), `stolen` by the host of this virtual machine.
    `device_` bytes are all that the device did, ours included; None where it is not known."""

    duration_ns: int
    cpu_ours: float
    cpu_kernel: float
    cpu_others: float
    cpu_waiting: float
    cpu_stolen: float
    device_read_bytes: int | None
    device_written_bytes: int | None
    device_discarded_bytes: int | None
    processes: list[ProcessDoc]


class ContextDoc(TypedDict):
    """Device and host of a run. Times of the run: `temperature_after_c` and `background` are added when it ended."""

    device: DeviceDoc
    kernel: str
    cpu: CpuDoc
    memory_bytes: int | None
    file_system: FileSystemDoc | None
    absent_tools: list[str]
    temperature_before_c: float | None
    temperature_after_c: NotRequired[float | None]
    background: NotRequired[BackgroundDoc]


__all__ = ["Background", "ContextDoc", "context_of", "ended", "temperature_of"]


def context_of(path: str | Path, host: Host | None = None) -> ContextDoc:
    """Device, host and temperature as they are before a run. Raises UserError."""
    from hotband.execution.devices.device import device_of

    host = host or Host()
    device = device_of(path, host)
    mount = mount_of(str(path), host) if device.kind == "file" else None
    return {
        "device": device_doc(device),
        "kernel": host.text("/proc/sys/kernel/osrelease") or "",
        "cpu": _cpu(host),
        "memory_bytes": _memory(host),
        "file_system": None
        if mount is None
        else {"kind": mount.kind, "source": mount.source, "options": list(dict.fromkeys(mount.options))},
        "absent_tools": list(device.absent),
        "temperature_before_c": temperature_of(path, host),
    }


def device_doc(device: Device) -> DeviceDoc:
    """A device as a record has it."""
    from dataclasses import asdict

    whole = asdict(device)
    whole["formats"] = list(whole["formats"])
    return cast("DeviceDoc", {key: whole[key] for key in DeviceDoc.__annotations__})


def _cpu(host: Host) -> CpuDoc:
    text = host.text("/proc/cpuinfo") or ""
    told = dict([part.strip() for part in line.split(":", 1)] for line in text.splitlines() if ":" in line)
    base = "/sys/devices/system/cpu"
    cores = [name for name in host.names(base) if re.fullmatch(r"cpu\d+", name)]
    governors = {host.text(f"{base}/{core}/cpufreq/scaling_governor") for core in cores} - {None}
    most = host.number(f"{base}/cpu0/cpufreq/cpuinfo_max_freq")
    nodes = [name for name in host.names("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)]
    return {
        "model": told.get("model name"),
        "is_virtual": "hypervisor" in told.get("flags", "").split(),
        "count": len(cores) or text.count("processor\t"),
        "governor": ", ".join(sorted(one for one in governors if one)) or None,
        "max_mhz": None if most is None else most / 1000,
        "numa_nodes": max(1, len(nodes)),
    }


def _memory(host: Host) -> int | None:
    found = re.search(r"MemTotal:\s+(\d+) kB", host.text("/proc/meminfo") or "")
    return int(found[1]) * 1024 if found else None


def temperature_of(path: str | Path, host: Host | None = None) -> float | None:
    """The device's temperature in degrees Celsius; None where nobody tells it. The kernel's sensors (hwmon) are asked
    first: they cost the drive nothing."""
    from hotband.execution.devices.readings import OCP, reading_of

    host = host or Host()
    found = sensor_of(path, host)
    return reading_of(path, host, silent={OCP})["temperature_c"] if found is None else found


def sensor_of(path: str | Path, host: Host) -> float | None:
    """The temperature by the kernel's sensor of the disk (drivers nvme, drivetemp), in degrees Celsius."""
    disk = blocks.base_disk(os.path.abspath(path), host)
    if disk is None:
        return None
    base = f"/sys/block/{disk}/device"
    for folder in (f"{base}/hwmon", base, f"{base}/device/hwmon"):
        for sensor in host.names(folder):
            found = host.number(f"{folder}/{sensor}/temp1_input") if sensor.startswith("hwmon") else None
            if found is not None:
                # Documentation/hwmon/sysfs-interface.rst: thousandths of a degree.
                return found / 1000
    return None


def ended(context: ContextDoc, path: str | Path, background: Background, host: Host | None = None) -> ContextDoc:
    """The context with the temperature now, and what others did."""
    after: ContextDoc = {**context, "temperature_after_c": temperature_of(path, host)}
    if background.found is not None:
        after["background"] = background.found
    return after
