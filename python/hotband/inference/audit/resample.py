"""Quantiles by resampling a histogram, with as many independent I/Os as the series shows them to be worth.

I/Os of a device follow each other, so a percentile of n of them is known less well than that of n independent ones. By
how much, the design effect, is seen where the mean latency varies over time more than independent I/Os would make it
(`correlated`). Left out: what differs from run to run (placement, temperature, another day): one run's interval knows
nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hotband.base.heavy import np
from hotband.inference.audit.correlated import mean_law
from hotband.inference.audit.distribution import Distribution

if TYPE_CHECKING:
    from hotband.base.arrays import Floats

DRAWS = 4000
"""Resamples: the ends of a 95 % interval then vary by less than 2 % of its width from seed to seed."""


def quantiles(points: Distribution, share: float, effective: float, random: Any, draws: int = DRAWS) -> Floats:
    """Quantiles of resamples of so many independent I/Os: the share below the quantile is binomial over their
    number."""
    number = max(1, round(effective))
    shares = random.binomial(number, share, size=draws) / number
    values, sums = np.asarray(points.values_ns, dtype=float), np.asarray(points.shares, dtype=float)
    if points.interpolated:
        logs = np.interp(shares, sums, np.log(np.maximum(values, 1.0)))
        found: Floats = np.exp(logs)
        return found
    places = np.minimum(np.searchsorted(sums, shares - 1e-12, side="left"), len(values) - 1)
    read: Floats = values[places]
    return read


def variance(points: Distribution) -> float:
    """Variance of the latencies, from the middle of the histogram's buckets as they stand."""
    values = np.asarray(points.values_ns, dtype=float)
    weights = np.diff(np.concatenate(([0.0], np.asarray(points.shares, dtype=float))))
    mean = float((values * weights).sum() / weights.sum())
    return float((weights * (values - mean) ** 2).sum() / weights.sum())


def design_effect(latencies_ns: Floats, points: Distribution) -> float | None:
    """By how much the mean latency over time varies more than that of as many independent I/Os would; at least 1, None
    where the samples are too few to say."""
    law = mean_law(latencies_ns)
    if law is None:
        return None
    independent = variance(points) / points.count if points.count else 0.0
    if independent <= 0 or points.kind != "histogram":
        return 1.0
    return max(1.0, float(law.spread) ** 2 / independent)
