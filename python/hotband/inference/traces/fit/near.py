"""Jumps that stay near: a share of them goes up to a distance from where the last I/O of the stream ended, the
logarithm of the distance uniform; the others go anywhere. Share and distance are those of the largest likelihood.

Leaves out: that a stream goes back to where it was before the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hotband.inference.traces.fit.ios import Numbers

WITHIN = tuple(1 << shift for shift in range(14, 41, 2))
"""Distances that are tried: 16 KiB to 1 TiB."""
LEAST = 0.03
"""Share of the jumps below which none are near: a key more for little."""
WIDEST = 0.25
"""Of the area: beyond it near is hardly nearer than anywhere."""


@dataclass(frozen=True)
class Near:
    """A share of the jumps, and how far they go at most, in bytes."""

    ios: float
    within: int


def near_of(
    offset: Numbers, length: Numbers, begins: NDArray[np.int64], align: int, width: int
) -> tuple[Near | None, NDArray[np.int64]]:
    """Jumps that are near, if enough are, and which of the I/Os (`begins` are all that jump) go far, the first of all
    among them."""
    import numpy as np

    jumps = begins[begins > 0]
    if not len(jumps):
        return None, begins
    distance = np.abs(offset[jumps].astype("i8") - (offset[jumps - 1] + length[jumps - 1]).astype("i8")).astype(float)
    distance = np.maximum(distance, align)
    best, most = None, len(jumps) * np.log(1 / width)
    for within in WITHIN:
        if within <= align or within > WIDEST * width:
            continue
        inside = distance <= within
        by_chance = min(1.0, 2 * within / width)
        share = (float(inside.mean()) - by_chance) / (1 - by_chance)
        if share < LEAST:
            continue
        density = (1 - share) / width + np.where(inside, share / (2 * distance * np.log(within / align)), 0.0)
        likelihood = float(np.log(density).sum())
        if likelihood > most:
            best, most = Near(min(share, 1.0), within), likelihood
    if best is None:
        return None, begins
    return best, np.concatenate((begins[begins == 0], jumps[distance > best.within]))
