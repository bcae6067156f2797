"""`hotband fleet`: groups of machines over months: failures, rebuilds, wear, energy, loss of data, spares and cost by
Monte Carlo (docs/guides/fleet.md, docs/models/fleet.md).

    hb.fleet("fleet.toml").frame

The package can be called (`hotband.study` says why): `hotband.fleet("fleet.toml")` is `fleet.api.fleet`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotband.fleet.result import Fleet


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, fleet: Any, **options: Any) -> Fleet:
        """Simulates a fleet (`fleet.api.fleet`). Raises UserError."""
        from hotband.fleet.api import fleet as simulated

        return simulated(fleet, **options)


sys.modules[__name__].__class__ = _Callable
