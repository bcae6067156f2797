"""The Pareto front of the candidates, and the order in which they are recommended.

Six metrics count, each better if it is lower: cost (if there are prices), watts, drives, the latency of the first
condition (under the worst workload), the time of a rebuild, and the chance of losing data. A candidate with a volatile
write cache is never better than one that keeps acknowledged writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hotband.questions.advise.objective import WATTS_BY_CHANCE, surely_holds
from hotband.questions.find.figures import Figure

if TYPE_CHECKING:
    from hotband.questions.advise.asked import Needs
    from hotband.questions.advise.candidates import Candidate
    from hotband.questions.advise.measure import Measured

COST, WATTS, DRIVES, LATENCY, REBUILD, LOSS = "cost", "watts", "drives", "latency", "rebuild", "loss"
VOLATILE = "volatile"
FIGURES = (COST, WATTS, DRIVES, LATENCY, REBUILD, LOSS, VOLATILE)
UNKNOWN = math.inf
"""Stands for a metric that the catalog has no value for: it is never better than another."""


@dataclass
class Tried:
    """A candidate with the results of its runs, by workload."""

    candidate: Candidate
    measured: dict[str, Measured] = field(default_factory=dict)
    ios: int = 0

    @property
    def name(self) -> str:
        """Return the candidate's name."""
        return self.candidate.name

    def latency(self, figure: Figure) -> tuple[float, float, float]:
        """Return the latency under the worst workload and its ends by chance, in seconds."""
        ranges = [
            (measured.figures[figure], *measured.chance[figure])
            for measured in self.measured.values()
            if figure in measured.figures
        ]
        return max(ranges, default=(0.0, 0.0, 0.0))

    def worst(self, figure: Figure) -> str:
        """Return the workload with the longest latency."""
        return max(self.measured, key=lambda name: self.measured[name].figures.get(figure, 0.0))

    @property
    def watts(self) -> tuple[float, float, float] | None:
        """Return the watts under the workload that draws most, or those of the user's table if it has them."""
        stated = self.candidate.static.watts
        if stated is not None:
            return stated, stated, stated
        powers = [measured.watts for measured in self.measured.values()]
        known = [power for power in powers if power is not None]
        return max(known) if known and len(known) == len(powers) else None

    @property
    def life(self) -> float | None:
        """Return the years until the drives are worn out, under the workload that wears them most."""
        return min((measured.life for measured in self.measured.values() if measured.life is not None), default=None)

    def values(self, figure: Figure) -> dict[str, float]:
        """Return the predicted metrics that count."""
        static, watts = self.candidate.static, self.watts
        return {
            COST: UNKNOWN if static.cost is None else static.cost[0],
            WATTS: UNKNOWN if watts is None else watts[0],
            DRIVES: float(self.candidate.count),
            LATENCY: self.latency(figure)[0],
            REBUILD: UNKNOWN if static.rebuild is None else static.rebuild,
            LOSS: UNKNOWN if static.loss is None else static.loss,
            VOLATILE: float(self.candidate.is_volatile),
        }

    def by_chance(self, figure: Figure, end: int) -> dict[str, float]:
        """Return the metrics at one end (0: the better, 1: the worse) of the range that chance allows in a run of this
        length."""
        metrics = self.values(figure)
        metrics[LATENCY] = self.latency(figure)[1 + end]
        if self.candidate.static.watts is None:
            metrics[WATTS] *= 1.0 + (WATTS_BY_CHANCE if end else -WATTS_BY_CHANCE)
        return metrics


def shown_figure(needs: Needs) -> Figure:
    """Return the latency that counts: that of the first condition on a latency, else p99."""
    return needs.limits[0].figure if needs.limits else Figure("", "p99")


def read_figures(needs: Needs) -> list[Figure]:
    """Return all metrics to read from runs."""
    conditions = [*needs.slo, *needs.degraded]
    return list(
        dict.fromkeys([shown_figure(needs), *(condition.figure for condition in conditions), Figure("", "iops")])
    )


def is_better(metrics: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether the first is at least as good in every metric, and better in one."""
    return all(metrics[key] <= other[key] for key in FIGURES) and any(metrics[key] < other[key] for key in FIGURES)


def front_of(tried: Sequence[Tried], figure: Figure) -> list[Tried]:
    """Return the Pareto front of the candidates."""
    values = [entry.values(figure) for entry in tried]
    return [
        entry
        for entry, metrics in zip(tried, values, strict=True)
        if not any(is_better(other, metrics) for other in values)
    ]


def cannot_reach(tried: Sequence[Tried], needs: Needs, figure: Figure) -> set[str]:
    """Return the names of candidates that can no longer reach the front: another one meets the requirements and is
    better in everything, whatever chance does to both. A candidate with a volatile cache rules out no other, because a
    short run flatters it."""
    sure = [
        entry.by_chance(figure, 1) for entry in tried if not entry.candidate.is_volatile and surely_holds(entry, needs)
    ]
    gone = set()
    for one in tried:
        best = one.by_chance(figure, 0)
        if any(is_better(other, best) for other in sure):
            gone.add(one.name)
    return gone


def order(tried: Tried, figure: Figure) -> tuple[float, ...]:
    """Return the sort key of a candidate: cost if there are prices, then drives, watts and latency."""
    metrics = tried.values(figure)
    return tuple(metrics[key] if math.isfinite(metrics[key]) else math.inf for key in (COST, DRIVES, WATTS, LATENCY))
