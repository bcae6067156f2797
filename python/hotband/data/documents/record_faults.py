"""Sections of a record's document about lost power, failed drives and their rebuilds."""

from typing import TypedDict


class LostStreamDoc(TypedDict):
    """Losses of a stream by a power cut."""

    name: str
    lost_bytes: int
    lost_writes: int


class PowerLossDoc(TypedDict):
    """Losses by a power cut."""

    at_ns: int
    acknowledged_writes: int
    lost_bytes: int
    lost_writes: int
    torn_sectors: int
    streams: list[LostStreamDoc]
    stale_copy_bytes: int


class FailureDoc(TypedDict):
    """A drive that failed."""

    drive: str
    at_ns: int


class RebuildDoc(TypedDict):
    """Progress of a rebuild."""

    drive: str
    spare: str
    layout: str
    state: str
    began_ns: int | None
    ended_ns: int | None
    bytes: int
    of_bytes: int
    rate_limit_bytes_per_s: float | None
    mean_bytes_per_s: float | None
    sector_errors: int
    repaired_sectors: int


class ServiceDoc(TypedDict):
    """Service to hosts in one state of the machine."""

    phase: str
    duration_ns: int
    count: int
    iops: float | None
    bandwidth_bytes_per_s: float | None
    latency_mean_ns: float | None
    latency_p50_ns: int | None
    latency_p99_ns: int | None
    errors: int


class RepairDoc(TypedDict):
    """Failures, rebuilds, service during them and losses."""

    failures: list[FailureDoc]
    spares: int
    spares_taken: int
    rebuilds: list[RebuildDoc]
    service: list[ServiceDoc]
    sector_errors: int
    bytes_lost: int
    io_errors: int
