"""Counters of a device since it was new, from the output of smartctl and nvme: ATA, SCSI and NVMe.

Left out: attributes that smartmontools has no name for (only their maker knows their meaning).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.quantities import ungrouped
from hotband.data.documents.counters import ReadingDoc
from hotband.execution.devices import blocks
from hotband.execution.devices.device import SMARTCTL, asked_json, what_it_is
from hotband.execution.devices.host import Host

SMART_LOG = ("nvme", "smart-log", "-o", "json")
OCP_LOG = ("nvme", "ocp", "smart-add-log")
OCP = "log page C0h"

MIB, GIB, GB = 1 << 20, 1 << 30, 10**9
# NVM Express Base Specification 2.0, 5.16.1.3: a data unit is a thousand of 512 bytes.
DATA_UNIT = 512_000
# 0 degrees Celsius in kelvin, as nvme prints them (whole numbers).
KELVIN = 273

# Attributes of ATA drives by smartmontools' names (drivedb.h), which say the unit: bytes of the host by preference,
# the most exact first. "LBAs" are of the logical sector.
HOST_WRITES: dict[str, int] = {
    "Host_Writes_32MiB": 32 * MIB,
    "Host_Writes_MiB": MIB,
    "Host_Writes_GiB": GIB,
    "Lifetime_Writes_GiB": GIB,
    "Lifetime_Wts_Frm_Hst_GB": GB,
    "Total_Writes_GiB": GIB,
    "Total_Writes_GB": GB,
    "Total_LBAs_Written": 0,
    "Device_Sectors_Written": 0,
}
HOST_READS: dict[str, int] = {
    "Host_Reads_32MiB": 32 * MIB,
    "Host_Reads_MiB": MIB,
    "Host_Reads_GiB": GIB,
    "Lifetime_Reads_GiB": GIB,
    "Lifetime_Rds_Frm_Hst_GB": GB,
    "Total_Reads_GiB": GIB,
    "Total_LBAs_Read": 0,
}
# The same of flash. What is written to flash as SLC and as TLC is told apart by some: both are added up.
FLASH_WRITES: dict[str, int] = {
    "NAND_Writes_32MiB": 32 * MIB,
    "NAND_Writes_1GiB": GIB,
    "NAND_Writes_GiB": GIB,
    "Total_NAND_Writes_GiB": GIB,
    "Total_NAND_Prog_Ct_GiB": GIB,
    "Lifetime_NAND_Prg_GiB": GIB,
    "Flash_Writes_32MiB": 32 * MIB,
    "Flash_Writes_GiB": GIB,
    "Lifetime_Wts_To_Flsh_GB": GB,
    "Flash_Writes_LBAs": 0,
    "Flash_Writes_Sectors": 0,
    "Nand_Sectors_Written": 0,
}
FLASH_PARTS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("TLC_Writes_32MiB", "SLC_Writes_32MiB"), 32 * MIB),
    (("NAND_GB_Written_TLC", "NAND_GB_Written_SLC"), GB),
)
# Micron and Crucial count programmed pages of the host and of the drive itself: their ratio is the amplification
# (Micron TN-FD-23, "Calculating Write Amplification Factor").
HOST_PAGES, OWN_PAGES = "Host_Program_Page_Count", "FTL_Program_Page_Count"
OWN_PAGES_TOO = ("Bckgnd_Program_Page_Cnt", "Background_Program_Page_Count")
# Normalized values that count down from 100 (drivedb.h, and makers' attribute descriptions).
LIFE_LEFT = (
    *("Media_Wearout_Indicator", "Percent_Lifetime_Remain", "SSD_Life_Left", "Remaining_Lifetime_Perc"),
    *("Percent_Life_Remaining", "Perc_Rated_Life_Remain", "Lifetime_Left", "Wear_Leveling_Count"),
)
ERASES_MEAN = ("Average_Erase_Count", "Ave_Block-Erase_Count", "Avg_Block-Erase_Count")
ERASES_MAX = ("Max_Erase_Count", "Maximum_Erase_Count", "Erase_Count_Max")


NOTHING: ReadingDoc = {
    "host_bytes": None,
    "host_read_bytes": None,
    "flash_bytes": None,
    "erases_mean": None,
    "erases_max": None,
    "percentage_used": None,
    "available_spare_pct": None,
    "media_errors": None,
    "temperature_c": None,
    "throttled_s": None,
    "throttle_events": None,
    "power_on_hours": None,
    "unsafe_shutdowns": None,
    "endurance_bytes": None,
    "passed": None,
}


def reading_of(
    path: str | Path, host: Host | None = None, absent: list[str] | None = None, silent: set[str] | None = None
) -> ReadingDoc:
    """Return the current counters of the disk at or below a path. Names of tools that are not installed are added to
    `absent`; logs that a drive lacks to `silent`, so that they are not requested again (a drive logs an error for
    each). Raises UserError if there is no such device or file."""
    from hotband.execution.devices.context import sensor_of

    host, missing, real_path = host or Host(), absent if absent is not None else [], os.path.abspath(path)
    expect_there(real_path, host)
    disk = blocks.base_disk(real_path, host)
    if disk is None or blocks.backing_file(disk, host) is not None:
        return {**NOTHING}
    node = blocks.path_of(disk)
    if disk.startswith("nvme"):
        log = asked_json(host, missing, *SMART_LOG, node)
        reading = (
            of_nvme(log) if "data_units_written" in log else of_smartctl(asked_json(host, missing, *SMARTCTL, node))
        )
        unasked = silent if silent is not None else set()
        if OCP not in unasked:
            ocp_log = asked_json(host, missing, *OCP_LOG, node, "-o", "json")
            reading = with_ocp(reading, ocp_log)
            unasked |= set() if ocp_log else {OCP}
    else:
        reading = of_smartctl(asked_json(host, missing, *SMARTCTL, node))
    if reading["temperature_c"] is None:
        reading["temperature_c"] = sensor_of(path, host)
    return reading


def expect_there(path: str | Path, host: Host) -> None:
    """Raise UserError if there is no such device or file."""
    real_path = os.path.abspath(path)
    if host.kind(real_path) not in ("block", "file"):
        raise UserError(str(path), "", "", what_it_is(real_path, host))


def of_smartctl(document: Mapping[str, object]) -> ReadingDoc:
    """From smartctl's JSON, of whichever kind of drive."""
    log = document.get("nvme_smart_health_information_log")
    if isinstance(log, dict):
        # smartctl has the log's numbers under names of its own, and degrees Celsius.
        reading = of_nvme(log, in_kelvin=False)
    elif "ata_smart_attributes" in document or "ata_device_statistics" in document:
        reading = of_ata(document)
    else:
        reading = of_scsi(document)
    celsius = _inner(document, "temperature", "current")
    reading["temperature_c"] = reading["temperature_c"] if celsius is None else float(celsius)
    hours = _inner(document, "power_on_time", "hours")
    reading["power_on_hours"] = reading["power_on_hours"] if hours is None else hours
    passed = document.get("smart_status")
    if isinstance(passed, dict) and isinstance(passed.get("passed"), bool):
        # A warning in the log takes precedence over the status.
        reading["passed"] = passed["passed"] and reading["passed"] is not False
    return reading


def of_nvme(log: Mapping[str, object], in_kelvin: bool = True) -> ReadingDoc:
    """From the SMART / health log as nvme (or smartctl) prints it: NVM Express Base Specification 2.0, 5.16.1.3."""

    def units(key: str) -> int | None:
        count = whole(log.get(key))
        return None if count is None else DATA_UNIT * count

    degrees = whole(log.get("temperature"))
    if degrees == (0 if in_kelvin else -KELVIN):
        degrees = None
    throttled = [whole(log.get(f"thm_temp{n}_total_time")) for n in (1, 2)]
    times = [whole(log.get(f"thm_temp{n}_trans_count")) for n in (1, 2)]
    return {
        **NOTHING,
        "host_bytes": units("data_units_written"),
        "host_read_bytes": units("data_units_read"),
        "percentage_used": real(log.get("percent_used", log.get("percentage_used"))),
        "available_spare_pct": _spare(log),
        "media_errors": whole(log.get("media_errors")),
        "temperature_c": None if degrees is None else float(degrees - KELVIN if in_kelvin else degrees),
        "throttled_s": _sum(throttled),
        "throttle_events": _sum(times),
        "power_on_hours": whole(log.get("power_on_hours")),
        "unsafe_shutdowns": whole(log.get("unsafe_shutdowns")),
        "passed": None if "critical_warning" not in log else not whole(log.get("critical_warning")),
    }


def _spare(log: Mapping[str, object]) -> float | None:
    """Return the spare blocks left in percent; None if the log has none, as virtual disks fill it with zeros: a drive
    without spare blocks is below its threshold, or warns (bit 0 of the critical warning)."""
    spare = real(log.get("avail_spare", log.get("available_spare")))
    threshold = whole(log.get("spare_thresh", log.get("available_spare_threshold")))
    is_low = (whole(log.get("critical_warning")) or 0) & 1
    return None if spare == 0 and threshold == 0 and not is_low else spare


def with_ocp(reading: ReadingDoc, document: Mapping[str, object]) -> ReadingDoc:
    """With the log page C0h of the Open Compute Project (Datacenter NVMe SSD Specification 2.0, 4.8.6), as nvme prints
    it; its keys changed their spelling between versions."""
    log = {_key(name): value for name, value in document.items()}
    flash = _wide(log.get("physical_media_units_written"))
    most = whole(log.get("max_user_data_erase_counts", log.get("maximum_user_data_erase_count")))
    events = whole(log.get("number_of_thermal_throttling_events", log.get("thermal_throttling_count")))
    endurance = _wide(log.get("endurance_estimate"))
    return {
        **reading,
        "flash_bytes": reading["flash_bytes"] if flash is None else flash,
        "erases_max": reading["erases_max"] if most is None else most,
        "throttle_events": reading["throttle_events"] if events is None else events,
        "endurance_bytes": endurance or reading["endurance_bytes"],
    }


def of_ata(document: Mapping[str, object]) -> ReadingDoc:
    """From ATA's attributes by smartmontools' names, and the device statistics log, which is the standard's (ACS-4,
    9.5) and takes precedence if present."""
    sector = whole(document.get("logical_block_size")) or 512
    raw, normal = _attributes(document)
    statistics = _statistics(document)
    host = _scaled(statistics.get("Logical Sectors Written"), sector)
    read = _scaled(statistics.get("Logical Sectors Read"), sector)
    host = _first_of(raw, HOST_WRITES, sector) if host is None else host
    left = next((normal[name] for name in LIFE_LEFT if name in normal), None)
    used = statistics.get("Percentage Used Endurance Indicator")
    flash = _flash_of(raw, host, sector)
    temperature = statistics.get("Current Temperature")
    return {
        **NOTHING,
        "host_bytes": host,
        "host_read_bytes": _first_of(raw, HOST_READS, sector) if read is None else read,
        "flash_bytes": flash,
        "erases_mean": next((float(raw[name]) for name in ERASES_MEAN if name in raw), None),
        "erases_max": next((raw[name] for name in ERASES_MAX if name in raw), None),
        "percentage_used": float(used) if used is not None else None if left is None else float(100 - left),
        "media_errors": statistics.get("Number of Reported Uncorrectable Errors", raw.get("Reported_Uncorrect")),
        "temperature_c": None if temperature is None else float(temperature),
        "power_on_hours": raw.get("Power_On_Hours"),
        "unsafe_shutdowns": raw.get("Unexpect_Power_Loss_Ct", raw.get("Power-Off_Retract_Count")),
    }


def of_scsi(document: Mapping[str, object]) -> ReadingDoc:
    """From SCSI's error counter log (SPC-5: 10^9 bytes processed) and the endurance indicator of its SSDs."""

    def log(side: str, key: str) -> float | None:
        counters = document.get("scsi_error_counter_log")
        row = counters.get(side) if isinstance(counters, dict) else None
        return real(row.get(key)) if isinstance(row, dict) else None

    wrote, read = (log(side, "gigabytes_processed") for side in ("write", "read"))
    errors = [log(side, "total_uncorrected_errors") for side in ("read", "write", "verify")]
    known = [int(error) for error in errors if error is not None]
    return {
        **NOTHING,
        "host_bytes": None if wrote is None else round(wrote * GB),
        "host_read_bytes": None if read is None else round(read * GB),
        "percentage_used": real(document.get("scsi_percentage_used_endurance_indicator")),
        "media_errors": sum(known) if known else None,
    }


def _attributes(document: Mapping[str, object]) -> tuple[dict[str, int], dict[str, int]]:
    """Raw and normalized values by name."""
    table = document.get("ata_smart_attributes")
    rows = table.get("table") if isinstance(table, dict) else None
    raw: dict[str, int] = {}
    normal: dict[str, int] = {}
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            continue
        value, number = row.get("raw"), whole(row.get("value"))
        whole_value = whole(value.get("value")) if isinstance(value, dict) else None
        if whole_value is not None:
            raw[row["name"]] = whole_value
        if number is not None:
            normal[row["name"]] = number
    return raw, normal


def _statistics(document: Mapping[str, object]) -> dict[str, int]:
    """Device statistics by name; only those that the drive calls valid."""
    log = document.get("ata_device_statistics")
    pages = log.get("pages") if isinstance(log, dict) else None
    statistics: dict[str, int] = {}
    for page in pages if isinstance(pages, list) else []:
        for row in page.get("table", []) if isinstance(page, dict) else []:
            value = whole(row.get("value"))
            flags = row.get("flags")
            if value is not None and (not isinstance(flags, dict) or flags.get("valid", True)):
                statistics[str(row.get("name"))] = value
    return statistics


def _first_of(raw: Mapping[str, int], units: Mapping[str, int], sector: int) -> int | None:
    return next((raw[name] * (unit or sector) for name, unit in units.items() if name in raw), None)


def _flash_of(raw: Mapping[str, int], host: int | None, sector: int) -> int | None:
    """Bytes written to flash: reported directly, in parts, or as pages that add to those of the host."""
    flash = _first_of(raw, FLASH_WRITES, sector)
    if flash is not None:
        return flash
    for names, unit in FLASH_PARTS:
        if names[0] in raw:
            return sum(raw.get(name, 0) for name in names) * unit
    firmware_pages = next((raw[name] for name in (OWN_PAGES, *OWN_PAGES_TOO) if name in raw), None)
    if host is not None and firmware_pages is not None and raw.get(HOST_PAGES):
        return round(host * (1 + firmware_pages / raw[HOST_PAGES]))
    return None


def whole(value: object) -> int | None:
    """A whole number, also where a tool prints it as text with commas between thousands."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    text = ungrouped(value.split(" ")[0]) or "" if isinstance(value, str) else ""
    return int(text) if text.isdecimal() else None


def real(value: object) -> float | None:
    """A number, also as text."""
    if isinstance(value, str):
        try:
            return float(ungrouped(value) or "")
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _wide(value: object) -> int | None:
    """A number of 128 bits, printed whole or as two halves."""
    if isinstance(value, dict):
        high, low = whole(value.get("hi")), whole(value.get("lo"))
        return None if high is None or low is None else (high << 64) + low
    return whole(value)


def _key(name: str) -> str:
    return "_".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _scaled(count: int | None, unit: int) -> int | None:
    return None if count is None else count * unit


def _inner(document: Mapping[str, object], key: str, inner: str) -> int | None:
    value = document.get(key)
    return whole(value.get(inner)) if isinstance(value, dict) else None
