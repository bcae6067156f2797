"""Ambiguous readings of an input: the reading taken, the alternative, and how to select it."""

from __future__ import annotations

from typing import NamedTuple, TypedDict


class GuessDoc(TypedDict):
    """The reading that was taken, the other one, and how to choose the other."""

    reading: str
    other: str
    choice: str


class Guess(NamedTuple):
    """A reading that was taken although another fits as well. `reading` and `other` are phrases ("x.csv: times are
    read as ms", "µs"), `choice` is how to get the other one ("set columns time=1:us")."""

    reading: str
    other: str
    choice: str

    @property
    def doubt(self) -> str:
        """The reading taken and the alternative."""
        return f"{self.reading}; {self.other} would fit as well"

    @property
    def sentence(self) -> str:
        """The warning that every face prints."""
        return f"{self.doubt}: {self.choice}"

    def to_dict(self) -> GuessDoc:
        """Return it as a record stores it."""
        return {"reading": self.reading, "other": self.other, "choice": self.choice}
