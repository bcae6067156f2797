"""Surroundings of a run on real hardware: the section `context` of its record."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import cast

from hotband.data.documents.context import ContextDoc, CpuDoc, DeviceDoc
from hotband.execution.devices import blocks
from hotband.execution.devices.background import Background
from hotband.execution.devices.device import Device, device_of
from hotband.execution.devices.host import Host
from hotband.execution.devices.mounts import mount_of
from hotband.execution.devices.readings import OCP, reading_of

__all__ = ["Background", "ContextDoc", "context_of", "ended", "temperature_of"]


def context_of(path: str | Path, host: Host | None = None) -> ContextDoc:
    """Return device, host and temperature before a run. Raises UserError."""
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
    """The document of a device in a record."""
    from dataclasses import asdict

    whole = asdict(device)
    whole["formats"] = list(whole["formats"])
    return cast("DeviceDoc", {key: whole[key] for key in DeviceDoc.__annotations__})


def _cpu(host: Host) -> CpuDoc:
    text = host.text("/proc/cpuinfo") or ""
    fields = dict([part.strip() for part in line.split(":", 1)] for line in text.splitlines() if ":" in line)
    base = "/sys/devices/system/cpu"
    cores = [name for name in host.names(base) if re.fullmatch(r"cpu\d+", name)]
    governors = {host.text(f"{base}/{core}/cpufreq/scaling_governor") for core in cores} - {None}
    most = host.number(f"{base}/cpu0/cpufreq/cpuinfo_max_freq")
    nodes = [name for name in host.names("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)]
    return {
        "model": fields.get("model name"),
        "is_virtual": "hypervisor" in fields.get("flags", "").split(),
        "count": len(cores) or text.count("processor\t"),
        "governor": ", ".join(sorted(governor for governor in governors if governor)) or None,
        "max_mhz": None if most is None else most / 1000,
        "numa_nodes": max(1, len(nodes)),
    }


def _memory(host: Host) -> int | None:
    total = re.search(r"MemTotal:\s+(\d+) kB", host.text("/proc/meminfo") or "")
    return int(total[1]) * 1024 if total else None


def temperature_of(path: str | Path, host: Host | None = None) -> float | None:
    """Return the device's temperature in degrees Celsius; None if unknown. The kernel's sensors (hwmon) come first,
    because reading them costs the drive nothing."""
    host = host or Host()
    sensor = sensor_of(path, host)
    return reading_of(path, host, silent={OCP})["temperature_c"] if sensor is None else sensor


def sensor_of(path: str | Path, host: Host) -> float | None:
    """The temperature by the kernel's sensor of the disk (drivers nvme, drivetemp), in degrees Celsius."""
    disk = blocks.base_disk(os.path.abspath(path), host)
    if disk is None:
        return None
    base = f"/sys/block/{disk}/device"
    for folder in (f"{base}/hwmon", base, f"{base}/device/hwmon"):
        for sensor in host.names(folder):
            reading = host.number(f"{folder}/{sensor}/temp1_input") if sensor.startswith("hwmon") else None
            if reading is not None:
                # Documentation/hwmon/sysfs-interface.rst: thousandths of a degree.
                return reading / 1000
    return None


def ended(context: ContextDoc, path: str | Path, background: Background, host: Host | None = None) -> ContextDoc:
    """Return the context with the current temperature, and the activity of other processes."""
    after: ContextDoc = {**context, "temperature_after_c": temperature_of(path, host)}
    if background.found is not None:
        after["background"] = background.found
    return after
