"""Studies: published evaluations, predicted. The package can be called: `hotband.study("content-hdd")` is `api.study`.

Python binds a package's name in its parent when one of its modules is imported, which would hide a function of the same
name; a package that can be called is the same under both.
"""

from __future__ import annotations

import sys
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.study.result import StudyHandle


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, name: str | PathLike[str], *, data: str | PathLike[str] | None = None) -> StudyHandle:
        """A study of the catalog by its name, or one from a folder; `.run()` predicts its figures. `data` is the folder
        that it needs, of a study that does. Raises UserError."""
        from hotband.api import study

        return study(name, data=data)


sys.modules[__name__].__class__ = _Callable
