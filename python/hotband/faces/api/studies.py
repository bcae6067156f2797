"""Published evaluations, predicted."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.questions.study import file
from hotband.questions.study.result import StudyHandle


@public
def study(name: str | PathLike[str], *, data: str | PathLike[str] | None = None) -> StudyHandle:
    """A study of the catalog by its name, or one from a folder; `.run()` predicts its figures. `data` is the folder
    that it needs, of a study that does (real-disks). Raises UserError."""
    return StudyHandle(file.with_data(file.load(str(name)), None if data is None else Path(data)))
