"""The user's mistake, as one typed error: file, key, value and what is accepted. Exit code 2, no traceback."""

from __future__ import annotations


class UserError(Exception):
    """A mistake in the input.

    `where` is the file or argument, `key` the key in it (may be empty), `value` what was found there and
    `accepted` what would have been right. The text is one line.
    """

    def __init__(self, where: str, key: str, value: str, accepted: str) -> None:
        self.where, self.key, self.value, self.accepted = where, key, value, accepted
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: {self.key}" if self.key else self.where
        found = f" = {self.value!r}" if self.value else ""
        return " ".join(f"{place}{found}: {self.accepted}".split())
