"""Bayesian linear regression with shrinkage: what a few families teach, each class pulled toward the mean of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

ROUNDS = 30
"""Rounds in which the noise is estimated from residuals; it has converged long before."""
LEAST_NOISE = 0.05
"""Least standard deviation of noise: two testers of one drive do not agree better."""
STRENGTH = 4.0
"""How many families the prior of the noise counts for."""
USUAL_NOISE = 0.3
"""Noise before any family is seen."""


@dataclass(frozen=True)
class Fit:
    """A regression of `y` (logarithms) on features, each with the standard deviation of its coefficient's prior.

    `x` has a row per drive and a column per feature, in the order of `names`; `shares` is the weight of each row, where
    the drives of a family share one; `intercept` is the standard deviation of the prior of the mean of all.
    """

    intercept: float
    names: tuple[str, ...]
    priors: tuple[float, ...]
    x: tuple[tuple[float, ...], ...]
    y: tuple[float, ...]
    shares: tuple[float, ...]

    @cached_property
    def _solved(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Coefficients, their covariance over the noise's variance, and the noise."""
        x = np.column_stack([np.ones(len(self.y)), np.array(self.x).reshape(len(self.y), len(self.names))])
        y = np.array(self.y)
        prior = np.array([self.intercept, *self.priors])
        shares = np.array(self.shares)
        variance, weights = USUAL_NOISE**2, shares
        for _ in range(ROUNDS):
            weighted = x.T * weights
            covariance = np.linalg.inv(weighted @ x / variance + np.diag(prior**-2))
            coefficients = covariance @ (weighted @ y) / variance
            residuals = y - x @ coefficients
            spent = float(np.trace(covariance @ weighted @ x)) / variance
            free = max(float(weights.sum()) - spent, 0.5)
            variance = (float(weights * residuals @ residuals) + STRENGTH * USUAL_NOISE**2) / (free + STRENGTH)
            variance = max(variance, LEAST_NOISE**2)
            # Huber: a family that is far off pulls as much as one a deviation off.
            weights = shares / np.maximum(1.0, np.abs(residuals) / variance**0.5)
        return coefficients, covariance, variance**0.5

    def at(self, features: Mapping[str, float]) -> tuple[float, float]:
        """Return the mean and the standard deviation of the prediction for a family of these features."""
        coefficients, covariance, noise = self._solved
        row = np.array([1.0, *(features.get(name, 0.0) for name in self.names)])
        return float(row @ coefficients), float((row @ covariance @ row + noise**2) ** 0.5)


def fitted(
    intercept: float,
    priors: Mapping[str, float],
    rows: Sequence[tuple[Mapping[str, float], float]],
    families: Sequence[str] = (),
) -> Fit:
    """Return the fit of these rows of (features, logarithm). Rows of one of the `families` share a weight of one."""
    names = tuple(priors)
    return Fit(
        intercept,
        names,
        tuple(priors.values()),
        tuple(tuple(features.get(name, 0.0) for name in names) for features, _ in rows),
        tuple(y for _, y in rows),
        tuple(1.0 / families.count(family) for family in families) or (1.0,) * len(rows),
    )
