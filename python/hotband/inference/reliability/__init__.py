"""How long an array keeps its data: mean time to data loss and chance of loss, simulated beside the closed form."""

from __future__ import annotations
