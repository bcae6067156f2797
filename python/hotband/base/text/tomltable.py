"""Reading a TOML table key by key: errors name file, key, value and accepted values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import tomli

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint
from hotband.base.text.quantities import SPAN_EXPECTED, span_ns
from hotband.base.text.regular import text_in
from hotband.base.text.values import Toml

M = TypeVar("M")
MARK = "\ufeff"
"""The mark before UTF-8 text that editors and spreadsheets of Windows write."""


def loads(text: str, file: str) -> dict[str, Toml]:
    """Return the table of a TOML text; errors call it `file`. Raises UserError."""
    try:
        return tomli.loads(text.removeprefix(MARK))
    except tomli.TOMLDecodeError as error:
        raise UserError(file, "", "", f"not TOML: {error}") from None
    except RecursionError:
        raise UserError(file, "", "", "not readable TOML: too deeply nested") from None


class TomlTable:
    """A table of a file. Keys are read by type; `finish` refuses keys that were not read."""

    def __init__(self, file: str, path: str, table: dict[str, Toml]) -> None:
        self.file, self.path, self.table = file, path, table
        self._known: list[str] = []

    @classmethod
    def read(cls, path: Path, what: str, typed: bool = False) -> TomlTable:
        """Return the table of a whole file, called `what` in errors; a pipe, too, if the user `typed` a path such as
        /dev/stdin. Raises UserError."""
        return cls.of_text(str(path), text_in(path, what, typed))

    @classmethod
    def of_text(cls, file: str, text: str) -> TomlTable:
        """Return the table of a whole text; errors call it `file`. Raises UserError."""
        return cls(file, "", loads(text, file))

    def key(self, name: str) -> str:
        """Return the full name of a key."""
        return f"{self.path}.{name}" if self.path else name

    def refuse(self, name: str, accepted: str, value: object = None) -> NoReturn:
        """Raise the error of a key; `value` is by default the key's value."""
        given = self.table.get(name, "") if value is None else value
        raise UserError(self.file, self.key(name), str(given), accepted)

    def _get(self, name: str, kind: type | tuple[type, ...], words: str, default: Any) -> Any:
        self._known.append(name)
        value = self.table.get(name, default)
        if value is None:
            self.refuse(name, f"is missing; expected {words}")
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.refuse(name, f"expected {words}")
        return value

    def _float(self, name: str, words: str, default: float | None) -> float:
        try:
            return float(self._get(name, (int, float), words, default))
        except OverflowError:
            # In Python, TOML's integers have any number of digits.
            self.refuse(name, f"expected {words}")

    def has(self, name: str) -> bool:
        """Return whether the table has the key."""
        return name in self.table

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; without a default it is required and must not be empty."""
        value: str = self._get(name, str, "a text", default)
        if default is None and not value.strip():
            self.refuse(name, "expected a text that is not empty")
        return value

    def text_or_number(self, name: str) -> str | None:
        """Return a text, or a number as text; None if absent."""
        if not self.has(name):
            return None
        value = self._get(name, (str, int, float), "a number or a text", None)
        return value if isinstance(value, str) else f"{value:g}"

    def choice(self, name: str, accepted: Collection[str], default: str | None = None) -> str:
        """Return one of the accepted texts."""
        value = self.text(name, default)
        self.expect_one_of(name, value, accepted)
        return value

    def expect_one_of(self, name: str, value: str, accepted: Collection[str]) -> None:
        """Refuse a value that is not accepted, and suggest the nearest."""
        if value not in accepted:
            near = hint(value, list(accepted))
            self.refuse(name, f"{near}expected one of {', '.join(accepted) or 'nothing'}", value)

    def whole(self, name: str, default: int | None = None, least: int = 0) -> int:
        """Return a whole number of 64 bits."""
        value: int = self._get(name, int, f"a whole number, {least} or more", default)
        if value < least:
            self.refuse(name, f"expected a whole number, {least} or more")
        if value >= 1 << 64:
            self.refuse(name, f"expected a whole number from {least} to 2^64 - 1")
        return value

    def positive(self, name: str, default: float | None = None) -> float:
        """Return a number above zero."""
        value = self._float(name, "a number above 0", default)
        if not 0 < value < float("inf"):
            self.refuse(name, "expected a number above 0")
        return value

    def number(self, name: str) -> float:
        """Return any finite number."""
        value = self._float(name, "a number", None)
        if value - value != 0:
            self.refuse(name, "expected a finite number")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false; false if absent."""
        return bool(self._get(name, bool, "true or false", False))

    def span(self, name: str) -> float | None:
        """Return the nanoseconds of a time; None if absent."""
        if not self.has(name):
            return None
        value = span_ns(self.text(name))
        if value is None:
            self.refuse(name, f"expected {SPAN_EXPECTED}")
        return value

    def texts(self, name: str, accepted: Collection[str] | None = None) -> tuple[str, ...]:
        """Return a list of texts without repetition, empty if absent; each is one of `accepted`."""
        listed: list[Any] = self._get(name, list, "a list of texts", [])
        for value in listed:
            if not isinstance(value, str):
                self.refuse(name, "expected a list of texts", value)
            if accepted is not None:
                self.expect_one_of(name, value, accepted)
            if listed.count(value) > 1:
                self.refuse(name, "is listed twice", value)
        return tuple(listed)

    def wholes(self, name: str) -> tuple[int, ...]:
        """Return a list of whole numbers above zero without repetition; empty if absent."""
        numbers: list[Any] = self._get(name, list, "a list of whole numbers", [])
        for value in numbers:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1 or numbers.count(value) > 1:
                self.refuse(name, "expected a list of whole numbers above 0, each once", value)
        return tuple(numbers)

    def settings(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return a table of plain values as pairs of texts; empty if absent."""
        pairs: dict[str, Toml] = self._get(name, dict, 'a table such as { qd = "16" }', {})
        for key, value in pairs.items():
            if not isinstance(value, str | int | float) or isinstance(value, bool):
                self.refuse(f"{name}.{key}", 'expected a text or a number, such as "16"', value)
        return tuple((key, str(value)) for key, value in pairs.items())

    def part(self, name: str) -> TomlTable:
        """Return a table inside this one, empty if absent."""
        return TomlTable(self.file, self.key(name), self._get(name, dict, "a table", {}))

    def parts(self, name: str) -> Sequence[TomlTable]:
        """Return a list of tables, empty if absent."""
        tables: list[Any] = self._get(name, list, f"tables [[{self.key(name)}]]", [])
        for entry in tables:
            if not isinstance(entry, dict):
                self.refuse(name, f"expected tables [[{self.key(name)}]]", entry)
        return [TomlTable(self.file, f"{self.key(name)}[{n}]", entry) for n, entry in enumerate(tables)]

    def raw(self, name: str) -> Toml | None:
        """Return the value of a key unchecked."""
        self._known.append(name)
        return self.table.get(name)

    def made(self, kind: type[M], /, **given: object) -> M:
        """Build a dataclass from the keys of this table, read by type, except for given fields. A field without a
        default is required; an unknown key is refused."""
        for field in fields(cast("Any", kind)):
            if field.name not in given:
                default = () if field.default is MISSING else (field.default,)
                given[field.name] = READERS[str(field.type)](self, field.name, *default)
        self.finish()
        return kind(**given)

    def finish(self) -> None:
        """Refuse a key that was not read."""
        for name in self.table:
            if name not in self._known:
                near = hint(name, self._known, 0.6)
                self.refuse(name, f"is not known here; {near}expected {', '.join(sorted(set(self._known)))}")


READERS: dict[str, Callable[..., Any]] = {
    "str": TomlTable.text,
    "int": TomlTable.whole,
    "float": TomlTable.positive,
    "bool": lambda table, name, _: table.flag(name),
    "Settings": lambda table, name, _: table.settings(name),
    "tuple[int, ...]": lambda table, name, _: table.wholes(name),
    "tuple[str, ...]": lambda table, name, _=(): table.texts(name),
}
"""Readers of `made` fields, by the name of the type."""
