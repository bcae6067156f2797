"""Sizes of I/Os as a workload says them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotband.inference.traces.fit.ios import Numbers

SECTOR = 512
"""Workloads ask for whole sectors."""
LARGEST = 64 << 20
"""And for at most so much at once."""
MOST_SIZES = 12
"""Sizes that are named one by one: what can be read in a line or two."""


def sizes_of(lengths: Numbers) -> list[tuple[int, float]]:
    """Sizes in bytes and their shares, at most MOST_SIZES: the most frequent as they are, others together by octave
    with their mean."""
    import numpy as np

    whole = np.clip((lengths + np.uint64(SECTOR - 1)) // np.uint64(SECTOR) * np.uint64(SECTOR), SECTOR, LARGEST)
    sizes, ios = np.unique(whole, return_counts=True)
    found, counts = sizes, ios.astype("u8")
    if len(found) > MOST_SIZES:
        found, counts = _lumped(found, counts)
    order = np.argsort(found)
    return [(int(found[at]), float(counts[at] / counts.sum())) for at in order]


def _lumped(found: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """The most frequent sizes, and the mean of each octave of the others, as few as MOST_SIZES."""
    import numpy as np

    octave = np.floor(np.log2(found.astype(float)))
    named = set(np.argsort(counts)[::-1][: MOST_SIZES // 2].tolist())
    rest = [at for at in range(len(found)) if at not in named]
    sums: dict[int, list[float]] = {int(found[at]): [float(counts[at]), float(counts[at])] for at in named}
    sizes = {size: (size, count[0]) for size, count in sums.items()}
    for width in (1, 2, 4, 8, 16):
        groups: dict[int, list[int]] = {}
        for at in rest:
            groups.setdefault(int(octave[at]) // width, []).append(at)
        if len(groups) + len(named) <= MOST_SIZES:
            break
    for members in groups.values():
        weight = counts[members].sum()
        mean = round(float((found[members] * counts[members]).sum() / weight) / SECTOR) * SECTOR
        before = sizes.get(mean, (mean, 0.0))[1]
        sizes[mean] = (mean, before + float(weight))
    return np.array([size for size, _ in sizes.values()], "u8"), np.array([count for _, count in sizes.values()], "u8")
