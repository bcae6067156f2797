"""Inverse questions: which rate, queue depth, number of drives or value meets a condition (docs/guides/find.md).

The package can be called: `hotband.find("IOPS at p99 < 10 ms", ...)` is `hotband.find.api.find`; `hotband.study` says
why.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotband.find.found import Found


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, question: str, workload: Any, **options: Any) -> Found:
        """Answers an inverse question: see `hotband.find.api.find`."""
        from hotband.find.api import find

        return find(question, workload, **options)


sys.modules[__name__].__class__ = _Callable
