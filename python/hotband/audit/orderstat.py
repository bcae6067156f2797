"""How well a sample supports a quantile: the binomial interval of order statistics, free of any distribution.

Of n independent I/Os the number at or below the q-quantile is binomial (n, q), so the order statistics of the ranks
between which that number lies with 95 % enclose it (David and Nagaraja, Order Statistics, 7.1). Left out: I/Os follow
one another and are not independent, so that the true interval is wider; `resample` estimates by how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable

CONFIDENCE = 0.95


def least_count(share: float, confidence: float = CONFIDENCE) -> int:
    """I/Os from which the interval of a quantile is closed on both sides.

    The largest of n is above the quantile but with probability share^n, the smallest below it but with (1-share)^n; the
    rarer side needs (1 - confidence) / 2.
    """
    rare = max(share, 1 - share)
    return math.ceil(math.log((1 - confidence) / 2) / math.log(rare))


def interval_ranks(count: int, share: float, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Ranks (from 1) of the order statistics around a quantile; 0 and count + 1 where the sample ends before."""
    from scipy.special import bdtr

    tail = (1 - confidence) / 2
    low = _largest(count, lambda rank: float(bdtr(rank - 1, count, share)) <= tail)
    high = count + 1 - _largest(count, lambda rank: 1 - float(bdtr(count - rank, count, share)) <= tail)
    return low, high


def _largest(count: int, holds: Callable[[int], bool]) -> int:
    """The largest rank from 0 to count that holds; those below it do, too (0 always)."""
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def poisson_interval(count: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Exact interval of a Poisson mean of which so many events were seen (Garwood 1936)."""
    from scipy.special import gammaincinv

    tail = (1 - confidence) / 2
    low = float(gammaincinv(count, tail)) if count else 0.0
    return low, float(gammaincinv(count + 1, 1 - tail))
