"""The validated fields of a form on the page: every mistake is a UserError with the name of its field."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hotband.base.errors import UserError, characters
from hotband.data.catalog import JOB_ENDINGS, TRACE_ENDINGS, is_file
from hotband.faces.ui.named_files import names_a_path

if TYPE_CHECKING:
    from hotband.base.text.values import Json

LONGEST_TEXT = 2000
"""Most characters of a field: ten times the longest question, machine or event in use."""
MOST_LISTED = 100
"""Most entries of a list in a form: machines, settings, results. For a grid of 100 machines, the command line has a
file."""
Place = Callable[[str, str], str]
"""Conversion of a name in a field to an argument of the API: (field, name)."""


def is_file_ending(value: str) -> bool:
    """Return whether a value ends like a file that a machine, a workload or a setting may name."""
    return value.lower().endswith((".toml", ".json", *JOB_ENDINGS, *TRACE_ENDINGS))


class Form:
    """The fields of a form, by name; `place` returns the path of a dropped file, `label` the user's name for the file
    of a result."""

    def __init__(self, fields: Json, place: Place, label: Callable[[str], str | None] = lambda _: None) -> None:
        if not isinstance(fields, dict):
            raise UserError("form", "", "", "expected the fields of a form as a JSON object")
        self.fields, self._place, self.label = fields, place, label

    def text(self, name: str) -> str | None:
        """Return one line of text; None if the field is empty."""
        found = self.fields.get(name)
        if found is None:
            return None
        return self._text(name, found) or None

    def needed(self, name: str, example: str) -> str:
        """Return one line of required text."""
        found = self.text(name)
        if found is None:
            raise UserError(name, "", "", f"is missing: expected {example}")
        return found

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, without empty ones."""
        return [text for text in (self._text(name, one) for one in self._list(name)) if text]

    def split(self, name: str) -> list[str]:
        """Return a list of texts, splitting those that are lists with commas."""
        return [part.strip() for text in self.texts(name) for part in text.split(",") if part.strip()]

    def number(self, name: str) -> float | None:
        """Return a number above zero; None if the field is empty."""
        found = self.text(name)
        if found is None:
            return None
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", found):
            raise UserError(name, "", found, "expected a number, such as 5")
        return float(found)

    def whole(self, name: str, low: int, high: int) -> int | None:
        """Return a whole number; None if the field is empty."""
        found = self.text(name)
        if found is None:
            return None
        if not re.fullmatch(r"[0-9]{1,20}", found) or not low <= int(found) <= high:
            raise UserError(name, "", found, f"expected a whole number from {low:,} to {high:,}")
        return int(found)

    def percent(self, name: str) -> float | None:
        """Return a percentage; None if the field is empty."""
        found = self.text(name)
        if found is None:
            return None
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", found):
            raise UserError(name, "", found, "expected a percentage, such as 90")
        return float(found)

    def flag(self, name: str) -> bool:
        """Return whether a box is ticked."""
        found = self.fields.get(name, False)
        if not isinstance(found, bool):
            raise UserError(name, "", str(found), "expected true or false")
        return found

    def settings(self) -> dict[str, str]:
        """Return the settings as pairs of key and value."""
        found: dict[str, str] = {}
        for one in self._list("settings"):
            if not isinstance(one, list) or len(one) != 2:
                raise UserError("settings", "", "", "expected pairs of key and value")
            key, value = (self._text("settings", text) for text in one)
            if not key and not value:
                continue
            if not key:
                raise UserError("settings", "", value, "has no key: expected one such as qd")
            if not value:
                raise UserError("settings", key, "", "has no value")
            if key in found:
                raise UserError("settings", key, value, "is given twice; expected each key once")
            # A value of `data` may name a file of this computer, which the page must not read.
            if is_file_ending(value) or names_a_path(value):
                raise UserError("settings", key, value, "is a file: expected the value itself, as a share such as 0.4")
            found[key] = value
        return found

    def named(self, name: str, example: str) -> str:
        """Return a machine or a workload: a name of the catalog, a short form, or a dropped file."""
        return self.placed(name, self.needed(name, example))

    def dropped(self, name: str) -> str | None:
        """Return the path of a dropped file; None if the field is empty."""
        given = self.text(name)
        if given is None:
            return None
        found = self._place(name, given)
        if found == given:
            raise UserError(name, "", given, "expected a file that was dropped on the page")
        return found

    def all_named(self, name: str, example: str) -> list[str]:
        """Return several machines or workloads, at least one."""
        found = [self.placed(name, one) for one in self.texts(name)]
        if not found:
            raise UserError(name, "", "", f"is missing: expected {example}")
        return found

    def placed(self, field: str, given: str) -> str:
        """Return the object that a name represents. Raises UserError for a path of this computer: the page reads only
        dropped files."""
        found = self._place(field, given)
        if found == given and (is_file(given) or "/" in given or "\\" in given or "=" in given or ":" in given[:6]):
            self._expect_short_form(field, given)
        return found

    @staticmethod
    def _expect_short_form(field: str, given: str) -> None:
        is_short = re.fullmatch(r"[a-z0-9]+:[A-Za-z0-9.{}:_+ -]+", given) and not given.startswith("real:")
        if not is_short or is_file_ending(given):
            accepted = "expected a name of the catalog, LAYOUT:COUNTxDRIVE, or a file that was dropped on the page"
            raise UserError(field, "", given, accepted)

    def _list(self, name: str) -> Sequence[Json]:
        found = self.fields.get(name, [])
        if not isinstance(found, list) or len(found) > MOST_LISTED:
            raise UserError(name, "", "", f"expected a list of at most {MOST_LISTED} entries")
        return found

    @staticmethod
    def _text(name: str, found: Json) -> str:
        if not isinstance(found, str):
            raise UserError(name, "", str(found), "expected text")
        if len(found) > LONGEST_TEXT:
            raise UserError(name, "", found, f"is longer than {LONGEST_TEXT} characters")
        text = characters(name, found).strip()
        if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
            raise UserError(name, "", repr(text), "expected one line of text, without control characters")
        return text
