"""Drives of the catalog as products, with the properties that people compare before a model's values."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import cache

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.classes import DriveClass, drive_classes

SOLD_KEYS = {
    "reference.class": "expected a class of classes.toml",
    "reference.form_factor": 'expected a form factor, such as "3.5 inch" or "U.2"',
    "reference.data_sheet": "expected the data sheet or manual that was read, or the failed look-up",
    "reference.launch_year": "expected the year in which it was first sold, such as 2022",
}
"""Keys that every product of the catalog states, and their accepted values."""
DISK_KEYS = {
    "reference.interface": 'expected an interface, such as "SATA 6 Gb/s" or "SAS 12 Gb/s"',
    "values.rpm": 'expected a speed, such as "7200 rpm"',
}
SSD_KEYS = {"reference.nand": 'expected the kind of its cells, such as "TLC"'}
SATA_SSD_KEYS = {"reference.interface": DISK_KEYS["reference.interface"]}
"""Key of an SSD without PCI Express; the interface of other SSDs follows from their lanes."""
SEQUENTIAL_WRITES = ("sequential_write", "pslc_write")
"""Keys of the rated rate of sequential writes; that of a consumer drive is the rate of its cache."""
NOT_VERIFIED = "Data sheet (not verified)."
"""The source of a maker's value that was not verified for the catalog."""
CAPACITY_IN_TITLE = re.compile(r"\s+[\d.]+ [TG]B\b")


@dataclass(frozen=True)
class CatalogDrive:
    """A drive of the catalog as it is sold; None without a data sheet."""

    name: str
    title: str
    model: str
    kind: str
    product: str
    capacity_bytes: int
    interface: str
    form_factor: str
    rpm: int | None
    recording: str | None
    nand: str | None
    market: str
    price_class: str
    launch_year: int
    read_iops: int | None
    write_iops: int | None
    read_bytes_per_s: int | None
    write_bytes_per_s: int | None
    seek_read_ns: int | None
    endurance_bytes: int | None
    actuators: int
    power_loss_protection: bool | None
    eur_per_tb: float
    eur_per_tb_low: float
    eur_per_tb_high: float
    price_year: int
    data_sheet: str
    values_not_verified: int

    @property
    def is_disk(self) -> bool:
        """Return whether the drive has rotating platters."""
        return self.kind == "disk"

    def to_dict(self) -> dict[str, str | float | bool | None]:
        """Return the values by name."""
        return asdict(self)


@cache
def catalog_drives() -> tuple[CatalogDrive, ...]:
    """Return all drives of the catalog, sorted by name. Raises UserError for a product without a required value."""
    return tuple(described(entries.drive(name)) for name in _core.catalog_names(CATALOG_DIR, "drives"))


def described(entry: _core.CatalogEntry) -> CatalogDrive:
    """Describe an entry of the catalog. Raises UserError with its file and the missing key."""
    texts = _texts(entry)
    drive_class = _checked(entry, texts)
    price = drive_class.price()
    pcie = "values.pcie_lanes" in texts
    return CatalogDrive(
        name=entry["name"],
        title=entry["title"],
        model=entry["model"],
        kind=entry["kind"],
        product=CAPACITY_IN_TITLE.sub("", entry["title"]).partition(",")[0],
        capacity_bytes=int(size_bytes(texts["values.capacity"]) or 0),
        interface=_pcie(texts) if pcie else texts["reference.interface"],
        form_factor=texts["reference.form_factor"],
        rpm=int(_core.quantity("speed", texts["values.rpm"])) if "values.rpm" in texts else None,
        recording=_recording(texts) if entry["kind"] == "disk" else None,
        nand=texts.get("reference.nand"),
        market=drive_class.market,
        price_class=drive_class.name,
        launch_year=int(texts["reference.launch_year"]),
        read_iops=_rated(texts, "random_read"),
        write_iops=_rated(texts, "random_write"),
        read_bytes_per_s=_sustained(texts) or _rate(texts, "reference.sequential_read"),
        write_bytes_per_s=_sustained(texts) or _rate(texts, *(f"reference.{key}" for key in SEQUENTIAL_WRITES)),
        seek_read_ns=int(span_ns(texts.get("values.seek_read_average", "")) or 0) or None,
        endurance_bytes=int(size_bytes(texts.get("reference.endurance", "")) or 0) or None,
        actuators=int(texts.get("values.actuators", "1")),
        power_loss_protection=texts["values.plp"] == "on" if "values.plp" in texts else None,
        eur_per_tb=price.eur_per_tb,
        eur_per_tb_low=price.low,
        eur_per_tb_high=price.high,
        price_year=price.year,
        data_sheet=texts["reference.data_sheet"],
        values_not_verified=sum(is_not_verified(value["source"]) for value in entry["values"]),
    )


def is_not_verified(source: str) -> bool:
    """Return whether a source is a data sheet not verified for the catalog."""
    return source.startswith(NOT_VERIFIED.rstrip("."))


def _texts(entry: _core.CatalogEntry) -> dict[str, str]:
    """Return the values as text, by their key in the file."""
    stated = {value["key"]: str(value["value"]) for value in entry["values"]}
    return {key if key.startswith("reference.") else f"values.{key}": text for key, text in stated.items()}


def _checked(entry: _core.CatalogEntry, texts: dict[str, str]) -> DriveClass:
    """Return the class of a product that states all required values."""
    file = f"drives/{entry['name']}.toml"
    needed = dict(SOLD_KEYS)
    if entry["kind"] == "disk":
        needed |= DISK_KEYS
    else:
        needed |= SSD_KEYS if "values.pcie_lanes" in texts else SSD_KEYS | SATA_SSD_KEYS
    for key, accepted in needed.items():
        if not texts.get(key, "").strip():
            raise UserError(file, key, "", f"missing: {accepted}")
    known = drive_classes()
    if texts["reference.class"] not in known:
        accepted = f"expected one of {', '.join(known)}"
        raise UserError(file, "reference.class", texts["reference.class"], accepted)
    if not texts["reference.launch_year"].isdecimal():
        accepted = SOLD_KEYS["reference.launch_year"]
        raise UserError(file, "reference.launch_year", texts["reference.launch_year"], accepted)
    return known[texts["reference.class"]]


def _pcie(texts: dict[str, str]) -> str:
    return f"NVMe PCIe {texts['values.pcie_generation']}.0 x{texts['values.pcie_lanes']}"


def _recording(texts: dict[str, str]) -> str:
    smr = texts.get("values.smr", "off")
    return "CMR" if smr == "off" else f"SMR, {smr}"


def _rated(texts: dict[str, str], figure: str) -> int | None:
    """Return the rated random I/Os per second: `random_reads_qd16` for a disk, `random_read_qd32` for an SSD."""
    for key, text in texts.items():
        if key.startswith((f"reference.{figure}_", f"reference.{figure}s_")):
            number = re.match(r"\d+", text)
            return int(number[0]) if number else None
    return None


def _sustained(texts: dict[str, str]) -> int | None:
    """Return the rate of a disk's outer tracks, for all of its actuators together."""
    rate = _rate(texts, "values.sustained_outer")
    return rate and rate * int(texts.get("values.actuators", "1"))


def _rate(texts: dict[str, str], *keys: str) -> int | None:
    """Return the first rate among `keys` that is stated, in bytes per second."""
    text = next((texts[key] for key in keys if key in texts), None)
    return None if text is None else int(_core.quantity("rate", text))
