"""The section `counters` of a record: the device's own counters before and after a run."""

from typing import TypedDict


class ReadingDoc(TypedDict):
    """Counters of a device since it was new; None if it does not report them. `flash_bytes` were programmed into flash;
    `throttled_s` is the time in which it slowed down to cool, `throttle_events` how often; `endurance_bytes` its
    maker's estimate of all writes in its life (OCP)."""

    host_bytes: int | None
    host_read_bytes: int | None
    flash_bytes: int | None
    erases_mean: float | None
    erases_max: int | None
    percentage_used: float | None
    available_spare_pct: float | None
    media_errors: int | None
    temperature_c: float | None
    throttled_s: int | None
    throttle_events: int | None
    power_on_hours: int | None
    unsafe_shutdowns: int | None
    endurance_bytes: int | None
    passed: bool | None


class DeviceCountersDoc(TypedDict):
    """The section `counters` of a record: the device before and after a run. `write_amplification` is flash bytes per
    host byte of the run, None if the device does not count flash bytes or the host wrote too little; `endurance_bytes`
    is what a host can write until 100 % are used, and `endurance_from` its source: measured (in this run), life (since
    the drive was new), device (its maker's estimate, less the bytes written)."""

    device: str
    at_begin: ReadingDoc
    at_end: ReadingDoc
    write_amplification: float | None
    endurance_bytes: int | None
    endurance_from: str | None
    power_from: list[str]
    absent_tools: list[str]
