"""A product's uncertain values, fitted to measurements of one drive (docs/guides/calibrate.md).

The package can be called: `hotband.calibrate("real:/dev/sdb", like="pm893-3840")` is `hotband.calibrate.api.calibrate`;
`hotband.study` says why.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotband.calibrate.calibrated import Calibrated


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, target: Any, **options: Any) -> Calibrated:
        """Calibrates a product: see `hotband.calibrate.api.calibrate`."""
        from hotband.calibrate.api import calibrate

        return calibrate(target, **options)


sys.modules[__name__].__class__ = _Callable
