"""The accepted range of each line of a data sheet: a typing error (ms for us, GB for MB) is outside of it.

Each range has its reason. The ranges are wide on purpose, from about half the smallest to twice the largest known
value: unusual drives pass, impossible ones do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """The range of a line in base units (bytes, bytes per second, seconds, rpm, watts), and its reason."""

    least: float
    most: float
    why: str


MS, US = 1e-3, 1e-6

LIVES_BOUNDS: Mapping[str, Bounds] = {
    "year": Bounds(1990, 2040, "rules of the data sheet begin with disks of 1990"),
    "mtbf": Bounds(50_000, 20e6, "data sheets state 300,000 h (desktop disks of 2000) to 2,500,000 h"),
    "error-rate": Bounds(1e12, 1e20, "data sheets state 1e13 (disks of 2000) to 1e18 bits (solid-state drives)"),
}
DISK_BOUNDS: Mapping[str, Bounds] = {
    **LIVES_BOUNDS,
    "capacity": Bounds(1e9, 100e12, "disks of 1994 have 1 GB, the largest of 2025 36 TB"),
    "rpm": Bounds(3_600, 16_000, "disks turn 5,400 to 15,000 times a minute"),
    "bandwidth": Bounds(3e6, 600e6, "disks of 1994 give 5 MB/s, the fastest, with two actuators, 550 MB/s"),
    "cache": Bounds(150e3, 2e9, "disks have 0.5 MB (1994) to 512 MB of memory"),
    "seek": Bounds(2 * MS, 20 * MS, "the fastest disks seek in 2.6 ms on average, the slowest in 13 ms"),
    "seek-write": Bounds(
        2 * MS, 25 * MS, "the fastest disks seek in 2.9 ms on average before a write, the slowest in 15"
    ),
    "read-iops": Bounds(30, 2_000, "a queue lets disks read 80 (portable) to 600 (two actuators) times a second"),
    "read-iops-depth": Bounds(1, 256, "disks queue at most 32 (SATA) to 128 commands"),
    "write-iops": Bounds(30, 5_000, "disks write 80 (portable) to 1,000 (15,000 rpm) times a second"),
    "read-iops-qd1": Bounds(20, 400, "a revolution and a seek leave 40 (portable) to 220 (15,000 rpm) reads a second"),
    "heads": Bounds(1, 32, "the most are 22, on 11 discs"),
    "power-idle": Bounds(0.1, 30, "disks draw 0.5 to 12 W when idle"),
    "power-active": Bounds(0.5, 50, "disks draw 1.5 to 18 W in random reads"),
}
SSD_BOUNDS: Mapping[str, Bounds] = {
    **LIVES_BOUNDS,
    "capacity": Bounds(16e9, 256e12, "the smallest sold are of 16 GB (Optane M10), the largest of 2025 of 246 TB"),
    "read-bandwidth": Bounds(50e6, 60e9, "from SATA of 2008, 250 MB/s, to PCIe 6.0 x4, 28 GB/s"),
    "write-bandwidth": Bounds(30e6, 60e9, "from SATA of 2008, 70 MB/s, to PCIe 5.0 x4, 14 GB/s"),
    "read-iops": Bounds(
        2_000, 20e6, "drives of 2008 read 35,000 times a second at a deep queue, those of 2024 3.3 million"
    ),
    "write-bandwidth-after-cache": Bounds(10e6, 60e9, "QLC flash of 2018 takes 50 MB/s, drives without a cache all"),
    "write-iops-burst": Bounds(500, 20e6, "new drives write 3,000 (2008) to 3 million times a second"),
    "slc-cache": Bounds(100e6, 100e12, "SLC caches have 3 GB (2014) to a quarter of the capacity"),
    "write-iops": Bounds(500, 20e6, "drives in steady state do thousands of writes a second; a disk does hundreds"),
    "read-latency": Bounds(3 * US, 1 * MS, "phase-change memory answers in 7 us, QLC flash in 150 us"),
    "write-latency": Bounds(
        3 * US, 5 * MS, "a write buffer completes in 7 us, a drive without one after programming, 1 to 3 ms"
    ),
    "dwpd": Bounds(0.02, 100, "from QLC, 0.1, to phase-change memory, 100 (Optane P5800X)"),
    "power-idle": Bounds(0.01, 40, "drives draw 0.05 to 10 W when idle"),
    "power-active": Bounds(0.3, 100, "drives draw 1 (portable) to 40 W"),
}
