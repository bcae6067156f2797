"""Faults of the device and of the host: caches that are used up, devices that grow hot, others that interfere, hosts
without a processor left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from faulty import SMALL_SSD, Fault
from made_up import CACHED_WRITE, SSD, changed, result, series

from hotband.inference.audit import Audited
from hotband.inference.audit.facts import MachineFacts

STEADINESS = frozenset({"drift", "warm-up-measured", "no-steady-state", "not-preconditioned"})
"""Rules that speak of what has no steady state, too."""
BIG = MachineFacts("an SSD", "--on", "ssd", 1, capacity_bytes=4e12, raw_bytes=4e12, read_time_ns=60e3)


def writes(levels: Sequence[float], noise: float = 0.01) -> Audited:
    """300 s of 4 KiB writes at a depth of 32, at these levels of IOPS one after the other."""
    over_time = series(levels, 300, 400e3, noise, reads=0.0)
    return result("a", writes=CACHED_WRITE, concurrency=32, read_pct=0.0, over_time=over_time)


def reads(levels: Sequence[float], degrees: Sequence[float], **more: Sequence[float]) -> Audited:
    """300 s of reads at these levels, and a device at these temperatures."""
    one = result("a", SSD, concurrency=32, over_time=series(levels, 300, 100e3))
    return replace(one, over_time={"health": health(degrees, **more)})


def health(degrees: Sequence[float], **more: Sequence[float]) -> pl.DataFrame:
    """Readings in equal distances of 300 s."""
    times = [round(300e9 * n / (len(degrees) - 1)) for n in range(len(degrees))]
    return pl.DataFrame({"time_ns": times, "drive": ["nvme0n1"] * len(times), "temperature_c": list(degrees), **more})


def beside(processes: Sequence[tuple[str, float]] = (), **shares: float) -> Audited:
    """A run beside which others did I/O or kept processors busy."""
    rows = [{"name": name, "cpu_ns": 1, "read_bytes": 0, "written_bytes": bytes_} for name, bytes_ in processes]
    found: dict[str, Any] = {"cpu_others": 0.01, "cpu_stolen": 0.0, "processes": rows, **shares}
    return changed(result("a", SSD), "context", to={"background": found})


def with_processor(percent: float, **asked: Any) -> Audited:
    """A run whose jobs used so much of a processor."""
    return changed(result("a", SSD, **asked), "source", "job_cpu_pct", to=percent)


RISING = [30, 40, 50, 60, 70, 75, 78, 78, 78, 78, 78]

DEVICE_FAULTS = [
    # Levels of IOPS: 4,096 B each, 100 s of the first are 4.1 GB at 10,000.
    Fault(
        "cache-exhausted",
        "pseudo-SLC: a third of the time at four times the rate",
        lambda: [writes([40_000, 10_000, 10_000])],
        {"written_bytes": 16.4e9, "after_s": 100.0, "fall_pct": 75.0},
        BIG,
        "warning",
        STEADINESS,
    ),
    Fault(
        "cache-exhausted",
        "a disk's cache: a small fall late",
        lambda: [writes([10_000, 10_000, 10_000, 7_000], 0.03)],
        {"after_s": 225.0, "fall_pct": 30.0},
        None,
        "",
        STEADINESS,
    ),
    Fault(
        "cache-exhausted",
        "a new drive that is written over once",
        lambda: [writes([50_000, 10_000])],
        {"written_bytes": 30.7e9},
        replace(SMALL_SSD, capacity_bytes=30e9, raw_bytes=30e9),
        "",
        STEADINESS,
    ),
    Fault(
        "thermal-throttling",
        "by its own counters",
        lambda: [reads([10_000], [60, 70, 70], throttled_s=[5, 5, 42])],
        {"throttled_s": 37.0, "hottest_c": 70.0},
    ),
    Fault(
        "thermal-throttling",
        "a fall at the hottest",
        lambda: [reads([10_000, 10_000, 6_000], RISING)],
        {"fall_pct": 40.0, "begin_c": 30.0, "hottest_c": 78.0, "after_s": 200.0},
        None,
        "warning",
        STEADINESS,
    ),
    Fault(
        "thermal-throttling",
        "events that it counts",
        lambda: [reads([10_000], [60, 70, 70], throttle_events=[1, 2, 4])],
        {"throttle_events": 3.0},
    ),
    Fault(
        "interference",
        "another process writes",
        lambda: [beside([("postgres", 9e9), ("journald", 1e5)])],
        {"most": "postgres", "processes": 2},
        None,
        "warning",
    ),
    Fault("interference", "processors are taken", lambda: [beside(cpu_others=0.6)], {"others_pct": 60.0}),
    Fault("interference", "the host of the machine takes time", lambda: [beside(cpu_stolen=0.08)], {"stolen_pct": 8.0}),
    Fault("processor-bound", "one job", lambda: [with_processor(99.5)], {"job_cpu_pct": 99.5, "jobs": 1}),
    Fault("processor-bound", "each of four", lambda: [with_processor(96.0, jobs=4)], {"jobs": 4}),
    Fault(
        "processor-bound",
        "a core of a modelled host",
        lambda: [changed(result("a", SSD), "host", to={"cores": [], "full": ["core0"]})],
        {"full_cores": 1},
    ),
]
