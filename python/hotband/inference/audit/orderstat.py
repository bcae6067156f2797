"""The binomial interval of order statistics: the distribution-free support of a quantile.

Of n independent I/Os the number at or below the q-quantile is binomial (n, q), so the order statistics of the ranks
between which that number lies with 95 % enclose it (David and Nagaraja, Order Statistics, 7.1). Left out: successive
I/Os are not independent, so the true interval is wider; `resample` estimates by which factor.
"""

from __future__ import annotations

import math

from hotband.inference.beta import binomial_quantile

CONFIDENCE = 0.95


def least_count(share: float, confidence: float = CONFIDENCE) -> int:
    """Return the least number of I/Os with which the interval of a quantile is closed on both sides.

    The largest of n is above the quantile but with probability share^n, the smallest below it but with (1-share)^n; the
    rarer side needs (1 - confidence) / 2.
    """
    rare = max(share, 1 - share)
    return math.ceil(math.log((1 - confidence) / 2) / math.log(rare))


def interval_ranks(count: int, share: float, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Return the ranks (from 1) of the order statistics around a quantile; 0 and count + 1 if the sample is too
    small."""
    tail = (1 - confidence) / 2
    return binomial_quantile(tail, count, share), count + 1 - binomial_quantile(tail, count, 1 - share)
