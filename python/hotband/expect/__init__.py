"""Results of other tools beside predictions: good or bad? (docs/guides/expect.md).

The package can be called: `hotband.expect("run.json", on=...)` is `hotband.expect.api.expect`; `hotband.study` says
why.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotband.expect.expected import Expected


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, result: Any, **options: Any) -> Expected:
        """Compares a result with its prediction: see `hotband.expect.api.expect`."""
        from hotband.expect.api import expect

        return expect(result, **options)


sys.modules[__name__].__class__ = _Callable
