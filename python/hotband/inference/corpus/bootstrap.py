"""Compare errors of a model with those of a baseline: a bootstrap over families."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hotband.base.heavy import np

RESAMPLES = 2000
LEVEL = 90.0
SEED = 1
Verdict = Literal["better", "worse", "alike"]


@dataclass(frozen=True)
class Compared:
    """Errors of a model less those of a baseline on the same families: ends of the 90 % intervals of the difference in
    the median and in the 90th percentile."""

    figure_class: str
    baseline: str
    families: int
    median: tuple[float, float]
    ninety: tuple[float, float]

    @property
    def verdict(self) -> Verdict:
        """Verdict: the model is better or worse in the median, or neither beyond chance."""
        low, high = self.median
        return "better" if high < 0 else "worse" if low > 0 else "alike"


def compared(figure_class: str, baseline: str, ours: Mapping[str, float], theirs: Mapping[str, float]) -> Compared:
    """Compare errors by family; both have the same families."""
    names = sorted(ours.keys() & theirs.keys())
    pairs = np.array([(ours[name], theirs[name]) for name in names])
    drawn = pairs[np.random.default_rng(SEED).integers(len(names), size=(RESAMPLES, len(names)))]
    tails = (50 - LEVEL / 2, 50 + LEVEL / 2)
    ends = []
    for quantile in (0.5, 0.9):
        errors = np.quantile(drawn, quantile, axis=1)
        low, high = np.percentile(errors[:, 0] - errors[:, 1], tails)
        ends.append((float(low), float(high)))
    return Compared(figure_class, baseline, len(names), *ends)
