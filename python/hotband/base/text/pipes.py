"""Results from a pipe: `fio --output-format=json job.fio | hotband audit -`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path, PosixPath
from typing import Any, BinaryIO, cast

from hotband.base.errors import UserError, reason_of_input
from hotband.base.text.regular import LARGEST_TEXT, MARK, UTF16, file_bytes, opened, read_up_to, utf8

STDIN = Path("/dev/stdin")


class Pipe(PosixPath):
    """A pipe whose bytes are stored, so that it can be opened repeatedly: readers of results first read the
    beginning."""

    data: bytes | None = None

    def is_file(self, **others: Any) -> bool:
        """Return whether it can be read as often as a file."""
        return self.data is not None or super().is_file(**others)

    def open(self, mode: str = "r", *args: Any, **others: Any) -> Any:
        """Open the bytes from the pipe, at the beginning."""
        if self.data is None:
            return super().open(mode, *args, **others)
        data = io.BytesIO(self.data)
        text = {key: others[key] for key in ("encoding", "errors", "newline") if key in others}
        return data if "b" in mode else io.TextIOWrapper(data, **text)


def opened_result(path: Path) -> BinaryIO:
    """Open a regular file, or the bytes of a pipe, after its byte order mark; UTF-16 is read as UTF-8. Raises OSError,
    also for a pipe that was not read before."""
    is_read = isinstance(path, Pipe) and path.data is not None
    file = cast("BinaryIO", path.open("rb")) if is_read else opened(path)
    beginning = file.read(len(MARK))
    if not beginning.startswith(UTF16):
        file.seek(len(MARK) if beginning == MARK else 0)
        return file
    with file:
        return io.BytesIO(utf8(beginning + read_up_to(file, LARGEST_TEXT)))


def with_pipes(paths: Sequence[Path]) -> list[Path]:
    """Return the paths, with the pipes among them read; `-` is standard input. Raises UserError, also for a pipe that
    is given twice: the second time it has no data."""
    seen: set[tuple[int, int]] = set()
    return [_kept(STDIN if str(path) == "-" and not path.exists() else path, seen) for path in paths]


def _kept(path: Path, seen: set[tuple[int, int]]) -> Path:
    try:
        if not path.is_fifo():
            return path
        status = path.stat()
        if (status.st_dev, status.st_ino) in seen:
            raise UserError(str(path), "", "", "is a pipe that is given twice; expected a file, or the pipe once")
        seen.add((status.st_dev, status.st_ino))
        pipe = Pipe(path)
        pipe.data = file_bytes(path, pipes=True)
    except OSError as error:
        raise UserError(str(path), "", "", f"cannot be read: {reason_of_input(error)}") from None
    return pipe
