"""Units of measures and published figures of a study.

Predictions are not converted: milliseconds next to a figure in microseconds would be off by a factor of 1,000, and look
like an error of the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DATA_RATE = re.compile(r"[kKMGTP]?i?(B|b|bits?|[Bb]ytes?)/s(ec)?")
"""Rates of data, which match the pattern of counts per second but are not counts."""


@dataclass(frozen=True)
class Unit:
    """A unit: `pattern` matches all its spellings, `others` describes those other than `name`."""

    name: str
    pattern: str = ""
    others: str = ""

    def takes(self, unit: str) -> bool:
        """Return whether a unit is this one."""
        return re.fullmatch(self.pattern or re.escape(self.name), unit) is not None

    @property
    def accepted(self) -> str:
        """The accepted units, in words."""
        return f'"{self.name}"{self.others}'


class _Rate(Unit):
    """A count per second: operations, transactions, pages; not bytes."""

    def takes(self, unit: str) -> bool:
        """Return whether a unit is one of these."""
        return super().takes(unit) and DATA_RATE.fullmatch(unit) is None


RATE = _Rate("IOPS", r"IOPS|tps|[A-Za-z/]+/s", ', or a count per second, such as "op/s", "tps" or "pages/s"')
MEBIBYTES = Unit("MiB/s", others=' (what many tools print as MB/s: 2^20 bytes; 10^6 are "bandwidth_mb_per_s")')
MEGABYTES = Unit("MB/s", others=' (10^6 bytes; 2^20 are "bandwidth_mib_per_s")')
MILLISECONDS, SECONDS, TERABYTES = Unit("ms"), Unit("s"), Unit("TB")
SHARE = Unit("frac", r"frac|x|1|[Bb]/[Bb]|", " (a share of one)")
RATIO = Unit("x", r"frac|x|times|1|[Bb]/[Bb]|:1|", " (how many times as much)")
PERCENT = Unit("%", r"%( .*)?")
OUTSTANDING = Unit("I/Os", r"I/Os|IOs|ios|count|")
