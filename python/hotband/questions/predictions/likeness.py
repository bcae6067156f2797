"""How alike the errors of one product line are, learned over all families of the corpus at once.

The errors of each line in a class are a normal vector whose correlation has six values for all lines, one set for rates
and one for latencies; these are the likeliest. A family has the weight one. An error beyond its 90 % interval counts as
at its end, so that one figure that is far off does not decide.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from hotband.inference.corpus.conformal import SHARE, Key, Pools, Residual
from hotband.inference.corpus.residuals import RATES_OF_ANY
from hotband.inference.corpus.shared_errors import Errors, Likeness, Likenesses, correlations, errors_of

START = (0.0, 0.0, math.log(0.1), math.log(0.1), 0.0, math.log(0.5))
"""Start of the search: a third of the variance each for line, tester and figure; each fall as a logarithm."""
RIDGE = 1e-9
"""Added to the diagonal of a correlation, against rounding."""

Block = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]
"""Errors of a line in a class with their distances and testers, and the weight of each of them."""


def likenesses_of(residuals: Iterable[Residual]) -> Likenesses:
    """Return the likeliest correlations of errors of one product line."""
    pools = Pools(residuals)
    lines: dict[bool, dict[Key, list[Residual]]] = {True: defaultdict(list), False: defaultdict(list)}
    for residual in pools.residuals:
        lines[residual.groups[-1] == RATES_OF_ANY][residual.of_line].append(residual)
    return Likenesses(rates=_likeliest(pools, lines[True]), latencies=_likeliest(pools, lines[False]))


def _likeliest(pools: Pools, lines: Mapping[Key, Sequence[Residual]]) -> Likeness:
    errors = {key: _within(errors_of(those, pools), pools, key[0]) for key, those in lines.items()}
    sizes: dict[str, int] = defaultdict(int)
    for (family, *_), each in errors.items():
        sizes[family] += len(each.values)
    blocks = [
        (np.array(each.values), each.distances(), each.same_tester(), 1.0 / sizes[family])
        for (family, *_), each in errors.items()
        if each.values
    ]
    fit = minimize(lambda at: _unlikeliness(blocks, _likeness(at)), START, method="L-BFGS-B")
    return _likeness(fit.x)


def _within(errors: Errors, pools: Pools, family: str) -> Errors:
    """Return errors in halves of their 90 % intervals, one at most."""
    ends = [pools.scales_within(groups, SHARE, family) for groups in errors.groups]
    values = (max(-1.0, min(1.0, value / end)) for value, end in zip(errors.values, ends, strict=True))
    return replace(errors, values=tuple(values))


def _likeness(at: Sequence[float]) -> Likeness:
    """Return the correlation at a place of the search."""
    line, tester = math.exp(at[0]), math.exp(at[1])
    total = 1.0 + line + tester
    return Likeness(line / total, tester / total, *(math.exp(value) for value in at[2:]))


def _unlikeliness(blocks: Sequence[Block], likeness: Likeness) -> float:
    """Return the negative logarithm of the likelihood, up to a constant, at the likeliest variance."""
    determinant = squares = weights = 0.0
    for values, distances, same_tester, weight in blocks:
        alike = correlations(distances, same_tester, likeness)
        root = np.linalg.cholesky(alike + RIDGE * np.eye(len(values)))
        whitened = np.linalg.solve(root, values)
        determinant += weight * float(np.log(np.diag(root)).sum())
        squares += weight * float(whitened @ whitened)
        weights += weight * len(values)
    return determinant + 0.5 * weights * math.log(squares / weights)
