"""Sources of the spread of a figure: Sobol indices of its response surface, by group of values drawn together.

First order: the share of the variance that a value makes alone. Total: with all that it does together with others
(Saltelli 2010, Jansen 1999; here pick and freeze on the surface). If the surface was fitted to samples, both are
computed again from resampled draws, and the range of those is their uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.inference.interval.surface import Effect, Surface, fitted

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.inference.interval.sampler import Sampler


SAMPLES = 1024
"""Rows of each of the two samples of pick and freeze: a power of two, as Sobol sequences want. Indices of a sum of
effects are then within 0.02 of the truth (tests/interval/test_shares.py)."""
RESAMPLED = 40
TAIL = 5.0
"""Percent left out on each side of the resampled indices: a 90 % range."""


@dataclass(frozen=True)
class Share:
    """First-order and total index of a value, each with a range."""

    first: float
    first_low: float
    first_high: float
    total: float
    total_low: float
    total_high: float


@dataclass(frozen=True)
class Samples:
    """Two samples of places and the columns of each group, for pick and freeze."""

    one: Floats
    other: Floats
    groups: tuple[tuple[int, ...], ...]


def samples_of(sampler: Sampler) -> Samples:
    """Samples from a sampler of their own."""
    names = [value.group for value in sampler.values]
    groups = tuple(tuple(n for n, name in enumerate(names) if name == group) for group in dict.fromkeys(names))
    one, other = sampler.two_samples(SAMPLES)
    return Samples(sampler.places(one), sampler.places(other), groups)


def indices(surface: Surface, samples: Samples) -> tuple[Floats, Floats]:
    """First-order and total index of each group; zeros if nothing varies."""
    one, other = surface.at(samples.one), surface.at(samples.other)
    both = np.concatenate([one, other])
    variance, middle = float(np.var(both)), float(np.mean(both))
    first, total = np.zeros(len(samples.groups)), np.zeros(len(samples.groups))
    if variance <= 0:
        return first, total
    for number, columns in enumerate(samples.groups):
        mixed = samples.one.copy()
        mixed[:, columns] = samples.other[:, columns]
        changed = surface.at(mixed)
        first[number] = float(np.mean((other - middle) * (changed - one))) / variance
        total[number] = float(np.mean((one - changed) ** 2)) / 2 / variance
    return np.clip(first, 0, 1), np.clip(total, 0, 1)


def shares_of(effects: Sequence[Effect], samples: Samples, places: Floats, seen: Floats, seed: int) -> list[Share]:
    """Return the share of each group, with the range that resampled draws give."""
    first, total = indices(fitted(effects, places, seen), samples)
    random = np.random.default_rng(seed)
    firsts, totals = [first], [total]
    for _ in range(RESAMPLED if len(seen) else 0):
        rows = random.integers(0, len(seen), len(seen))
        again = indices(fitted(effects, places[rows], seen[rows]), samples)
        firsts.append(again[0])
        totals.append(again[1])
    ends = (TAIL, 100 - TAIL)
    (f_low, f_high), (t_low, t_high) = (np.percentile(np.array(found), ends, axis=0) for found in (firsts, totals))
    return [
        Share(*(float(x[n]) for x in (first, f_low, f_high, total, t_low, t_high))) for n in range(len(samples.groups))
    ]
