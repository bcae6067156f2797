"""What the counters of a part say about it."""

from __future__ import annotations

from collections.abc import Mapping


def actuators(counters: Mapping[str, object]) -> int:
    """Arms of a drive that are busy by themselves: `busy_ns` is their sum. Drives that do not count them have one."""
    return max(1, sum(name.startswith("actuator_") and name.endswith("_busy_ns") for name in counters))
