"""The lines of a data sheet that describe a drive, and the conversion of their texts into numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text.nearest import unknown_name
from hotband.base.text.quantities import ungrouped
from hotband.questions.datasheet.bounds import DISK_BOUNDS, SSD_BOUNDS, Bounds
from hotband.questions.datasheet.choices import chosen
from hotband.questions.datasheet.values import text

Quantity = Literal["size", "rate", "time", "speed", "power", "hours", "iops", "count", "bits", "number", "choice"]


@dataclass(frozen=True)
class Line:
    """A line of a data sheet: its key (an option on the command line), its label, the quantity, an example, the words
    accepted for a choice or in place of a number, and the accepted range."""

    key: str
    question: str
    quantity: Quantity
    example: str
    choices: tuple[str, ...] = ()
    bounds: Bounds | None = None


def bounded(lines: Sequence[Line], bounds: Mapping[str, Bounds]) -> tuple[Line, ...]:
    """Return the lines, each with its bounds."""
    return tuple(replace(line, bounds=bounds.get(line.key)) for line in lines)


INTERFACES = {
    "sata": 600e6,
    "sas6": 600e6,
    "sas12": 1.2e9,
    "sas24": 2.4e9,
    "sata300": 300e6,
    "sata150": 150e6,
    "sas3": 300e6,
    "fc8": 800e6,
    "fc4": 400e6,
    "fc2": 200e6,
    "ultra320": 320e6,
    "ultra160": 160e6,
    "ultra2-wide": 80e6,
    "ultra-wide": 40e6,
    "scsi-fast": 10e6,
    "ata133": 133e6,
    "ata100": 100e6,
}
"""Bytes per second of a port after 8b/10b (SATA 1.5 to 6 Gb/s, SAS 3 to 12 Gb/s, Fibre Channel 2 to 8 Gb/s) or
128b/150b coding (24G SAS); parallel SCSI and ATA transfer 1 or 2 bytes per cycle [SPI-2 to SPI-5, ATA-6, ATA-7]."""
FLASH_INTERFACES = tuple(INTERFACES)[:7]
"""The interfaces of solid-state drives."""

MOST_LISTED = 8
"""The most choices that an error lists one by one."""

DRAM = ("full", "hmb", "none")
LIVES = (
    Line("mtbf", "Mean time between failures", "hours", "2000000 h"),
    Line("error-rate", "Bits read for one unrecoverable error", "bits", "1e15"),
)
"""The lines for `hotband reliability`, `fleet` and `advise`."""

YEAR = Line("year", "Year of introduction", "count", "2021")
POWER = (
    Line("power-idle", "Power, idle", "power", "5.0 W"),
    Line("power-active", "Power, random reads or writes", "power", "10.0 W"),
)
DISK_CLASSES = ("nearline", "nas", "desktop", "surveillance", "mission-critical", "laptop", "archive")
DISK_LINES = bounded(
    (
        Line("class", "Class", "choice", "nearline", choices=DISK_CLASSES),
        Line("capacity", "Capacity", "size", "16 TB"),
        Line("rpm", "Speed of rotation", "speed", "7200 rpm"),
        Line("interface", "Interface", "choice", "sata", choices=tuple(INTERFACES)),
        Line("bandwidth", "Sustained transfer rate, outer diameter", "rate", "261 MB/s"),
        YEAR,
        Line("read-iops", "Random 4 KiB reads a second, deep queue", "iops", "170"),
        Line("seek", "Average read seek", "time", "8.5 ms"),
        Line("recording", "Recording", "choice", "CMR", choices=("CMR", "SMR")),
        Line("cache", "Cache", "size", "256 MB"),
        Line("read-iops-depth", "Queue depth of that rate (16 if not stated)", "count", "16"),
        Line("write-iops", "Random 4 KiB writes a second, deep queue", "iops", "440"),
        Line("read-iops-qd1", "Random 4 KiB reads a second, one at a time", "iops", "80"),
        Line("seek-write", "Average write seek", "time", "9.5 ms"),
        Line("sector-format", "Sector format", "choice", "512e", choices=("512n", "512e", "4Kn")),
        Line("heads", "Heads (twice the discs)", "count", "18"),
        *POWER,
        *LIVES,
    ),
    DISK_BOUNDS,
)
PORT = Line("interface", "Interface", "choice", "sata", choices=FLASH_INTERFACES)
SSD_LINES = bounded(
    (
        Line("class", "Class", "choice", "enterprise", choices=("enterprise", "consumer")),
        Line("capacity", "Capacity", "size", "3.84 TB"),
        PORT,
        Line("flash", "Flash", "choice", "TLC", choices=("SLC", "MLC", "TLC", "QLC", "XPoint")),
        Line("read-bandwidth", "Sequential read", "rate", "550 MB/s"),
        Line("write-bandwidth", "Sequential write", "rate", "520 MB/s"),
        Line("read-iops", "Random 4 KiB reads a second, deep queue", "iops", "98000"),
        Line("write-iops", "Random 4 KiB writes a second, steady state", "iops", "30000"),
        Line("write-iops-burst", "Random 4 KiB writes a second, new drive or SLC cache", "iops", "90000"),
        Line("power-loss-protection", "Power-loss protection", "choice", "on", choices=("on", "off")),
        Line("dram", "DRAM for the mapping table (hmb: memory of the host)", "choice", "full", choices=DRAM),
        YEAR,
        Line("slc-cache", "SLC cache", "size", "40 GB", choices=("none", "dynamic")),
        Line("write-bandwidth-after-cache", "Sequential write after the SLC cache", "rate", "520 MB/s"),
        Line("read-latency", "Typical read latency, one at a time", "time", "110 us"),
        Line("write-latency", "Typical write latency, one at a time", "time", "40 us"),
        Line("dwpd", "Drive writes per day, five years", "number", "1"),
        *POWER,
        *LIVES,
    ),
    SSD_BOUNDS,
)
PCIE = tuple(f"{generation}x{lanes}" for generation in (2, 3, 4, 5, 6) for lanes in (1, 2, 4, 8, 16))
"""PCIe generations and lanes, from cards of 2.0 x8 (2010) to M.2 drives of 5.0 x4."""
NVME_LINES = tuple(
    Line("pcie", "PCIe generation and lanes", "choice", "4x4", choices=PCIE) if line.key == "interface" else line
    for line in SSD_LINES
)

Answers = Mapping[str, float | str]
"""Values of the given lines: numbers in base units (bytes, bytes per second, seconds, rpm, watts), choices as text."""


def field(key: str) -> str:
    """Return the field of the question that holds a line."""
    return f"question.lines.{key.replace('-', '_')}"


def read_lines(lines: Sequence[Line], given: Mapping[str, str]) -> dict[str, float | str]:
    """Return the values of `lines` by key.

    Raise UserError for an unknown key and for a text that is not of the line's quantity.
    """
    known = {line.key: line for line in lines}
    for key in given:
        if key not in known:
            accepted = unknown_name("LINE", key, list(known)).accepted
            raise UserError(field(key), "", "", f"is not a line of this kind of drive; {accepted}")
    return {key: answer(known[key], text) for key, text in given.items()}


def number(sheet: Answers, key: str) -> float:
    """Return the number of a given line."""
    value = sheet[key]
    assert not isinstance(value, str), f"{key} is a choice"
    return value


def stated_number(sheet: Answers, key: str) -> float | None:
    """Return the number of a line; None if the line is missing or has a word in place of a number."""
    value = sheet.get(key)
    return None if isinstance(value, str) else value


def powers(sheet: Answers) -> tuple[float, float] | None:
    """Return idle and active power in watts; None unless both are stated. Raise UserError if active is less than
    idle."""
    if "power-idle" not in sheet or "power-active" not in sheet:
        return None
    idle, active = number(sheet, "power-idle"), number(sheet, "power-active")
    if active < idle:
        raise UserError(
            "question.lines.power_active", "", text(active, "power"), "expected at least question.lines.power_idle"
        )
    return idle, active


def answer(line: Line, given: str) -> float | str:
    """Return the text of a line as a number in its base unit, or as a choice. Raise UserError for a mistake."""
    given = given.strip()
    choice = chosen(given, line.choices)
    if choice is not None:
        return choice
    if line.quantity == "choice":
        raise UserError(field(line.key), "", given, f"expected {_choices(line)}")
    try:
        value = _number(line, given)
    except ValueError as error:
        words = "".join(f", {word}" for word in line.choices)
        raise UserError(field(line.key), "", given, f"expected {error}{words}") from None
    if value <= 0.0:
        raise UserError(field(line.key), "", given, "expected more than zero")
    if line.bounds is not None and not line.bounds.least <= value <= line.bounds.most:
        ends = " to ".join(shown(line, end) for end in (line.bounds.least, line.bounds.most))
        raise UserError(field(line.key), "", given, f"expected {ends}: {line.bounds.why}")
    return value


def hint(line: Line) -> str:
    """Return an example of a line, and its choices if they are few."""
    if line.quantity != "choice":
        return f"such as {', '.join((line.example, *line.choices))}"
    return f"such as {line.example}" if len(line.choices) > MOST_LISTED else f"one of {', '.join(line.choices)}"


def _choices(line: Line) -> str:
    """Return the accepted choices as text; of many, only the first and the last."""
    if len(line.choices) > MOST_LISTED:
        return f'{line.choices[0]} to {line.choices[-1]}, such as "{line.example}"'
    return f"one of {', '.join(line.choices)}"


def shown(line: Line, value: float) -> str:
    """Return a number of a line as it would be typed."""
    if line.quantity == "hours":
        return f"{value:,.12g} h"
    numbers = ("iops", "count", "bits", "number")
    return f"{value:,.12g}" if line.quantity in numbers else text(value, line.quantity)


def _plain(given: str, line: Line, most: float) -> float:
    what = "a whole number" if line.quantity == "count" else "a number"
    accepted = f'{what}, such as "{line.example}"'
    try:
        value = float(ungrouped(given) or "")
    except ValueError:
        raise ValueError(accepted) from None
    if value != value or value > most or (line.quantity == "count" and value % 1):
        raise ValueError(accepted)
    return value


def _number(line: Line, given: str) -> float:
    if line.quantity == "hours":
        # Data sheets write "2.5 million hours", "2,500,000 h" and "2.5M hours", which exceed virtual time.
        match = re.fullmatch(r"([\d.,]+)\s*(m|million)?\s*(?:h|hours?)", given.lower())
        if match is None:
            raise ValueError(f'hours, such as "{line.example}" or "2.5 million hours"')
        return _plain(match[1], line, 1e30) * (1e6 if match[2] else 1.0)
    if line.quantity == "bits":
        # "1 in 10^15", "1 sector per 10E15" and "10e-15" are ambiguous on data sheets: only bits are accepted.
        return _plain(given.lower().removesuffix("bits"), line, 1e30)
    if line.quantity in ("iops", "count", "number"):
        return _plain(given.removesuffix("IOPS"), line, 1e12)
    if line.quantity == "speed":
        # Data sheets write "7,200 RPM", people 7200.
        given = f"{(ungrouped(given) or given).lower().removesuffix('rpm').strip()} rpm"
    return _core.quantity(line.quantity, given)
