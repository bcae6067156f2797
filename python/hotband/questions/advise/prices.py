"""Prices and watts of drives, from the user's table (CSV with a heading, or TOML), else from the price classes of the
catalog.

    drive,price,currency,watts          [[drives]]
    exos-x18-18tb,280..320,EUR,         drive = "exos-x18-18tb"
    pm9a3-3840,410,EUR,12 W             price = "280..320"

`watts` is the power of one drive under load and replaces that of the catalog and of the run; it is optional. If
semicolons or tabs separate the fields, a comma may start the decimals: `1150,50`. An ambiguous number is refused:
`1.150`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomli

from hotband.base.errors import UserError
from hotband.base.guess import Guess
from hotband.base.text.amounts import AmbiguousAmount, amount
from hotband.base.text.nearest import hint
from hotband.base.text.regular import text_in
from hotband.base.text.separated import expect_distinct, separator_of
from hotband.data.catalog.products import CatalogDrive, catalog_drives
from hotband.questions.advise.asked import watts_of

PRICE_MOST = 1e12
"""Highest price of a drive, in any currency: more is a slip of the pen."""
CLASS_CURRENCY = "EUR"
"""Currency of the price classes."""
COLUMNS = ("drive", "price", "currency", "watts")
FAR = 5.0
"""Factor by which a price is outside its class if it is of another amount: no shop or currency that drives are sold in
(dollars, euros, pounds, francs) differs as much."""
Row = tuple[str, dict[str, str], bool]
"""The position of a row, its cells by column, and whether a comma starts its decimals."""


@dataclass(frozen=True)
class Price:
    """The price of a drive: `price` with its possible ends, and `watts` if the table has them."""

    price: float
    low: float
    high: float
    watts: float | None = None


@dataclass(frozen=True)
class Prices:
    """Prices by the name of the drive, in one currency: from the `file` of a table or, with `by_class`, from the
    catalog; empty without prices."""

    of: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""
    file: str = ""
    by_class: bool = False


def class_prices(names: Sequence[str]) -> Prices:
    """Return the prices of catalog drives by their class (`hotband drives --sort price`); no prices if a drive is not
    in the catalog."""
    known = {drive.name: drive for drive in catalog_drives()}
    if not all(name in known for name in names):
        return Prices()
    return Prices({name: _of_class(known[name]) for name in names}, CLASS_CURRENCY, by_class=True)


def _of_class(drive: CatalogDrive) -> Price:
    terabytes = drive.capacity_bytes / 1e12
    return Price(terabytes * drive.eur_per_tb, terabytes * drive.eur_per_tb_low, terabytes * drive.eur_per_tb_high)


def read_prices(path: Path) -> Prices:
    """Read a table of prices. Raises UserError with file, line and key."""
    text = _text(path)
    rows = _of_toml(str(path), text) if path.suffix.lower() == ".toml" else _of_csv(str(path), text)
    prices: dict[str, Price] = {}
    currencies: dict[str, str] = {}
    for where, row, decimal_comma in rows:
        name = row.get("drive", "").strip()
        if not name:
            raise UserError(where, "drive", "", "missing: expected the name of a drive (hotband drives)")
        if name in prices:
            raise UserError(where, "drive", name, "is given twice; expected each drive once")
        prices[name] = _price(where, row, decimal_comma)
        currencies.setdefault(row.get("currency", "").strip(), where)
    if not prices:
        raise UserError(str(path), "", "", f"has no prices; expected rows with {', '.join(COLUMNS)}")
    if len(currencies) > 1:
        first, other = list(currencies)[:2]
        raise UserError(currencies[other], "currency", other, f"expected {first!r}, as above: prices are compared")
    return Prices(prices, next(iter(currencies)), str(path))


def guesses_about(prices: Prices) -> list[Guess]:
    """Return the guess that prices are those of drives, if all of them are far below their classes and are usual prices
    per TB."""
    known = {drive.name: drive for drive in catalog_drives()}
    drives = [(known[name], price) for name, price in prices.of.items() if name in known]
    is_low = all(FAR * price.price < _of_class(drive).low for drive, price in drives)
    is_usual = all(drive.eur_per_tb_low / FAR <= price.price <= FAR * drive.eur_per_tb_high for drive, price in drives)
    if not drives or not is_low or not is_usual:
        return []
    choice = "multiply them by the drives' sizes"
    return [Guess(f"{Path(prices.file).name}: prices are read per drive", "per TB", choice)]


def expect_known(prices: Prices, drives: list[str]) -> None:
    """Raise UserError if the table has none of the searched drives: its names are then not those of the catalog."""
    if prices.of and not set(prices.of) & set(drives):
        name = next(iter(prices.of))
        accepted = f"{hint(name, drives)}none of the table's drives is a candidate; expected such as {drives[0]}"
        raise UserError(prices.file, "drive", name, accepted)


def unknown_in(prices: Prices, drives: Collection[str]) -> list[str]:
    """Return the names of a table that are neither searched `drives` nor drives of the catalog."""
    known = {*(drive.name for drive in catalog_drives()), *drives}
    return [name for name in prices.of if name not in known]


def _text(path: Path) -> str:
    if not path.exists():
        raise UserError("question.prices", "", str(path), "no such file; expected a CSV or TOML table of prices")
    return text_in(path, "table of prices", typed=True)


def _of_csv(file: str, text: str) -> Iterator[Row]:
    """Yield rows with their line numbers."""
    lines = ["" if line.startswith("#") else line for line in text.splitlines()]
    # Comments may precede the heading, which the CSV reader expects first; lines count from the file's first.
    above = next((number for number, line in enumerate(lines) if line.strip()), 0)
    delimiter = separator_of(lines[above] if lines else "")
    reader = csv.DictReader(lines[above:], delimiter=delimiter, strict=True)
    try:
        heads = [name.strip().lower() for name in reader.fieldnames or []]
        _expect_columns(f"{file}:{above + 1}", heads)
        expect_distinct(heads, COLUMNS, f"{file}:{above + 1}")
        reader.fieldnames = heads
        for row in reader:
            where = f"{file}:{above + reader.line_num}"
            if None in row or None in row.values():
                raise UserError(where, "", "", f"expected {len(heads)} cells, as the heading has")
            yield where, {key: value.strip() for key, value in row.items()}, delimiter != ","
    except csv.Error as error:
        raise UserError(f"{file}:{above + reader.line_num}", "", "", f"is not a row of a CSV table: {error}") from None


def _of_toml(file: str, text: str) -> Iterator[Row]:
    """Yield the tables of `[[drives]]`."""
    try:
        table = tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise UserError(file, "", "", f"is no TOML: {error}") from None
    rows = table.get("drives")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(file, "drives", "", 'missing: expected [[drives]] with drive = "NAME" and price = 280')
    for number, row in enumerate(rows):
        where = f"{file}: drives[{number}]"
        _expect_columns(where, list(row))
        yield where, {key: str(value) for key, value in row.items()}, False


def _expect_columns(where: str, names: list[str]) -> None:
    for name in names:
        if name not in COLUMNS:
            raise UserError(where, "", name, f"{hint(name, COLUMNS)}expected the columns {', '.join(COLUMNS)}")
    for name in COLUMNS[:2]:
        if name not in names:
            raise UserError(where, name, "", f"missing: expected the columns {', '.join(COLUMNS)}")


def _price(where: str, row: Mapping[str, str], decimal_comma: bool) -> Price:
    text = row.get("price", "")
    ends = [_number(where, "price", text, end, decimal_comma) for end in text.split("..", 1)]
    low, high = ends[0], ends[-1]
    if low is None or high is None:
        example = "280,50" if decimal_comma else "280.50"
        raise UserError(where, "price", text, f"expected a number such as {example}, or its ends such as 280..320")
    if not 0 < low <= high <= PRICE_MOST:
        raise UserError(where, "price", text, "expected a price above zero and below 1e12, the lower end first")
    return Price((low + high) / 2, low, high, _watts(where, row.get("watts", "").strip(), decimal_comma))


def _watts(where: str, text: str, decimal_comma: bool) -> float | None:
    if not text:
        return None
    match = re.fullmatch(r"([\d.,]+)\s*(\D*)", text)
    number = _number(where, "watts", text, match[1], decimal_comma) if match else None
    # The column's name states the unit.
    unit = (match[2] if match else "") or "W"
    return watts_of(text if number is None else f"{number:.15g} {unit}", where, "watts")


def _number(where: str, key: str, text: str, part: str, decimal_comma: bool) -> float | None:
    """Return the number in a part of a cell; None if it is not a number. Raises UserError if it is ambiguous."""
    try:
        return amount(part, decimal_comma)
    except AmbiguousAmount as error:
        raise UserError(where, key, text, str(error)) from None
