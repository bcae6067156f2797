"""A product's uncertain values, fitted to measurements of one drive (docs/guides/calibrate.md).

The package can be called: `hotband.calibrate("real:/dev/sdb", like="pm893-3840")` is `hotband.calibrate.api.calibrate`;
`hotband.packages` says why.
"""

from __future__ import annotations

from hotband.packages import make_callable

make_callable(__name__, "hotband.calibrate.api", "calibrate")
