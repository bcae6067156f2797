"""Arrays and conditions for the tests, from short lives to real ones."""

from __future__ import annotations

from hotband.inference.reliability.array import Array, Conditions

GB = 1e9


def array(kind: str, drives: int, member: float = 900 * GB) -> Array:
    """An array of drives of 900 GB."""
    parity = {"raid5": 1, "raid6": 2, "raidz1": 1, "raidz2": 2, "raidz3": 3, "raid50": 2, "raid60": 4}.get(kind, 0)
    usable = {"raid1": 1.0, "raid10": drives / 2}.get(kind, float(drives - parity))
    groups = 2 if kind in ("raid50", "raid60") else 1
    return Array.of_layout(kind, drives, usable * member, member, 4096, groups)


def coded(data: int, parities: int, member: float = 900 * GB) -> Array:
    """An erasure-coded pool of k + m drives."""
    return Array.of_layout("erasure", data + parities, data * member, member, 4096, 1, parities)


# Layouts of the issue, each with drives that fail often, as data sheets say, and with sector errors, spares and orders.
CASES = {
    "raid1-often": (array("raid1", 2), Conditions(2_000.0, 20.0)),
    "raid1-real": (array("raid1", 2), Conditions(1.4e6, 6.0, 1e15)),
    "raid1-three": (array("raid1", 3), Conditions(1.4e6, 6.0, 1e15)),
    "raid5-often": (array("raid5", 5), Conditions(5_000.0, 24.0, 1e14)),
    "raid5-real": (array("raid5", 8), Conditions(1.4e6, 6.0)),
    "raid5-orders": (array("raid5", 5), Conditions(1e5, 12.0, 1e15, replacement=48.0)),
    "raid6-often": (array("raid6", 6), Conditions(3_000.0, 24.0, 1e15)),
    "raid6-real": (array("raid6", 12), Conditions(2e6, 8.0, 1e16)),
    "raid6-one-rebuild": (array("raid6", 8), Conditions(1e6, 10.0, one_rebuild=True)),
    "raid10-often": (array("raid10", 8), Conditions(5_000.0, 24.0, 1e15)),
    "raid10-real": (array("raid10", 24), Conditions(2e6, 3.0, 1e16)),
    "raid10-spare": (array("raid10", 8), Conditions(1e5, 20.0, 1e15, spares=1, replacement=100.0)),
    "raid50-often": (array("raid50", 8), Conditions(5_000.0, 24.0, 1e15)),
    "raid50-orders": (array("raid50", 10), Conditions(1e5, 12.0, 1e15, replacement=48.0)),
    "raid60-often": (array("raid60", 10), Conditions(3_000.0, 24.0, 1e15)),
    "raid60-real": (array("raid60", 16), Conditions(2e6, 8.0, 1e16)),
    "raidz3-often": (array("raidz3", 9), Conditions(500.0, 48.0, 1e15)),
    "coded-often": (coded(4, 2), Conditions(1_000.0, 24.0)),
}
