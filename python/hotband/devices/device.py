"""What a block device, or the device below a file, is: by sysfs, smartctl and nvme, each as far as it is there."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.devices.host import Host


@dataclass(frozen=True)
class Queue:
    """Settings of a device's queue, as in `/sys/block/NAME/queue`; None for what the kernel does not tell."""

    scheduler: str | None
    requests: int | None
    read_ahead_bytes: int | None
    max_io_bytes: int | None
    merges: str | None
    completion_affinity: int | None
    write_back_throttle_ns: int | None
    discard_bytes: int | None
    discard_granularity_bytes: int | None


@dataclass(frozen=True)
class SectorFormat:
    """A sector format of an NVMe namespace: bytes of data and metadata, and whether it is the one in use."""

    data_bytes: int
    metadata_bytes: int
    in_use: bool


@dataclass(frozen=True)
class Device:
    """A block device. Text is None where nobody tells it; `serial` is that of the whole disk.

    `kind` is disk, partition, loop, dm, md, nbd, rbd, zram or file (a regular file: `disk` is the device below it, as
    far as it is known). `absent` names tools that would have told more.
    """

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
    read_only: bool
    write_cache: str | None
    numa_node: int | None
    queue: Queue | None
    formats: tuple[SectorFormat, ...]
    by_id: tuple[str, ...]
    partitions: tuple[str, ...]
    backing_file: str | None
    absent: tuple[str, ...]


def device_of(path: str, host: Host | None = None) -> Device:
    """What lies at `path`: a block device or a regular file. Raises UserError for anything else."""
    raise NotImplementedError


def devices(host: Host | None = None) -> list[Device]:
    """All block devices of the machine that have a size, but no partitions, by name."""
    raise NotImplementedError
