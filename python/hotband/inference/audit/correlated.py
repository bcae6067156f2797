"""The distribution of the mean of correlated samples, averaged over the unknown correlation.

Rates of a device are correlated over time (caches fill, garbage is collected), so samples are not independent. For a
first-order autoregression, x(t) - mu = rho (x(t-1) - mu) + noise, mu has Student's t of n - 1 degrees for every rho,
around the generalized least squares mean (Box, Jenkins and Reinsel, Time Series Analysis, 7.1). The distribution of mu
is the mixture of these, weighted by how likely the samples make each rho: a short series leaves rho open, which widens
its interval. There is no block length to choose, unlike in a bootstrap, whose intervals are too narrow for short
series. A slow drift below the noise of single samples is no such process. It shows when neighbours are averaged, so
averages are also computed, and used if they widen the distribution by more than chance does.

Left out: differences from run to run (placement, temperature, another day) and trends: the auditor reports a drift over
the whole run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hotband.base.heavy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.base.arrays import Floats


LEAST_SAMPLES = 20
"""Fewer samples cannot distinguish rho = 0 from 0.8, and an interval for one is far too wide or narrow for the other:
10 samples cover 98 and 92 % instead of 95 (simulated as in tests/audit/test_coverage.py)."""
RHO_LOW, RHO_HIGH, RHO_STEPS = -0.95, 0.97, 49
"""Grid of correlations of neighbours. Above 0.97 a few hundred samples say nothing about a mean."""
PRIOR_POWER = 0.1
"""Prior of rho: (1 - rho^2)^-0.1, between uniform (0) and the reference prior (0.5: Berger and Yang 1994). Simulated:
of 20 samples 0 covers 92.5 % at rho = 0.8, 0.5 covers 97.5 % at rho = 0.4, and 0.1 between 94 and 97 % everywhere."""
BELIEVED = 2.2
"""Ratio of widths from which averages of neighbours replace single samples: a first-order autoregression alone
reaches it rarely enough that its coverage stays below 97 % (with 1 it is up to 98.8 %, simulated)."""


@dataclass(frozen=True)
class MeanLaw:
    """The distribution of a mean: Student's t laws and their weights along the last axis, one for every rho."""

    freedom: Floats
    weights: Floats
    centres: Floats
    scales: Floats

    @property
    def spread(self) -> Floats:
        """Return the scale of the mixture, as a standard error."""
        scale: Floats = np.sqrt((self.weights * self.scales**2).sum(axis=-1))
        return scale

    def below(self, value: float) -> Floats:
        """Return the probability that the mean is below a value."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            probability: Floats = (self.weights * stdtr(self.freedom, (value - self.centres) / self.scales)).sum(
                axis=-1
            )
        return probability

    def draw(self, random: Any, draws: int) -> Floats:
        """Draw means of one series from the mixture."""
        which = random.choice(len(self.weights), size=draws, p=self.weights)
        means: Floats = self.centres[which] + self.scales[which] * random.standard_t(self.freedom[0], size=draws)
        return means


def mean_law(values: Floats) -> MeanLaw | None:
    """Return the distribution of the mean of one series or of many (along the last axis); None for too few samples."""
    if values.shape[-1] < LEAST_SAMPLES:
        return None
    single = _of_autoregression(values)
    widest, spread = single, single.spread
    while values.shape[-1] >= 2 * LEAST_SAMPLES:
        pairs = values.shape[-1] // 2
        values = values[..., values.shape[-1] - 2 * pairs :].reshape(*values.shape[:-1], pairs, 2).mean(axis=-1)
        averaged = _of_autoregression(values)
        wider = averaged.spread > np.maximum(BELIEVED * single.spread, spread)
        spread = np.where(wider, averaged.spread, spread)
        widest = _chosen(wider, averaged, widest)
    return widest


def _chosen(first: NDArray[np.bool_], chosen: MeanLaw, other: MeanLaw) -> MeanLaw:
    """Choose `chosen` for the series where `first` is true, `other` elsewhere."""
    names = ("freedom", "weights", "centres", "scales")
    return MeanLaw(*(np.where(first[..., None], getattr(chosen, name), getattr(other, name)) for name in names))


def _of_autoregression(values: Floats) -> MeanLaw:
    """Return laws and weights for every rho. Sums of squares replace products with the inverse of the correlations,
    which is tridiagonal: 1 and rho^2 + 1 on the diagonal, -rho next to it."""
    count = values.shape[-1]
    mean = values.mean(axis=-1, keepdims=True)
    deviations = values - mean
    squares = (deviations**2).sum(axis=-1, keepdims=True)
    neighbours = (deviations[..., 1:] * deviations[..., :-1]).sum(axis=-1, keepdims=True)
    first, last = deviations[..., :1], deviations[..., -1:]
    rho = np.linspace(RHO_LOW, RHO_HIGH, RHO_STEPS)
    information = (1 - rho) * (count * (1 - rho) + 2 * rho)
    sums = (1 - rho) * rho * (first + last)
    residual = (1 + rho**2) * squares - rho**2 * (first**2 + last**2) - 2 * rho * neighbours - sums**2 / information
    # A constant series has no residual but rounding: every rho is as likely, and the law is a point.
    residual = np.maximum(residual, np.finfo(float).tiny)
    logs = (0.5 - PRIOR_POWER) * np.log(1 - rho**2) - 0.5 * np.log(information) - (count - 1) / 2 * np.log(residual)
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    freedom = np.full_like(mean, count - 1)
    return MeanLaw(freedom, weights, mean + sums / information, np.sqrt(residual / (count - 1) / information))
