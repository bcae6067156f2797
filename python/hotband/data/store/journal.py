"""Runs that belong to no part yet: one frame each, appended to a file that its writer has locked.

A frame is a mark, its length, a checksum, and compressed data: a line of JSON with the run's time, factors and tables,
its document, and its tables in Arrow's format. A killed process leaves at most the beginning of a frame. A journal
whose lock is free belongs to a dead writer; the next writer turns it into a part. If other data in it cannot be read,
the file is renamed to NAME.damaged.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from hotband.base.heavy import pa
from hotband.base.text.regular import file_bytes
from hotband.base.text.write import NO_LOCKS, named, remove

SUFFIX, DAMAGED = ".journal", ".damaged"
MARK = b"\x00hbJ"
HEAD = struct.Struct("<4sII")
"""Head of a frame: mark, length of the content, its checksum (CRC-32)."""
SIZE = struct.Struct("<I")
"""Uncompressed size in bytes, before the compressed data."""
FLUSHED_EVERY_S = 1.0
"""Seconds of work that a loss of power may cost, as in the journal of a sweep; a flush takes milliseconds."""
CODEC = "lz4_raw"
"""Compresses a record to a third at some hundred MB/s; stronger compression costs more than it saves here."""


@dataclass(frozen=True)
class Entry:
    """An added run: its record as text and its tables; `cells` replaces the record if only a row is known."""

    added_us: int
    experiment: str
    factors: Mapping[str, str | int | float | bool]
    text: str = ""
    tables: Mapping[str, pa.Table] | None = None
    cells: Mapping[str, Any] | None = None


def frame_of(entry: Entry) -> bytes:
    """Return an entry as a frame."""
    blobs = {name: _ipc(table) for name, table in (entry.tables or {}).items()}
    text = entry.text.encode(errors="surrogatepass")
    header = {
        "added_us": entry.added_us,
        "experiment": entry.experiment,
        "factors": dict(entry.factors),
        "cells": None if entry.cells is None else dict(entry.cells),
        "text": len(text),
        "tables": {name: len(blob) for name, blob in blobs.items()},
    }
    whole = b"".join((json.dumps(header).encode(), b"\n", text, *blobs.values()))
    packed: bytes = SIZE.pack(len(whole)) + pa.compress(whole, codec=CODEC, asbytes=True)
    return HEAD.pack(MARK, len(packed), zlib.crc32(packed)) + packed


@dataclass(frozen=True)
class Scanned:
    """The content of a journal: positions of the intact frames, without headers. `is_damaged`: it has other data than
    these and the beginning of a last frame."""

    places: tuple[slice, ...]
    is_damaged: bool


def scanned(data: bytes) -> Scanned:
    """Scan the bytes of a journal."""
    places: list[slice] = []
    end, is_damaged = 0, False
    at = data.find(MARK)
    while at >= 0:
        packed = _packed(data, at)
        if packed is None:
            at = data.find(MARK, at + 1)
            continue
        is_damaged = is_damaged or at > end
        end = at + HEAD.size + len(packed)
        places.append(slice(at + HEAD.size, end))
        at = data.find(MARK, end)
    return Scanned(tuple(places), is_damaged or not _is_begun(data[end:]))


def frames(data: bytes) -> Iterator[Entry]:
    """Yield the intact entries of a journal."""
    return (_entry(data[span]) for span in scanned(data).places)


def _is_begun(data: bytes) -> bool:
    """Return whether the data is empty, or the beginning of a frame whose end was not written."""
    if len(data) < HEAD.size:
        return data[: len(MARK)] == MARK[: len(data)]
    mark, length, _ = HEAD.unpack_from(data)
    return bool(mark == MARK and len(data) < HEAD.size + length)


def _packed(data: bytes, at: int) -> bytes | None:
    if len(data) < at + HEAD.size:
        return None
    _, length, checksum = HEAD.unpack_from(data, at)
    packed = data[at + HEAD.size : at + HEAD.size + length]
    return packed if len(packed) == length and zlib.crc32(packed) == checksum else None


def _entry(packed: bytes) -> Entry:
    (size,) = SIZE.unpack_from(packed)
    whole = pa.decompress(packed[SIZE.size :], decompressed_size=size, codec=CODEC, asbytes=True)
    line, _, rest = whole.partition(b"\n")
    header = json.loads(line)
    text, at, tables = rest[: header["text"]].decode(errors="surrogatepass"), header["text"], {}
    for name, length in header["tables"].items():
        tables[name] = pa.ipc.open_stream(rest[at : at + length]).read_all()
        at += length
    return Entry(header["added_us"], header["experiment"], header["factors"], text, tables, header["cells"])


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


class Journal:
    """The journal of a part being filled, locked by this process. Used under the writer's lock, except `flush`."""

    def __init__(self, folder: Path, part: str) -> None:
        """Create the file. It is locked before it gets its name, so that no process mistakes it for an abandoned
        one."""
        self.part, self.path = part, folder / f"{part}{SUFFIX}"
        hidden = folder / f".{part}.{token_hex(4)}.part"
        with named(self.path, hidden):
            self.file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
            lock(self.file)
            os.rename(hidden, self.path)
        self.length, self.flushed = 0, time.monotonic()

    def add(self, frame: bytes) -> None:
        """Append a frame, or nothing if the device accepts only a part of it. Raises OSError."""
        with named(self.path):
            left = memoryview(frame)
            try:
                while left:
                    left = left[os.write(self.file, left) :]
            except OSError:
                os.ftruncate(self.file, self.length)
                raise
        self.length += len(frame)

    def is_due(self) -> bool:
        """Return whether the journal should be flushed to the device; the call counts as a flush."""
        now = time.monotonic()
        due = now - self.flushed >= FLUSHED_EVERY_S
        self.flushed = now if due else self.flushed
        return due

    def flush(self) -> None:
        """Flush the journal to the device."""
        with named(self.path):
            os.fsync(self.file)

    def remove(self) -> None:
        """Remove the journal: its runs are in a part."""
        with named(self.path):
            self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Unlock the journal; the next writer makes a part of its content."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1


def lock(file: int) -> bool:
    """Lock a journal and return whether that succeeded. On file systems without locks it never does."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if not isinstance(error, BlockingIOError) and error.errno not in NO_LOCKS:
            raise
        return False
    return True


def left_behind(folder: Path) -> Sequence[Path]:
    """Return the journals of a store, of active writers and of those that ended."""
    return sorted(folder.glob(f"part-*{SUFFIX}"))


def set_aside(folder: Path) -> Sequence[Path]:
    """Return the damaged journals of a store that were recovered."""
    return sorted(folder.glob(f"part-*{SUFFIX}{DAMAGED}"))


class Abandoned:
    """A journal whose writer ended, locked within the `with` block; None if its writer is active, or another process
    took it. `is_damaged`: a part of it cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, -1
        self.is_damaged = False

    def __enter__(self) -> list[Entry] | None:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        if not lock(self._file) or not self._is_there():
            return None
        data = file_bytes(self.path)
        scan = scanned(data)
        self.is_damaged = scan.is_damaged
        return [_entry(data[span]) for span in scan.places]

    def end(self) -> Path | None:
        """Remove the journal: its runs are in a part. A damaged one is renamed and its new path returned. Raises
        OSError."""
        if not self.is_damaged:
            remove(self.path)
            return None
        aside = self.path.with_name(self.path.name + DAMAGED)
        with named(self.path, aside):
            os.replace(self.path, aside)
        return aside

    def _is_there(self) -> bool:
        """Return whether the file still exists; another process may have removed it between opening and locking."""
        try:
            return os.path.samestat(os.fstat(self._file), self.path.stat())
        except FileNotFoundError:
            return False

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            os.close(self._file)
