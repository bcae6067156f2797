"""`hotband fleet`: groups of machines over months: failures, rebuilds, wear, energy, loss of data, spares and cost by
Monte Carlo (docs/guides/fleet.md, docs/models/fleet.md).

    hb.fleet("fleet.toml").frame

The package can be called (`hotband.packages` says why): `hotband.fleet("fleet.toml")` is `fleet.api.fleet`.
"""

from __future__ import annotations

from hotband.packages import make_callable

make_callable(__name__, "hotband.fleet.api", "fleet")
