"""Tables of values separated by commas, semicolons or tabs. If semicolons or tabs separate them, as in spreadsheets of
countries with a decimal comma, a lone comma starts the decimals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from hotband.base.errors import UserError
from hotband.base.text.amounts import AmbiguousAmount, amount
from hotband.base.text.nearest import repeated

_GROUPED = re.compile(r"([-+]?)([\d.,'\s\u2019]*[.,'\s\u2019][\d.,'\s\u2019]*)([eE][-+]?\d+)?")


def separator_of(heading: str) -> str:
    """Return the separator of a heading's fields, which is its commonest candidate."""
    return max(",;\t", key=heading.count)


def expect_distinct(names: Iterable[str], columns: Collection[str], where: str) -> None:
    """Raise UserError if a heading has one of the `columns` that are read twice: readers would use the last one."""
    twice = repeated(name for name in names if name in columns)
    if twice is not None:
        raise UserError(where, "columns", twice, "occurs twice; expected each column once")


def plain(text: str, separator: str) -> str:
    """Return a number in Python's form, other text unchanged. Raises AmbiguousAmount for an ambiguous number."""
    match = None if separator == "," else _GROUPED.fullmatch(text.strip())
    if match is None or (match[3] and "," not in match[2]):
        return text
    number = amount(match[2], decimal_comma=True)
    return text if number is None else f"{match[1]}{number!r}{match[3] or ''}"


def plain_cell(row: Mapping[str, str | None], column: str, separator: str, where: str) -> str:
    """Return a cell in the form of `plain`. Raises UserError for an ambiguous number."""
    try:
        return plain(row[column] or "", separator)
    except AmbiguousAmount as error:
        raise UserError(where, column, row[column] or "", str(error)) from None
