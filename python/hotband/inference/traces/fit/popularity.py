"""The choice of places in an area: even, or by Zipf's law, and the number of places.

The exponent is the one at which as many different places are expected as the trace has, over the places that the area
holds. If the most popular tenth of them then gets a different share of the I/Os than in the trace, the area has fewer
places, further apart: the number that brings both shares closest.

Leaves out: that a place is requested again soon rather than late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.inference.traces.fit.ios import Numbers

EVEN = 0.02
"""Share of different places that an even choice may have more of than the trace, to be taken for it: five standard
errors of 10,000 I/Os over as many places."""
STEEPEST = 3.0
"""Largest exponent that is tried: beyond it two places get nine tenths of the I/Os."""
EXACT_RANKS = 1000
"""Ranks that are added up one by one; the others in classes."""
CLASSES = 400
"""Number of classes of ranks, whose ends grow by a factor: the sum is accurate to 1e-4."""
MOST_DRAWN = 1_000_000
"""I/Os up to which the share of the top is tried by drawing them."""
TOP = 0.1
"""The most popular of the places touched."""
CLOSE = 0.02
"""Difference of the share of the top up to which the area is left its places."""
SPARSER = (1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096, 16384)
"""Divisors of the number of places that are tried."""


@dataclass(frozen=True)
class Choice:
    """The choice of a place: the exponent of Zipf's law (None: even), the factor of fewer places than fit, and of the
    trace the number of different places and the share of I/Os to their top tenth."""

    theta: float | None
    sparser: int
    touched: int
    top: float


def choice_of(slots: Numbers, many: int) -> Choice:
    """Fit the choice of a place to I/Os that go to these of `many` places."""
    counts = np.sort(np.unique(slots, return_counts=True)[1])[::-1]
    draws, touched, top = int(counts.sum()), len(counts), _share_of_top(counts)
    best, nearest = Choice(_theta(many, draws, touched), 1, touched, top), np.inf
    if draws > MOST_DRAWN:
        return best
    for sparser in SPARSER:
        left = many // sparser
        if left < touched:
            break
        theta = _theta(left, draws, touched)
        off = abs(_share_of_top(_drawn(left, draws, theta)) - top)
        if off < nearest:
            best, nearest = Choice(theta, sparser, touched, top), off
        if off < CLOSE:
            break
    return best


def _share_of_top(counts: NDArray[np.int64]) -> float:
    """Return the share of the most popular tenth, rounded up, of falling counts."""
    return float(counts[: max(1, round(TOP * len(counts)))].sum() / counts.sum())


def _theta(many: int, draws: int, touched: int) -> float | None:
    """Return the exponent with which `touched` different places are expected; None if an even choice gives about as
    many."""
    from scipy.optimize import brentq

    if many <= 1 or touched >= (1 - EVEN) * expected(many, draws, 0.0):
        return None
    if expected(many, draws, STEEPEST) > touched:
        return STEEPEST
    return float(brentq(lambda theta: expected(many, draws, theta) - touched, 0.0, STEEPEST, xtol=1e-4))


def expected(many: int, draws: int, theta: float) -> float:
    """Return the expected number of different places in `draws` choices."""
    ranks, width = _ranks(many)
    weights = ranks**-theta
    return float((width * -np.expm1(-draws * weights / (width @ weights))).sum())


def _ranks(many: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ranks, one by one and then in the middle of classes, and the number in each."""
    first = np.arange(1, min(many, EXACT_RANKS) + 1, dtype=float)
    if many <= EXACT_RANKS:
        return first, np.ones(len(first))
    edges = np.geomspace(EXACT_RANKS + 0.5, many + 0.5, CLASSES + 1)
    return np.concatenate((first, np.sqrt(edges[1:] * edges[:-1]))), np.concatenate(
        (np.ones(len(first)), np.diff(edges))
    )


def _drawn(many: int, draws: int, theta: float | None) -> NDArray[np.int64]:
    """Return the counts of each place in a trial, in falling order."""
    random = np.random.default_rng(1)
    if theta is None:
        places = random.integers(0, many, draws)
    else:
        ranks, width = _ranks(many)
        share = np.cumsum(width * ranks**-theta)
        classes = np.searchsorted(share, random.random(draws) * share[-1])
        begin = np.cumsum(width) - width
        places = (begin[classes] + random.random(draws) * width[classes]).astype("i8")
    return np.sort(np.unique(places, return_counts=True)[1])[::-1]
