"""A modelled machine as a block device on the wall clock: programs use it as they use a drive (docs/guides/serve.md).

The package can be called: `hotband.serve("ent-15k")` is `hotband.serve.api.serve`; `hotband.study` says why.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from hotband.serve.served import Served, ServedVolume, ServeSpec
from hotband.serve.serving import Serving

__all__ = ["ServeSpec", "Served", "ServedVolume", "Serving"]


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, on: Any, **options: Any) -> Served:
        """Serves a machine: see `hotband.serve.api.serve`."""
        from hotband import api

        return api.serve(on, **options)


sys.modules[__name__].__class__ = _Callable
