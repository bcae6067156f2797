"""Job files as text: reading and limits, and errors that name file and line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from hotband.base.errors import UserError, reason_of
from hotband.base.folders import real_path
from hotband.base.text.regular import NotRegular, opened, read_up_to, utf8
from hotband.data.importers.files import name_of
from hotband.data.jobs.loss import Location

# Job files are written by hand or by a script; the largest seen has 200 lines. More is a slip of the argument.
LARGEST_BYTES = 4 * 1024 * 1024
LONGEST_LINE = 64 * 1024
# fio's limit of includes in includes (init.c: "Maximum number of include nesting": 16).
DEEPEST_INCLUDE = 16
ACCEPTED = "a job file of fio, vdbench, Iometer (.icf) or DiskSpd (XML)"


def words(text: str) -> list[str]:
    """Split a text into a list of names."""
    return text.split()


@dataclass(frozen=True)
class Option:
    """An option of a file."""

    key: str
    value: str
    location: Location
    spelled: str = ""
    """The key as the file spells it, where that is another."""
    note: str = ""
    """Difference from the value in the file: reserved words replaced, text after a number left out."""

    def __str__(self) -> str:
        return f"{self.spelled or self.key}={self.value}" if self.value else self.spelled or self.key

    def refuse(self, accepted: str) -> NoReturn:
        """Raise the error of this option."""
        raise UserError(str(self.location), self.spelled or self.key, self.value, accepted)


def read_text(path: Path, location: Location | None = None, value: str = "", data: bytes | None = None) -> str:
    """The text of a job file. Raises UserError if it cannot be read, is too large, or is no text; `place` includes it
    as `said`, `data` is what was read of it before."""
    data = _read(path, location, value) if data is None else data
    file = name_of(path)
    if len(data) > LARGEST_BYTES:
        raise UserError(file, "", "", f"is larger than {LARGEST_BYTES >> 20} MiB; expected {ACCEPTED}")
    text = decoded(data)
    if text is None:
        raise UserError(file, "", "", f"is not text (it has control characters); expected {ACCEPTED}")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            accepted = f"the line has {len(line):,} characters; expected at most {LONGEST_LINE:,}"
            raise UserError(f"{file}:{number}", "", "", accepted)
    return text


def _read(path: Path, location: Location | None, value: str) -> bytes:
    where = str(location) if location else name_of(path)
    try:
        # What a job includes is a file; what the user names may be a pipe.
        with opened(path, typed=location is None) as file:
            return read_up_to(file, LARGEST_BYTES)
    except NotRegular as error:
        accepted = f"{reason_of(error)}; expected {ACCEPTED}, of at most {LARGEST_BYTES >> 20} MiB"
        raise UserError(where, "include" if location else "", value, accepted) from None
    except (OSError, ValueError) as error:
        raise UserError(where, "include" if location else "", value, f"cannot be read: {reason_of(error)}") from None


def decoded(data: bytes) -> str | None:
    """Decode UTF-8, UTF-16 with its mark (PowerShell writes it), or the code page of an old Windows; None for no
    text."""
    data = utf8(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    # Line ends of Windows; a control character apart from tab and form feed is no text.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return None if any(char < " " and char not in "\n\t\f\x1a" for char in text) else text.rstrip("\x1a")


def included(location: Location, value: str, base: Path, open_files: tuple[Path, ...]) -> Path:
    """Return the file that a line includes. Raises UserError if it includes itself or is nested too deep."""
    path = Path(value) if Path(value).is_absolute() else base.parent / value
    chain = " -> ".join(name_of(file) for file in (*open_files, path))
    if not value:
        raise UserError(str(location), "include", "", "expected the name of a file")
    if real_path(path) in [real_path(open_file) for open_file in open_files]:
        raise UserError(str(location), "include", value, f"includes itself: {chain}; expected a file that does not")
    if len(open_files) > DEEPEST_INCLUDE:
        raise UserError(str(location), "include", value, f"is nested deeper than {DEEPEST_INCLUDE} files")
    return path
