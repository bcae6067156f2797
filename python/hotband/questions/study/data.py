"""Data that a study needs and that is not part of Hotband: a folder that the user has, and where it is found.

Texts of machines and workloads have `{data}` where the folder's path belongs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError

DATA = "{data}"
"""Where a text has the folder."""
CHECKOUT = Path(__file__).parents[4]
"""The folder of the sources, where Hotband runs from these: folders that are shared stand beside it."""


@dataclass(frozen=True)
class Data:
    """A folder that a study needs: what it is, the variable that names it, where it stands beside a checkout of the
    sources, and what was said for this run."""

    about: str
    variable: str
    beside: str
    said: Path | None = None

    def folder(self, study: str) -> Path:
        """Where it is. Raises UserError where there is none."""
        named = os.environ.get(self.variable)
        for key, given in (("question.data", self.said), (self.variable, Path(named) if named else None)):
            if given is not None:
                if not given.is_dir():
                    raise UserError(key, "", str(given), f"is no folder; expected {self.about}")
                return given.resolve()
        beside = CHECKOUT.parent / self.beside
        if not beside.is_dir():
            needs = f"needs {self.about}, which is not part of Hotband"
            raise UserError(study, "", "", f"{needs}: give its folder as data, or in {self.variable}")
        return beside.resolve()


def toml_text(folder: Path) -> str:
    """A path as it stands between the quotes of a TOML text."""
    return str(folder).replace("\\", "\\\\").replace('"', '\\"')
