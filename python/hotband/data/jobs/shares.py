"""Writes and flushes among the I/Os of a workload's stream, by its table."""

from __future__ import annotations

from collections.abc import Mapping


def percent_of(value: object) -> float:
    """Return a percentage of a workload, such as "70 %" or 70, as a number; 0 without one."""
    return float(str(value).strip(" %") or 0)


def writes_of(stream: Mapping[str, object]) -> float:
    """Return the share of writes among the I/Os that are not flushes, 0 to 1."""
    not_read = 1 - percent_of(stream.get("read_pct", 50.0)) / 100
    if stream.get("trim_first"):
        # A trim and its write replace each write.
        return not_read / (1 + not_read)
    return not_read * (1 - percent_of(stream.get("trim_pct", 0.0)) / 100)


def flushes_per_io(stream: Mapping[str, object]) -> float:
    """Return the number of flushes for each read, write or trim."""
    every = int(str(stream.get("flush_every", 0)))
    return writes_of(stream) / every if every else 0.0
