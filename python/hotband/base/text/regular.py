"""Read files that a text, a folder or a command names: only regular files, so that no read waits for a pipe or reads a
device without end."""

from __future__ import annotations

import errno
import io
import os
import re
import select
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from hotband.base.errors import UserError, reason_of, reason_of_input

LARGEST_BYTES = 4 << 30
"""Most bytes of a Hotband file that is read as a whole: a record of a hundred thousand intervals has 60 MB."""
LARGEST_TEXT = 64 << 20
"""Most bytes of a text that people and scripts write: a larger one is a disk image, or a device named by mistake."""
MARK, UTF16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-8 and of UTF-16."""
BLOCK_BYTES = 1 << 20
"""Bytes per read if the size is unknown."""
WRITERS_S = 5.0
"""Seconds to wait for a writer of a named pipe before reading from it fails."""
_DESCRIPTOR = re.compile(r"/dev/stdin|/(dev|proc/(self|thread-self|\d+))/fd/\d+")
"""A shell's name for standard input, or for one end of `<(command)`."""


_readable: tuple[str, ...] | None = None


@contextmanager
def confined(*folders: Path) -> Iterator[None]:
    """Within the block, let this process open only files of these folders and its own temporary ones: requests to a
    server, and the texts in them, may name any file of the computer."""
    global _readable
    before, temporary = _readable, os.path.join(os.path.realpath(tempfile.gettempdir()), "hotband-")
    _readable = (*(f"{os.path.realpath(folder)}/" for folder in folders), temporary)
    try:
        yield
    finally:
        _readable = before


def variable(name: str) -> str | None:
    """Return an environment variable that a text names; None within `confined`: variables may hold passwords, and an
    error or a title would show them to the sender."""
    return os.environ.get(name) if _readable is None else None


class NotRegular(OSError):
    """A folder, pipe, socket or device where a file is expected."""


def opened(path: Path, typed: bool = False) -> io.BufferedReader:
    """Open a regular file for reading without blocking. If the user `typed` the path, open also a pipe or a terminal
    that this process was started with. Raises OSError, including NotRegular."""
    # Opening a device may have effects, and opening a pipe lets its writer continue, so both are checked first.
    inherited = typed and _readable is None and _DESCRIPTOR.fullmatch(str(path)) is not None
    if _readable is not None and not os.path.realpath(path).startswith(_readable):
        raise NotRegular(errno.EACCES, "is not a file that was dropped on the page", str(path))
    _expect_regular(os.stat(path).st_mode, path, inherited)
    return open(path, "rb", opener=partial(_opener, inherited=inherited))


def utf8(data: bytes) -> bytes:
    """Return a text in UTF-8 without a byte order mark: PowerShell's `>` writes UTF-16, and editors of Windows write a
    mark."""
    if data.startswith(UTF16):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(MARK)


def text_bytes(given: str | Path, what: str, most: int | None = None, typed: bool = True) -> bytes:
    """Return the bytes of a text after its byte order mark, UTF-16 as UTF-8: of a regular file of at most `most` bytes
    (default: LARGEST_TEXT), or of anything that `opened` accepts if the user `typed` the path. `what` names the text in
    errors. Raises UserError."""
    most = LARGEST_TEXT if most is None else most
    limit = f"expected a {what} as text of at most {most >> 20} MiB"
    try:
        with opened(Path(given), typed) as file:
            data = read_up_to(file, most)
    except NotRegular as error:
        raise UserError(str(given), "", "", f"{reason_of(error)}; {limit}") from None
    except (OSError, ValueError) as error:
        raise UserError(str(given), "", "", f"the {what} cannot be read: {reason_of_input(error)}") from None
    if len(data) > most:
        raise UserError(str(given), "", "", f"is larger than {most >> 20} MiB; {limit}")
    return utf8(data)


def text_in(path: Path, what: str, typed: bool = False) -> str:
    """Return the text of a file in UTF-8, with or without a mark. Raises UserError."""
    try:
        return text_bytes(path, what, typed=typed).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        accepted = f"not UTF-8 at byte {error.start}; expected a {what} as UTF-8 text"
        raise UserError(str(path), "", "", accepted) from None


def file_bytes(path: Path, pipes: bool = False) -> bytes:
    """Return all bytes of a file, or of a pipe if `pipes`. Raises OSError for anything else, a named pipe without a
    writer, or more than LARGEST_BYTES."""
    if pipes and path.is_fifo():
        data = _pipe_bytes(path)
    else:
        with opened(path) as file:
            data = read_up_to(file, LARGEST_BYTES)
    if len(data) > LARGEST_BYTES:
        raise OSError(errno.EFBIG, f"is larger than {LARGEST_BYTES >> 20} MiB", str(path))
    return data


def _pipe_bytes(path: Path) -> bytes:
    """Return all bytes of a pipe, up to LARGEST_BYTES and a few more; a named one needs a writer within WRITERS_S."""
    if _DESCRIPTOR.fullmatch(str(path)):
        with path.open("rb") as file:
            return read_up_to(file, LARGEST_BYTES)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        beginning, until = b"", time.monotonic() + WRITERS_S
        events = select.poll()
        events.register(descriptor, select.POLLIN)
        # Neither data nor the end of a writer: reading distinguishes a writer that is slow from none.
        while not beginning and not events.poll(50):
            try:
                beginning = os.read(descriptor, 1)
            except BlockingIOError:
                break
            if not beginning and time.monotonic() > until:
                raise OSError(errno.ENXIO, "is a pipe without a writer; expected a file", str(path))
        os.set_blocking(descriptor, True)
        return beginning + read_up_to(file, LARGEST_BYTES)


def read_up_to(file: BinaryIO, most: int) -> bytes:
    """Return all bytes of an open file, up to one more than `most`. `file.read(n)` allocates memory for all n first,
    which a host with less memory refuses however small the file is."""
    try:
        size = os.fstat(file.fileno()).st_size
    except io.UnsupportedOperation:
        # The data of a pipe is held in memory.
        size = 0
    request = min(size, most) + 1
    blocks = [file.read(request)]
    left = most + 1 - len(blocks[0])
    # A pipe has no size, and a file may grow; fewer bytes than requested are the last ones.
    while len(blocks[-1]) == request and left:
        request = min(left, BLOCK_BYTES)
        blocks.append(file.read(request))
        left -= len(blocks[-1])
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def file_text(path: Path, pipes: bool = False) -> str:
    """Return the text of a file in UTF-8, or with a mark, like `file_bytes`. Raises also UnicodeDecodeError."""
    return utf8(file_bytes(path, pipes)).decode()


def _opener(path: str, flags: int, inherited: bool) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _expect_regular(os.fstat(descriptor).st_mode, Path(path), inherited)
        os.set_blocking(descriptor, True)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _expect_regular(mode: int, path: Path, inherited: bool) -> None:
    if stat.S_ISREG(mode) or (inherited and (stat.S_ISFIFO(mode) or _is_terminal(path))):
        return
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    what = kinds.get(stat.S_IFMT(mode), "a device")
    raise NotRegular(errno.EINVAL, f"is {what}, not a regular file", str(path))


def _is_terminal(path: Path) -> bool:
    number = path.name
    return os.isatty(int(number) if number.isdecimal() else 0)
