"""Manifest of a folder of results: the runs it has, its form, and the version of Hotband.

The list of an experiment's runs (`experiment.json`) and the journal of a sweep begin alike and follow one rule: a
file of another form is refused, and so are runs of another version, as their figures may differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hotband.base.engine import version
from hotband.base.errors import UserError, another_version, is_of_another_version, refused
from hotband.base.text.values import Json, read_json

EXPERIMENT_FILE, FINISHED_FILE = "experiment.json", "finished.json"

SCHEMA, SCHEMA_VERSION = "hotband-experiment", 1
WHAT = "the list of an experiment's runs"


@dataclass(frozen=True)
class Entry:
    """A run as the folder's manifest has it: its folder, the key and the seed that it was to have."""

    folder: str
    key: str
    seed: str


@dataclass(frozen=True)
class Manifest:
    """Content of `experiment.json`; empty if there is none."""

    what: str = ""
    version: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)

    def begun(self, out: Path) -> dict[str, Entry]:
        """Its runs that have a folder."""
        return {name: entry for name, entry in self.entries.items() if (out / entry.folder).is_dir()}


def head(schema: str, number: int) -> dict[str, Json]:
    """Return the beginning of a file of this form."""
    return {"schema": schema, "schema_version": number, "hotband": version()}


def expect_head(
    table: Mapping[str, Json] | None, path: Path, schema: str, number: int, what: str, expected: str
) -> str:
    """Return the version of Hotband that wrote a file of this form. Raises UserError with the `expected` text if the
    file is not `what` or its form has another number."""
    if table is not None and is_of_another_version(table, schema, number):
        raise another_version(path, table["schema_version"], number, expected)
    if table is None or table.get("schema") != schema or table.get("schema_version") != number:
        raise UserError(str(path), "", "", f"not {what}: expected {expected}")
    return str(table.get("hotband"))


def expect_this_version(folder: Path, held: str, what: str) -> None:
    """Refuse a folder with `what` of another version of Hotband. Raises UserError."""
    if held != version():
        raise refused(folder, f"contains {what} of another version of Hotband, {held}; this one is {version()}")


def read_manifest(path: Path, expected: str = "another folder, or an unchanged file of Hotband") -> Manifest:
    """Read a manifest. Raises UserError with the `expected` text for a file that is not a manifest or is of another
    version."""
    if not path.is_file():
        return Manifest()
    table = read_json(path)
    expect_head(table, path, SCHEMA, SCHEMA_VERSION, WHAT, expected)
    assert table is not None, "it has a head"
    try:
        entries = {str(name): _entry(entry) for name, entry in _keys(table["runs"]).items()}
        return Manifest(str(table["experiment"]), str(table["hotband"]), entries)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(str(path), "", "", f"not {WHAT}: expected {expected}") from None


def _keys(value: Json) -> dict[str, Json]:
    """Return a value that must be a JSON object. Raises TypeError."""
    if not isinstance(value, dict):
        raise TypeError("no JSON object")
    return value


def _entry(value: Json) -> Entry:
    table = _keys(value)
    named = table["folder"]
    if not isinstance(named, str):
        raise TypeError("a folder's name is a text")
    folder = Path(named)
    if folder.is_absolute() or ".." in folder.parts:
        raise ValueError("a run is kept outside its folder")
    return Entry(str(folder), str(table["key"]), str(table["seed"]))
