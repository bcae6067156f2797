"""Programs for Python: `hb.program` runs one, `hb.programs` lists them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.data.documents.program import FigureDoc, ProgramDoc
from hotband.data.inputs.specify import changes, settings_of
from hotband.execution.programs import all_programs, needs, run
from hotband.execution.programs.needs import how_to_get

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ProgramResult:
    """What a run of a program left."""

    document: ProgramDoc

    @property
    def name(self) -> str:
        """The program."""
        return self.document["name"]

    @property
    def version(self) -> str:
        """What it says of itself."""
        return self.document["version"]

    @property
    def figures(self) -> dict[str, FigureDoc]:
        """Its figures by name, each with `value` and `unit`."""
        return {figure["name"]: figure for figure in self.document["figures"]}

    @property
    def frame(self) -> pl.DataFrame:
        """Its figures, a row each: name, value, unit."""
        import polars as pl

        kinds = {"name": pl.String, "value": pl.Float64, "unit": pl.String}
        return pl.DataFrame(
            [{**figure, "value": float(figure["value"])} for figure in self.document["figures"]], schema=kinds
        )

    @property
    def text(self) -> str:
        """What it printed."""
        return self.document["text"]

    @property
    def notes(self) -> list[str]:
        """What should be known with the figures."""
        return self.document["notes"]

    def __getitem__(self, name: str) -> float:
        """The value of a figure. KeyError where it has none of that name."""
        return self.figures[name]["value"]

    def to_dict(self) -> ProgramDoc:
        """The section `program` of a record, a copy."""
        return copy.deepcopy(self.document)


@public
def program(
    name: str,
    *,
    on: str,
    out: str | PathLike[str] | None = None,
    set: Mapping[str, object] | None = None,
    progress: Callable[[str], None] | None = None,
    **settings: object,
) -> ProgramResult:
    """Runs a real program on a machine, served as block devices on the wall clock, or in a folder (`on="real:DIR"`).

    `settings` are those of the program (`clients=8`, `total="1 GiB"`), which `hotband program NAME` lists; `out` is a
    folder for the record; `progress` is called with lines of progress, from other threads too. Nothing stays behind:
    processes are ended, file systems unmounted, files removed, also after Ctrl-C.

    Raises UserError for a mistake and for a program that is not installed, OSError where the program fails.
    """
    asked = dict(settings_of(changes(set, settings, of_load=False)))
    return ProgramResult(run.run_program(name, on, asked, None if out is None else Path(out), progress or silent))


def silent(_: str) -> None:
    """No progress."""


def programs() -> pl.DataFrame:
    """The programs that can be run: a row each with name, title, what it asks of the disk, and what is missing here."""
    import polars as pl

    rows = [
        {
            "name": all_program.name,
            "title": all_program.title,
            "asks": all_program.asks,
            "missing": how_to_get(needs.missing(all_program)),
        }
        for all_program in all_programs()
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("name", "title", "asks", "missing"), pl.String))
