"""The list of an experiment's runs in its folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError, another_version, is_of_another_version
from hotband.base.text.values import read_json

if TYPE_CHECKING:
    from hotband.base.text.values import Json


EXPERIMENT_FILE, FINISHED_FILE = "experiment.json", "finished.json"

SCHEMA, SCHEMA_VERSION = "hotband-experiment", 1


@dataclass(frozen=True)
class Entry:
    """A run as the folder's manifest has it: its folder, the key and the seed that it was to have."""

    folder: str
    key: str
    seed: str


@dataclass(frozen=True)
class Manifest:
    """What `experiment.json` says; empty where there is none."""

    what: str = ""
    version: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)

    def begun(self, out: Path) -> dict[str, Entry]:
        """Its runs that have a folder."""
        return {name: entry for name, entry in self.entries.items() if (out / entry.folder).is_dir()}


def read_manifest(path: Path, expected: str = "another folder, or the file as hotband wrote it") -> Manifest:
    """Reads a manifest. Raises UserError, which says what was `expected`, for what is none and for one of another
    version."""
    if not path.is_file():
        return Manifest()
    table = read_json(path)
    if table is not None and is_of_another_version(table, SCHEMA, SCHEMA_VERSION):
        raise another_version(path, table["schema_version"], SCHEMA_VERSION, expected)
    try:
        if table is None or table["schema"] != SCHEMA or table["schema_version"] != SCHEMA_VERSION:
            raise ValueError
        entries = {str(name): _entry(one) for name, one in _keys(table["runs"]).items()}
        return Manifest(str(table["experiment"]), str(table["hotband"]), entries)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(str(path), "", "", f"not the list of an experiment's runs: expected {expected}") from None


def _keys(value: Json) -> dict[str, Json]:
    """What is expected to be a JSON object. Raises TypeError."""
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
