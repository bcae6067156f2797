"""The result of a run of a program."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from hotband.base.heavy import pl
from hotband.data.documents.program import FigureDoc, ProgramDoc


@dataclass(frozen=True)
class ProgramResult:
    """The result of a run of a program."""

    document: ProgramDoc

    @property
    def name(self) -> str:
        """Return the name of the program."""
        return self.document["name"]

    @property
    def version(self) -> str:
        """Return the version that the program prints."""
        return self.document["version"]

    @property
    def figures(self) -> dict[str, FigureDoc]:
        """Return its figures by name, each with `value` and `unit`."""
        return {figure["name"]: figure for figure in self.document["figures"]}

    @property
    def frame(self) -> pl.DataFrame:
        """Return a row per figure: name, value, unit."""
        kinds = {"name": pl.String, "value": pl.Float64, "unit": pl.String}
        return pl.DataFrame(
            [{**figure, "value": float(figure["value"])} for figure in self.document["figures"]], schema=kinds
        )

    @property
    def text(self) -> str:
        """Return the output of the program."""
        return self.document["text"]

    @property
    def notes(self) -> list[str]:
        """Return notes for the reader of the figures."""
        return self.document["notes"]

    def __getitem__(self, name: str) -> float:
        """Return the value of a figure. Raises KeyError for an unknown name."""
        return self.figures[name]["value"]

    def to_dict(self) -> ProgramDoc:
        """Return a copy of the section `program` of a record."""
        return copy.deepcopy(self.document)
