"""The areas of a direction's I/Os, each of even density.

The addresses are cut so that the likelihood of a density which is constant in each piece is largest: dynamic
programming over possible cuts (Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE
Signal Processing Letters 12, 2005). Areas count places, not I/Os: each with the logarithm of how often it is
requested, so that one popular block makes no area of its own. Untouched space between two areas belongs to none.

Leaves out: areas that move with time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.heavy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.inference.traces.fit.ios import Numbers

MOST_AREAS = 4
"""Most areas of a direction: eight streams of reads and writes are still readable."""
QUANTILES = 64
"""Number of cuts at quantiles of the places."""
GAPS = 12
"""Number of the largest gaps between places, whose ends are cuts, too."""
WORTH = 0.1
"""Nats of likelihood a place by which one more area has to be better: a density of 1.6 times the other in half of the
addresses gives 0.03, of 3 times 0.13."""
FEWEST_IOS = 50
"""Least I/Os of an area: fewer determine neither sizes nor runs."""
FEWEST = 0.02
"""Least share of I/Os of an area in long traces: a smaller one is not worth another stream."""


def areas_of(offsets: Numbers, lengths: Numbers) -> list[tuple[int, int]]:
    """Return areas as first byte and first byte beyond, in order of address; each I/O begins in one of them."""
    places, counts = np.unique(offsets, return_counts=True)
    end = int((offsets + lengths).max())
    weights = np.log2(1.0 + counts)
    cuts = _cuts(places, end)
    inside = np.concatenate(([0], np.searchsorted(places, cuts[1:])))
    weight = np.concatenate(([0.0], np.cumsum(weights)))[inside]
    ios = np.concatenate(([0], np.cumsum(counts)))[inside]
    pieces = _best(cuts.astype(float), weight, ios)
    return [_ends(offsets, lengths, int(cuts[begin]), int(cuts[to])) for begin, to in pieces]


def _ends(offsets: Numbers, lengths: Numbers, begin: int, to: int) -> tuple[int, int]:
    """Trim an area to its accessed bytes."""
    inside = (offsets >= begin) & (offsets < to)
    return int(offsets[inside].min()), int((offsets[inside] + lengths[inside]).max())


def _cuts(places: Numbers, end: int) -> Numbers:
    """Return the addresses at which an area may begin or end, from the first place to the end."""
    quantiles = places[np.linspace(0, len(places) - 1, QUANTILES).astype(int)]
    gaps = np.argsort(np.diff(places))[::-1][:GAPS]
    # A gap ends where the next place is, and begins a sector behind the last one.
    around = np.concatenate((places[gaps] + np.uint64(512), places[gaps + 1]))
    return np.unique(np.concatenate((quantiles, around, np.array([end], "u8"))))


def _best(cuts: NDArray[np.float64], weight: NDArray[np.float64], ios: Numbers) -> list[tuple[int, int]]:
    """Return the best pieces (indices of the first and the last cut), without empty ones, which cost nothing."""
    score, is_empty = _scores(cuts, weight, ios)
    many = len(cuts)
    best = np.full((MOST_AREAS + 1, many), -np.inf)
    # Where the last piece began, and whether it was one that is touched.
    came = np.zeros((MOST_AREAS + 1, many), int)
    touched = np.zeros((MOST_AREAS + 1, many), bool)
    best[0, 0] = 0.0
    for to in range(1, many):
        for count in range(MOST_AREAS + 1):
            over = np.where(is_empty[:to, to], best[count, :to], -np.inf)
            extended = best[count - 1, :to] + score[:to, to] if count else np.full(to, -np.inf)
            touched[count, to] = extended.max() > over.max()
            scores = extended if touched[count, to] else over
            came[count, to], best[count, to] = int(scores.argmax()), scores.max()
    count = 1
    while count < MOST_AREAS and best[count + 1, -1] - best[count, -1] > WORTH * float(weight[-1]):
        count += 1
    pieces, to = [], many - 1
    while to > 0:
        begin = int(came[count, to])
        if touched[count, to]:
            pieces.append((begin, to))
            count -= 1
        to = begin
    return pieces[::-1]


def _scores(
    cuts: NDArray[np.float64], weight: NDArray[np.float64], ios: Numbers
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the log likelihood of every piece, and whether it is empty."""
    places, count = weight[None, :] - weight[:, None], ios.astype(float)[None, :] - ios.astype(float)[:, None]
    width = np.maximum(cuts[None, :] - cuts[:, None], 1.0)
    score = np.where(places > 0, places * np.log(np.maximum(places, 1e-9) / width), -np.inf)
    score[count < min(float(ios[-1]), max(FEWEST_IOS, FEWEST * float(ios[-1])))] = -np.inf
    return score, count == 0
