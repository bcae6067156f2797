"""How long an array keeps its data: mean time to data loss and chance of loss, simulated beside the closed form.

The package can be called (`hotband.study` says why): `hotband.reliability("raid1:2xent-10k")` is
`reliability.api.reliability`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hotband.reliability.asked import Asked
from hotband.reliability.assess import assess

if TYPE_CHECKING:
    from hotband.reliability.result import Reliability

__all__ = ["Asked", "assess"]


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, on: Any, **options: Any) -> Reliability:
        """Assesses an array (`reliability.api.reliability`). Raises UserError."""
        from hotband.reliability.api import reliability

        return reliability(on, **options)


sys.modules[__name__].__class__ = _Callable
