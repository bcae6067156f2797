"""Means of simulated values with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Two-sided 95 % of the normal distribution.
Z95 = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, from `count` simulated values."""

    value: float
    low: float
    high: float
    count: int

    def scaled(self, factor: float) -> Estimate:
        """Return the estimate in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.count)


def mean(values: npt.NDArray[np.float64]) -> Estimate:
    """Return the mean of independent values ≥ 0, with the interval of the central limit theorem."""
    middle, error = moments(values)
    return Estimate(middle, max(0.0, middle - Z95 * error), middle + Z95 * error, len(values))


def moments(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def quotient(above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]) -> Estimate | None:
    """Return the mean of `above` over the mean of `below`, which are independent; None if either is zero.

    The interval is that of the logarithm (delta method), which follows the skew of the quotient.
    """
    (upper, upper_error), (lower, lower_error) = moments(above), moments(below)
    if lower <= 0 or upper <= 0:
        return None
    value = upper / lower
    spread = math.exp(Z95 * math.hypot(upper_error / upper, lower_error / lower))
    return Estimate(value, value / spread, value * spread, len(below))
