"""Units of a study's figures: in which of them a measure's number is.

A prediction is not converted: one in milliseconds beside a figure in microseconds would be a thousand times off, and
look like an error of the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DATA_RATE = re.compile(r"[kKMGTP]?i?(B|b|bits?|[Bb]ytes?)/s(ec)?")
"""What would pass for so many of something a second."""


@dataclass(frozen=True)
class Unit:
    """A unit: `name` is what it is called, `pattern` matches all that means it, `others` says which that are."""

    name: str
    pattern: str = ""
    others: str = ""

    def takes(self, said: str) -> bool:
        """Whether a unit that was said is this one."""
        return re.fullmatch(self.pattern or re.escape(self.name), said) is not None

    @property
    def accepted(self) -> str:
        """What is accepted, in words."""
        return f'"{self.name}"{self.others}'


class _Rate(Unit):
    """So many of something a second: operations, transactions, pages; no bytes."""

    def takes(self, said: str) -> bool:
        """Whether a unit that was said is one of these."""
        return super().takes(said) and DATA_RATE.fullmatch(said) is None


RATE = _Rate("IOPS", r"IOPS|tps|[A-Za-z/]+/s", ', or what is done in a second, such as "op/s", "tps" or "pages/s"')
MEBIBYTES = Unit("MiB/s", others=' (what many tools print as MB/s: 2^20 bytes; 10^6 are "bandwidth_mb_per_s")')
MEGABYTES = Unit("MB/s", others=' (10^6 bytes; 2^20 are "bandwidth_mib_per_s")')
MILLISECONDS, SECONDS, TERABYTES = Unit("ms"), Unit("s"), Unit("TB")
SHARE = Unit("frac", r"frac|x|1|[Bb]/[Bb]|", " (a share of one)")
RATIO = Unit("x", r"frac|x|times|1|[Bb]/[Bb]|:1|", " (how many times as much)")
PERCENT = Unit("%", r"%( .*)?")
OUTSTANDING = Unit("I/Os", r"I/Os|IOs|ios|count|")
