"""Does a comparison of a model and the emulated drive tell the drive's latencies from those of the host?"""

from __future__ import annotations

from typing import Any

import pytest

from hotband.inference.beside import unresolved


def record(read_ns: float, write_ns: float, delay_ns: float | None = None) -> Any:
    """A record with mean latencies, and the emulation delay if it is of an emulated drive."""
    names = ("latency_mean_ns", "latency_p50_ns", "latency_p99_ns")
    sides = {
        side: {"iops": 100.0, "count": 100, **dict.fromkeys(names, mean)}
        for side, mean in (("read", read_ns), ("write", write_ns))
    }
    names = ("mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns")
    late = None if delay_ns is None else dict.fromkeys(names, delay_ns)
    serving = {"lateness": late, "late": None, "kinds": [], "way_ns": 0, "cores_awake": False}
    return {"summary": {**sides["read"], **sides}, "serving": serving}


@pytest.mark.parametrize(("delay_ns", "of_host"), [(73e3, {"write": 37e3}), (30e3, {}), (None, {})])
def test_latencies_below_the_delay_are_those_of_the_host(delay_ns: float | None, of_host: dict[str, float]) -> None:
    assert unresolved(record(7e6, 37e3), record(7.1e6, 340e3, delay_ns)) == of_host
