"""Quantiles by resampling a histogram, with as many independent I/Os as the series justifies.

Successive I/Os of a device are correlated, so a percentile of n of them is less certain than that of n independent
ones. The design effect measures this: the mean latency varies more over time than with independent I/Os
(`correlated`). Left out: differences from run to run (placement, temperature, another day), which the interval of one
run cannot include.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hotband.base.heavy import np
from hotband.inference.audit.correlated import mean_law
from hotband.inference.audit.distribution import Distribution

if TYPE_CHECKING:
    from hotband.base.arrays import Floats

DRAWS = 4000
"""Number of resamples: the ends of a 95 % interval vary by less than 2 % of its width from seed to seed."""


def quantiles(points: Distribution, share: float, effective: float, random: Any, draws: int = DRAWS) -> Floats:
    """Return quantiles of `draws` resamples of `effective` independent I/Os: the share below the quantile is binomial
    over their number."""
    number = max(1, round(effective))
    shares = random.binomial(number, share, size=draws) / number
    values, sums = np.asarray(points.values_ns, dtype=float), np.asarray(points.shares, dtype=float)
    if points.interpolated:
        logs = np.interp(shares, sums, np.log(np.maximum(values, 1.0)))
        latencies: Floats = np.exp(logs)
        return latencies
    places = np.minimum(np.searchsorted(sums, shares - 1e-12, side="left"), len(values) - 1)
    read: Floats = values[places]
    return read


def variance(points: Distribution) -> float:
    """Return the variance of the latencies (ns²), from the values of the histogram's buckets."""
    values = np.asarray(points.values_ns, dtype=float)
    weights = np.diff(np.concatenate(([0.0], np.asarray(points.shares, dtype=float))))
    mean = float((values * weights).sum() / weights.sum())
    return float((weights * (values - mean) ** 2).sum() / weights.sum())


def design_effect(latencies_ns: Floats, points: Distribution) -> float | None:
    """Return the ratio of the variance of the mean latency to that of independent I/Os, at least 1; None for too few
    samples."""
    law = mean_law(latencies_ns)
    if law is None:
        return None
    independent = variance(points) / points.count if points.count else 0.0
    if independent <= 0 or points.kind != "histogram":
        return 1.0
    return max(1.0, float(law.spread) ** 2 / independent)
