"""The section `context` of a record: the environment of a run on real hardware."""

from typing import NotRequired, TypedDict


class Queue(TypedDict):
    """Settings of a device's queue, as in `/sys/block/NAME/queue`; None for values that the kernel does not report."""

    scheduler: str | None
    requests: int | None
    read_ahead_bytes: int | None
    max_io_bytes: int | None
    merges: str | None
    completion_affinity: int | None
    write_back_throttle_ns: int | None
    discard_bytes: int | None
    discard_granularity_bytes: int | None


class SectorFormat(TypedDict):
    """A sector format of an NVMe namespace: bytes of data and metadata, and whether it is the one in use."""

    data_bytes: int
    metadata_bytes: int
    in_use: bool


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
    """Processors of the host; `is_virtual` if a hypervisor shares them."""

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
    """Activity of another process during the run. Bytes are None if they may not be read."""

    name: str
    cpu_ns: int
    read_bytes: int | None
    written_bytes: int | None


class BackgroundDoc(TypedDict):
    """Activity of other processes during the run. Shares are of all processors' time, 0 to 1: `ours` is this process
    and its children, `kernel` its threads and interrupts (which also work for this process), `stolen` the host of
    this virtual machine. `device_` bytes are all of the device's I/O, ours included; None if unknown."""

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
