"""A response surface: the logarithm of a figure over its nominal value, by the places of the uncertain values.

Each value alone: two straight lines through the figure at its low end, its nominal value and its high end (runs with
the same seed). Values together: products of the places of those few that matter most, fitted to samples by least
squares with a penalty, so that few samples do not bend it. Without samples it is the sum of the single effects.

Left out: curvature between nominal value and end, and three values acting together. The share of the samples that it
does not explain is reported with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from hotband.base.heavy import np

if TYPE_CHECKING:
    from hotband.base.arrays import Floats


PAIRED = 4
"""Products are fitted for this many values, those with the largest effects: six products from 64 samples."""
PENALTY = 1.0
"""Penalty of the least squares, in samples: a product supported by one sample is halved."""


@dataclass(frozen=True)
class Effect:
    """Effects of the ends of one value on a figure, as log-ratios to the nominal run. An end that was not run, because
    the model refuses it, is None: it is taken to do the opposite of the other one."""

    low: float | None
    high: float | None

    @property
    def size(self) -> float:
        """Return the larger of the two, either way."""
        return max(abs(self.low or 0.0), abs(self.high or 0.0))


@dataclass(frozen=True)
class Surface:
    """The surface of one figure: slopes towards both ends, one column per value, and products of two columns."""

    low: Floats
    high: Floats
    pairs: tuple[tuple[int, int], ...] = ()
    products: Floats | None = None

    def at(self, places: Floats) -> Floats:
        """Log-ratios at places, one row each."""
        found = np.minimum(places, 0.0) @ -self.low + np.maximum(places, 0.0) @ self.high
        if self.products is not None and self.pairs:
            found = found + _products(places, self.pairs) @ self.products
        return np.asarray(found)


def additive(effects: Sequence[Effect]) -> Surface:
    """Return the surface of single effects."""
    low = [-(effect.high or 0.0) if effect.low is None else effect.low for effect in effects]
    high = [-(effect.low or 0.0) if effect.high is None else effect.high for effect in effects]
    return Surface(np.array(low, dtype=float), np.array(high, dtype=float))


def fitted(effects: Sequence[Effect], places: Floats, seen: Floats) -> Surface:
    """Return the same with products fitted to what draws at `places` gave (`seen`)."""
    alone = additive(effects)
    strongest = sorted(range(len(effects)), key=lambda n: -effects[n].size)[:PAIRED]
    pairs = tuple(combinations(sorted(strongest), 2))
    if not pairs or len(seen) <= len(pairs):
        return alone
    matrix = _products(places, pairs)
    normal = matrix.T @ matrix + PENALTY * np.diag(np.maximum((matrix**2).mean(axis=0), 1e-12))
    return Surface(
        alone.low,
        alone.high,
        pairs,
        np.asarray(np.linalg.solve(normal, matrix.T @ (seen - alone.at(places))), dtype=np.float64),
    )


def _products(places: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    return np.column_stack([places[:, one] * places[:, other] for one, other in pairs])


def effects_of(names: Sequence[str], ends: Mapping[tuple[str, str], float]) -> list[Effect]:
    """Effects by the log-ratio at each (name, end), without those that were not run."""
    return [Effect(ends.get((name, "low")), ends.get((name, "high"))) for name in names]
