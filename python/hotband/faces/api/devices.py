"""The drives of this computer."""

from __future__ import annotations

from hotband.base.arguments import public
from hotband.execution.targets.found import Listed, listed


@public
def device_list() -> list[Listed]:
    """Return all block devices of this computer with their partitions, each with its protection from writing."""
    return listed()
