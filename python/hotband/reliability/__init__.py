"""How long an array keeps its data: mean time to data loss and chance of loss, simulated beside the closed form."""

from hotband.reliability.asked import Asked
from hotband.reliability.assess import assess

__all__ = ["Asked", "assess"]
