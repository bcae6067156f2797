"""Properties of a part derived from its counters."""

from __future__ import annotations

from collections.abc import Mapping


def actuators(counters: Mapping[str, object]) -> int:
    """Return the independent arms of a drive, over which `busy_ns` is summed; 1 if the drive does not count them."""
    return max(1, sum(name.startswith("actuator_") and name.endswith("_busy_ns") for name in counters))
