"""Check before a run that its results can be written into a folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hotband.base.errors import UserError, reason_of
from hotband.base.text.write import is_mistake, is_special

RESULT_FILES = (
    *("record.json", "series.parquet", "caches.parquet", "smart.parquet", "power.parquet"),
    *("finished.json", "experiment.json", "result.json", "sweep.journal", "sweep.parquet"),
)
"""Files that commands write into a folder of results; those of a run first."""


def check_writable(folder: Path, option: str = "question.out") -> None:
    """Create a folder of results and a file in it, so that an unwritable one is reported before the work. Raises
    UserError if the path is wrong, or something else exists under the name of a result, else OSError."""
    check_folder(folder, option)
    for path in (folder / name for name in RESULT_FILES):
        if is_special(path):
            raise UserError(option, "", str(path), "is a pipe, a socket or a device; expected a folder of files")


def check_folder(folder: Path, option: str) -> None:
    """Check a folder for any files as `check_writable` does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if not is_mistake(error):
            raise OSError(error.errno, error.strerror, str(folder)) from None
        if folder.is_symlink() and not folder.exists():
            accepted = f"is a link to {os.readlink(folder)}, which does not exist: expected a folder"
            raise UserError(option, "", str(folder), accepted) from None
        raise UserError(option, "", str(folder), f"the folder cannot be written: {reason_of(error)}") from None
