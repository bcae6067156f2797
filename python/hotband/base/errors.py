"""A mistake of the user as one typed error with file, key, value and accepted values. Exit code 2, no traceback."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hotband.base.fields import in_words
from hotband.base.foreign import MOST_SHOWN, shortened

LONGEST_WORD = 1000
"""Longest word of the accepted values that is printed whole: a path, or a name from a file."""


class UserError(Exception):
    """A mistake in the input.

    `where` (also `file`) is the file or the field of the question (`question.capacity`), `key` the key in it (may be
    empty; `path` has its fields), `value` the value there and `accepted` a description of accepted values. The text is
    one line, in which a long value is shortened.
    """

    def __init__(self, where: str, key: str, value: str, accepted: str) -> None:
        self.where, self.key, self.value, self.accepted = where, key, value, accepted
        super().__init__(str(self))

    def __reduce__(self) -> tuple[type[UserError], tuple[str, str, str, str]]:
        return type(self), (self.where, self.key, self.value, self.accepted)

    @property
    def file(self) -> str:
        """Return the file or argument that contains the mistake: `where`."""
        return self.where

    @property
    def path(self) -> tuple[str | int, ...]:
        """Return the key as a path of fields: `streams[0].size` is ("streams", 0, "size"); empty if there is no key."""
        import re

        names = re.findall(r"\[(\d+)\]|([^.\[\]]+)", self.key)
        return tuple(int(number) if number else name for number, name in names)

    def worded(self, word: Callable[[str], str]) -> UserError:
        """Return the same mistake with each field of the question renamed by `word`, for instance to an option."""
        where = in_words(self.where, word)
        error = UserError(where, self.key, self.value, in_words(self.accepted, word))
        return error.with_traceback(self.__traceback__)

    def __str__(self) -> str:
        # Paths have up to 4096 bytes (PATH_MAX); a longer text comes from within a file.
        where = shortened(self.where, 4096)
        subject = f"{where}: {shortened(self.key, 2 * MOST_SHOWN)}" if self.key else where
        long = len(self.value) > MOST_SHOWN
        value = f"{self.value[:MOST_SHOWN]!r}... ({len(self.value):,} characters)" if long else repr(self.value)
        given = f" = {value}" if self.value else ""
        # The accepted values may include names from the user.
        accepted = " ".join(shortened(word, LONGEST_WORD) for word in self.accepted.split())
        return " ".join(f"{subject}{given}: {accepted}".split())


class CallError(UserError, TypeError):
    """A call that fits no signature, which Python itself reports as TypeError. `where` is the function."""

    def __str__(self) -> str:
        return f"{self.where} {self.accepted}"


def reason_of(error: Exception) -> str:
    """Return the reason of a failure in one line: the system's message, else that of the error itself."""
    system = error.strerror if isinstance(error, OSError) else None
    return system or shortened((str(error).splitlines() or [type(error).__name__])[0], 300)


def reason_of_input(error: Exception) -> str:
    """Return why a file of the user cannot be read. A missing one may have been typed without its ending."""
    if isinstance(error, FileNotFoundError) and (meant := file_beside(os.fsdecode(error.filename or ""))):
        return f"{reason_of(error)}; did you mean {shortened(meant, 300)}?"
    return reason_of(error)


def file_beside(name: str, endings: Sequence[str] = ()) -> str | None:
    """Return the file that `name` means without its ending, `./x.toml` for `x`; None without one. `endings` are the
    accepted ones, by default all."""
    if not name or name.endswith(("/", ".")) or "\0" in name:
        return None
    folder, base = os.path.split(name)
    try:
        listed = sorted(os.listdir(folder or "."))
    except OSError:
        return None
    files = [os.path.join(folder, file) for file in listed if file.startswith(f"{base}.")]
    files = [path for path in files if os.path.isfile(path)]
    accepted = [path for path in files if not endings or path[len(name) :].lower().endswith(tuple(endings))]
    if not accepted:
        return None
    return accepted[0] if "/" in name else f"./{accepted[0]}"


def characters(where: str, given: str) -> str:
    """Return the text if all of it can be encoded. Raises UserError."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise no_text(where, given) from None
    return given


def no_text(where: str, given: str) -> UserError:
    """Return the error for a name with bytes that are not characters, which Python represents as surrogates."""
    return UserError(where, "", given, "has bytes that are not text; expected UTF-8")


def another_version(path: object, version: object, reads: int, expected: str = "") -> UserError:
    """Return the error for a file written by another version of Hotband."""
    accepted = f"was written by another version of Hotband; this one reads {reads}"
    accepted += f": expected {expected}" if expected else ""
    return UserError(str(path), "schema_version", str(version), accepted)


def refused(out: Path, why: str, option: str = "question.out") -> UserError:
    """Return the error for a folder that contains something else."""
    return UserError(option, "", str(out), f"{why}: expected another folder, or question.fresh to start over")


def is_of_another_version(table: Mapping[str, object], schema: str, reads: int) -> bool:
    """Return whether a file has the right type, but was written by another version of Hotband."""
    version = table.get("schema_version")
    return table.get("schema") == schema and isinstance(version, int) and version != reads
