"""Faults of rule groups 1 to 4: laws, bandwidth, physics, replay."""

from __future__ import annotations

from faulty import (
    HITS,
    SEVENTY_TWO,
    SMALL_SSD,
    WHOLE,
    Fault,
    half,
    sweep,
)
from made_up import CACHED_WRITE, DISK, MS, SSD, US, Shape, changed, clock, deep, result, scaled

from hotband.inference.audit.facts import of_machine, of_media

LAWS = [
    Fault(
        "littles-law",
        "IOPS of twice the time",
        lambda: [scaled(result("a", deep(4), concurrency=4), "summary", "iops", by=2)],
        {"outstanding": 8.0, "declared_concurrency": 4},
        also=frozenset({"bandwidth"}),
    ),
    Fault(
        "littles-law",
        "concurrency of one job of three",
        lambda: [
            changed(
                changed(result("a", deep(48), concurrency=48), "concurrency", to=16),
                "source",
                "asked",
                "concurrency",
                to=16,
            )
        ],
        {"outstanding": 48.0, "declared_concurrency": 16},
    ),
    Fault(
        "littles-law",
        "latency that counts a queue before it",
        lambda: [scaled(result("a", deep(16), concurrency=16), *WHOLE, by=1.3)],
        {"outstanding": 20.8},
    ),
    Fault(
        "latency-unit",
        "us printed as ns",
        lambda: [scaled(result("a", deep(8), concurrency=8), *WHOLE, by=1e-3)],
        {"factor": 1e-3, "most_outstanding_corrected": 8.0},
    ),
    Fault(
        "latency-unit",
        "ms taken for s",
        lambda: [scaled(result("a", DISK), *WHOLE, by=1e3)],
        {"factor": 1e3, "most_outstanding_corrected": 1.0},
    ),
    Fault(
        "latency-unit",
        "us taken for s",
        lambda: [scaled(result("a", SSD, concurrency=32), *WHOLE, by=1e6)],
        {"factor": 1e6, "most_outstanding_corrected": 32.0},
    ),
    Fault(
        "idle-concurrency",
        "half of the threads wait for a lock",
        lambda: [result("a", deep(16), concurrency=16, jobs=16, busy=0.5)],
        {"outstanding": 8.0, "declared_concurrency": 16, "least_busy_pct": 50.0},
    ),
    Fault("idle-concurrency", "thinks 10 % of the time", lambda: [result("a", DISK, busy=0.9)], {"outstanding": 0.9}),
    Fault(
        "idle-concurrency",
        "one submitting thread",
        lambda: [result("a", deep(64), concurrency=64, jobs=1, busy=0.3)],
        {"outstanding": 19.2},
    ),
]
FLOWS = [
    Fault(
        "bandwidth-unit",
        "MiB/s taken for MB/s",
        lambda: [scaled(result("a", DISK), "summary", "bandwidth_bytes_per_s", by=1e6 / 2**20)],
        {"ratio": 1.048576, "reason": "MB is MiB (2^20 bytes)"},
    ),
    Fault(
        "bandwidth-unit",
        "KiB/s taken for kB/s",
        lambda: [scaled(result("a", SSD), "summary", "bandwidth_bytes_per_s", by=1 / 1.024)],
        {"ratio": 1.024, "reason": "KB is KiB (2^10 bytes)"},
    ),
    Fault(
        "bandwidth-unit",
        "MB/s taken for MiB/s",
        lambda: [scaled(result("a", DISK, tool="vdbench"), "summary", "bandwidth_bytes_per_s", by=2**20 / 1e6)],
        {"reason": "MiB is MB (10^6 bytes)"},
    ),
    Fault(
        "bandwidth",
        "bits",
        lambda: [scaled(result("a", DISK), "summary", "bandwidth_bytes_per_s", by=8)],
        {"ratio": 0.125, "reason": "bits are bytes"},
    ),
    Fault(
        "bandwidth",
        "another run's",
        lambda: [scaled(result("a", DISK), "summary", "bandwidth_bytes_per_s", by=1.37)],
        {"ratio": 1 / 1.37, "reason": "none known"},
    ),
    Fault(
        "bandwidth",
        "kB taken for B",
        lambda: [scaled(result("a", DISK), "summary", "bandwidth_bytes_per_s", by=1e-3)],
        {"ratio": 1000.0, "reason": "a factor of 1,000"},
    ),
]
PHYSICS = [
    Fault(
        "cache-served",
        "40 % from memory, bins",
        lambda: [result("a", half(0.4), kind="json")],
        {"cache_served_pct": 40.0, "cut_ms": 2.0},
        SEVENTY_TWO,
        "severe",
    ),
    Fault(
        "cache-served",
        "60 % from memory, the disk inferred",
        lambda: [result("a", half(0.6), kind="json")],
        {"cache_served_pct": 60.0, "cut_ms": 2.0},
        None,
        "warning",
    ),
    Fault(
        "cache-served",
        "20 % from memory, histogram, 15,000 rpm",
        lambda: [result("a", half(0.2))],
        {"cache_served_pct": 20.0},
        of_media("15000rpm"),
        "severe",
    ),
    Fault(
        "cache-served",
        "half of an SSD's reads from the page cache",
        lambda: [result("a", [(0.5, Shape(3 * US, 2 * US, 0.2)), (0.5, SSD[0][1])])],
        {"cache_served_pct": 50.0},
        SMALL_SSD,
        "severe",
    ),
    Fault(
        "below-half-revolution",
        "writes of a write-through disk from memory",
        lambda: [result("a", None, CACHED_WRITE, read_pct=0.0)],
        {"half_revolution_ms": 2.0, "latency_p50_ms": 0.15},
        of_machine("cheetah-15k4"),
    ),
    Fault(
        "below-half-revolution",
        "two mirrored disks, cache switched on unsaid",
        lambda: [result("a", None, [(1.0, Shape(0.3 * MS, 0.7 * MS, 0.3))], read_pct=0.0)],
        {"latency_p50_ms": 1.0},
        of_machine("raid1:2xcheetah-15k4"),
    ),
    Fault(
        "below-half-revolution",
        "reads of which only means and medians are known",
        lambda: [result("a", [(1.0, HITS)], kind="mean")],
        {"half_revolution_ms": 60e3 / 7200 / 2, "direction": "read"},
        SEVENTY_TWO,
    ),
]
REPLAY = [
    Fault(
        "replayed-offsets",
        "a sweep with fio's default seed",
        lambda: sweep(seed="fixed"),
        {"runs": 12, "replaying_runs": 11, "cache_served_runs": 0},
        SEVENTY_TWO,
        "warning",
    ),
    Fault(
        "replayed-offsets",
        "reads after the same reads, cached",
        lambda: [
            result("one", DISK, seed="fixed", ended=clock(0)),
            result("two", half(0.9), seed="fixed", ended=clock(1)),
        ],
        {"cache_served_runs": 1, "replaying_runs": 1},
        SEVENTY_TWO,
        "severe",
        frozenset({"cache-served"}),
    ),
    Fault(
        "replayed-offsets",
        "diskspd without -z",
        lambda: [
            result(f"d{n}", SSD, tool="diskspd", kind="percentiles", seed="fixed", ended=clock(n)) for n in range(3)
        ],
        {"runs": 3, "replaying_runs": 2},
    ),
]
