"""Classes of drives: the market of each, and its price per terabyte (`classes.toml`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomli

from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR

CLASSES_FILE = CATALOG_DIR / "classes.toml"
PRICE_KEYS = ("year", "eur_per_tb", "range", "source")


@dataclass(frozen=True)
class ClassPrice:
    """The price of a terabyte (10^12 bytes) of one new drive of a class in a year, with its range and source."""

    year: int
    eur_per_tb: float
    low: float
    high: float
    source: str


@dataclass(frozen=True)
class DriveClass:
    """A class of drives; prices are in order of their years."""

    name: str
    title: str
    market: str
    prices: tuple[ClassPrice, ...]

    def price(self, year: int | None = None) -> ClassPrice:
        """Return the price of the year nearest to `year`, of the latest one by default."""
        if year is None:
            return self.prices[-1]
        return min(self.prices, key=lambda price: abs(price.year - year))


@cache
def drive_classes() -> dict[str, DriveClass]:
    """Return the classes of the catalog by name."""
    return read_classes(CLASSES_FILE)


def read_classes(file: Path) -> dict[str, DriveClass]:
    """Read a table of classes. Raises UserError with file and key for a class or a price without a required key."""
    tables: dict[str, Any] = tomli.loads(file.read_text(encoding="utf-8"))["classes"]
    return {name: _class_of(file.name, name, table) for name, table in tables.items()}


def _class_of(file: str, name: str, table: dict[str, Any]) -> DriveClass:
    for key in ("title", "market", "prices"):
        if not table.get(key):
            raise UserError(file, f"classes.{name}.{key}", "", "missing")
    prices = [_price_of(file, f"classes.{name}.prices[{index}]", price) for index, price in enumerate(table["prices"])]
    return DriveClass(name, table["title"], table["market"], tuple(sorted(prices, key=lambda price: price.year)))


def _price_of(file: str, where: str, table: dict[str, Any]) -> ClassPrice:
    for key in PRICE_KEYS:
        if not table.get(key):
            raise UserError(file, f"{where}.{key}", "", "missing")
    low, high = table["range"]
    if not 0 < low <= table["eur_per_tb"] <= high:
        raise UserError(file, f"{where}.range", f"{low} .. {high}", "expected two prices around eur_per_tb")
    return ClassPrice(table["year"], table["eur_per_tb"], low, high, table["source"])
