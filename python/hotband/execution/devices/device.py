"""Properties of a block device, or of the device below a file, from sysfs, lsblk, smartctl and nvme, if present."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.documents.context import Queue, SectorFormat
from hotband.execution.devices import blocks
from hotband.execution.devices.host import Host

if TYPE_CHECKING:
    from collections.abc import Mapping

    # JSON of another tool: whatever it holds is looked at before it is used.
    Told = Mapping[str, object]

# One command line for all that smartctl tells: identity, health, attributes, device statistics.
SMARTCTL = ("smartctl", "--json=c", "-i", "-H", "-A", "-l", "devstat")
LSBLK = ("lsblk", "-J", "-b", "-d", "-o", "NAME,SERIAL,MODEL,REV,TRAN,FSTYPE,PTTYPE,PARTTYPE")
ID_CTRL = ("nvme", "id-ctrl", "-o", "json")
ID_NS = ("nvme", "id-ns", "-o", "json")

# Serials that makers left as they were; they tell no device from another.
NO_SERIALS = {"", "0", "none", "n/a", "unknown", "default", "serial", "123456789", "0123456789", "0123456789abcdef"}


@dataclass(frozen=True)
class Device:
    """A block device. Text is None if unknown; `serial` is that of the whole disk.

    `kind` is disk, partition, loop, dm, md, nbd, rbd, zram, optical or file (a regular file: `disk` is the device below
    it, as far as it is known). `link` is the current connection, `link_max` the fastest that both ends support;
    `aligned` means that the beginning of a partition does not cut physical sectors. `absent` names missing tools that
    would have reported more.
    """

    name: str
    path: str
    kind: str
    size_bytes: int
    disk: str | None = None
    logical_block_bytes: int | None = None
    physical_block_bytes: int | None = None
    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    transport: str | None = None
    rotational: bool | None = None
    rotation_rpm: int | None = None
    zoned: str | None = None
    read_only: bool = False
    write_cache: str | None = None
    numa_node: int | None = None
    link: str | None = None
    link_max: str | None = None
    aligned: bool | None = None
    queue: Queue | None = None
    formats: tuple[SectorFormat, ...] = ()
    by_id: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    backing_file: str | None = None
    absent: tuple[str, ...] = ()


def device_of(path: str | Path, host: Host | None = None) -> Device:
    """Return the block device or regular file at `path`. Raises UserError for anything else."""
    host, text = host or Host(), os.path.abspath(path)
    kind = host.kind(text)
    if kind == "file":
        return _of_file(text, host)
    if kind != "block":
        raise UserError(str(path), "", "", what_it_is(text, host))
    name = host.block_name(text)
    if not name:
        raise UserError(str(path), "", "", "is a block device that sysfs does not list")
    return block_device(name, host, with_tools=True)


def what_it_is(path: str, host: Host) -> str:
    """Return why a path cannot be measured, in words."""
    kind = host.kind(path)
    if kind == "absent":
        return "does not exist: expected a block device or a file"
    if kind == "folder":
        return "is a folder: expected a block device or a file"
    if kind == "character" and os.path.basename(path).startswith("nvme"):
        return f"is the controller, a character device: expected a namespace, such as {path}n1"
    if kind == "character":
        return "is a character device: expected the block device of the drive, such as /dev/sdb"
    return "is neither a block device nor a file"


def devices(host: Host | None = None) -> list[Device]:
    """Return all block devices with a size, partitions within their disks, by name. Only lsblk is run."""
    host = host or Host()
    with_size = [name for name in host.names("/sys/block") if (host.number(f"/sys/block/{name}/size") or 0) > 0]
    return [block_device(name, host, with_tools=False) for name in with_size]


def block_device(name: str, host: Host, *, with_tools: bool = False) -> Device:
    """Return a block device by the kernel's name; `with_tools` runs smartctl and nvme, which need root and time."""
    disk = blocks.disk_of(name, host)
    folder, whole = host.sysfs(name), host.sysfs(disk)
    kind = kind_of(name, host)
    is_supported = kind in ("disk", "partition")
    absent: list[str] = []
    lsblk = first_of(asked_json(host, absent, *LSBLK, blocks.path_of(disk)).get("blockdevices")) if is_supported else {}
    smart: Told = {}
    id_ns: Told = {}
    is_nvme = disk.startswith("nvme")
    if is_supported and with_tools:
        smart = asked_json(host, absent, *SMARTCTL, blocks.path_of(disk))
        id_ns = asked_json(host, absent, *ID_NS, blocks.path_of(disk)) if is_nvme else {}
    device = f"{whole}/device"
    return Device(
        name=name,
        path=blocks.path_of(name),
        kind=kind,
        disk=disk,
        size_bytes=512 * (host.number(f"{folder}/size") or 0),
        logical_block_bytes=host.number(f"{whole}/queue/logical_block_size"),
        physical_block_bytes=host.number(f"{whole}/queue/physical_block_size"),
        model=_first(_word(smart, "model_name"), _word(lsblk, "model"), host.text(f"{device}/model")),
        serial=serial_of(disk, host, lsblk, smart),
        firmware=_first(
            _word(smart, "firmware_version"),
            _word(smart, "revision"),
            host.text(f"{device}/firmware_rev"),
            _word(lsblk, "rev"),
            host.text(f"{device}/rev"),
        ),
        transport=_transport(disk, host, lsblk),
        rotational=_yes(host.text(f"{whole}/queue/rotational")),
        rotation_rpm=_whole(smart, "rotation_rate") or None,
        zoned=_first(host.text(f"{whole}/queue/zoned")),
        read_only=any(host.text(f"{sys_folder}/ro") == "1" for sys_folder in (folder, whole)),
        write_cache=_first(host.text(f"{whole}/queue/write_cache")),
        numa_node=numa_node(device, host),
        link=link_of(device, smart, "current", host),
        link_max=link_of(device, smart, "max", host),
        aligned=_aligned(folder, host),
        queue=_queue(whole, host),
        formats=_formats(id_ns),
        by_id=by_id(name, host),
        partitions=tuple(blocks.partitions_of(name, host)) if name == disk else (),
        backing_file=blocks.backing_file(name, host),
        absent=tuple(dict.fromkeys(absent)),
    )


def _of_file(path: str, host: Host) -> Device:
    """Return a regular file with the settings of the disk below it, if there is one."""
    from dataclasses import replace

    real = host.real(path)
    disks = blocks.below_file(real, host)
    size = host.size(real) or 0
    if not disks:
        return Device(real, real, "file", size)
    disk_device = block_device(disks[0], host, with_tools=True)
    return replace(
        disk_device, name=real, path=real, kind="file", size_bytes=size, partitions=(), by_id=(), backing_file=None
    )


def kind_of(name: str, host: Host) -> str:
    """Kind of a block device, as in `Device`."""
    folder = host.sysfs(name)
    for part in ("partition", "loop", "dm", "md"):
        if host.has(f"{folder}/{part}"):
            return part
    named = {"loop": "loop", "dm-": "dm", "md": "md", "nbd": "nbd", "rbd": "rbd", "zram": "zram", "ram": "zram"}
    found_kind = next((kind for begin, kind in named.items() if name.startswith(begin)), None)
    return found_kind or ("optical" if name.startswith(("sr", "fd")) else "disk")


def serial_of(disk: str, host: Host, lsblk: Told | None = None, smart: Told | None = None) -> str | None:
    """Return the serial of a disk from its driver (NVMe, virtio), SCSI's page 80h, udev (lsblk) or smartctl; None if
    all are silent, or report a known placeholder."""
    folder = host.sysfs(disk)
    if lsblk is None and kind_of(disk, host) == "disk":
        lsblk = first_of(asked_json(host, [], *LSBLK, blocks.path_of(disk)).get("blockdevices"))
    for text in (
        host.text(f"{folder}/device/serial"),
        host.text(f"{folder}/serial"),
        _page_80(folder, host),
        _word(lsblk or {}, "serial"),
        _word(smart or {}, "serial_number"),
    ):
        serial = " ".join((text or "").split())
        if serial.lower() not in NO_SERIALS and len(set(serial)) > 1:
            return serial
    return None


def _page_80(folder: str, host: Host) -> str | None:
    """SCSI's unit serial number page: 4 bytes of header, then the serial (SPC-4, 7.8.15)."""
    try:
        page = host.read(f"{folder}/device/vpd_pg80", 0, 256)
    except OSError:
        return None
    if len(page) < 4 or page[1] != 0x80:
        return None
    # Two bytes of length; serials are ASCII.
    return page[4 : 4 + int.from_bytes(page[2:4])].decode("ascii", "replace").replace("\0", "").strip()


def by_id(name: str, host: Host) -> tuple[str, ...]:
    """Return the names in /dev/disk/by-id that lead to a device."""
    folder = "/dev/disk/by-id"
    return tuple(link for link in host.names(folder) if host.block_name(f"{folder}/{link}") == name)


def asked_json(host: Host, absent: list[str], *arguments: str) -> Told:
    """Return a tool's JSON output; empty if it fails. The name of a tool that is not installed is added to `absent`."""
    output = host.run(*arguments)
    if output is None:
        absent.append(arguments[0])
        return {}
    try:
        parsed = json.loads(output.text)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def first_of(rows: object) -> Told:
    """Return the first table of a list; empty if there is none."""
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}


def _transport(disk: str, host: Host, lsblk: Told) -> str | None:
    """Return the transport by driver, udev, or position on the bus."""
    if disk.startswith("nvme"):
        link = host.text(f"/sys/block/{disk}/device/transport")
        return "nvme" if link in (None, "pcie") else f"nvme-{link}"
    transport = _word(lsblk, "tran")
    if transport:
        return transport
    sys_path = host.real(f"/sys/block/{disk}")
    marks = {"/usb": "usb", "/ata": "sata", "/end_device-": "sas", "/session": "iscsi", "/rport-": "fc"}
    marks["/virtio"] = "virtio"
    return next((name for mark, name in marks.items() if mark in sys_path), None)


def _queue(whole: str, host: Host) -> Queue | None:
    folder = f"{whole}/queue"
    if not host.has(folder):
        return None

    def kib(name: str) -> int | None:
        size = host.number(f"{folder}/{name}")
        return None if size is None else 1024 * size

    throttle = host.number(f"{folder}/wbt_lat_usec")
    return Queue(
        scheduler=_chosen(host.text(f"{folder}/scheduler")),
        requests=host.number(f"{folder}/nr_requests"),
        read_ahead_bytes=kib("read_ahead_kb"),
        max_io_bytes=kib("max_sectors_kb"),
        # Documentation/ABI/stable/sysfs-block: 0 all merges, 1 only simple ones, 2 none.
        merges={"0": "all", "1": "simple", "2": "none"}.get(host.text(f"{folder}/nomerges") or ""),
        completion_affinity=host.number(f"{folder}/rq_affinity"),
        write_back_throttle_ns=None if throttle is None else 1000 * throttle,
        discard_bytes=host.number(f"{folder}/discard_max_bytes"),
        discard_granularity_bytes=host.number(f"{folder}/discard_granularity"),
    )


def _chosen(text: str | None) -> str | None:
    """The scheduler in use is in brackets: `mq-deadline [none]`."""
    if not text:
        return None
    return text[text.index("[") + 1 : text.index("]")] if "[" in text and "]" in text else text


def _formats(id_ns: Told) -> tuple[SectorFormat, ...]:
    """NVM Command Set: `ds` is the power of two of the data size; bits 3:0 of FLBAS (and 6:5) are the one in use."""
    rows, used = id_ns.get("lbafs"), id_ns.get("flbas")
    if not isinstance(rows, list) or not isinstance(used, int):
        return ()
    chosen = (used & 0xF) | (used >> 5 & 0x3) << 4
    formats = []
    for index, row in enumerate(rows):
        shift = row.get("ds") if isinstance(row, dict) else None
        if isinstance(shift, int) and 9 <= shift < 32:
            metadata = _whole(row, "ms") or 0
            formats.append(SectorFormat(data_bytes=2**shift, metadata_bytes=metadata, in_use=index == chosen))
    return tuple(formats)


def _first(*texts: str | None) -> str | None:
    return next((text.strip() for text in texts if text and text.strip()), None)


def _word(fields: Told, key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _whole(fields: Told, key: str) -> int | None:
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _yes(text: str | None) -> bool | None:
    return {"1": True, "0": False}.get(text or "")


def numa_node(device: str, host: Host) -> int | None:
    """The NUMA node of a device: its driver's folder, or one above it, has it; -1 means none."""
    for above in ("", "/device", "/..", "/../..", "/../../..", "/../../../.."):
        node = host.number(f"{device}{above}/numa_node")
        if node is not None:
            return node if node >= 0 else None
    return None


def link_of(device: str, smart: Told, which: str, host: Host) -> str | None:
    """The drive's connection, `current` or `max`: PCIe by sysfs (speed and lanes of the slot or the drive, whichever
    is less), SATA by smartctl."""
    for above in ("", "/device"):
        speed = host.text(f"{device}{above}/{which}_link_speed")
        width = host.text(f"{device}{above}/{which}_link_width")
        if speed and width:
            return f"{speed} x{width}"
    speeds = smart.get("interface_speed")
    row = speeds.get(which) if isinstance(speeds, dict) else None
    return _word(row, "string") if isinstance(row, dict) else None


def _aligned(folder: str, host: Host) -> bool | None:
    """Return whether it begins at a physical sector by `alignment_offset` (ABI/stable/sysfs-block)."""
    offset = host.number(f"{folder}/alignment_offset")
    return None if offset is None else offset == 0
