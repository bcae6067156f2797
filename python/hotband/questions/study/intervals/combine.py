"""Figures as weighted sums of logarithms of cell figures: a ratio of two cells is their difference.

So comparisons need no further runs: sample N of a value is the same in all lines.

Left out: the curvature of a mean of several configurations, and differences, which have no logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hotband.questions.study.definition import Comparison
from hotband.questions.study.intervals.lines import LineResult, Ratios, figure_key

Weights = dict[str, float]


def of_comparison(comparison: Comparison, predicted: Callable[[str], float | None]) -> Weights:
    """Return the weights of the cells of a comparison; none for a difference. The mean of several cells moves with each
    by its share of the sum."""
    if comparison.kind == "difference":
        return {}
    over = {name: predicted(figure_key(name, comparison.load, comparison.measure)) or 0.0 for name in comparison.over}
    total = sum(over.values())
    sign = -1.0 if comparison.kind == "inverse_ratio" else 1.0
    weights: Weights = {figure_key(comparison.of, comparison.load, comparison.measure): sign}
    for name, value in over.items():
        key = figure_key(name, comparison.load, comparison.measure)
        weights[key] = weights.get(key, 0.0) - sign * (value / total if total else 1 / len(over))
    return weights


class Combined:
    """Ends, samples and seed of one figure, as sums over the cells that it consists of."""

    def __init__(self, weights: Weights, lines: Mapping[str, LineResult]) -> None:
        self.weights = weights
        self.lines = [line for line in lines.values() if any(key in line.seed for key in weights)]

    @property
    def is_known(self) -> bool:
        """Whether all its cells were run."""
        return bool(self.weights) and all(any(key in line.seed for line in self.lines) for key in self.weights)

    @property
    def values(self) -> list[str]:
        """Names of the uncertain values of its machines, in their order."""
        return list(dict.fromkeys(name for line in self.lines for name in line.values))

    @property
    def has_ends(self) -> bool:
        """Whether all its lines have runs of single values."""
        return all(line.ends or not line.values for line in self.lines)

    @property
    def seed(self) -> float:
        """Standard deviation from seeds: cells of different lines are independent."""
        deviations = (
            weight * line.seed[key] for line in self.lines for key, weight in self.weights.items() if key in line.seed
        )
        return math.sqrt(sum(deviation * deviation for deviation in deviations))

    def ends(self) -> dict[tuple[str, str], float]:
        """Return log-ratios by name and end, without ends that a line did not run."""
        log_ratios = {}
        for name in self.values:
            for end in ("low", "high"):
                lines = [line for line in self.lines if name in line.values]
                if lines and all(f"{name} {end}" in line.ends for line in lines):
                    log_ratios[name, end] = sum(self._sum(line.ends[f"{name} {end}"]) for line in lines)
        return log_ratios

    def draws(self) -> dict[int, float]:
        """Return log-ratios by the number of the sample, without samples that a line lacks or the model refused."""
        drawn = [line for line in self.lines if line.values]
        log_ratios = {}
        for number in range(min((len(line.draws) for line in drawn), default=0)):
            ratios_of_lines = [line.draws[number] for line in drawn]
            if all(ratios is not None for ratios in ratios_of_lines):
                log_ratios[number] = sum(self._sum(ratios) for ratios in ratios_of_lines if ratios is not None)
        return log_ratios

    def _sum(self, ratios: Ratios) -> float:
        return sum(weight * ratios.get(key, 0.0) for key, weight in self.weights.items())
