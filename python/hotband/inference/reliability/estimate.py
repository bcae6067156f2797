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
    """A value and its 95 % interval; `count` values were simulated. None where nothing was seen that could tell."""

    value: float
    low: float
    high: float
    count: int

    def scaled(self, factor: float) -> Estimate:
        """The same in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.count)


def mean(values: npt.NDArray[np.float64]) -> Estimate:
    """The mean of independent values that are not negative; the interval is that of the central limit theorem."""
    middle, error = moments(values)
    return Estimate(middle, max(0.0, middle - Z95 * error), middle + Z95 * error, len(values))


def moments(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def quotient(above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]) -> Estimate | None:
    """Mean of `above` divided by the mean of `below`, which are independent; None where that is zero.

    The interval is that of the logarithm (delta method), which is as wide upwards as the quotient is skewed.
    """
    (upper, upper_error), (lower, lower_error) = moments(above), moments(below)
    if lower <= 0 or upper <= 0:
        return None
    value = upper / lower
    spread = math.exp(Z95 * math.hypot(upper_error / upper, lower_error / lower))
    return Estimate(value, value / spread, value * spread, len(below))
