"""Reading a TOML table key by key: a mistake names file, key, value and what is accepted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import tomli

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint
from hotband.base.text.quantities import SPAN_EXPECTED, span_ns
from hotband.base.text.regular import text_in

if TYPE_CHECKING:
    from hotband.base.text.values import Toml

M = TypeVar("M")
MARK = "\ufeff"
"""What editors and spreadsheets of Windows put before a text in UTF-8."""


def loads(text: str, file: str) -> dict[str, Toml]:
    """The table that TOML text is; `file` is what errors call it. Raises UserError."""
    try:
        return tomli.loads(text.removeprefix(MARK))
    except tomli.TOMLDecodeError as error:
        raise UserError(file, "", "", f"not TOML: {error}") from None
    except RecursionError:
        raise UserError(file, "", "", "not TOML that can be read: too deeply nested") from None


class TomlTable:
    """A table of a file. Every key is asked for by its type; `finish` refuses those that nobody asked for."""

    def __init__(self, file: str, place: str, table: dict[str, Toml]) -> None:
        self.file, self.place, self.table = file, place, table
        self._known: list[str] = []

    @classmethod
    def read(cls, path: Path, what: str, typed: bool = False) -> TomlTable:
        """The whole of a file, `what` in errors; of a pipe, too, where the user `typed` a path such as /dev/stdin.
        Raises UserError."""
        return cls.of_text(str(path), text_in(path, what, typed))

    @classmethod
    def of_text(cls, file: str, text: str) -> TomlTable:
        """The whole of a text; `file` is what errors call it. Raises UserError."""
        return cls(file, "", loads(text, file))

    def key(self, name: str) -> str:
        """The full name of a key."""
        return f"{self.place}.{name}" if self.place else name

    def refuse(self, name: str, accepted: str, value: object = None) -> NoReturn:
        """Raises the error of a key; `value` is what stands there where not said."""
        found = self.table.get(name, "") if value is None else value
        raise UserError(self.file, self.key(name), str(found), accepted)

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
            # TOML's integers have any number of digits in Python.
            self.refuse(name, f"expected {words}")

    def has(self, name: str) -> bool:
        """Return whether the key is there."""
        return name in self.table

    def text(self, name: str, default: str | None = None) -> str:
        """A text; without a default it must be there and not be empty."""
        value: str = self._get(name, str, "a text", default)
        if default is None and not value.strip():
            self.refuse(name, "expected a text that is not empty")
        return value

    def text_or_number(self, name: str) -> str | None:
        """A text, or a number as text; None if absent."""
        if not self.has(name):
            return None
        value = self._get(name, (str, int, float), "a number or a text", None)
        return value if isinstance(value, str) else f"{value:g}"

    def choice(self, name: str, accepted: Collection[str], default: str | None = None) -> str:
        """One of the texts that are accepted."""
        value = self.text(name, default)
        self.expect_one_of(name, value, accepted)
        return value

    def expect_one_of(self, name: str, value: str, accepted: Collection[str]) -> None:
        """Refuses a value that is none of those accepted, with the nearest of them."""
        if value not in accepted:
            near = hint(value, list(accepted))
            self.refuse(name, f"{near}expected one of {', '.join(accepted) or 'nothing'}", value)

    def whole(self, name: str, default: int | None = None, least: int = 0) -> int:
        """A whole number that 64 bits hold."""
        value: int = self._get(name, int, f"a whole number, {least} or more", default)
        if value < least:
            self.refuse(name, f"expected a whole number, {least} or more")
        if value >= 1 << 64:
            self.refuse(name, f"expected a whole number from {least} to 2^64 - 1")
        return value

    def positive(self, name: str, default: float | None = None) -> float:
        """A number above zero."""
        value = self._float(name, "a number above 0", default)
        if not 0 < value < float("inf"):
            self.refuse(name, "expected a number above 0")
        return value

    def number(self, name: str) -> float:
        """Any finite number."""
        value = self._float(name, "a number", None)
        if value - value != 0:
            self.refuse(name, "expected a finite number")
        return value

    def flag(self, name: str) -> bool:
        """true or false, false where absent."""
        return bool(self._get(name, bool, "true or false", False))

    def span(self, name: str) -> float | None:
        """Nanoseconds of a time, None if absent."""
        if not self.has(name):
            return None
        value = span_ns(self.text(name))
        if value is None:
            self.refuse(name, f"expected {SPAN_EXPECTED}")
        return value

    def texts(self, name: str, accepted: Collection[str] | None = None) -> tuple[str, ...]:
        """A list of texts, empty if absent; each one of `accepted`, each once."""
        found: list[Any] = self._get(name, list, "a list of texts", [])
        for value in found:
            if not isinstance(value, str):
                self.refuse(name, "expected a list of texts", value)
            if accepted is not None:
                self.expect_one_of(name, value, accepted)
            if found.count(value) > 1:
                self.refuse(name, "is listed twice", value)
        return tuple(found)

    def wholes(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers above zero, each once; empty if absent."""
        found: list[Any] = self._get(name, list, "a list of whole numbers", [])
        for value in found:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1 or found.count(value) > 1:
                self.refuse(name, "expected a list of whole numbers above 0, each once", value)
        return tuple(found)

    def settings(self, name: str) -> tuple[tuple[str, str], ...]:
        """A table of plain values, as pairs of texts; empty if absent."""
        found: dict[str, Toml] = self._get(name, dict, 'a table such as { qd = "16" }', {})
        for key, value in found.items():
            if not isinstance(value, str | int | float) or isinstance(value, bool):
                self.refuse(f"{name}.{key}", 'expected a text or a number, such as "16"', value)
        return tuple((key, str(value)) for key, value in found.items())

    def part(self, name: str) -> TomlTable:
        """A table inside this one, empty if absent."""
        return TomlTable(self.file, self.key(name), self._get(name, dict, "a table", {}))

    def parts(self, name: str) -> Sequence[TomlTable]:
        """A list of tables, empty if absent."""
        found: list[Any] = self._get(name, list, f"tables [[{self.key(name)}]]", [])
        for entry in found:
            if not isinstance(entry, dict):
                self.refuse(name, f"expected tables [[{self.key(name)}]]", entry)
        return [TomlTable(self.file, f"{self.key(name)}[{n}]", entry) for n, entry in enumerate(found)]

    def raw(self, name: str) -> Toml | None:
        """Whatever stands there."""
        self._known.append(name)
        return self.table.get(name)

    def made(self, kind: type[M], /, **given: object) -> M:
        """A dataclass whose fields are the keys of this table, read by their types, but for those that are given. A
        field without a default must be there; a key that is no field is refused."""
        for field in fields(cast("Any", kind)):
            if field.name not in given:
                default = () if field.default is MISSING else (field.default,)
                given[field.name] = READERS[str(field.type)](self, field.name, *default)
        self.finish()
        return kind(**given)

    def finish(self) -> None:
        """Refuses a key that nobody asked for."""
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
"""How a field of `made` is read, by the name of its type."""
