"""SMART and NVMe counters, temperature and power of a device at intervals, as tables of a record.

Tables: `smart` and `power` with the columns that models leave (crates/engine/src/probes/smart.rs, power.rs; cells
that a device does not report are null), `health` with data that models lack.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from hotband.base.errors import UserError
from hotband.data.documents.counters import DeviceCountersDoc, ReadingDoc
from hotband.data.record.files import REAL, TEXT, WHOLE, Cell, ReadTable, Table
from hotband.execution.devices import blocks
from hotband.execution.devices.host import Host
from hotband.execution.devices.power import Source, sources
from hotband.execution.devices.readings import NOTHING, expect_there, reading_of

__all__ = ["Counters", "DeviceCountersDoc", "ReadingDoc", "reading_of"]

# SMART commands of ATA are none that are queued: the drive ends all I/O before it answers them (ACS-4, 4.16: no
# mixing with NCQ), which shows in the tail of latencies. NVMe's go through a queue of their own.
ATA_EVERY_S = 60.0
# Watts are asked for this often: a row is the mean of its looks, with the least and the most.
POWER_EVERY_S = 1.0
# An interrupted run has ended within two seconds; a tool may take longer.
MOST_WAIT_S = 0.5

SMART_KINDS = {
    "time_ns": WHOLE,
    "drive": TEXT,
    "host_bytes": WHOLE,
    "stored_bytes": WHOLE,
    "flash_bytes": WHOLE,
    "write_amplification": REAL,
    "write_amplification_total": REAL,
    "erases_mean": REAL,
    "erases_max": WHOLE,
    "percentage_used": REAL,
}
HEALTH_KINDS = {
    "time_ns": WHOLE,
    "drive": TEXT,
    "temperature_c": REAL,
    "throttled_s": WHOLE,
    "throttle_events": WHOLE,
    "media_errors": WHOLE,
    "available_spare_pct": REAL,
    "host_read_bytes": WHOLE,
}
POWER_KINDS = {"time_ns": WHOLE, "length_ns": WHOLE, "drive": TEXT, "power_w": REAL, "low_w": REAL, "high_w": REAL}


@dataclass(frozen=True)
class PowerRow:
    """Watts of one source between two readings, in seconds since the watching began."""

    begin_s: float
    end_s: float
    of: str
    looks: tuple[float, ...]


class Counters:
    """Reads counters and power every `every_s` seconds in its own thread, during its block.

    ATA and SCSI drives are read at most every minute, whatever `every_s` (see above), and every drive once before and
    once after. `power_command` is a user's command that prints watts. Call `measured` when the measured time begins:
    rows of `power` count from then. `tables` and `section` are set afterwards. Raises UserError if there is no
    such device, or a command that prints none.
    """

    def __init__(
        self, path: str | Path, host: Host | None = None, every_s: float = 10.0, *, power_command: str | None = None
    ) -> None:
        self.path, self.host = path, host or Host()
        disk = blocks.base_disk(os.path.abspath(path), self.host)
        self.device = disk or os.path.basename(str(path))
        is_nvme = disk is not None and disk.startswith("nvme")
        self.every_s = every_s if is_nvme else max(every_s, ATA_EVERY_S)
        self._power_every_s = min(POWER_EVERY_S, every_s)
        self._row_s = every_s
        self._sources: list[Source] = sources(path, self.host, power_command)
        self._readings: list[tuple[float, ReadingDoc]] = []
        self._power: list[PowerRow] = []
        self._absent: list[str] = []
        self._silent: set[str] = set()
        self._begin = self._measured = 0.0
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Counters:
        self._begin = self._measured = time.monotonic()
        expect_there(self.path, self.host)
        self._read()
        self._thread = threading.Thread(target=self._watch, name="counters", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._over.set()
        assert self._thread is not None, "it was entered"
        # An interruption waits for no tool any more.
        self._thread.join(None if error is None else MOST_WAIT_S)
        if error is None:
            self._read()

    def measured(self) -> None:
        """Note that the measured time begins now."""
        self._measured = time.monotonic()

    def _read(self) -> None:
        """Read the device; one that is gone reports nothing, and its run fails by itself."""
        at = time.monotonic() - self._begin
        try:
            reading = reading_of(self.path, self.host, self._absent, self._silent)
        except (UserError, OSError):
            reading = {**NOTHING}
        self._readings.append((at, reading))

    def _watch(self) -> None:
        """Read at intervals until the block ends."""
        looks: dict[str, list[float]] = {}
        row_began = time.monotonic()
        next_reading = row_began + self.every_s
        self._look(looks)
        while True:
            waited = self._power_every_s if self._sources else max(0.0, next_reading - time.monotonic())
            is_over = self._over.wait(waited)
            self._look(looks)
            now = time.monotonic()
            if is_over or now - row_began >= self._row_s:
                self._keep(looks, row_began, now)
                looks, row_began = {}, now
            if is_over:
                return
            if now >= next_reading:
                self._read()
                next_reading = now + self.every_s

    def _look(self, looks: dict[str, list[float]]) -> None:
        for source in self._sources:
            watts = source.watts()
            if watts is not None:
                looks.setdefault(source.of, []).append(watts)

    def _keep(self, looks: dict[str, list[float]], began: float, now: float) -> None:
        for name, watts in looks.items():
            self._power.append(PowerRow(began - self._begin, now - self._begin, name, tuple(watts)))

    @property
    def tables(self) -> dict[str, Table]:
        """Return `smart`, `health` and `power`, each only if it has values."""
        by_name: dict[str, Table] = {}
        wear = ("host_bytes", "flash_bytes", "percentage_used", "erases_mean", "erases_max")
        if self._tells(*wear):
            by_name["smart"] = _smart(self.device, self._readings)
        if self._tells(*list(HEALTH_KINDS)[2:]):
            by_name["health"] = _table((_cells(self.device, *reading) for reading in self._readings), HEALTH_KINDS)
        power = _power_rows(self._power, self._measured - self._begin)
        if power.columns["time_ns"]:
            by_name["power"] = power
        return by_name

    def _tells(self, *keys: str) -> bool:
        return any(value is not None for _, reading in self._readings for key, value in reading.items() if key in keys)

    @property
    def section(self) -> DeviceCountersDoc | None:
        """Return the section `counters`; None if nothing is counted."""
        if not self._tells(*NOTHING) and not self._power:
            return None
        begin, end = self._readings[0][1], self._readings[-1][1]
        endurance, source = endurance_of(begin, end)
        return {
            "device": self.device,
            "at_begin": begin,
            "at_end": end,
            "write_amplification": amplification(begin, end),
            "endurance_bytes": endurance,
            "endurance_from": source,
            "power_from": list(dict.fromkeys(power_source.name for power_source in self._sources)),
            "absent_tools": list(dict.fromkeys(self._absent)),
        }


def amplification(before: ReadingDoc | None, after: ReadingDoc) -> float | None:
    """Return flash bytes per host byte between two readings, or (without `before`) since the drive was new; None if
    unknown, or if no host writes were counted between them."""
    if after["host_bytes"] is None or after["flash_bytes"] is None:
        return None
    host, flash = after["host_bytes"], after["flash_bytes"]
    if before is not None:
        if before["host_bytes"] is None or before["flash_bytes"] is None:
            return None
        host, flash = host - before["host_bytes"], flash - before["flash_bytes"]
    # Drives count in units of up to 1 GiB: none of them is no amplification of zero.
    return flash / host if host > 0 and flash > 0 else None


def endurance_of(begin: ReadingDoc, end: ReadingDoc) -> tuple[int | None, str | None]:
    """Return the bytes that the host can write until 100 % are used, with their source. A drive reports whole percent:
    below five since a reading (an error of a fifth), its use since it was new is more exact."""
    used, wrote = end["percentage_used"], end["host_bytes"]
    if used is None or wrote is None:
        return None, None
    left = max(0.0, 100 - used)
    if (
        begin["percentage_used"] is not None
        and begin["host_bytes"] is not None
        and used - begin["percentage_used"] >= 5
    ):
        by_percent = (wrote - begin["host_bytes"]) / (used - begin["percentage_used"])
        return round(by_percent * left), "measured"
    if end["endurance_bytes"]:
        return max(0, end["endurance_bytes"] - wrote), "device"
    return (round(wrote / used * left), "life") if used >= 1 else (None, None)


def _nanoseconds(seconds: float) -> int:
    return max(0, round(seconds * 1e9))


def _table(rows: Iterable[Mapping[str, Cell]], kinds: dict[str, str]) -> ReadTable:
    """Return rows as a table; a cell that a row lacks is null."""
    rows = list(rows)
    return ReadTable({name: [row.get(name) for row in rows] for name in kinds}, kinds)


def _cells(device: str, at: float, reading: ReadingDoc) -> dict[str, Cell]:
    """Return the cells of a reading. `stored_bytes` is not among them: no drive tells what it stores after its own
    compression."""
    return {**cast("dict[str, Cell]", reading), "time_ns": _nanoseconds(at), "drive": device}


def _smart(device: str, readings: list[tuple[float, ReadingDoc]]) -> ReadTable:
    rows, before = [], None
    for at, reading in readings:
        row = _cells(device, at, reading)
        row["write_amplification"] = None if before is None else amplification(before, reading)
        row["write_amplification_total"] = amplification(None, reading)
        rows.append(row)
        before = reading
    return _table(rows, SMART_KINDS)


def _power_rows(rows: list[PowerRow], measured_s: float) -> ReadTable:
    """Return rows that end in the measured time; power drawn before it is cut off."""
    cells: list[dict[str, Cell]] = []
    for power_row in rows:
        if power_row.end_s <= measured_s or not power_row.looks:
            continue
        begin = max(power_row.begin_s, measured_s)
        cells.append(
            {
                "time_ns": _nanoseconds(begin - measured_s),
                "length_ns": _nanoseconds(power_row.end_s - begin),
                "drive": power_row.of,
                "power_w": sum(power_row.looks) / len(power_row.looks),
                "low_w": min(power_row.looks),
                "high_w": max(power_row.looks),
            }
        )
    return _table(cells, POWER_KINDS)
