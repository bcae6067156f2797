"""The one way to write a file: it is there whole or not at all, and an old one stays until the new one is complete.

The folder of a file is made where it is not there yet. A temporary file beside it is written, flushed to the device
(fsync) and renamed; on any failure, an interruption included, it is removed. Pipes and terminals (`/dev/stdout`) are
written as they are; block devices never: what is written there is asked for by `hotband.execution.devices.safety`. What
it leaves out: the folder is not flushed, so that after a loss of power the old file may still stand there, whole; and a
process that is killed cannot remove its temporary file.
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
# What is wrong with a path is the user's mistake; everything else (a full device, a quota, an I/O error) the world's.
_WRONG_PATHS = (
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM),
    *(errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP),
)
# What a file system without locks answers; two writers are not told from one there.
NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}
READERS_S = 5.0
"""How long a pipe may have no reader before it is an error to write to it."""
# Of the 255 bytes of a file's name those that a temporary one takes of it; the rest tells it apart.
_NAME_BYTES = 200


def write_file(path: Path, content: str | bytes) -> None:
    """Writes text (as UTF-8) or bytes to `path`.

    Raises UserError if the path is wrong and OSError, with `path` as its `filename`, where the world fails.
    """
    write_files({path: content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Writes files that belong together, such as a record and its tables: all are complete before the first takes its
    place, and they take it in the order given. Raises as `write_file`."""
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
    """Raises UserError if a file that is to be written is one of those that are read: it would be lost."""
    place = os.path.realpath(path)
    if Path(place).is_file() and any(os.path.realpath(one) == place for one in read):
        raise UserError(option, "", str(path), "is what is read; expected another file")


def expect_page(option: str, path: Path, read: Iterable[Path] = ()) -> None:
    """Refuses what no page can be written to, before what may take long: another ending than .html, a folder, a file
    that is read. Raises UserError."""
    expect_other_file(option, path, read)
    if path.is_dir():
        raise UserError(option, "", str(path), "is a folder; expected a file")
    if path.suffix.lower() not in (".html", ".htm"):
        raise UserError(option, "", str(path), "expected a file that ends in .html")
    expect_folder(option, path)


def expect_folder(option: str, path: Path) -> None:
    """Raises UserError if the folder of a file is not there and cannot be made."""
    folder = path.parent
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise UserError(option, "", str(path), f"{folder} is no folder; expected a file in a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(option, "", str(path), f"{folder} cannot be written; expected a folder that can")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A binary file for what is written piece by piece; it takes the place of `path` where the block ends well. Raises
    as `write_file`, also for an OSError of the block that names no file."""
    with temporary(path) as part, named(path, part):
        file = io.BufferedWriter(io.FileIO(part, "wb", opener=_opener))
        try:
            yield file
            _flush(file)
        except BaseException:
            # What could not be written cannot be written by closing either.
            with suppress(OSError):
                file.close()
            raise
        file.close()
        _put(part, path)


def expect_no_disk(option: str, path: Path) -> None:
    """Raises UserError if a path is that of a block device, by whatever link: what it holds would be lost."""
    try:
        is_disk = stat.S_ISBLK(path.stat().st_mode)
    except (OSError, ValueError):
        return
    if is_disk:
        raise UserError(option, "", str(path), "is a block device; expected a file")


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """A hidden file beside `path`, made and empty; removed at the end, where it is still there. A pipe or a terminal is
    its own temporary file. Raises UserError for a block device."""
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
    """The name of a temporary file beside `path`, hidden and never used before; the file is not made, its folder is.
    Raises as `write_file`."""
    with named(path):
        place = _place(path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        except OSError as error:
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None
    name = os.fsdecode(os.fsencode(place.name)[:_NAME_BYTES])
    return place.with_name(f".{name}.{token_hex(4)}{SUFFIX}")


def remove(part: Path) -> None:
    """Removes a temporary file, where it is there and can be removed."""
    with suppress(OSError):
        part.unlink()


@contextmanager
def named(path: Path, part: Path | None = None) -> Iterator[None]:
    """An OSError of the block that names no file, or the temporary file `part`, is said of `path`: as UserError where
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
    """Return whether a path is wrong (no such folder, no permission), which is the user's to mend."""
    return error.errno in _WRONG_PATHS


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it, where they are not there yet. Raises as `write_file`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        with named(folder):
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None


def is_special(path: Path) -> bool:
    """Return whether it is there and no file that could be replaced: a pipe, a socket, a character device."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _place(path: Path) -> Path:
    """Where the file stands, behind symbolic links. Raises UserError and OSError."""
    if "\0" in str(path):
        raise UserError(repr(str(path)), "", "", "cannot be written: a path has no null byte")
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if place.exists() and not os.access(place, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return place


def _make(part: Path, place: Path) -> None:
    """Makes the temporary file, with the permissions of the file that it is to replace."""
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(place.stat().st_mode))
    finally:
        os.close(descriptor)


def _fill(part: Path, data: bytes) -> None:
    """Writes all of it, and to the device."""
    with io.FileIO(part, "wb", opener=_opener) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        _flush(file)


def _opener(path: str, flags: int) -> int:
    """Opens a file to be written; a pipe where somebody reads it, within READERS_S."""
    until = time.monotonic() + READERS_S
    while True:
        try:
            descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(path).st_mode):
                raise
            if time.monotonic() > until:
                raise UserError(path, "", "", "is a pipe that nobody reads; expected a file") from None
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
    """The complete temporary file takes the place of the old one."""
    if part != path:
        os.replace(part, os.path.realpath(path))
