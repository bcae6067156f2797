"""Lines that a data sheet lacks and that decide which rules apply: the class, the port, flash and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotband.questions.datasheet.lines import INTERFACES, Answers, number, stated_number
from hotband.questions.datasheet.ports import LARGEST_PAYLOAD, lane_rate

NEARLINE_FROM = 8e12
"""Bytes from which a disk of unknown class is one for data centers: desktop disks end at 8 TB."""
ENTERPRISE_DWPD = 0.5
"""Drive writes per day from which a drive of unknown class is of the enterprise class. Warranties of consumer drives
over five years are 0.3 (600 TB per TB); enterprise drives with less (QLC) state their power-loss protection."""
PORTS_OF_YEARS = ((2012, "2x4"), (2018, "3x4"), (2022, "4x4"))
"""The usual port of NVMe drives introduced until a year, of those that a rate does not rule out."""
FLASH_OF_YEARS = {"consumer": (2014, "MLC"), "enterprise": (2015, "MLC")}
"""The usual flash of drives introduced until a year; TLC since."""

DISK_PORTS: Mapping[str, tuple[Sequence[tuple[int, str]], str]] = {
    "mission-critical": (
        ((2013, "sas12"), (2008, "sas6"), (2004, "ultra320"), (2001, "ultra160"), (1997, "ultra2-wide")),
        "ultra-wide",
    ),
    "other": (((2010, "sata"), (2005, "sata300"), (2003, "sata150")), "ata100"),
}
"""The usual port of disks introduced since a year, newest first, and before."""


@dataclass(frozen=True)
class Assumed:
    """A choice that no line states, and the reason for it."""

    value: str
    why: str


def with_class(kind: str, stated: Answers) -> tuple[Answers, dict[str, Assumed]]:
    """Return the lines with the class and the port, and those of the two that were assumed."""
    assumed: dict[str, Assumed] = {}
    if "class" not in stated:
        assumed["class"] = _disk_class(stated) if kind == "hdd" else _flash_class(stated)
    sheet = {**stated, **{key: choice.value for key, choice in assumed.items()}}
    port = "pcie" if kind == "nvme" else "interface"
    if port not in stated:
        found = _lanes(sheet) if kind == "nvme" else _interface(kind, sheet)
        assumed[port] = found
        sheet[port] = found.value
    return sheet, assumed


def flash_of(sheet: Answers) -> str:
    """Return the flash of a solid-state drive: as stated, or usual for its class and year."""
    if "flash" in sheet:
        return str(sheet["flash"])
    until, earlier = FLASH_OF_YEARS[str(sheet["class"])]
    year = stated_number(sheet, "year")
    return earlier if year is not None and year <= until else "TLC"


def memory_of(sheet: Answers) -> str:
    """Return the memory for the mapping table: as stated, or a full table in DRAM. 3D XPoint is written in place and
    needs no such table."""
    return "full" if flash_of(sheet) == "XPoint" else str(sheet.get("dram", "full"))


def _flash_class(stated: Answers) -> Assumed:
    if stated.get("power-loss-protection") == "on":
        return Assumed("enterprise", "power-loss protection is stated")
    writes_per_day = stated_number(stated, "dwpd")
    if writes_per_day is not None and writes_per_day >= ENTERPRISE_DWPD:
        return Assumed("enterprise", f"{ENTERPRISE_DWPD} drive writes per day or more are stated")
    if "write-iops" in stated:
        return Assumed("enterprise", "random writes in steady state are stated")
    return Assumed("consumer", "no stated line is typical of enterprise drives")


def _disk_class(stated: Answers) -> Assumed:
    rpm, capacity = stated_number(stated, "rpm"), stated_number(stated, "capacity")
    if rpm is not None and rpm >= 9_000:
        return Assumed("mission-critical", "it turns faster than 7,200 times a minute")
    if str(stated.get("interface", "")).startswith("sas"):
        return Assumed("nearline", "it has a SAS port")
    if capacity is not None and capacity >= NEARLINE_FROM:
        return Assumed("nearline", "desktop disks are smaller than 8 TB")
    return Assumed("desktop", "no stated line is typical of another class")


def _lanes(sheet: Answers) -> Assumed:
    """Return the port of an NVMe drive: the usual one of its year, or the slowest that carries the stated rates."""
    rates = [number(sheet, line) for line in ("read-bandwidth", "write-bandwidth") if line in sheet]
    year = stated_number(sheet, "year")
    usual = "4x4" if year is None or sheet["class"] == "consumer" else "5x4"
    usual = next((port for until, port in PORTS_OF_YEARS if year is not None and year <= until), usual)
    ports = [port for port in ("2x4", "3x4", "4x4", "5x4", "6x4") if port >= usual or (year is None and port >= "3x4")]
    if not rates:
        return Assumed(usual, "usual for its class and year")
    carrying = (port for port in ports if lane_rate(port, LARGEST_PAYLOAD) >= max(rates))
    return Assumed(next(carrying, "6x4"), "carries the stated rates")


def _interface(kind: str, sheet: Answers) -> Assumed:
    """Return the port of a disk, or of an SSD that is not NVMe."""
    year, rate = stated_number(sheet, "year") or 2020, stated_number(sheet, "bandwidth") or 0.0
    if kind == "ssd":
        rates = [number(sheet, line) for line in ("read-bandwidth", "write-bandwidth") if line in sheet]
        port = next((port for port in ("sata", "sas12") if INTERFACES[port] >= max(rates, default=0.0)), "sas24")
        return Assumed(port, "carries the stated rates")
    eras, oldest = DISK_PORTS["mission-critical" if sheet["class"] == "mission-critical" else "other"]
    usual = next((port for since, port in eras if year >= since), oldest)
    return Assumed(usual if INTERFACES[usual] >= rate else "sas12", "usual for its class and year")
