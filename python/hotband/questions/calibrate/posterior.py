"""What is known of values after measurements, where the model is a straight line: Gaussian coordinates for each
combination of choices, each combination with its probability.

The prior of a coordinate is the standard normal distribution, of a choice that of `unknowns`. Combinations are weighed
by how likely they make what was measured (the evidence of a linear Gaussian model, Bishop 2006, 3.4 and 8.1.4). What an
option does is known from runs of that option alone, at one place of the coordinates; where several are changed, or the
coordinates move, a fifth of what it does to each figure is taken as its error.
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
    """Measured less predicted (`rest`) of figures at a point (`places`, `options`), with slopes there, steps of options
    from there, and the covariance of the rest."""

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
    """The combinations, the likeliest first."""

    parts: tuple[Part, ...]

    @property
    def best(self) -> Part:
        """The likeliest."""
        return self.parts[0]

    def with_fits(self, fits: Mapping[tuple[int, ...], tuple[float, Floats]], best: tuple[int, ...]) -> Posterior:
        """The same where some combinations were fitted: their logarithms of evidence and coordinates by that. The
        others stay as likely beside the `best` as they were, and as far from it."""
        own = next((part for part in self.parts if part.options == best), self.best)
        evidence, places = fits[best]
        others = [part for part in self.parts if part.options not in fits]
        parts = [replace(other, probability=other.probability / own.probability) for other in others]
        parts = [replace(one, mean=one.mean - own.mean + places) for one in parts]
        parts += [
            Part(options, math.exp(log - evidence), at, own.covariance)
            for options, (log, at) in fits.items()
            if log > evidence + math.log(NEGLIGIBLE)
        ]
        total = sum(part.probability for part in parts)
        found = [replace(part, probability=part.probability / total) for part in parts]
        return Posterior(tuple(sorted(found, key=lambda part: -part.probability)))

    def probability(self, choice: int, option: int) -> float:
        """Of an option of a choice."""
        return sum(part.probability for part in self.parts if part.options[choice] == option)


def posterior_of(of: Linear) -> Posterior:
    """What is known after the measurements."""
    parts = [_part(of, options) for options in _combinations(of)]
    most = max(log for _, log in parts)
    weights = [math.exp(log - most) for _, log in parts]
    total = sum(weights)
    found = [
        Part(part.options, weight / total, part.mean, part.covariance)
        for (part, _), weight in zip(parts, weights, strict=True)
        if weight / total > NEGLIGIBLE
    ]
    return Posterior(tuple(sorted(found, key=lambda part: -part.probability)))


def _combinations(of: Linear) -> list[tuple[int, ...]]:
    """All of the options that do anything; of too many choices those that do most."""
    sizes = [max(float(np.abs(step).max(initial=0.0)) for step in steps) for steps in of.steps]
    free = sorted((place for place, size in enumerate(sizes) if size), key=lambda place: -sizes[place])
    while free and math.prod(len(of.steps[place]) for place in free) > MOST_COMBINATIONS:
        free.pop()
    ranges = [range(len(of.steps[n])) if n in free else (of.options[n],) for n in range(len(of.steps))]
    return list(product(*ranges))


def _part(of: Linear, options: tuple[int, ...]) -> tuple[Part, float]:
    """A combination with the logarithm of prior and evidence."""
    rest, covariance = of.rest.copy(), of.covariance
    log = 0.0
    for choice, option in enumerate(options):
        log += math.log(of.priors[choice][option])
        if option != of.options[choice]:
            step = of.steps[choice][option]
            rest = rest - step
            covariance = covariance + np.diag((STEP_ERROR * step) ** 2)
    mean, spread, evidence = conditioned(rest + of.slopes @ of.places, of.slopes, covariance)
    return Part(options, 0.0, mean, spread), log + evidence


def conditioned(rest: Floats, slopes: Floats, covariance: Floats) -> tuple[Floats, Floats, float]:
    """Mean and covariance of coordinates of which the prior is standard normal, after `rest` = slopes x coordinates and
    an error of this covariance; and the logarithm of how likely that rest was."""
    from scipy.linalg import cho_factor, cho_solve

    whole = cho_factor(covariance + slopes @ slopes.T, lower=True)
    gain = cho_solve(whole, slopes).T
    solved = cho_solve(whole, rest)
    evidence = -0.5 * float(rest @ solved) - float(np.log(np.diag(whole[0])).sum())
    spread = np.eye(slopes.shape[1]) - gain @ slopes
    return gain @ rest, 0.5 * (spread + spread.T), evidence


def left_of(slopes: Floats, covariance: Floats, known: Sequence[Floats] = ()) -> Floats:
    """The covariance that is left of coordinates once figures are measured, from the information there is already."""
    information = np.eye(slopes.shape[1]) + sum(known, np.zeros((slopes.shape[1],) * 2))
    if len(slopes):
        information = information + slopes.T @ np.linalg.solve(covariance, slopes)
    return np.asarray(np.linalg.inv(information))
