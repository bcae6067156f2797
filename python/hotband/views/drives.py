"""Drives of the catalog for terminals and for programs: a sentence and a table of the selected ones, or all values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields

from hotband.base.text import numbers
from hotband.base.text.table import BYTES, MBS, MS, Cell, Column, Table, Unit, Value, View, column, numeric
from hotband.data.catalog.filters import DriveSelection, bounds_text, filter_words
from hotband.data.catalog.products import CatalogDrive

THOUSANDS = Unit("IOPS", 1.0, numbers.thousands)
SPEED = Unit("rpm")
PRICE = Unit("EUR/TB")
MOST_ROWS = 21
"""Drives in a list on a terminal of 24 lines: the sentence, the headings and a last line take three."""
GAP = 2
"""Characters between columns."""

Shown = tuple[Column, Callable[[CatalogDrive], Value]]


def _pcie(drive: CatalogDrive) -> str:
    """Return generation and lanes: `4x4`."""
    generation, _, lanes = drive.interface.removeprefix("NVMe PCIe ").partition(" ")
    return f"{generation.partition('.')[0]}{lanes}" if lanes and generation[0].isdigit() else numbers.ABSENT


def _bus(drive: CatalogDrive) -> str:
    """Return the interface in a word or two: `SATA`, `SAS`, `NVMe 4x4`."""
    first = drive.interface.split()[0]
    return f"{first} {_pcie(drive)}" if first == "NVMe" else first


def _medium(drive: CatalogDrive) -> str:
    """Return the storage medium: `TLC`, `7,200 rpm`."""
    return drive.nand or numbers.quantity(drive.rpm, "rpm")


SHOWN: dict[str, Shown] = {
    "name": (column("name", wrap=False), lambda drive: drive.name),
    "product": (column("product", wrap=False), lambda drive: drive.product),
    "size": (numeric("size", BYTES), lambda drive: drive.capacity_bytes),
    "PCIe": (column("PCIe", wrap=False), _pcie),
    "interface": (column("interface", wrap=False), _bus),
    "form": (column("form", wrap=False), lambda drive: drive.form_factor),
    "medium": (column("medium", wrap=False), _medium),
    "NAND": (column("NAND", wrap=False), lambda drive: drive.nand),
    "rpm": (numeric("rpm", SPEED), lambda drive: drive.rpm),
    "read-iops": (numeric("4K read", THOUSANDS), lambda drive: drive.read_iops),
    "write-iops": (numeric("4K write", THOUSANDS), lambda drive: drive.write_iops),
    "read-rate": (numeric("read", MBS), lambda drive: drive.read_bytes_per_s),
    "write-rate": (numeric("write", MBS), lambda drive: drive.write_bytes_per_s),
    "seek": (numeric("seek", MS), lambda drive: drive.seek_read_ns),
    "endurance": (numeric("endurance", BYTES), lambda drive: drive.endurance_bytes),
    "year": (column("year", wrap=False), lambda drive: str(drive.launch_year)),
    "class": (column("class", wrap=False), lambda drive: drive.market),
    "price": (numeric("EUR/TB", PRICE), lambda drive: drive.eur_per_tb),
}
"""Columns on a terminal, by their sort keys."""
OF_NVME = ("name", "product", "size", "PCIe", "NAND", "read-iops", "write-iops")
OF_SSDS = ("name", "product", "size", "interface", "NAND", "read-iops", "write-iops")
OF_DISKS = ("name", "product", "size", "rpm", "interface", "read-rate", "seek")
OF_ALL = ("name", "product", "size", "interface", "medium", "read-iops", "class")
SIZE_OF_CSV = {
    "capacity_bytes": ("capacity", BYTES), "read_bytes_per_s": ("read", MBS), "write_bytes_per_s": ("write", MBS),
    "seek_read_ns": ("seek, read", MS), "endurance_bytes": ("endurance", BYTES), "rpm": ("speed", SPEED),
    "read_iops": ("4K reads", Unit("IOPS")), "write_iops": ("4K writes", Unit("IOPS")), "eur_per_tb": ("price", PRICE),
    "eur_per_tb_low": ("price, from", PRICE), "eur_per_tb_high": ("price, to", PRICE),
    "actuators": ("actuators", Unit()), "values_not_verified": ("values not verified", Unit()),
}  # fmt: skip
"""Columns of numbers for programs, with their units."""
YEARS = ("launch_year", "price_year")
"""Numbers that serve as names: they have no separators."""
HEADINGS = {"title": "drive", "market": "class", "price_class": "price class", "form_factor": "form factor"}
TYPED = {"nvme": "NVMe", "sata": "SATA", "sas": "SAS", "scsi": "SCSI", "smr": "SMR", "cmr": "CMR", "nas": "NAS"}
"""Spelling for display of words that people type in lower case."""


def all_values(selection: DriveSelection) -> Table:
    """Return every exact value of the drives, as CSV, Markdown and JSON have them."""
    names = [field.name for field in fields(CatalogDrive)]
    columns = [
        numeric(*SIZE_OF_CSV[name]) if name in SIZE_OF_CSV else column(HEADINGS.get(name, name.replace("_", " ")))
        for name in names
    ]
    table = Table("Drives", columns, plain=True)
    for drive in selection.drives:
        table.add(*(_plain(name, getattr(drive, name)) for name in names))
    return table


def _plain(name: str, value: str | float | bool | None) -> Value:
    if name in YEARS:
        return str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value


def facts(drive: CatalogDrive) -> list[str]:
    """Return a line that describes a drive, and one of its data sheet."""
    parts = [numbers.size(drive.capacity_bytes), drive.interface, drive.form_factor]
    parts += [numbers.quantity(drive.rpm, "rpm")] if drive.rpm is not None else [drive.nand or ""]
    parts += [drive.recording or "", drive.market, str(drive.launch_year)]
    if drive.read_iops is not None:
        writes = "" if drive.write_iops is None else f", {numbers.thousands(drive.write_iops)} writes"
        parts.append(f"{numbers.thousands(drive.read_iops)} 4K reads{writes} a second")
    low, high = numbers.number(drive.eur_per_tb_low), numbers.number(drive.eur_per_tb_high)
    price = f"{numbers.number(drive.eur_per_tb)} EUR/TB in {drive.price_year} ({low} to {high})"
    unread = numbers.counted(drive.values_not_verified, "value")
    sheet = f"Data sheet: {drive.data_sheet}" + (f"; {unread} not verified" if drive.values_not_verified else "")
    return [", ".join(part for part in (*parts, price) if part), sheet]


def listing_views(selection: DriveSelection, width: int, most: int | None = None) -> list[View]:
    """Return the sentence and the table of a selection, of its first `most` drives."""
    sentence = sentence_of(selection)
    if not selection.drives:
        return [sentence]
    hint = "(hotband drives NAME: details)"
    first = f"{sentence}{hint:>{max(width - len(sentence), len(hint) + GAP)}}"
    return [first, _table(selection.drives[:most], _keys(selection), width)]


def _keys(selection: DriveSelection) -> list[str]:
    """Return the columns that distinguish these drives, without empty ones, including that of the sort order."""
    drives = selection.drives
    if all(drive.interface.startswith("NVMe") for drive in drives):
        keys = list(OF_NVME)
    elif not any(drive.is_disk for drive in drives):
        keys = list(OF_SSDS)
    else:
        keys = list(OF_DISKS if all(drive.is_disk for drive in drives) else OF_ALL)
    keys = [key for key in keys if any(SHOWN[key][1](drive) is not None for drive in drives)]
    if selection.sort in SHOWN and selection.sort not in keys:
        keys[-1] = selection.sort
    return keys


def _table(drives: Sequence[CatalogDrive], keys: list[str], width: int) -> Table:
    """Return the table of these columns; the product or the last columns are dropped if they do not fit."""
    while True:
        table = Table("", [SHOWN[key][0] for key in keys], plain=True, borderless=True)
        for drive in drives:
            table.add(*(Cell(SHOWN[key][1](drive)) for key in keys))
        if _width(table) <= width or len(keys) == 1:
            return table
        keys = [key for key in keys if key != "product"] if "product" in keys else keys[:-1]


def _width(table: Table) -> int:
    rows = [[shown_column.name for shown_column in table.columns], *table.texts()]
    return sum(max(map(len, cells)) for cells in zip(*rows, strict=True)) + GAP * (len(table.columns) - 1)


def sentence_of(selection: DriveSelection) -> str:
    """Return the selection in words: `NVMe SSDs of 3 TB and more: 18 of 87 drives`."""
    count = f"{len(selection.drives)} of {numbers.counted(selection.total, 'drive')}"
    bounds = bounds_text(selection)
    if not selection.words and not bounds:
        return f"{numbers.counted(selection.total, 'drive')} in the catalog"
    if not bounds and {drive.name for drive in selection.drives} == set(selection.words):
        return f"{', '.join(selection.words)}: {count}"
    nouns = {"hdd": "hard disks", "disk": "hard disks", "ssd": "SSDs", "nvme": "NVMe SSDs"}
    words = [word.lower() for word in selection.words]
    noun = next((nouns[word] for word in ("nvme", "ssd", "hdd", "disk") if word in words), "drives")
    known = filter_words()
    adjectives = [_adjective(word, known) for word in words if word not in nouns]
    text = " ".join(part for part in (*adjectives, noun, bounds) if part)
    return f"{text[:1].upper()}{text[1:]}: {count}"


def _adjective(word: str, known: Sequence[str]) -> str:
    if word not in known:
        return f'"{word}"'
    if word in TYPED:
        return TYPED[word]
    return word.upper() if len(word) <= 3 or word[0].isdigit() else word
