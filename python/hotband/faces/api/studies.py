"""Studies from Python: published evaluations, predicted."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.text.schema import with_schema
from hotband.faces.asked.methods import StudyMethods
from hotband.questions.study import file
from hotband.questions.study.definition import Study

if TYPE_CHECKING:
    from hotband.data.documents.study import StudyOutline


@dataclass(frozen=True)
class StudyHandle(StudyMethods):
    """A study that can be run: a published evaluation, its machines, loads and figures."""

    study: Study

    @property
    def name(self) -> str:
        """Its name."""
        return self.study.name

    @property
    def title(self) -> str:
        """Subject of the study."""
        return self.study.title

    @property
    def loads(self) -> tuple[str, ...]:
        """Names of its loads, for `only`."""
        return tuple(load.id for load in self.study.loads)

    def to_dict(self) -> StudyOutline:
        """Return its configurations, loads and published figures, as `hotband studies NAME --json` prints them."""
        return with_schema(file.describe(self.study), "hotband-study-outline")

    def __repr__(self) -> str:
        return f"<Study {self.name}: {self.title}>"


@public
def study(name: str | PathLike[str], *, data: str | PathLike[str] | None = None) -> StudyHandle:
    """Return a study of the catalog by its name, or one from a folder; `.run()` predicts its figures. `data` is the
    folder of its data, for a study that needs one (real-disks). Raises UserError."""
    return StudyHandle(file.with_data(file.load(str(name)), None if data is None else Path(data)))
