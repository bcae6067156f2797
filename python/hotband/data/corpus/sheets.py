"""Data sheets of a corpus' families, in the form of its `sheets.csv`: a row for each value that a maker states."""

from __future__ import annotations

import io
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hotband.base.text.regular import file_text
from hotband.base.text.separated import plain_cell
from hotband.data.corpus.figure import rows_of
from hotband.data.corpus.files import unpacked

SHIPPED_SHEETS = Path(__file__).parent / "sheets.csv.xz"
COLUMNS = ("family", "model", "capacity_gb", "key", "value", "unit", "how", "source")


class SheetRow(NamedTuple):
    """A value of a data sheet: its uniform key, the value with its unit as printed, whether it was `read` or
    `recalled`, and where."""

    key: str
    value: str
    unit: str = ""
    how: str = ""
    source: str = ""


@dataclass(frozen=True)
class Sheet:
    """The data sheet of a tested device. `capacity_gb` is a text as in the file, such as "960" or "unknown"."""

    family: str
    model: str
    capacity_gb: str
    rows: tuple[SheetRow, ...]


Sheets = Mapping[str, tuple[Sheet, ...]]
"""Sheets by family, one for each tested device."""


def read_sheets(lines: Iterable[str], where: str) -> Sheets:
    """Return the sheets of a CSV file. Raises UserError that names the file, the column and accepted values."""
    reader, separator = rows_of(lines, COLUMNS, where)
    devices: dict[tuple[str, str, str], list[SheetRow]] = defaultdict(list)
    for row in reader:
        line = f"{where}, line {reader.line_num}"
        row |= {name: plain_cell(row, name, separator, line) for name in ("value", "capacity_gb")}
        values = SheetRow(*(row[name] or "" for name in SheetRow._fields))
        devices[row["family"], row["model"], row["capacity_gb"]].append(values)
    families: dict[str, list[Sheet]] = defaultdict(list)
    for (family, model, capacity), rows in devices.items():
        families[family].append(Sheet(family, model, capacity, tuple(rows)))
    return {family: tuple(sheets) for family, sheets in families.items()}


def sheets_in(path: Path) -> Sheets:
    """Return the sheets of a file. Raises UserError, OSError."""
    return read_sheets(io.StringIO(file_text(path)), str(path))


@cache
def shipped_sheets() -> Sheets:
    """Return the sheets that ship with Hotband."""
    return read_sheets(unpacked(SHIPPED_SHEETS), SHIPPED_SHEETS.name)


def sheet_of(sheets: Sheets, family: str, model: str, device: str, capacity: str = "") -> Sheet | None:
    """Return the sheet of a tested device: of its model, else of the nearest capacity, else the family's first."""
    known = sheets.get(family, ())
    named = [sheet for sheet in known if sheet.model in (model, device)] or list(known)
    size = _gigabytes(capacity)
    if size is not None:
        named.sort(key=lambda sheet: abs(math.log((_gigabytes(f"{sheet.capacity_gb} GB") or 1e-3) / size)))
    return named[0] if named else None


def _gigabytes(words: str) -> float | None:
    """Return the gigabytes of a capacity such as "1.92 TB"; None if it names none."""
    match = re.search(r"([\d.]+) ?(GB|TB|GiB|TiB)", words)
    if match is None or not float(match[1]):
        return None
    return float(match[1]) * {"GB": 1.0, "TB": 1e3, "GiB": 1.0737, "TiB": 1099.5}[match[2]]
