"""Approximations of the textbooks, for a mean time to repair that is short compared with the life of a drive.

Patterson, Gibson, Katz: "A case for redundant arrays of inexpensive disks", SIGMOD 1988 (RAID 1 and 5); Chen, Lee,
Gibson, Katz, Patterson: "RAID: high-performance, reliable secondary storage", ACM Computing Surveys 26(2), 1994 (two
redundant drives, and bit errors while rebuilding). They assume one rebuild at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hotband.inference.reliability.array import Array, Conditions


@dataclass(frozen=True)
class Approximation:
    """A formula, its mean times to loss in hours (by a drive failure, by a sector error, by either), and its source.

    `sector` is None without sector errors."""

    formula: str
    failure: float
    sector: float | None
    both: float
    source: str


def approximate(array: Array, conditions: Conditions) -> Approximation:
    """Return the approximation for this array; lives count as exponential."""
    drives, width, tolerated, life = array.drives, array.width, array.tolerated, conditions.mtbf
    if tolerated == 0:
        return Approximation("MTTF / N", life / drives, None, life / drives, "Patterson et al. 1988")
    repair = conditions.rebuild + (0.0 if conditions.spares else conditions.replacement)
    # Sequences of failures down to the last redundancy: N (G-1) …, each failure within the repair of the previous one.
    arrangements = drives * math.prod(width - n for n in range(1, tolerated))
    critical = life**tolerated / (arrangements * repair ** (tolerated - 1))
    failure = critical * life / ((width - tolerated) * repair)
    chance = conditions.error_chance(array)
    sector = critical / chance if chance else None
    both = failure if sector is None else 1.0 / (1.0 / failure + 1.0 / sector)
    below = "N" + "".join(f"·(G−{n})" if n > 1 else "·(G−1)" for n in range(1, tolerated + 1))
    power = {1: "²", 2: "³"}.get(tolerated, f"^{tolerated + 1}")
    repairs = "MTTR" + {1: "", 2: "²"}.get(tolerated, f"^{tolerated}")
    source = "Patterson et al. 1988, Chen et al. 1994" if tolerated == 1 else "Chen et al. 1994"
    return Approximation(f"MTTF{power} / ({below}·{repairs})", failure, sector, both, source)
