"""Layout of a store's folder, and the file that marks it as a store.

    DIR/hotband-store.json                 its type, its version, and how much it stores of a run
    DIR/manifest/PART.json                 a part: its files with their digests; written when all of them are complete
    DIR/TABLE/month=2026-11/PART.parquet   rows of a table (summary, factors, histograms, records, series, ...)
    DIR/journal/PART.journal               runs of an active writer, which holds its lock, before they form a part
    DIR/journal/PART.journal.damaged       a journal of a dead writer that could not be read completely

PART is `part-WRITER-NUMBER`. No file is changed once it is in place.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError, another_version, reason_of
from hotband.base.text.values import read_json
from hotband.base.text.write import NO_LOCKS, is_mistake, make_folder, named, write_file

STORE_FILE, MANIFEST, JOURNAL, LOCK_FILE = "hotband-store.json", "manifest", "journal", ".lock"
SCHEMA, SCHEMA_VERSION = "hotband-store", 1
KEEPS = ("all", "small")
"""How much a store holds: "small" leaves out tables over time, and uses fio's buckets."""


@dataclass(frozen=True)
class StoreFolder:
    """A folder that is a store. A `small` store has no tables over time."""

    path: Path
    small: bool

    @property
    def manifest(self) -> Path:
        """Return the folder of the parts' entries."""
        return self.path / MANIFEST

    @property
    def journal(self) -> Path:
        """Return the folder of runs that belong to no part yet."""
        return self.path / JOURNAL

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the right to publish a part; other writers wait, readers never do. On file systems without locks,
        writers do not wait either."""
        with named(self.path / LOCK_FILE):
            file = os.open(self.path / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
            yield
        finally:
            os.close(file)


def opened(path: Path) -> StoreFolder:
    """Return an existing store. Raises UserError for another folder, or a store of another version."""
    file = path / STORE_FILE
    if not file.is_file():
        if not path.exists():
            raise UserError(
                str(path), "", "", "does not exist: expected the folder of a store (hotband store add creates it)"
            )
        raise UserError(str(path), "", "", f"is not a store: expected a folder with a {STORE_FILE}")
    table = read_json(file)
    if table is None or table.get("schema") != SCHEMA:
        raise UserError(str(file), "schema", "", f'expected an unchanged file of Hotband with schema "{SCHEMA}"')
    version, keeps = table.get("schema_version"), table.get("keeps")
    if version != SCHEMA_VERSION:
        raise another_version(file, version, SCHEMA_VERSION)
    if keeps not in KEEPS:
        raise UserError(str(file), "keeps", str(keeps), f"expected one of {', '.join(KEEPS)}")
    return StoreFolder(path, keeps == "small")


def made(path: Path, small: bool | None) -> StoreFolder:
    """Return a store to write into, created if the folder is empty or missing; `small` requires or forbids a small
    store. Raises UserError for a folder with other content, or a store of the other size."""
    if not (path / STORE_FILE).is_file():
        _make(path, bool(small))
    store = opened(path)
    if small is not None and small != store.small:
        keeps = "stores runs without tables over time" if store.small else "stores complete runs"
        raise UserError(
            "question.small", "", str(path), f"{keeps}: expected another folder, or the same setting as before"
        )
    return store


def _make(path: Path, small: bool) -> None:
    try:
        held = [entry.name for entry in path.iterdir() if not entry.name.startswith(".")] if path.exists() else []
    except OSError as error:
        if not is_mistake(error):
            raise
        raise UserError(str(path), "", "", f"cannot be read: {reason_of(error)}") from None
    if held and set(held) - {STORE_FILE, MANIFEST, JOURNAL}:
        raise UserError(
            str(path), "", "", f"is not a store and contains other files ({sorted(held)[0]}): expected an empty folder"
        )
    for folder in (path, path / MANIFEST, path / JOURNAL):
        make_folder(folder)
    if not (path / STORE_FILE).is_file():
        head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "keeps": "small" if small else "all"}
        write_file(path / STORE_FILE, json.dumps(head, indent=1) + "\n")
        flush_folder(path)


def flush_folder(folder: Path) -> None:
    """Flush the file names of a folder to the device, without which a renamed file may not survive a power loss."""
    with named(folder):
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        except OSError as error:
            # File systems that cannot flush folders preserve file names by other means.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(file)
