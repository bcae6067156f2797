"""Entries of a store's parts: one file per part, written last. A part counts from then on, until another entry replaces
it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from hotband.base.errors import UserError, another_version, reason_of
from hotband.base.heavy import pa, pq
from hotband.base.text.regular import file_text, opened
from hotband.base.text.values import Json, read_json
from hotband.base.text.write import make_folder, remove, write_file, write_files
from hotband.data.store.store_folder import StoreFolder, flush_folder

T = TypeVar("T")

SCHEMA, SCHEMA_VERSION = "hotband-store-part", 1


INTENT = ".compaction"
"""Suffix of a file, in the folder of journals, that lists the files that are about to replace other parts."""


@dataclass(frozen=True)
class File:
    """A file of a part, by its path in the store: `DIR/TABLE/month=.../PART.parquet`."""

    path: str
    size: int
    sha256: str

    @property
    def table(self) -> str:
        """Return the table whose rows the file has."""
        return self.path.partition("/")[0]


@dataclass(frozen=True)
class Part:
    """A part: its number of runs, its files, and the parts it replaced."""

    name: str
    runs: int
    files: tuple[File, ...]
    replaces: tuple[str, ...] = ()

    def paths(self, store: StoreFolder, table: str) -> list[Path]:
        """Return the paths of the part's files of a table."""
        return [store.path / file.path for file in self.files if file.table == table]


@dataclass(frozen=True)
class Snapshot:
    """The parts of a store at one time; `replaced` parts are no longer valid, but may still exist."""

    store: StoreFolder
    parts: tuple[Part, ...]
    replaced: tuple[Part, ...] = field(default=(), compare=False)

    @property
    def runs(self) -> int:
        """Return the total number of runs."""
        return sum(part.runs for part in self.parts)

    @property
    def tables(self) -> list[str]:
        """Return the names of the existing tables."""
        return sorted({file.table for part in self.parts for file in part.files})

    def files(self, table: str) -> list[Path]:
        """Return the files of a table."""
        return [path for part in self.parts for path in part.paths(self.store, table)]


def snapshot(store: StoreFolder, damaged: dict[Path, UserError] | None = None) -> Snapshot:
    """Return the current parts. Raises UserError for an invalid entry, or adds it to `damaged`."""
    by_name: dict[str, Part] = {}
    for path in _entries(store):
        try:
            part = _read(path)
        except UserError as error:
            if damaged is None:
                raise
            damaged[path] = error
            continue
        if part is not None:
            by_name[part.name] = part
    gone = {name for part in by_name.values() for name in part.replaces}
    parts = [part for name, part in sorted(by_name.items()) if name not in gone]
    return Snapshot(store, tuple(parts), tuple(part for name, part in sorted(by_name.items()) if name in gone))


def _entries(store: StoreFolder) -> list[Path]:
    return sorted(store.manifest.glob("part-*.json"))


def _read(path: Path) -> Part | None:
    """Return an entry; None if it was removed in the meantime. Raises UserError."""
    table = read_json(path)
    if table is None and not path.exists():
        return None
    try:
        if table is None or table["schema"] != SCHEMA:
            raise ValueError
        version = table["schema_version"]
        if version != SCHEMA_VERSION:
            raise another_version(path, version, SCHEMA_VERSION)
        runs, files, replaces = table["runs"], table["files"], table["replaces"]
        if not isinstance(runs, int) or not isinstance(files, dict) or not isinstance(replaces, list):
            raise TypeError
        return Part(
            path.stem, runs, tuple(_file(name, entry) for name, entry in files.items()), tuple(map(str, replaces))
        )
    except (ValueError, KeyError, TypeError):
        accepted = "not a part's entry of a store of this version: expected an unchanged file of Hotband"
        raise UserError(str(path), "", "", accepted) from None


def _file(name: str, entry: Json) -> File:
    path = Path(name)
    if not isinstance(entry, dict) or path.is_absolute() or ".." in path.parts or len(path.parts) != 3:
        raise ValueError("a file of a store is DIR/TABLE/month=.../PART.parquet")
    size = entry["bytes"]
    if not isinstance(size, int):
        raise TypeError("a size is a number")
    return File(name, size, str(entry["sha256"]))


def put(store: StoreFolder, name: str, runs: int, contents: Mapping[str, bytes], replaces: Sequence[str] = ()) -> Part:
    """Write the files of a part, then its entry; each is on the device before the next step. Requires the store's lock.
    Raises OSError; the store is then unchanged."""
    paths = {store.path / path: data for path, data in contents.items()}
    folders = {path.parent for path in paths}
    for folder in folders:
        make_folder(folder)
    # The summary is last: a reader that finds a run there finds its other tables, too.
    write_files(dict(sorted(paths.items(), key=lambda pair: pair[0].parts[-3] == "summary")))
    files = [File(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in contents.items()]
    return enter(store, Part(name, runs, tuple(files), tuple(replaces)))


def enter(store: StoreFolder, part: Part) -> Part:
    """Write the entry of a part whose files are complete."""
    folders = {(store.path / file.path).parent for file in part.files}
    for folder in sorted({*folders, *(parent.parent for parent in folders), store.path}):
        flush_folder(folder)
    entry = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "runs": part.runs,
        "files": {file.path: {"bytes": file.size, "sha256": file.sha256} for file in part.files},
        "replaces": list(part.replaces),
    }
    write_file(store.manifest / f"{part.name}.json", json.dumps(entry, indent=1) + "\n")
    flush_folder(store.manifest)
    return part


def tidy(store: StoreFolder) -> None:
    """Remove the files of replaced parts, and of a replacement that was aborted. Requires the store's lock."""
    now = snapshot(store)
    counts = {part.name for part in (*now.parts, *now.replaced)}
    for intent in sorted(store.journal.glob(f"part-*{INTENT}")):
        listed = json.loads(file_text(intent))
        for path in listed if intent.name.removesuffix(INTENT) not in counts else []:
            _remove(store, path, intent.name.removesuffix(INTENT))
        remove(intent)
    for part in now.replaced:
        for file in part.files:
            _remove(store, file.path, part.name)
        remove(store.manifest / f"{part.name}.json")


def _remove(store: StoreFolder, path: str, part: str) -> None:
    """Remove a file of a part; a name read from a file cannot reach other files."""
    parts = Path(path).parts
    if len(parts) == 3 and ".." not in parts and not Path(path).is_absolute() and parts[2] == f"{part}.parquet":
        remove(store.path / path)


def keys_in(store: StoreFolder, parts: Iterable[Part]) -> set[str]:
    """Return the keys of the runs of these parts. Raises UserError if a file is missing or broken."""
    paths = [path for part in parts for path in part.paths(store, "summary")]
    return {key for path in paths for key in read_with(path, lambda file: file.read(["run"])["run"].to_pylist())}


def read_with(path: Path, take: Callable[[pq.ParquetFile], T]) -> T:
    """Return what `take` reads of a file of a store. Raises UserError if it is missing or broken."""
    try:
        # As an open file: from a path, the folder would be parsed for columns (month=...).
        with opened(path) as data:
            return take(pq.ParquetFile(data))
    except (OSError, ValueError, pa.ArrowException) as error:  # a column name that is not UTF-8 causes a ValueError
        raise broken(path, error) from None


def broken(path: Path, error: Exception) -> UserError:
    """Return the error for a file of a store that cannot be read."""
    what = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {reason_of(error)}"
    return UserError(str(path), "", "", f"{what}: hotband store check lists all damage")
