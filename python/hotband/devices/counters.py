"""SMART and NVMe counters, temperature and power of a device at intervals, as tables of a record.

Tables: `smart` and `power` with the columns that models leave (crates/engine/src/probes/smart.rs, power.rs; cells
that a device does not tell are null), `health` with what models do not have.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import NotRequired, TypedDict

from hotband.devices.host import Host
from hotband.record.files import Table


class ReadingDoc(TypedDict):
    """What a device counts since it was new; None for what it does not tell."""

    host_bytes: int | None
    host_read_bytes: int | None
    flash_bytes: int | None
    percentage_used: float | None
    available_spare_pct: float | None
    media_errors: int | None
    temperature_c: float | None
    throttled_s: int | None
    power_on_hours: int | None


class DeviceCountersDoc(TypedDict):
    """The section `counters` of a record: the device before and after a run."""

    device: str
    at_begin: ReadingDoc
    at_end: ReadingDoc
    write_amplification: float | None
    endurance_bytes: int | None
    endurance_from: str | None
    power_from: NotRequired[list[str]]
    absent_tools: list[str]


def reading_of(path: str | Path, host: Host | None = None) -> ReadingDoc:
    """The counters of a device now. Raises UserError where there is no such device."""
    raise NotImplementedError


class Counters:
    """Reads counters and power every `every_s` in a thread of its own, during its block.

    `power_command` is a user's command that prints watts. Call `measured()` when the measured time begins: rows of
    `power` count from then. `tables` and `section` are there afterwards.
    """

    def __init__(
        self, path: str | Path, host: Host | None = None, every_s: float = 10.0, *, power_command: str | None = None
    ) -> None:
        self.path, self.host, self.every_s, self.power_command = path, host, every_s, power_command

    def __enter__(self) -> Counters:
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError

    def measured(self) -> None:
        """The measured time begins now."""
        raise NotImplementedError

    @property
    def tables(self) -> dict[str, Table]:
        """`smart`, `health` and `power`, each only where there is anything to tell."""
        raise NotImplementedError

    @property
    def section(self) -> DeviceCountersDoc | None:
        """The section `counters`; None where nothing is counted."""
        raise NotImplementedError
