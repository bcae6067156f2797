"""What is around a run on real hardware, as the section `context` of its record."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import NotRequired, TypedDict

from hotband.devices.host import Host


class QueueDoc(TypedDict):
    """Settings of a device's queue; None for what the kernel does not tell."""

    scheduler: str | None
    requests: int | None
    read_ahead_bytes: int | None
    max_io_bytes: int | None
    merges: str | None
    completion_affinity: int | None
    write_back_throttle_ns: int | None
    discard_bytes: int | None
    discard_granularity_bytes: int | None


class SectorFormatDoc(TypedDict):
    """A sector format of an NVMe namespace."""

    data_bytes: int
    metadata_bytes: int
    in_use: bool


class DeviceDoc(TypedDict):
    """The device that was measured (`hotband.devices.device.Device`)."""

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
    queue: QueueDoc | None
    formats: list[SectorFormatDoc]


class CpuDoc(TypedDict):
    """Processors of the host."""

    model: str | None
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
    """What others did during the run: shares are of all processors' time, 0 to 1; `stolen` by the host of this virtual
    machine. `device_` bytes are all that the device did, ours included; None where it is not known."""

    duration_ns: int
    cpu_ours: float
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


def context_of(path: str | Path, host: Host | None = None) -> ContextDoc:
    """Device, host and temperature as they are before a run. Raises UserError."""
    raise NotImplementedError


def temperature_of(path: str | Path, host: Host | None = None) -> float | None:
    """The device's temperature in degrees Celsius; None where nobody tells it."""
    raise NotImplementedError


class Background:
    """Watches the processor time and I/O of other processes during its block; `found` is there afterwards.

    Ours is this process and those that it started, also those that ended meanwhile.
    """

    def __init__(self, path: str | Path, host: Host | None = None) -> None:
        self.path, self.host = path, host
        self.found: BackgroundDoc | None = None

    def __enter__(self) -> Background:
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError


def ended(context: ContextDoc, path: str | Path, background: Background, host: Host | None = None) -> ContextDoc:
    """The context with the temperature now, and what others did."""
    raise NotImplementedError
