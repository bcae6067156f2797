"""Tables of values between commas, semicolons or tabs. In tables separated by semicolons or tabs, as spreadsheets of
countries with a decimal comma write them, a lone comma starts the decimals."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hotband.base.errors import UserError
from hotband.base.text.amounts import AmbiguousAmount, amount

_GROUPED = re.compile(r"([-+]?)([\d.,'\s\u2019]*[.,'\s\u2019][\d.,'\s\u2019]*)([eE][-+]?\d+)?")


def separator_of(heading: str) -> str:
    """Return what separates the fields of a heading: the mark that it has most of."""
    return max(",;\t", key=heading.count)


def plain(text: str, separator: str) -> str:
    """Return a number as Python reads it, other text unchanged. Raises AmbiguousAmount for two readings."""
    match = None if separator == "," else _GROUPED.fullmatch(text.strip())
    if match is None or (match[3] and "," not in match[2]):
        return text
    number = amount(match[2], decimal_comma=True)
    return text if number is None else f"{match[1]}{number!r}{match[3] or ''}"


def plain_cell(row: Mapping[str, str | None], column: str, separator: str, where: str) -> str:
    """Return a cell like `plain`. Raises UserError for a number with two readings."""
    try:
        return plain(row[column] or "", separator)
    except AmbiguousAmount as error:
        raise UserError(where, column, row[column] or "", str(error)) from None
