"""`hotband fleet`: groups of machines over months: failures, rebuilds, wear, energy, loss of data, spares and cost by
Monte Carlo (docs/guides/fleet.md, docs/models/fleet.md).

    hb.fleet("fleet.toml").frame
"""

from __future__ import annotations
