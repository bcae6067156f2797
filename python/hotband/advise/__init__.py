"""What to buy for a workload: drives, layouts, counts and caches, searched (docs/guides/advise.md).

The package can be called: `hotband.advise(["fio-randread"], ...)` is `hotband.advise.api.advise`; `hotband.study` says
why.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

YEARS = 5.0
"""Data sheets warrant drives for five years (DWPD is stated over that time)."""

if TYPE_CHECKING:
    from hotband.advise.advice import Advice


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, workloads: Any, **options: Any) -> Advice:
        """Recommends what to buy: see `hotband.advise.api.advise`."""
        from hotband.advise.api import advise

        return advise(workloads, **options)


sys.modules[__name__].__class__ = _Callable
