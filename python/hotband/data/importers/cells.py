"""Numbers that tools print into tables: checked, with their position in the error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from hotband.base.errors import UserError
from hotband.base.text.amounts import AmbiguousAmount
from hotband.base.text.quantities import ungrouped
from hotband.base.text.separated import plain
from hotband.data.importers.fio.text import shown

# Nothing that a tool counts or measures is larger (unsigned 64 bits, in the smallest unit).
LARGEST = 2**64 - 1
NS_PER_MS = 1_000_000
# Times after this are none: their nanoseconds would not fit into 64 bits (the year 2255).
LATEST_MS = 9_000_000_000_000
# What tools print where they know nothing.
_UNKNOWN = ("", "n/a", "-", "NaN", "nan")


@dataclass(frozen=True)
class Cells:
    """One row of a table, by column name."""

    file: str
    position: str
    values: Mapping[str, str]
    separator: str = ","

    def number(self, name: str) -> float | None:
        """Return a finite number of 0 or more; None if the column is missing or unknown."""
        text = self.values.get(name, "").strip()
        if text in _UNKNOWN:
            return None
        try:
            value = float(ungrouped(plain(text, self.separator)) or "")
        except AmbiguousAmount as error:
            raise UserError(self.file, f"{self.position}, {name}", shown(text), str(error)) from None
        except ValueError:
            value = -1.0
        if not (math.isfinite(value) and 0 <= value <= LARGEST):
            # Where the tool ran decimals may follow a comma: 0,532 is not 532.
            advice = ", with a decimal point" if "," in text else ""
            accepted = f"accepted: a number from 0 to 2^64-1{advice}"
            raise UserError(self.file, f"{self.position}, {name}", shown(text), accepted)
        return value

    def step(self, name: str) -> float:
        """Return the value of one unit of the last printed digit: 0.1 in 75.5; 0 if the number is unknown."""
        if self.number(name) is None:
            return 0.0
        number = Decimal(ungrouped(plain(self.values[name].strip(), self.separator)) or "0")
        return min(float(Decimal((0, (1,), int(number.as_tuple().exponent)))), LARGEST)

    def needed(self, name: str) -> float:
        """Return a number that must be present."""
        value = self.number(name)
        if value is None:
            text = shown(self.values.get(name, ""))
            raise UserError(self.file, f"{self.position}, {name}", text, "accepted: a number from 0 to 2^64-1")
        return value

    def count(self, name: str) -> int | None:
        """Return a whole number."""
        value = self.number(name)
        return None if value is None else round(value)

    def milliseconds(self, name: str) -> int | None:
        """Return milliseconds as whole nanoseconds."""
        value = self.number(name)
        return None if value is None else min(round(value * NS_PER_MS), LARGEST)
