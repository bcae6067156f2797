"""Reading files of folders that others may have made: a pipe in one would be waited for without end, and a device has
no end."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

LARGEST_BYTES = 4 << 30
"""More than any of our files that is read whole: a record of a hundred thousand intervals has 60 MB."""
BLOCK_BYTES = 1 << 20
"""What is read at a time where the size is not known."""


def opened(path: Path) -> io.BufferedReader:
    """A file, to be read. Raises OSError where it is a pipe, a socket or a device."""
    return open(path, "rb", opener=_opener)


def file_bytes(path: Path, pipes: bool = False) -> bytes:
    """All bytes of a file, or of a pipe where `pipes` are read. Raises OSError where it is anything else, or has more
    than LARGEST_BYTES."""
    with path.open("rb") if pipes and path.is_fifo() else opened(path) as file:
        data = read_up_to(file, LARGEST_BYTES)
    if len(data) > LARGEST_BYTES:
        raise OSError(errno.EFBIG, f"is larger than {LARGEST_BYTES >> 20} MiB", str(path))
    return data


def read_up_to(file: BinaryIO, most: int) -> bytes:
    """All bytes of a file that is open, and one more than `most` where it has more. `file.read(n)` takes memory for all
    n before it reads the first, which a host with less of it refuses however small the file is."""
    try:
        size = os.fstat(file.fileno()).st_size
    except io.UnsupportedOperation:
        # What came through a pipe is held in memory.
        size = 0
    asked = min(size, most) + 1
    blocks = [file.read(asked)]
    left = most + 1 - len(blocks[0])
    # A pipe has no size, and a file may grow; fewer than asked are the last ones.
    while len(blocks[-1]) == asked and left:
        asked = min(left, BLOCK_BYTES)
        blocks.append(file.read(asked))
        left -= len(blocks[-1])
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def file_text(path: Path, pipes: bool = False) -> str:
    """The same as text in UTF-8. Raises UnicodeDecodeError, too."""
    return file_bytes(path, pipes).decode()


def _opener(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is no regular file", path)
    return descriptor
