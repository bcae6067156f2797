"""Figures as sums of logarithms of figures of cells: a cell's own is itself, a ratio of two is their difference.

So the figures of comparisons need no runs of their own: draws of the same value have the same number in all lines.

What it leaves out: the curvature of a mean of several configurations, and differences, which have no logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hotband.questions.study.definition import Comparison
from hotband.questions.study.intervals.lines import LineResult, Ratios, figure_key

Weights = dict[str, float]


def of_comparison(one: Comparison, predicted: Callable[[str], float | None]) -> Weights:
    """Weights of the cells that a comparison is of; none of a difference. The mean of several cells moves with each by
    its share of the sum."""
    if one.kind == "difference":
        return {}
    over = {name: predicted(figure_key(name, one.load, one.measure)) or 0.0 for name in one.over}
    total = sum(over.values())
    sign = -1.0 if one.kind == "inverse_ratio" else 1.0
    weights: Weights = {figure_key(one.of, one.load, one.measure): sign}
    for name, value in over.items():
        key = figure_key(name, one.load, one.measure)
        weights[key] = weights.get(key, 0.0) - sign * (value / total if total else 1 / len(over))
    return weights


class Combined:
    """What lines say of one figure: ends, draws and seed, as sums over the cells that it is of."""

    def __init__(self, weights: Weights, lines: Mapping[str, LineResult]) -> None:
        self.weights = weights
        self.lines = [line for line in lines.values() if any(key in line.seed for key in weights)]

    @property
    def is_known(self) -> bool:
        """Whether all its cells were run."""
        return bool(self.weights) and all(any(key in line.seed for line in self.lines) for key in self.weights)

    @property
    def values(self) -> list[str]:
        """Names of the values of its machines, in their order."""
        return list(dict.fromkeys(name for line in self.lines for name in line.values))

    @property
    def has_ends(self) -> bool:
        """Whether values were run alone in all its lines."""
        return all(line.ends or not line.values for line in self.lines)

    @property
    def seed(self) -> float:
        """Standard deviation by seeds: cells of different lines are independent."""
        of = (
            weight * line.seed[key] for line in self.lines for key, weight in self.weights.items() if key in line.seed
        )
        return math.sqrt(sum(one * one for one in of))

    def ends(self) -> dict[tuple[str, str], float]:
        """Log-ratios by name and end; an end that a line did not run is not there."""
        found = {}
        for name in self.values:
            for end in ("low", "high"):
                of = [line for line in self.lines if name in line.values]
                if of and all(f"{name} {end}" in line.ends for line in of):
                    found[name, end] = sum(self._sum(line.ends[f"{name} {end}"]) for line in of)
        return found

    def draws(self) -> dict[int, float]:
        """Log-ratios by the number of the draw; none of those that a line was refused or did not have."""
        drawn = [line for line in self.lines if line.values]
        found = {}
        for number in range(min((len(line.draws) for line in drawn), default=0)):
            of = [line.draws[number] for line in drawn]
            if all(one is not None for one in of):
                found[number] = sum(self._sum(one) for one in of if one is not None)
        return found

    def _sum(self, ratios: Ratios) -> float:
        return sum(weight * ratios.get(key, 0.0) for key, weight in self.weights.items())
