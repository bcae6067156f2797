"""Reviews: a machine measured as reviewers measure drives, and several compared.

A file a part (`linear.py`, `access.py`, ...), each with what it asks of the engine and what it makes of the records;
`target.py` is what is reviewed, `suite.py` runs the parts, `summary.py` sums them up, `tables.py` prints them.

The package can be called: `hotband.review("exos-15e900-512n")` is `hotband.review.api.review`; `hotband.study` says
why.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hotband.review.suite import PARTS, ReviewInterrupted, plan, review, run_plan
from hotband.review.summary import compare

if TYPE_CHECKING:
    from hotband.review.many import Reviewed

__all__ = ["PARTS", "ReviewInterrupted", "compare", "plan", "review", "run_plan"]


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, on: Any, **options: Any) -> Reviewed:
        """Reviews machines: see `hotband.review.api.review`."""
        from hotband.review.api import review as reviewed

        return reviewed(on, **options)


sys.modules[__name__].__class__ = _Callable
