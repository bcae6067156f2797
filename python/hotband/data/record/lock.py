"""A lock that allows one writer per folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.write import NO_LOCKS
from hotband.data.record.writable import check_writable

LOCK_FILE = ".lock"


class Lock:
    """The right to write into a folder, held within the `with` block and at most until the process ends. Raises
    UserError if another process holds it, or if the folder cannot be written."""

    def __init__(self, folder: Path, option: str = "question.out") -> None:
        self.folder, self.option = folder, option
        self._file = -1

    def __enter__(self) -> Lock:
        check_writable(self.folder, self.option)
        path = self.folder / LOCK_FILE
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                self._take(file)
                # The previous holder may have removed the file after it was opened here and before it was locked.
                if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                    break
            except BaseException:
                os.close(file)
                raise
            os.close(file)
        self._file = file
        # The holder's name is written for others if possible; on a full device the lock still holds.
        with contextlib.suppress(OSError):
            os.ftruncate(file, 0)
            os.write(file, f"{os.getpid()}\n".encode())
        return self

    def _take(self, file: int) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(file, 20).decode("ascii", "replace").strip()
            who = f"process {owner}" if owner.isdigit() else "another process"
            accepted = f"{who} is writing there: use another folder, or wait until it ends"
            raise UserError(self.option, "", str(self.folder), accepted) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            (self.folder / LOCK_FILE).unlink()
        os.close(self._file)
