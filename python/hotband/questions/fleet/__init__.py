"""`hotband fleet`: simulate groups of machines over months by Monte Carlo: failures, rebuilds, wear, energy, data loss,
spares and cost (docs/guides/fleet.md).

    hb.fleet("fleet.toml").frame
"""

from __future__ import annotations
