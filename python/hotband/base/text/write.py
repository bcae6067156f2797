"""The only way to write a file: it appears complete or not at all, and an old one stays until the new one is complete.

The folder of a file is created if necessary. A temporary file next to it is written, flushed to the device (fsync) and
renamed; on any failure, including an interruption, it is removed. Pipes and terminals (`/dev/stdout`) are written
directly. Block devices are never written here: writes to them go through `hotband.execution.devices.safety`. Left out:
the folder is not flushed, so after a loss of power the complete old file may still be there; and a process that is
killed cannot remove its temporary file.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from hotband.base.errors import UserError

SUFFIX = ".part"
# A wrong path is the user's mistake; other failures (a full device, a quota, an I/O error) are the system's.
_WRONG_PATHS = (
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM),
    *(errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP),
)
# Errors of file systems without locks, on which two writers cannot be distinguished.
NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}
READERS_S = 5.0
"""Seconds to wait for a reader of a pipe before writing to it fails."""
# Most characters of a file name in its temporary name, of the 255 bytes of a file name; the others make it unique.
_NAME_BYTES = 200


def write_file(path: Path, content: str | bytes) -> None:
    """Write text (as UTF-8) or bytes to `path`.

    Raises UserError if the path is wrong and OSError, with `path` as its `filename`, if the system fails.
    """
    write_files({path: content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write files that belong together, such as a record and its tables: all are complete before the first replaces an
    old one, in the given order. Raises like `write_file`."""
    with ExitStack() as stack:
        done = []
        for path, content in contents.items():
            part = stack.enter_context(temporary(path))
            with named(path, part):
                _fill(part, content.encode(errors="backslashreplace") if isinstance(content, str) else content)
            done.append((path, part))
        for path, part in done:
            with named(path, part):
                _put(part, path)


def expect_other_file(option: str, path: Path, read: Iterable[Path]) -> None:
    """Raise UserError if a file to write is among those that are read: its data would be lost."""
    real_path = os.path.realpath(path)
    if Path(real_path).is_file() and any(os.path.realpath(other) == real_path for other in read):
        raise UserError(option, "", str(path), "is the file that is read; expected another file")


def expect_page(option: str, path: Path, read: Iterable[Path] = ()) -> None:
    """Refuse a path to which no page can be written, before long work: an ending other than .html, a folder, a file
    that is read. Raises UserError."""
    expect_other_file(option, path, read)
    if path.is_dir():
        raise UserError(option, "", str(path), "is a folder; expected a file")
    if path.suffix.lower() not in (".html", ".htm"):
        raise UserError(option, "", str(path), "expected a file that ends in .html")
    expect_folder(option, path)


def expect_folder(option: str, path: Path) -> None:
    """Raise UserError if the folder of a file does not exist and cannot be created."""
    folder = path.parent
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise UserError(option, "", str(path), f"{folder} is not a folder; expected a file in a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(option, "", str(path), f"{folder} cannot be written; expected a writable folder")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a binary file for writing in pieces; it replaces `path` if the block succeeds. Raises like `write_file`,
    also for an OSError of the block that names no file."""
    with temporary(path) as part, named(path, part):
        file = io.BufferedWriter(io.FileIO(part, "wb", opener=_opener))
        try:
            yield file
            _flush(file)
        except BaseException:
            # Closing cannot write what writing could not.
            with suppress(OSError):
                file.close()
            raise
        file.close()
        _put(part, path)


def expect_no_disk(option: str, path: Path) -> None:
    """Raise UserError if a path leads to a block device: its data would be lost."""
    try:
        is_disk = stat.S_ISBLK(path.stat().st_mode)
    except (OSError, ValueError):
        return
    if is_disk:
        raise UserError(option, "", str(path), "is a block device; expected a file")


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """Create an empty hidden file in the folder of `path`, removed at the end if it still exists. A pipe or a terminal
    is its own temporary file. Raises UserError for a block device."""
    expect_no_disk("file", path)
    if is_special(path):
        yield path
        return
    part = part_of(path)
    with named(path, part):
        _make(part, _place(path))
    try:
        yield part
    finally:
        remove(part)


def part_of(path: Path) -> Path:
    """Return a new hidden temporary name in the folder of `path`; the folder is created, the file is not. Raises like
    `write_file`."""
    with named(path):
        destination = _place(path)
        try:
            destination.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        except OSError as error:
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None
    name = os.fsdecode(os.fsencode(destination.name)[:_NAME_BYTES])
    return destination.with_name(f".{name}.{token_hex(4)}{SUFFIX}")


def remove(part: Path) -> None:
    """Remove a temporary file if it exists and can be removed."""
    with suppress(OSError):
        part.unlink()


@contextmanager
def named(path: Path, part: Path | None = None) -> Iterator[None]:
    """Attribute an OSError of the block that names no file, or the temporary file `part`, to `path`: as UserError if
    the path is wrong, else as OSError."""
    try:
        yield
    except OSError as error:
        if error.filename not in (None, str(path), str(part)):
            raise
        reason = os.strerror(error.errno) if error.errno else str(error)
        if is_mistake(error):
            raise UserError(str(path), "", "", f"cannot be written: {reason}") from None
        raise OSError(error.errno or errno.EIO, reason, str(path)) from None


def is_mistake(error: OSError) -> bool:
    """Return whether a path is wrong (no such folder, no permission), which the user can fix."""
    return error.errno in _WRONG_PATHS


def make_folder(folder: Path) -> None:
    """Create a folder and those above it. Raises like `write_file`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        with named(folder):
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None


def is_special(path: Path) -> bool:
    """Return whether a path exists and cannot be replaced: a pipe, a socket, a character device."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _place(path: Path) -> Path:
    """Resolve symbolic links to the file's real path. Raises UserError and OSError."""
    if "\0" in str(path):
        raise UserError(repr(str(path)), "", "", "cannot be written: a path cannot contain a null byte")
    _expect_own_links(path)
    destination = Path(os.path.realpath(path))
    if destination.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if destination.exists() and not os.access(destination, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return destination


def _expect_own_links(path: Path) -> None:
    """Refuse to follow a symbolic link of another user, who would choose which file is replaced, in a shared folder
    such as /tmp. Links of root are part of the system. Raises UserError."""
    for place in (path, *path.parents):
        with suppress(OSError):
            found = place.lstat()
            if stat.S_ISLNK(found.st_mode) and found.st_uid not in (0, os.geteuid()):
                reason = f"{place} is a symbolic link of another user; expected a path without it"
                raise UserError(str(path), "", "", reason)


def _make(part: Path, destination: Path) -> None:
    """Create the temporary file, with the permissions of the file that it will replace."""
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(destination.stat().st_mode))
    finally:
        os.close(descriptor)


def _fill(part: Path, data: bytes) -> None:
    """Write all data and flush it to the device."""
    with io.FileIO(part, "wb", opener=_opener) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        _flush(file)


def _opener(path: str, flags: int) -> int:
    """Open a file for writing; a pipe if a reader opens it within READERS_S."""
    until = time.monotonic() + READERS_S
    while True:
        try:
            descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(path).st_mode):
                raise
            if time.monotonic() > until:
                raise UserError(str(path), "", "", "is a pipe without a reader; expected a file") from None
            time.sleep(0.05)
            continue
        os.set_blocking(descriptor, True)
        return descriptor


def _flush(file: IO[bytes]) -> None:
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        # A pipe or a device has nothing to flush.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _put(part: Path, path: Path) -> None:
    """Replace the old file with the complete temporary file."""
    if part != path:
        os.replace(part, os.path.realpath(path))
