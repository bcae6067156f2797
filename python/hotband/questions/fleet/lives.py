"""Lives of drives: Weibull lives (exponential for shape 1), with a factor on the hazard of a batch.

H(a) = (a / scale)^shape is the hazard cumulated up to the age a; a batch multiplies it by z, which has the mean 1 and
the variance v (gamma frailty: Vaupel, Manton, Stallard, Demography 16(3), 1979; Hougaard, "Analysis of multivariate
survival data", 2000, chapter 7). Two drives of a batch then fail together 1 + v times as often as independent ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hotband.base.arrays import Floats


@dataclass(frozen=True)
class Lives:
    """Weibull lives with a scale in hours and a shape; `variance` is that of batches' hazards."""

    scale: float
    shape: float = 1.0
    variance: float = 0.0

    @classmethod
    def of_mean(cls, mean: float, shape: float = 1.0, variance: float = 0.0) -> Lives:
        """Return lives with a mean in hours."""
        return cls(mean / math.gamma(1.0 + 1.0 / shape), shape, variance)

    @property
    def is_exponential(self) -> bool:
        """Whether drives neither age nor differ by batch."""
        return self.shape == 1.0 and self.variance == 0.0

    def cumulative(self, age: Floats) -> Floats:
        """Return the hazard cumulated up to an age in hours."""
        return np.asarray(age / self.scale if self.shape == 1.0 else (age / self.scale) ** self.shape)

    def age(self, cumulative: Floats) -> Floats:
        """Return the age in hours at a cumulated hazard."""
        return np.asarray(self.scale * (cumulative if self.shape == 1.0 else cumulative ** (1.0 / self.shape)))

    def hazard(self, age: Floats, hours: Floats) -> Floats:
        """Return failures per hour from an age on, averaged over `hours`: with a shape below 1 they decrease while a
        drive is rebuilt."""
        if self.shape == 1.0:
            return np.full(np.shape(age), 1.0 / self.scale)
        return np.asarray((self.cumulative(age + hours) - self.cumulative(age)) / hours)

    def batches(self, rng: np.random.Generator, count: int) -> Floats:
        """Sample the factors of `count` batches."""
        if self.variance == 0.0:
            return np.ones(count)
        # A batch of few drives may have a factor near zero; with exactly zero its drives would never fail.
        return np.maximum(rng.gamma(1.0 / self.variance, self.variance, count), 1e-12)
