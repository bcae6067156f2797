"""Intervals by resampling: of a mean over time with its autocorrelation, of a quantile of a histogram.

Per-second rates of a device follow each other (caches fill, garbage is collected), so single seconds must not be drawn
as if they were independent: blocks of them are (circular block bootstrap, Politis and Romano 1992), as long as the
series asks for (Politis and White 2004, corrected by Patton, Politis and White 2009). Left out: what differs from run
to run (placement, temperature, another day): one run's interval knows nothing of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hotband.audit.distribution import Distribution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

DRAWS = 4000
"""Resamples: the ends of a 95 % interval then vary by less than 2 % of its width from seed to seed."""
LEAST_INTERVALS = 20
"""Samples over time from which blocks are drawn: with fewer no autocorrelation can be seen."""


def block_length(values: Numbers) -> int:
    """Samples in a block, by the rule of Politis and White (2004) with the correction of 2009, for circular blocks."""
    import numpy as np

    count = len(values)
    centred = values - values.mean()
    variance = float(centred @ centred) / count
    if count < LEAST_INTERVALS or variance == 0.0:
        return 1
    quiet = max(5, math.ceil(math.sqrt(math.log10(count))))
    most = min(count - 1, math.ceil(math.sqrt(count)) + quiet)
    covariances = np.array([float(centred[lag:] @ centred[: count - lag]) / count for lag in range(most + 1)])
    bound = 2 * math.sqrt(math.log10(count) / count) * variance
    last = _last_correlated(covariances, bound, quiet)
    width = min(2 * last, most)
    if width == 0:
        return 1
    lags = np.arange(1, width + 1)
    # The flat-top window: one up to half of the width, then down to zero.
    weights = np.minimum(1.0, 2.0 * (1.0 - lags / width))
    slope = 2 * float((weights * lags * covariances[1 : width + 1]).sum())
    level = float(covariances[0]) + 2 * float((weights * covariances[1 : width + 1]).sum())
    if level <= 0:
        return 1
    length = (2 * slope**2 / (4 / 3 * level**2)) ** (1 / 3) * count ** (1 / 3)
    most_wide = min(3 * math.sqrt(count), count / 3)
    return int(max(1, min(math.ceil(length), math.ceil(most_wide))))


def _last_correlated(covariances: Numbers, bound: float, quiet: int) -> int:
    """The last lag before `quiet` lags in a row are within the bound of chance."""
    for lag in range(len(covariances)):
        following = covariances[lag + 1 : lag + 1 + quiet]
        if all(abs(value) < bound for value in following):
            return lag
    return len(covariances) - 1


def means(values: Numbers, random: Any, draws: int = DRAWS) -> Numbers:
    """Means of resampled series: circular blocks, drawn with replacement, as many as make up its length."""
    import numpy as np

    count, length = len(values), block_length(values)
    blocks = math.ceil(count / length)
    sums = np.concatenate(([0.0], np.cumsum(np.concatenate((values, values)))))
    begins = random.integers(0, count, size=(draws, blocks))
    whole = (sums[begins + length] - sums[begins]).sum(axis=1)
    # The last block is cut, so that every draw has the length of the series.
    over = blocks * length - count
    if over:
        last = begins[:, -1]
        whole -= sums[last + length] - sums[last + length - over]
    found: Numbers = whole / count
    return found


def quantiles(points: Distribution, share: float, effective: float, random: Any, draws: int = DRAWS) -> Numbers:
    """Quantiles of resamples of so many independent I/Os: the share below the quantile is binomial over their
    number."""
    import numpy as np

    number = max(1, round(effective))
    shares = random.binomial(number, share, size=draws) / number
    values, sums = np.asarray(points.values_ns, dtype=float), np.asarray(points.shares, dtype=float)
    if points.interpolated:
        logs = np.interp(shares, sums, np.log(np.maximum(values, 1.0)))
        found: Numbers = np.exp(logs)
        return found
    places = np.minimum(np.searchsorted(sums, shares - 1e-12, side="left"), len(values) - 1)
    read: Numbers = values[places]
    return read


def variance(points: Distribution) -> float:
    """Variance of the latencies, from the middle of the histogram's buckets as they stand."""
    import numpy as np

    values = np.asarray(points.values_ns, dtype=float)
    weights = np.diff(np.concatenate(([0.0], np.asarray(points.shares, dtype=float))))
    mean = float((values * weights).sum() / weights.sum())
    return float((weights * (values - mean) ** 2).sum() / weights.sum())


def design_effect(latencies_ns: Numbers, points: Distribution, random: Any) -> float:
    """By how much the mean latency over time varies more than that of as many independent I/Os would; at least 1."""
    import numpy as np

    independent = variance(points) / points.count if points.count else 0.0
    if independent <= 0 or len(latencies_ns) < LEAST_INTERVALS or points.kind != "histogram":
        return 1.0
    return max(1.0, float(np.var(means(latencies_ns, random))) / independent)
