"""The validated fields of a form on the page: every mistake is a UserError with the name of its field."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hotband.base.errors import UserError, characters
from hotband.base.text.values import Json
from hotband.data.catalog import JOB_ENDINGS, TRACE_ENDINGS, is_file
from hotband.faces.ui.named_files import names_a_path

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
    """The fields of a form, by name; `placing` returns the path of a dropped file, `label` the user's name for the file
    of a result."""

    def __init__(self, fields: Json, placing: Place, label: Callable[[str], str | None] = lambda _: None) -> None:
        if not isinstance(fields, dict):
            raise UserError("form", "", "", "expected the fields of a form as a JSON object")
        self.fields, self._place, self.label = fields, placing, label

    def text(self, name: str) -> str | None:
        """Return one line of text; None if the field is empty."""
        value = self.fields.get(name)
        if value is None:
            return None
        return self._text(name, value) or None

    def needed(self, name: str, example: str) -> str:
        """Return one line of required text."""
        text = self.text(name)
        if text is None:
            raise UserError(name, "", "", f"is missing: expected {example}")
        return text

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, without empty ones."""
        return [text for text in (self._text(name, item) for item in self._list(name)) if text]

    def split(self, name: str) -> list[str]:
        """Return a list of texts, splitting those that are lists with commas."""
        return [part.strip() for text in self.texts(name) for part in text.split(",") if part.strip()]

    def number(self, name: str) -> float | None:
        """Return a number above zero; None if the field is empty."""
        text = self.text(name)
        if text is None:
            return None
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text):
            raise UserError(name, "", text, "expected a number, such as 5")
        return float(text)

    def whole(self, name: str, low: int, high: int) -> int | None:
        """Return a whole number; None if the field is empty."""
        text = self.text(name)
        if text is None:
            return None
        if not re.fullmatch(r"[0-9]{1,20}", text) or not low <= int(text) <= high:
            raise UserError(name, "", text, f"expected a whole number from {low:,} to {high:,}")
        return int(text)

    def percent(self, name: str) -> float | None:
        """Return a percentage; None if the field is empty."""
        text = self.text(name)
        if text is None:
            return None
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text):
            raise UserError(name, "", text, "expected a percentage, such as 90")
        return float(text)

    def flag(self, name: str) -> bool:
        """Return whether a box is ticked."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise UserError(name, "", str(value), "expected true or false")
        return value

    def settings(self) -> dict[str, str]:
        """Return the settings as pairs of key and value."""
        settings: dict[str, str] = {}
        for pair in self._list("settings"):
            if not isinstance(pair, list) or len(pair) != 2:
                raise UserError("settings", "", "", "expected pairs of key and value")
            key, value = (self._text("settings", text) for text in pair)
            if not key and not value:
                continue
            if not key:
                raise UserError("settings", "", value, "has no key: expected one such as qd")
            if not value:
                raise UserError("settings", key, "", "has no value")
            if key in settings:
                raise UserError("settings", key, value, "is given twice; expected each key once")
            # A value of `data` may name a file of this computer, which the page must not read.
            if is_file_ending(value) or names_a_path(value):
                raise UserError("settings", key, value, "is a file: expected the value itself, as a share such as 0.4")
            settings[key] = value
        return settings

    def named(self, name: str, example: str) -> str:
        """Return a machine or a workload: a name of the catalog, a short form, or a dropped file."""
        return self.placed(name, self.needed(name, example))

    def dropped(self, name: str) -> str | None:
        """Return the path of a dropped file; None if the field is empty."""
        given = self.text(name)
        if given is None:
            return None
        path = self._place(name, given)
        if path == given:
            raise UserError(name, "", given, "expected a file that was dropped on the page")
        return path

    def all_named(self, name: str, example: str) -> list[str]:
        """Return several machines or workloads, at least one."""
        names = [self.placed(name, text) for text in self.texts(name)]
        if not names:
            raise UserError(name, "", "", f"is missing: expected {example}")
        return names

    def placed(self, field: str, given: str) -> str:
        """Return the object that a name represents. Raises UserError for a path of this computer: the page reads only
        dropped files."""
        path = self._place(field, given)
        if path == given and (is_file(given) or "/" in given or "\\" in given or "=" in given or ":" in given[:6]):
            self._expect_short_form(field, given)
        return path

    @staticmethod
    def _expect_short_form(field: str, given: str) -> None:
        is_short = re.fullmatch(r"[a-z0-9]+:[A-Za-z0-9.{}:_+ -]+", given) and not given.startswith("real:")
        if not is_short or is_file_ending(given):
            accepted = "expected a name of the catalog, LAYOUT:COUNTxDRIVE, or a file that was dropped on the page"
            raise UserError(field, "", given, accepted)

    def _list(self, name: str) -> Sequence[Json]:
        items = self.fields.get(name, [])
        if not isinstance(items, list) or len(items) > MOST_LISTED:
            raise UserError(name, "", "", f"expected a list of at most {MOST_LISTED} entries")
        return items

    @staticmethod
    def _text(name: str, value: Json) -> str:
        if not isinstance(value, str):
            raise UserError(name, "", str(value), "expected text")
        if len(value) > LONGEST_TEXT:
            raise UserError(name, "", value, f"is longer than {LONGEST_TEXT} characters")
        text = characters(name, value).strip()
        if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
            raise UserError(name, "", repr(text), "expected one line of text, without control characters")
        return text
