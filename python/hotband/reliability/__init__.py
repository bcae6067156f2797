"""How long an array keeps its data: mean time to data loss and chance of loss, simulated beside the closed form.

The package can be called (`hotband.packages` says why): `hotband.reliability("raid1:2xent-10k")` is
`reliability.api.reliability`.
"""

from __future__ import annotations

from hotband.packages import make_callable

make_callable(__name__, "hotband.reliability.api", "reliability")
