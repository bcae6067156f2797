"""The list of the catalog's drives on the page, with its filters: texts of `hotband drives`, and numbers to sort by."""

from __future__ import annotations

from typing import TypedDict

from hotband.base.text.table import Cell, Table
from hotband.data.catalog.products import CatalogDrive, catalog_drives
from hotband.views.drives import SHOWN

COLUMNS = (
    "name", "product", "size", "interface", "form", "medium", "read-iops", "write-iops", "read-rate", "write-rate",
    "class", "year", "price",
)  # fmt: skip
"""Columns of the list, by their sort keys on the command line."""


class PickerColumnDoc(TypedDict):
    """A column: its key, its heading, and whether it holds numbers."""

    key: str
    name: str
    numeric: bool


class PickerRowDoc(TypedDict):
    """A drive: values for the filters, a text for each column, and a value to sort by."""

    name: str
    title: str
    market: str
    bus: str
    media: str
    capacity_bytes: int
    texts: list[str]
    values: list[str | float | None]


class PickerDoc(TypedDict):
    """All drives of the catalog."""

    columns: list[PickerColumnDoc]
    rows: list[PickerRowDoc]


def picker() -> PickerDoc:
    """Return the list of drives. Raises UserError for a product that lacks a value."""
    table = Table("", [SHOWN[key][0] for key in COLUMNS], plain=True, borderless=True)
    drives = catalog_drives()
    values = [[SHOWN[key][1](drive) for key in COLUMNS] for drive in drives]
    for row in values:
        table.add(*(Cell(value) for value in row))
    columns: list[PickerColumnDoc] = [
        {"key": key, "name": column.name, "numeric": column.kind != "text"}
        for key, column in zip(COLUMNS, table.columns, strict=True)
    ]
    rows: list[PickerRowDoc] = [
        {
            "name": drive.name,
            "title": drive.title,
            "market": drive.market,
            "bus": drive.interface.split()[0],
            "media": media_of(drive),
            "capacity_bytes": drive.capacity_bytes,
            "texts": texts,
            "values": [value if value is None or isinstance(value, str | int | float) else str(value) for value in row],
        }
        for drive, texts, row in zip(drives, table.texts(), values, strict=True)
    ]
    return {"columns": columns, "rows": rows}


def media_of(drive: CatalogDrive) -> str:
    """Return the storage medium of a drive as a word of the filter: `CMR disk`, `SMR disk`, `TLC`."""
    return f"{(drive.recording or 'CMR').partition(',')[0]} disk" if drive.is_disk else drive.nand or "flash"
