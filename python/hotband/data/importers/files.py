"""Reading of result files: documents whole, and the beginning of files to recognise."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hotband.base.errors import UserError, reason_of_input
from hotband.base.text.pipes import opened_result
from hotband.base.text.regular import read_up_to
from hotband.data.importers.fio.text import printable

# A document is parsed in memory, at several times its size; logs are not, they have no such limit.
LARGEST_DOCUMENT_BYTES = 256 * 1024 * 1024
# A table's rows take some ten times their text: 64 MiB are 60 hours of vdbench's intervals of a second.
LARGEST_TABLE_BYTES = 64 * 1024 * 1024
# Enough for the warnings that fio prints before its JSON, and for a vdbench header.
BEGINNING_BYTES = 65536
# fio's progress in the same file: one line per second for a day. Its JSON comes after them.
PROGRESS_BYTES, PROGRESS = 16 * 1024 * 1024, b"[eta "


def name_of(path: Path) -> str:
    """Return the path as text for error messages and records."""
    return printable(str(path))


def read_bytes(path: Path, accepted: str, table: bool = False) -> bytes:
    """Return the whole file. Raises UserError if it cannot be read, is not a file or too large to be `accepted`."""
    most = LARGEST_TABLE_BYTES if table else LARGEST_DOCUMENT_BYTES
    try:
        if path.is_dir():
            raise UserError(name_of(path), "", "", f"is a folder; accepted: {accepted}")
        with opened_result(path) as file:
            data = read_up_to(file, most)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, accepted) from None
    if len(data) > most:
        limit = f"{most // (1024 * 1024)} MiB"
        raise UserError(name_of(path), "", "", f"is larger than {limit}; accepted: {accepted}")
    return data


def read_beginning(path: Path) -> bytes:
    """Return the first bytes of a file, without a byte order mark. Raises UserError if it cannot be read."""
    try:
        with opened_result(path) as file:
            beginning = file.read(BEGINNING_BYTES)
            return beginning + file.read(PROGRESS_BYTES) if PROGRESS in beginning else beginning
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, "a result file") from None


def _unreadable(path: Path, error: OSError | ValueError, accepted: str) -> UserError:
    return UserError(name_of(path), "", "", f"cannot be read: {reason_of_input(error)}; accepted: {accepted}")


def decoded(data: bytes, file: str) -> str:
    """Decode UTF-8. Raises UserError for other text."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UserError(file, "", "", f"not UTF-8 at byte {error.start}; accepted: UTF-8 text") from None


@contextmanager
def without_mark(path: Path) -> Iterator[Path]:
    """Yield a file without a byte order mark: the file itself, or a temporary copy of what follows the mark, was UTF-16
    or came from a pipe."""
    try:
        with opened_result(path) as file:
            if not file.tell() and not isinstance(file, io.BytesIO):
                copy = None
            else:
                # A pipe cannot be opened again by what reads a file by its path.
                copy = tempfile.NamedTemporaryFile(prefix="hotband-")  # noqa: SIM115
                shutil.copyfileobj(file, copy)
                copy.flush()
    except OSError as error:
        raise _unreadable(path, error, "a result file") from None
    if copy is None:
        yield path
    else:
        with copy:
            yield Path(copy.name)
