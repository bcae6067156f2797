"""Data that a study needs and Hotband does not ship: a folder of the user.

Texts of machines and workloads contain `{data}` for the folder's path.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.folders import real_path

DATA = "{data}"
"""The placeholder of the folder in a text."""
CHECKOUT = Path(__file__).parents[4]
"""The folder of the sources, if Hotband runs from them: shared folders are next to it."""


@dataclass(frozen=True)
class Data:
    """A folder that a study needs: its content, the variable that names it, its name next to a checkout of the sources,
    and the folder given for this run."""

    about: str
    variable: str
    beside: str
    given: Path | None = None

    def folder(self, study: str) -> Path:
        """Return the path of the folder. Raises UserError if there is none."""
        named = os.environ.get(self.variable)
        for key, given in (("question.data", self.given), (self.variable, Path(named) if named else None)):
            if given is not None:
                if not given.is_dir():
                    raise UserError(key, "", str(given), f"is not a folder; expected {self.about}")
                return real_path(given)
        beside = CHECKOUT.parent / self.beside
        if not beside.is_dir():
            needs = f"needs {self.about}, which is not part of Hotband"
            raise UserError(study, "", "", f"{needs}: give its folder as data, or in {self.variable}")
        return real_path(beside)


def toml_text(folder: Path) -> str:
    """Escape a path for the quotes of a TOML text."""
    return str(folder).replace("\\", "\\\\").replace('"', '\\"')
