"""What to buy for a workload: drives, layouts, counts and caches, searched (docs/guides/advise.md).

The package can be called: `hotband.advise(["fio-randread"], ...)` is `hotband.advise.api.advise`; `hotband.packages`
says why.
"""

from __future__ import annotations

from hotband.packages import make_callable

YEARS = 5.0
"""Data sheets warrant drives for five years (DWPD is stated over that time)."""

make_callable(__name__, "hotband.advise.api", "advise")
