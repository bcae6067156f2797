"""Convert what a Python program names - a catalog name, a path, TOML text or a dict - to the text of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike, fspath
from typing import Any, TypeAlias

import tomli

import hotband._core as _core
from hotband.base.arguments import DEEPEST, listed, plain, short
from hotband.base.errors import UserError, characters
from hotband.base.heavy import tomlkit
from hotband.base.text.amounts import AmbiguousAmount
from hotband.base.text.quantities import in_units, with_unit
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.named import EMULATED, is_emulated, is_real
from hotband.data.inputs.reports import product_in
from hotband.data.inputs.texts import is_command, text_of
from hotband.data.inputs.words import WITHOUT_BASE_UNIT, key_of_setting, twice

Spec: TypeAlias = "str | PathLike[str] | Mapping[str, object]"
"""A catalog name, a short form, a path, TOML text, or a dict with the content of the TOML."""


THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6}
RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([km]?)(?:\s*(?:iops|tps))?\b", re.IGNORECASE)
"""I/Os or transactions a second as people write them: `60000`, `60k`, `60k IOPS`."""

BASE_UNITS = {"size": "B", "time": "s", "rate": "B/s", "speed": "rpm", "power": "W"}
"""Units of plain numbers of Python, by the kind of quantity. A share has none: 0.7 may be 0.7 % or 70 %."""
EACH_KIND = ("ent-10k", "7450-pro-3840", "870-evo-1tb", "st8000as0002", "replicated:3xent-10k")
"""Machines whose keys together are nearly all keys. A key has one kind of quantity on all machines."""


@dataclass(frozen=True)
class Named:
    """A machine or a workload: its name in records and errors, and its text, unless the catalog has it."""

    name: str
    text: str | None = None


def named(spec: object, argument: str) -> Named:
    """Return the entry or file that `spec` names. Raises UserError if it cannot be run or read."""
    if isinstance(spec, Mapping):
        return _of_table(spec, argument)
    if isinstance(spec, entries.Product):
        # A drive of the catalog keeps its name.
        return named(spec.name, argument)
    if isinstance(spec, PathLike):
        path = fspath(spec)
        if (product := product_in(path, kind_of(argument))) is not None:
            return Named(product)
        # A path without a folder is a file too, not a name of the catalog.
        return Named(path, text_of(path if "/" in path or path.endswith(".toml") else f"./{path}", kind_of(argument)))
    if not isinstance(spec, str) or not spec.strip():
        accepted = "expected a catalog name, a path, TOML text or a dict"
        raise UserError(argument, "", short(spec), accepted)
    if is_real(characters(argument, spec)):
        return Named(spec)
    if is_emulated(spec):
        return Named(spec, text_of(spec.removeprefix(EMULATED), kind_of(argument)))
    if is_toml(spec) and not (kind_of(argument) == "workload" and is_command(spec)):
        return _of_toml(spec, argument)
    if (product := product_in(spec, kind_of(argument))) is not None:
        return Named(product)
    return Named(spec, text_of(spec, kind_of(argument)))


def kind_of(argument: str) -> str:
    """Return what an argument names: a workload or a machine."""
    return "workload" if argument.startswith(("workload", "then")) else "machine"


def is_toml(spec: str) -> bool:
    """Return whether a text is TOML, not a name or a path: those have no line breaks, and one line of TOML has an
    equals sign. A file name may have both."""
    return ("\n" in spec or "=" in spec) and not os.path.isfile(spec)


def _of_table(spec: Mapping[str, object], argument: str) -> Named:
    """Return a dict as equivalent TOML."""
    try:
        text = tomlkit.dumps(_plain(spec))
    except (tomlkit.exceptions.TOMLKitError, TypeError, ValueError, RecursionError) as error:
        raise UserError(argument, "", "", f"the dict is not a TOML table: {error}") from None
    return _of_toml(text, argument)


def _plain(value: object, depth: int = 0) -> Any:
    """Return nested values with numbers of numpy as numbers."""
    if depth > DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {key: _plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value]
    return plain(value)


def _of_toml(text: str, argument: str) -> Named:
    """Return the TOML of a machine, or of a workload that may be a variant."""
    if kind_of(argument) == "workload":
        return Named(_title(text, argument), entries.whole_workload(argument, text))
    return _of_machine(text, argument)


def _of_machine(text: str, argument: str) -> Named:
    """Return the TOML of a machine, which has no key for the title that names it in results. A drive is no machine: it
    needs a file."""
    title = _title(text, argument)
    if is_real(title) or is_emulated(title):
        raise UserError(argument, "title", title, "names hardware or an emulated machine; expected another title")
    try:
        table = tomlkit.parse(text)
    except (tomlkit.exceptions.TOMLKitError, ValueError, RecursionError):
        return Named(title, text)
    if any(key in table for key in ("kind", "variant_of", "values")):
        accepted = (
            "is a drive; expected the path of its file, or a machine: [drives.d0] with product = its name or file"
        )
        raise UserError(argument, "", "", accepted)
    return Named(title, tomlkit.dumps(table) if table.pop("title", None) is not None else text)


def _title(text: str, argument: str) -> str:
    """Return the title in TOML text, else the argument's name. The engine reports text that is not TOML."""
    try:
        title = tomli.loads(text).get("title")
    except (tomli.TOMLDecodeError, RecursionError):
        return argument
    return title if isinstance(title, str) and title else argument


def each_of(given: object) -> list[object]:
    """Return several values, or the single one in a list."""
    several = listed(given)
    return [given] if several is None else several


def setting(key: str, value: object) -> str:
    """Return a setting as text: True and False are on and off. Raises UserError for values other than text, numbers and
    truth values."""
    value = plain(value)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        # A column of a frame with a missing value has floats.
        value = int(value)
    if isinstance(value, str | int | float):
        return f"{value!r}" if isinstance(value, float) else in_units(characters(key, str(value)))
    several = "; for several values use sweep" if listed(value) is not None else ""
    accepted = f'expected text with its unit, such as "4 KiB", a number or a bool{several}'
    raise UserError("settings", key, short(value), accepted)


def rate_text(given: str) -> str:
    """Return the text of rates as plain numbers: `60k` is 60000. Raises UserError for `1.500`, which is one and a half
    or fifteen hundred."""

    def plain_number(found: re.Match[str]) -> str:
        if not found[2] and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", found[1]):
            error = AmbiguousAmount((float(found[1]), float(found[1].replace(".", ""))))
            raise UserError("question.rate", "", given, f"{error} or {found[1]}0")
        if re.match(r"0\d", found[1]):
            # The end of `1,000`, which an error shows as it was typed.
            return found[0]
        return f"{float(found[1]) * THOUSANDS[found[2].lower()]:.15g}"

    return RATE.sub(plain_number, given.strip())


def changes(
    given: Mapping[str, object] | None, settings: Mapping[str, object], *, of_load: bool = True
) -> dict[str, object]:
    """Return the combined changes of `set` and further arguments of a call; usual words become ours if the settings are
    `of_load`, and a number gets the base unit of its key, unless its word has another one. Raises UserError for a key
    that is given twice."""
    changed: dict[str, object] = {}
    words: dict[str, str] = {}
    for word, value in [*(given or {}).items(), *settings.items()]:
        key = key_of_setting(word, str(value)) if of_load else word
        if key in changed:
            raise twice("question.settings", word, str(value), words[key], str(changed[key]))
        changed[key] = value if of_load and word in WITHOUT_BASE_UNIT else with_base_unit(key, value)
        words[key] = word
    return changed


def with_base_unit(key: str, value: object) -> object:
    """Return a plain number for a key that requires a unit as text in bytes, seconds, bytes per second, rpm or watts,
    and several as a list; any other value unchanged."""
    if (numbers := listed(value)) is not None:
        texts = [with_base_unit(key, number) for number in numbers]
        # An iterator has no values left.
        return texts if isinstance(value, Iterator) or texts != numbers else value
    number = plain(value)
    if not isinstance(number, int | float) or isinstance(number, bool):
        return value
    unit = _base_unit(key)
    return with_unit(number, unit) if unit else value


@cache
def _base_unit(key: str) -> str | None:
    """Return the unit of plain numbers for a key; None for counts, and for keys of applications."""
    last = key.rpartition(".")[2]
    rows = (
        row for machine in EACH_KIND for row in _core.set_keys(CATALOG_DIR, "randread", machine) if row["key"] == last
    )
    row = None if key.startswith("app.") else next(rows, None)
    return None if row is None else _unit_by_description().get(row["accepted"])


@cache
def _unit_by_description() -> Mapping[str, str]:
    """Return the units by the engine's description of accepted values."""
    descriptions: dict[str, str] = {}
    for kind, unit in BASE_UNITS.items():
        try:
            _core.quantity(kind, "")
        except ValueError as error:
            descriptions[str(error)] = unit
    return descriptions


def settings_of(settings: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return settings as the pairs that a run accepts."""
    return tuple((key, setting(key, value)) for key, value in settings.items())


def texts(value: object, argument: str) -> tuple[str, ...]:
    """Return one text, or several."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise UserError(argument, "", short(value), "expected a text or a list of texts")


def expect_seed(seed: int) -> None:
    """Raise UserError for an invalid root seed."""
    if not 0 <= seed < 2**64:
        raise UserError("question.seed", "", str(seed), "expected a whole number from 0 to 2^64 - 1")


def expect_interval(interval: float | None, draws: int | None) -> None:
    """Raise UserError for sampling without an interval."""
    if interval is None and draws is not None:
        raise UserError(
            "question.draws", "", str(draws), "is for intervals: expected question.interval PERCENT with it"
        )
