"""A modelled machine as a block device on the wall clock: programs use it as they use a drive (docs/guides/serve.md).

The package can be called: `hotband.serve("ent-15k")` is `hotband.serve.api.serve`; `hotband.packages` says why.
"""

from __future__ import annotations

from hotband.packages import make_callable
from hotband.serve.served import Served, ServedVolume, ServeSpec
from hotband.serve.serving import Serving

__all__ = ["ServeSpec", "Served", "ServedVolume", "Serving"]

make_callable(__name__, "hotband.serve.api", "serve")
