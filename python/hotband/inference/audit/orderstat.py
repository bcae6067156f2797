"""How well a sample supports a quantile: the binomial interval of order statistics, free of any distribution.

Of n independent I/Os the number at or below the q-quantile is binomial (n, q), so the order statistics of the ranks
between which that number lies with 95 % enclose it (David and Nagaraja, Order Statistics, 7.1). Left out: I/Os follow
one another and are not independent, so that the true interval is wider; `resample` estimates by how much.
"""

from __future__ import annotations

import math

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
    from scipy.stats import binom

    tail = (1 - confidence) / 2
    return int(binom.ppf(tail, count, share)), count + 1 - int(binom.ppf(tail, count, 1 - share))
