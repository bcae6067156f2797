"""The posterior of values after measurements under a linear model: Gaussian coordinates for each combination of
choices, each combination with its probability.

The prior of a coordinate is the standard normal distribution, that of a choice is in `unknowns`. Combinations are
weighted by their evidence (of a linear Gaussian model, Bishop 2006, 3.4 and 8.1.4). The effect of an option is known
from runs of that option alone, at one point of the coordinates; if several are changed, or the coordinates move, a
fifth of its effect on each figure is added as an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hotband.base.arrays import Floats


STEP_ERROR = 0.2
MOST_COMBINATIONS = 512
NEGLIGIBLE = 1e-3


@dataclass(frozen=True)
class Linear:
    """A linear model: measured less predicted figures (`rest`) at a point (`places`, `options`), slopes and steps of
    options there, and the covariance of the rest."""

    rest: Floats
    places: Floats
    options: tuple[int, ...]
    slopes: Floats
    steps: tuple[tuple[Floats, ...], ...]
    covariance: Floats
    priors: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Part:
    """A combination of options: its probability, and mean and covariance of the coordinates if it is the true one."""

    options: tuple[int, ...]
    probability: float
    mean: Floats
    covariance: Floats


@dataclass(frozen=True)
class Posterior:
    """Combinations of options, the likeliest first."""

    parts: tuple[Part, ...]

    @property
    def best(self) -> Part:
        """The likeliest combination."""
        return self.parts[0]

    def with_fits(self, fits: Mapping[tuple[int, ...], tuple[float, Floats]], best: tuple[int, ...]) -> Posterior:
        """Update the combinations that were fitted with their logarithms of evidence and coordinates. The others keep
        their probability relative to the `best`, and their distance from it."""
        best_part = next((part for part in self.parts if part.options == best), self.best)
        evidence, places = fits[best]
        others = [part for part in self.parts if part.options not in fits]
        parts = [replace(other, probability=other.probability / best_part.probability) for other in others]
        parts = [replace(other, mean=other.mean - best_part.mean + places) for other in parts]
        parts += [
            Part(options, math.exp(log - evidence), at, best_part.covariance)
            for options, (log, at) in fits.items()
            if log > evidence + math.log(NEGLIGIBLE)
        ]
        total = sum(part.probability for part in parts)
        normalised = [replace(part, probability=part.probability / total) for part in parts]
        return Posterior(tuple(sorted(normalised, key=lambda part: -part.probability)))

    def probability(self, choice: int, option: int) -> float:
        """Return the probability of an option of a choice."""
        return sum(part.probability for part in self.parts if part.options[choice] == option)


def posterior_of(linear: Linear) -> Posterior:
    """Return the posterior of a linear model."""
    parts = [_part(linear, options) for options in _combinations(linear)]
    most = max(log for _, log in parts)
    weights = [math.exp(log - most) for _, log in parts]
    total = sum(weights)
    normalised = [
        Part(part.options, weight / total, part.mean, part.covariance)
        for (part, _), weight in zip(parts, weights, strict=True)
        if weight / total > NEGLIGIBLE
    ]
    return Posterior(tuple(sorted(normalised, key=lambda part: -part.probability)))


def _combinations(linear: Linear) -> list[tuple[int, ...]]:
    """Return all combinations of options with an effect; of too many choices those with the largest."""
    sizes = [max(float(np.abs(step).max(initial=0.0)) for step in steps) for steps in linear.steps]
    free = sorted((index for index, size in enumerate(sizes) if size), key=lambda index: -sizes[index])
    while free and math.prod(len(linear.steps[index]) for index in free) > MOST_COMBINATIONS:
        free.pop()
    ranges = [range(len(linear.steps[n])) if n in free else (linear.options[n],) for n in range(len(linear.steps))]
    return list(product(*ranges))


def _part(linear: Linear, options: tuple[int, ...]) -> tuple[Part, float]:
    """Return a combination with the logarithm of prior and evidence."""
    rest, covariance = linear.rest.copy(), linear.covariance
    log = 0.0
    for choice, option in enumerate(options):
        log += math.log(linear.priors[choice][option])
        if option != linear.options[choice]:
            step = linear.steps[choice][option]
            rest = rest - step
            covariance = covariance + np.diag((STEP_ERROR * step) ** 2)
    mean, spread, evidence = conditioned(rest + linear.slopes @ linear.places, linear.slopes, covariance)
    return Part(options, 0.0, mean, spread), log + evidence


def conditioned(rest: Floats, slopes: Floats, covariance: Floats) -> tuple[Floats, Floats, float]:
    """Return mean and covariance of coordinates with a standard normal prior, given `rest` = slopes x coordinates plus
    an error of this covariance; and the logarithm of the evidence."""
    from scipy.linalg import cho_factor, cho_solve

    whole = cho_factor(covariance + slopes @ slopes.T, lower=True)
    gain = cho_solve(whole, slopes).T
    solved = cho_solve(whole, rest)
    evidence = -0.5 * float(rest @ solved) - float(np.log(np.diag(whole[0])).sum())
    spread = np.eye(slopes.shape[1]) - gain @ slopes
    return gain @ rest, 0.5 * (spread + spread.T), evidence


def left_of(slopes: Floats, covariance: Floats, known: Sequence[Floats] = ()) -> Floats:
    """Return the covariance of coordinates after measurements, added to the information `known` before."""
    information = np.eye(slopes.shape[1]) + sum(known, np.zeros((slopes.shape[1],) * 2))
    if len(slopes):
        information = information + slopes.T @ np.linalg.solve(covariance, slopes)
    return np.asarray(np.linalg.inv(information))
