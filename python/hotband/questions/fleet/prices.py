"""Power and prices of a fleet, from the user's table: without prices no cost is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.questions.fleet import values
from hotband.questions.fleet.values import Value, numbers_of

if TYPE_CHECKING:
    from hotband.base.text.tomltable import TomlTable

MONEY = 'an amount and its currency, such as "250 EUR"'
MOST_PUE = 5.0


@dataclass(frozen=True)
class Power:
    """Power usage effectiveness (power of the site over that of its machines), and the price of a kWh."""

    pue: Value
    price: Value | None
    currency: str


@dataclass(frozen=True)
class Prices:
    """Of a drive by its product, of a machine without its drives, of a loss of data; in one currency."""

    drives: dict[str, Value]
    machine: Value | None
    loss: Value | None
    currency: str

    def expect_known(self, products: set[str], file: str) -> None:
        """Raises UserError for the price of a drive that no group has."""
        other = next((name for name in self.drives if name not in products), None)
        if other is not None:
            accepted = f"is no drive of the groups; expected one of {', '.join(sorted(products))}"
            raise UserError(file, f"prices.drives.{other}", other, accepted)


def read_power(table: TomlTable) -> Power:
    """[power]. Raises UserError."""
    pue = numbers_of(table, "pue", 1.0, MOST_PUE, "a number") or Value(1.0, 1.0)
    price, currency = priced(table, "price", "/kWh", 'a price, such as "0.25 EUR/kWh"')
    table.finish()
    return Power(pue, price, currency)


def read_prices(table: TomlTable) -> Prices:
    """[prices]. Raises UserError for the first mistake, two currencies among them."""
    currencies: dict[str, str] = {}
    machine, currencies["machine"] = priced(table, "machine")
    loss, currencies["loss"] = priced(table, "loss")
    part = table.part("drives")
    drives = {}
    for name in list(part.table):
        value, currencies[f"drives.{name}"] = priced(part, name)
        if value is not None:
            drives[name] = value
    table.finish()
    named = {name: currency for name, currency in currencies.items() if currency}
    other = next((name for name, currency in named.items() if currency != next(iter(named.values()))), None)
    if other is not None:
        table.refuse(other, f"expected prices in one currency, {next(iter(named.values()))}", named[other])
    return Prices(drives, machine, loss, next(iter(named.values()), ""))


def priced(table: TomlTable, name: str, behind: str = "", expected: str = MONEY) -> tuple[Value | None, str]:
    """A price and its currency; None and nothing where absent."""
    currencies: list[str] = []

    def amount(text: str) -> float | None:
        if not text.strip().endswith(behind):
            return None
        money = values.money(text.strip().removesuffix(behind))
        if money is None:
            return None
        currencies.append(money[1])
        return money[0]

    value = values.value_of(table, name, amount, expected)
    if len(set(currencies)) > 1:
        table.refuse(name, "expected both ends in one currency")
    return value, currencies[0] if currencies else ""
