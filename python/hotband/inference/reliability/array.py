"""What is computed: an array of drives that fail and are rebuilt. Times are hours, sizes bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

# AFR of data sheets is over a year of 365 days.
HOURS_PER_YEAR = 8760.0

# Failed drives of a group without loss: parity layouts, and mirrors of so many members ("raid1").
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
    """Groups of drives with redundancy of their own: RAID 10 has one a pair, RAID 50 and 60 as many as they say, every
    other layout one.

    A group of `width` drives lives with `tolerated` of them failed. A rebuild without redundancy left reads
    `critical_read_bytes`; a failure too many loses `group_bytes`, a sector that cannot be read `sector_bytes`.
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
        """Whether there are several groups that live with more than one drive failed."""
        return self.groups > 1 and self.tolerated > 1

    @property
    def drives(self) -> int:
        """Drives of the array, spares not counted."""
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
        """The array that a layout makes of `drives` members, of which it uses `member` bytes each.

        RAID 50 and 60 have so many `groups`; an erasure-coded pool of k + m drives has `parities`, m.
        """
        groups = drives // 2 if kind == "raid10" else groups
        width = drives // groups
        tolerated = drives - 1 if kind == "raid1" else TOLERATED[kind] if parities is None else parities
        # What is left of a mirror is one drive, of parity all but those that may fail.
        survivors = 1 if kind in ("raid1", "raid10") else width - tolerated
        lost = member if kind in ("concat", "raid10") else usable / groups
        return cls(kind, groups, width, tolerated, usable, lost, survivors * member, member, sector)


@dataclass(frozen=True)
class Conditions:
    """How drives fail and are replaced.

    `mtbf` is the mean life of a drive, `rebuild` the mean time to rebuild one, `replacement` the mean time until a
    drive that was ordered is there: at every failure one is, and `spares` of them are there to begin with.
    `bits_per_error` is the data sheet's one unrecoverable error per so many bits read (None: no such errors). Lives
    have the distribution of Weibull with this `shape`; 1 is exponential. Rebuilds take their mean exactly if
    `rebuild_constant`.
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
        """Mean number of unrecoverable errors in a rebuild without redundancy."""
        return 0.0 if self.bits_per_error is None else 8.0 * array.critical_read_bytes / self.bits_per_error

    def error_chance(self, array: Array) -> float:
        """Chance of at least one such error; errors come one by one, as data sheets count them."""
        return -math.expm1(-self.expected_errors(array))

    def sector_loss_bytes(self, array: Array) -> float:
        """Bytes lost by a rebuild that met an error: a sector each."""
        mean = self.expected_errors(array)
        return array.sector_bytes * (mean / -math.expm1(-mean) if mean > 0 else 1.0)

    def exponential(self) -> Conditions:
        """The same with exponential times."""
        return replace(self, shape=1.0, rebuild_constant=False)
