"""Which parts a store has: one file per part, written last. A part counts from then on, and no longer once another says
that it replaces it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hotband.base.errors import UserError, another_version, reason_of
from hotband.base.heavy import pa, pq
from hotband.base.text.regular import file_text, opened
from hotband.base.text.values import Json, read_json
from hotband.base.text.write import make_folder, remove, write_file, write_files
from hotband.data.store.place import Place, flush_folder

SCHEMA, SCHEMA_VERSION = "hotband-store-part", 1


INTENT = ".compaction"
"""Ends the name of a file, in the folder of journals, that lists what is about to be put in place of other parts."""


@dataclass(frozen=True)
class File:
    """A file of a part, by its path in the store: `DIR/TABLE/month=.../PART.parquet`."""

    path: str
    size: int
    sha256: str

    @property
    def table(self) -> str:
        """Whose rows it holds."""
        return self.path.partition("/")[0]


@dataclass(frozen=True)
class Part:
    """A part: how many runs it has, its files, and the parts whose runs it took over."""

    name: str
    runs: int
    files: tuple[File, ...]
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """The parts of a store at one time; `replaced` are those that count no longer, and may stand there still."""

    place: Place
    parts: tuple[Part, ...]
    replaced: tuple[Part, ...] = field(default=(), compare=False)

    @property
    def runs(self) -> int:
        """How many runs they have."""
        return sum(part.runs for part in self.parts)

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are there."""
        return sorted({file.table for part in self.parts for file in part.files})

    def files(self, table: str) -> list[Path]:
        """The files of a table."""
        return [self.place.path / file.path for part in self.parts for file in part.files if file.table == table]


def snapshot(place: Place, damaged: dict[Path, UserError] | None = None) -> Snapshot:
    """The parts that are there now. Raises UserError for an entry that is none, or puts it into `damaged`."""
    found: dict[str, Part] = {}
    for path in _entries(place):
        try:
            part = _read(path)
        except UserError as error:
            if damaged is None:
                raise
            damaged[path] = error
            continue
        if part is not None:
            found[part.name] = part
    gone = {name for part in found.values() for name in part.replaces}
    parts = [part for name, part in sorted(found.items()) if name not in gone]
    return Snapshot(place, tuple(parts), tuple(part for name, part in sorted(found.items()) if name in gone))


def _entries(place: Place) -> list[Path]:
    return sorted(place.manifest.glob("part-*.json"))


def _read(path: Path) -> Part | None:
    """An entry; None for one that was removed meanwhile. Raises UserError."""
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
            path.stem, runs, tuple(_file(name, said) for name, said in files.items()), tuple(map(str, replaces))
        )
    except (ValueError, KeyError, TypeError):
        accepted = "not a part's entry of a store of this version: expected the file as hotband wrote it"
        raise UserError(str(path), "", "", accepted) from None


def _file(name: str, said: Json) -> File:
    path = Path(name)
    if not isinstance(said, dict) or path.is_absolute() or ".." in path.parts or len(path.parts) != 3:
        raise ValueError("a file of a store is DIR/TABLE/month=.../PART.parquet")
    size = said["bytes"]
    if not isinstance(size, int):
        raise TypeError("a size is a number")
    return File(name, size, str(said["sha256"]))


def put(place: Place, name: str, runs: int, contents: Mapping[str, bytes], replaces: Sequence[str] = ()) -> Part:
    """Puts the files of a part into their places, then its entry; each is on the device before the next step. Called
    with the store's lock. Raises OSError; what was not put stays as it was."""
    paths = {place.path / path: data for path, data in contents.items()}
    folders = {path.parent for path in paths}
    for folder in folders:
        make_folder(folder)
    # The summary last: whoever finds a run there finds the rest of it, too.
    write_files(dict(sorted(paths.items(), key=lambda pair: pair[0].parts[-3] == "summary")))
    files = [File(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in contents.items()]
    return enter(place, Part(name, runs, tuple(files), tuple(replaces)))


def enter(place: Place, part: Part) -> Part:
    """Writes the entry of a part whose files stand in their places."""
    folders = {(place.path / file.path).parent for file in part.files}
    for folder in sorted({*folders, *(one.parent for one in folders), place.path}):
        flush_folder(folder)
    said = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "runs": part.runs,
        "files": {file.path: {"bytes": file.size, "sha256": file.sha256} for file in part.files},
        "replaces": list(part.replaces),
    }
    write_file(place.manifest / f"{part.name}.json", json.dumps(said, indent=1) + "\n")
    flush_folder(place.manifest)
    return part


def tidy(place: Place) -> None:
    """Removes the files of parts that were replaced, and of a replacement that was ended before it counted. Called with
    the store's lock."""
    now = snapshot(place)
    counts = {part.name for part in (*now.parts, *now.replaced)}
    for intent in sorted(place.journal.glob(f"part-*{INTENT}")):
        listed = json.loads(file_text(intent))
        for path in listed if intent.name.removesuffix(INTENT) not in counts else []:
            _remove(place, path, intent.name.removesuffix(INTENT))
        remove(intent)
    for part in now.replaced:
        for file in part.files:
            _remove(place, file.path, part.name)
        remove(place.manifest / f"{part.name}.json")


def _remove(place: Place, path: str, part: str) -> None:
    """Removes a file of a part; a name that is read from a file reaches no other."""
    parts = Path(path).parts
    if len(parts) == 3 and ".." not in parts and not Path(path).is_absolute() and parts[2] == f"{part}.parquet":
        remove(place.path / path)


def keys_in(place: Place, parts: Iterable[Part]) -> set[str]:
    """The keys of the runs of these parts. Raises UserError if a file is missing or broken."""
    found: set[str] = set()
    for part in parts:
        for file in part.files:
            if file.table == "summary":
                path = place.path / file.path
                try:
                    # A file by itself: as a path its folder would be read for columns (month=...).
                    with opened(path) as data:
                        found.update(pq.read_table(data, columns=["run"]).column("run").to_pylist())
                except (OSError, ValueError, pa.ArrowException) as error:
                    raise broken(path, error) from None
    return found


def broken(path: Path, error: Exception) -> UserError:
    """The error for a file of a store that cannot be read."""
    what = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {reason_of(error)}"
    return UserError(str(path), "", "", f"{what}: hotband store check says what else is damaged")
