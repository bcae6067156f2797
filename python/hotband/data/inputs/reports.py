"""Output of smartctl and nvme about a drive as JSON (`smartctl -j -a`, `nvme id-ctrl -o json`): its identity, and
the drive of the catalog with its model number.

Left out: the text that both print without these options, which is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import tomli

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text.values import Json, read_json
from hotband.data import catalog

SHORTEST = 6
"""Least characters of a model number: a shorter one would match other names."""
ACCEPTED = "expected the JSON of smartctl -j -a, nvme id-ctrl, nvme smart-log or nvme list"


@dataclass(frozen=True)
class DriveReport:
    """A drive as a tool printed it; None if the output does not state it. `kind` is hdd, ssd or nvme; `document` is all
    that the tool printed about this drive."""

    path: Path
    document: Mapping[str, Json] = field(repr=False)
    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    size_bytes: int | None = None
    logical_block_bytes: int | None = None
    physical_block_bytes: int | None = None
    rotation_rpm: int | None = None
    kind: str | None = None
    link: str | None = None

    @property
    def product(self) -> str:
        """Return the drive of the catalog with its model number. Raises UserError if there is none, or several."""
        if self.model is None:
            raise UserError(str(self.path), "", "", f"does not state the model of a drive{self.trouble}; {ACCEPTED}")
        products = products_by_model(self.model)
        if len(products) != 1:
            which = f"that of {', '.join(products)}" if products else "of no drive in the catalog"
            accepted = f"its model number is {which}; expected one drive: hotband drives, or hotband drives new"
            raise UserError(str(self.path), "model", self.model, accepted)
        return products[0]

    @property
    def name(self) -> str:
        """Return a name for the drive's file, from its model."""
        return re.sub(r"[^a-z0-9]+", "-", (self.model or "drive").lower()).strip("-")

    @property
    def lines(self) -> dict[str, str]:
        """Return the lines of a data sheet that the tool states."""
        size, rpm = self.size_bytes, self.rotation_rpm
        capacity = {} if size is None else {"capacity": f"{size} B"}
        return capacity | ({} if rpm is None else {"rpm": f"{rpm} rpm"})

    @property
    def trouble(self) -> str:
        """Return the first message of smartctl, such as that it needs root."""
        messages = _table(self.document, "smartctl").get("messages")
        first = messages[0] if isinstance(messages, list) and messages else None
        text = first.get("string") if isinstance(first, dict) else None
        return f" ({text})" if isinstance(text, str) else ""


def report_of(path: Path) -> DriveReport | None:
    """Return the drive in a file of smartctl or nvme; None for any other file. Raises UserError for a list of several
    drives."""
    if not path.is_file():
        return None
    document = read_json(path)
    if document is None:
        from hotband.data.importers.files import read_beginning
        from hotband.data.importers.unread import text_about_a_device

        beginning = read_beginning(path).decode("utf-8", "replace")
        if tool := text_about_a_device(beginning):
            is_json = beginning.lstrip().startswith("{")
            problem = f"is JSON of {tool} that is cut off or damaged" if is_json else f"is the text of {tool}"
            raise UserError(str(path), "", "", f"{problem}; {ACCEPTED}")
        return None
    if "smartctl" in document or "protocol" in _table(document, "device"):
        return _of_smartctl(path, document)
    devices = document.get("Devices")
    if isinstance(devices, list):
        return _of_list(path, devices)
    is_nvme = {"mn", "sn", "fr"} <= document.keys() or "data_units_written" in document
    return _of_nvme(path, document) if is_nvme else None


def product_in(path: str, what: str = "machine") -> str | None:
    """Return the catalog's drive that a file of smartctl or nvme names as a machine; None for any other file or other
    `what`. Raises UserError for a drive that the catalog does not have."""
    is_json = what == "machine" and path.lower().endswith(".json")
    report = report_of(Path(path)) if is_json else None
    return None if report is None else report.product


def _of_smartctl(path: Path, document: Mapping[str, Json]) -> DriveReport:
    protocol = _text(_table(document, "device"), "protocol")
    rpm = _number(document, "rotation_rate")
    solid = "nvme" if protocol == "NVMe" else "ssd"
    capacity = _number(_table(document, "user_capacity"), "bytes") or _number(document, "nvme_total_capacity")
    return DriveReport(
        path,
        document,
        model=_text(document, "model_name", "scsi_model_name", "scsi_product", "product"),
        serial=_text(document, "serial_number"),
        firmware=_text(document, "firmware_version", "scsi_revision", "revision"),
        size_bytes=capacity,
        logical_block_bytes=_number(document, "logical_block_size"),
        physical_block_bytes=_number(document, "physical_block_size"),
        rotation_rpm=rpm or None,
        kind=None if rpm is None and protocol != "NVMe" else "hdd" if rpm else solid,
        link=_text(_table(_table(document, "interface_speed"), "current"), "string"),
    )


def _of_nvme(path: Path, document: Mapping[str, Json]) -> DriveReport:
    """`id-ctrl` has names of two letters (NVM Express Base Specification 2.0, figure 275), `smart-log` no identity."""
    return DriveReport(
        path,
        document,
        model=_text(document, "mn"),
        serial=_text(document, "sn"),
        firmware=_text(document, "fr"),
        size_bytes=_number(document, "tnvmcap"),
        kind="nvme",
    )


def _of_list(path: Path, devices: list[Json]) -> DriveReport | None:
    """`nvme list` has a row per namespace; since 2.0 with `-v` below subsystems and controllers."""
    rows = [row for device in devices for row in _rows(device)]
    if not rows:
        return None
    if len({_text(row, "ModelNumber") for row in rows}) > 1:
        names = ", ".join(sorted({_text(row, "ModelNumber") or "" for row in rows}))
        raise UserError(str(path), "Devices", names, "several drives; expected the output about one, nvme id-ctrl")
    row = rows[0]
    return DriveReport(
        path,
        row,
        model=_text(row, "ModelNumber"),
        serial=_text(row, "SerialNumber"),
        firmware=_text(row, "Firmware"),
        size_bytes=_number(row, "PhysicalSize"),
        logical_block_bytes=_number(row, "SectorSize"),
        kind="nvme",
    )


def _rows(value: Json, above: Json = None) -> list[dict[str, Json]]:
    """Return the tables with a model number in a tree, each with its first namespace: below a controller, or of several
    paths below the subsystem (`above`)."""
    if isinstance(value, list):
        return [row for part in value for row in _rows(part, above)]
    if not isinstance(value, dict):
        return []
    spaces = value.get("Namespaces") or above
    if "ModelNumber" not in value:
        return [row for part in value.values() for row in _rows(part, spaces)]
    first = spaces[0] if isinstance(spaces, list) and spaces and isinstance(spaces[0], dict) else {}
    return [{**first, **value}]


def _table(table: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _text(table: Mapping[str, Json], *keys: str) -> str | None:
    texts = (table.get(key) for key in keys)
    return next((" ".join(text.split()) for text in texts if isinstance(text, str) and text.strip()), None)


def _number(table: Mapping[str, Json], key: str) -> int | None:
    """Return a whole number; nvme prints those of 128 bits as text."""
    value = table.get(key)
    text = value.replace(",", "") if isinstance(value, str) else ""
    if text.isdecimal():
        return int(text)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def products_by_model(model: str) -> list[str]:
    """Return the catalog's drives whose model number is part of a device's model name ("ATA INTEL SSDSC2KB960G7")."""
    said = _plain(model)
    return [name for name, number in _numbers().items() if number in said]


@cache
def _numbers() -> dict[str, str]:
    """Return the model numbers of the catalog's drives. A variant is the same drive with other settings, so the drive
    represents it."""
    numbers = {}
    for name in _core.catalog_names(catalog.CATALOG_DIR, "drives"):
        table = tomli.loads((catalog.CATALOG_DIR / "drives" / f"{name}.toml").read_text(encoding="utf-8"))
        number = _plain(str(table.get("model", "")))
        if len(number) >= SHORTEST and "variant_of" not in table:
            numbers[name] = number
    return numbers


def _plain(text: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", text.upper())
