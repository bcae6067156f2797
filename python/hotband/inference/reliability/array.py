"""An array of drives that fail and are rebuilt. Times are in hours, sizes in bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

# Data sheets state the AFR for a year of 365 days.
HOURS_PER_YEAR = 8760.0

# Failed drives that a group tolerates; a mirror ("raid1") tolerates all but one of its members.
TOLERATED = {
    "single": 0,
    "concat": 0,
    "raid0": 0,
    "raid5": 1,
    "raid6": 2,
    "raid10": 1,
    "raid50": 1,
    "raid60": 2,
    "raidz1": 1,
    "raidz2": 2,
    "raidz3": 3,
}


@dataclass(frozen=True)
class Array:
    """Groups of drives, each with its own redundancy: one per pair in RAID 10, the stated number in RAID 50 and 60, and
    one in every other layout.

    A group of `width` drives keeps its data while at most `tolerated` of them have failed. A rebuild without any
    redundancy left reads `critical_read_bytes`; one failure more loses `group_bytes`, an unreadable sector
    `sector_bytes`.
    """

    kind: str
    groups: int
    width: int
    tolerated: int
    usable_bytes: float
    group_bytes: float
    critical_read_bytes: float
    member_bytes: float
    sector_bytes: float

    @property
    def has_double_groups(self) -> bool:
        """Return whether there are several groups, each of which tolerates more than one failed drive."""
        return self.groups > 1 and self.tolerated > 1

    @property
    def drives(self) -> int:
        """Number of drives of the array, without spares."""
        return self.groups * self.width

    @classmethod
    def of_layout(
        cls,
        kind: str,
        drives: int,
        usable: float,
        member: float,
        sector: float,
        groups: int = 1,
        parities: int | None = None,
    ) -> Array:
        """Return the array of a layout of `drives` members that uses `member` bytes of each.

        `groups` is the number of groups of RAID 50 and 60; `parities` is m of an erasure-coded pool of k + m drives.
        """
        groups = drives // 2 if kind == "raid10" else groups
        width = drives // groups
        tolerated = drives - 1 if kind == "raid1" else TOLERATED[kind] if parities is None else parities
        # One drive survives of a mirror, and all but the tolerated failures of a parity layout.
        survivors = 1 if kind in ("raid1", "raid10") else width - tolerated
        lost = member if kind in ("concat", "raid10") else usable / groups
        return cls(kind, groups, width, tolerated, usable, lost, survivors * member, member, sector)


@dataclass(frozen=True)
class Conditions:
    """Lives, rebuilds and replacements of the drives.

    `mtbf` is the mean life of a drive, `rebuild` the mean time to rebuild one, and `replacement` the mean delivery time
    of a drive: one is ordered at every failure, and `spares` of them are in stock at the beginning. `bits_per_error` is
    the number of bits read per unrecoverable error on the data sheet (None: no such errors). Lives have a Weibull
    distribution with this `shape`; 1 is exponential. With `rebuild_constant` every rebuild takes exactly the mean.
    """

    mtbf: float
    rebuild: float
    bits_per_error: float | None = None
    spares: int = 0
    replacement: float = 0.0
    one_rebuild: bool = False
    shape: float = 1.0
    rebuild_constant: bool = False

    @property
    def is_markov(self) -> bool:
        """Whether all times are exponential, so that a Markov chain is exact."""
        return self.shape == 1.0 and not self.rebuild_constant

    def expected_errors(self, array: Array) -> float:
        """Return the mean number of unrecoverable errors in a rebuild without redundancy."""
        return 0.0 if self.bits_per_error is None else 8.0 * array.critical_read_bytes / self.bits_per_error

    def error_chance(self, array: Array) -> float:
        """Return the chance of at least one such error; errors are independent, as data sheets count them."""
        return -math.expm1(-self.expected_errors(array))

    def sector_loss_bytes(self, array: Array) -> float:
        """Return the mean number of bytes lost by a rebuild with errors: one sector for each error."""
        mean = self.expected_errors(array)
        return array.sector_bytes * (mean / -math.expm1(-mean) if mean > 0 else 1.0)

    def exponential(self) -> Conditions:
        """Return these conditions with exponential times."""
        return replace(self, shape=1.0, rebuild_constant=False)
