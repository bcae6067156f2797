"""Finished runs of a sweep, stored as they end: one line per run, at the end of one file.

    DIR/sweep.journal   a line with the contents of the folder, then one line per run: checksum, space, JSON
    DIR/sweep.parquet   the frame, one row per run; written when the sweep ends or is stopped

A process that is killed leaves at most the beginning of a line, which the next one cuts off; a line that is not as it
was written has another checksum, and its run is run again. Lines are flushed to the device once a second: a loss
of power may remove the lines of the last second.
"""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from hotband.base.text.regular import file_bytes
from hotband.base.text.values import Json
from hotband.base.text.write import named
from hotband.data.results.manifest import expect_head, expect_this_version, head

JOURNAL_FILE, FRAME_FILE = "sweep.journal", "sweep.parquet"
SCHEMA, SCHEMA_VERSION = "hotband-sweep", 1
FLUSHED_EVERY_S = 1.0
"""Seconds of work that a loss of power may cost; a flush takes milliseconds."""

MOST_NAMED = 4
"""Values of a sweep that a message names."""

Entry = Mapping[str, "Json"]


class Journal:
    """The runs of one sweep in a folder that this process alone writes. `entries` are the existing ones by key; of
    two lines with one key the later counts."""

    def __init__(
        self, folder: Path, what: str, *, asked: Mapping[str, Sequence[str]] | None = None, fresh: bool = False
    ) -> None:
        """Read existing entries, unless `fresh`; nothing is written before `open`. Raises UserError for a
        file that is not a journal, or one of another version."""
        self.path, self.what = folder / JOURNAL_FILE, what
        self.held = ""
        self.asked, self.held_asked = asked or {}, asked or {}
        self.entries: dict[str, Entry] = {}
        self._lock, self._flushed, self._file = threading.Lock(), time.monotonic(), -1
        if self.path.is_file() and not fresh:
            self._read()

    def _read(self) -> None:
        with named(self.path):
            data = file_bytes(self.path)
        first, *lines = data.split(b"\n")
        header = parsed(first)
        if not lines:
            return  # the beginning of its first line: nothing was finished
        expected = "another folder, or question.fresh to start over"
        made_by = expect_head(header, self.path, SCHEMA, SCHEMA_VERSION, "the journal of a sweep", expected)
        assert header is not None, "it has a head"
        entries = [line_entry for line_entry in map(parsed, lines) if line_entry is not None]
        self.entries = {str(entry["key"]): entry for entry in entries if "key" in entry}
        self.held = str(header.get("sweep"))
        requested = header.get("asked")
        self.held_asked = (
            {key: list(map(str, values)) for key, values in requested.items() if isinstance(values, list)}
            if isinstance(requested, dict)
            else {}
        )
        if self.entries:
            expect_this_version(self.path.parent, made_by, "a sweep")

    def differs(self) -> str:
        """The first part of the request that differs from the folder's, with both values; "" if there is none."""
        for part in {**self.held_asked, **self.asked}:
            held, requested = self.held_asked.get(part, ()), self.asked.get(part, ())
            if not set(held) & set(requested) and (held or requested):
                if part.startswith("text of "):
                    return f"the {part} was another"
                return f"{part} is {_few(held)} there and {_few(requested)} here"
        return ""

    def open(self) -> None:
        """Make the file ready for further lines, if it is not yet: cut off an incomplete last line, and start a
        file without runs again."""
        with self._lock:
            if self._file < 0:
                self._open()

    def _open(self) -> None:
        with named(self.path):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self.path, flags, 0o666)
            data = file_bytes(self.path)
            os.ftruncate(self._file, data.rfind(b"\n") + 1 if self.entries else 0)
        if not self.entries:
            requested: dict[str, Json] = {part: list(values) for part, values in self.asked.items()}
            self._append({**head(SCHEMA, SCHEMA_VERSION), "sweep": self.what, "asked": requested})

    def keep(self, entry: Entry) -> None:
        """Add a run; from any thread. Raises OSError if it cannot be written."""
        with self._lock:
            self._append(entry)
            self.entries[str(entry["key"])] = entry

    def _append(self, entry: Entry) -> None:
        left = memoryview(line_of(entry))
        with named(self.path):
            while left:
                left = left[os.write(self._file, left) :]
            if time.monotonic() - self._flushed >= FLUSHED_EVERY_S:
                self._flush()

    def _flush(self) -> None:
        os.fsync(self._file)
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Flush written data, and close the file."""
        if self._file >= 0:
            try:
                with named(self.path):
                    self._flush()
            finally:
                os.close(self._file)
                self._file = -1


def _few(values: Sequence[str]) -> str:
    more = ", ..." if len(values) > MOST_NAMED else ""
    return f"{', '.join(values[:MOST_NAMED])}{more}" if values else "not said"


def line_of(entry: Entry) -> bytes:
    """A run as a line."""
    text = json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def parsed(line: bytes) -> dict[str, Json] | None:
    """Return the content of a line; None for one that has changed since it was written."""
    sum_, space, text = line.partition(b" ")
    if not space or sum_ != b"%08x" % zlib.crc32(text):
        return None
    value = json.loads(text)
    return value if isinstance(value, dict) else None
