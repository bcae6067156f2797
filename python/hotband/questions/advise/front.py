"""Which candidates no other one is better than in everything: the Pareto front, and the candidate that is recommended.

Six figures count, less is better of each: cost (where there are prices), watts, drives, the latency of the first
condition (the worst workload's), the time of a rebuild, the chance of losing data. And no candidate with a volatile
write cache is better than one that keeps what it acknowledged.
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
"""Of a figure that the catalog has no value for: it is never better than another."""


@dataclass
class Tried:
    """A candidate with what runs said of it, by workload."""

    candidate: Candidate
    measured: dict[str, Measured] = field(default_factory=dict)
    ios: int = 0

    @property
    def name(self) -> str:
        """Return the candidate's."""
        return self.candidate.name

    def latency(self, of: Figure) -> tuple[float, float, float]:
        """Of the worst workload: the value and its ends by chance, in seconds."""
        found = [(one.figures[of], *one.chance[of]) for one in self.measured.values() if of in one.figures]
        return max(found, default=(0.0, 0.0, 0.0))

    def worst(self, of: Figure) -> str:
        """Return the workload with the longest latency."""
        return max(self.measured, key=lambda name: self.measured[name].figures.get(of, 0.0))

    @property
    def watts(self) -> tuple[float, float, float] | None:
        """Under the workload that takes most of it; as the user's table says, where it does."""
        own = self.candidate.static.watts
        if own is not None:
            return own, own, own
        found = [one.watts for one in self.measured.values()]
        known = [one for one in found if one is not None]
        return max(known) if known and len(known) == len(found) else None

    @property
    def life(self) -> float | None:
        """Return years until its drives are worn out, under the workload that wears most."""
        return min((one.life for one in self.measured.values() if one.life is not None), default=None)

    def values(self, of: Figure) -> dict[str, float]:
        """Return the figures that count, as they were predicted."""
        static, watts = self.candidate.static, self.watts
        return {
            COST: UNKNOWN if static.cost is None else static.cost[0],
            WATTS: UNKNOWN if watts is None else watts[0],
            DRIVES: float(self.candidate.count),
            LATENCY: self.latency(of)[0],
            REBUILD: UNKNOWN if static.rebuild is None else static.rebuild,
            LOSS: UNKNOWN if static.loss is None else static.loss,
            VOLATILE: float(self.candidate.is_volatile),
        }

    def by_chance(self, of: Figure, end: int) -> dict[str, float]:
        """Return the same at an end (0 the better, 1 the worse one) of what a run of this length leaves to chance."""
        found = self.values(of)
        found[LATENCY] = self.latency(of)[1 + end]
        if self.candidate.static.watts is None:
            found[WATTS] *= 1.0 + (WATTS_BY_CHANCE if end else -WATTS_BY_CHANCE)
        return found


def shown_figure(needs: Needs) -> Figure:
    """Return the latency that counts: of the first condition that is of one, else p99."""
    return needs.limits[0].figure if needs.limits else Figure("", "p99")


def read_figures(needs: Needs) -> list[Figure]:
    """Return all figures that runs are read for."""
    conditions = [*needs.slo, *needs.degraded]
    return list(
        dict.fromkeys([shown_figure(needs), *(condition.figure for condition in conditions), Figure("", "iops")])
    )


def is_better(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether one is as good in every figure, and better in one."""
    return all(one[key] <= other[key] for key in FIGURES) and any(one[key] < other[key] for key in FIGURES)


def front_of(tried: Sequence[Tried], of: Figure) -> list[Tried]:
    """Return those that none of the others is better than."""
    values = [one.values(of) for one in tried]
    return [one for one, own in zip(tried, values, strict=True) if not any(is_better(other, own) for other in values)]


def cannot_reach(tried: Sequence[Tried], needs: Needs, of: Figure) -> set[str]:
    """Names of those that cannot be on the front any more: another one is what was asked for and better in everything,
    whatever chance does to both. What a volatile cache does in a short run is better than what it does in a long one,
    so nothing is left out because of it."""
    sure = [one.by_chance(of, 1) for one in tried if not one.candidate.is_volatile and surely_holds(one, needs)]
    gone = set()
    for one in tried:
        best = one.by_chance(of, 0)
        if any(is_better(other, best) for other in sure):
            gone.add(one.name)
    return gone


def order(tried: Tried, of: Figure) -> tuple[float, ...]:
    """Return by what candidates are ranked: cost where there are prices, then drives, watts and latency."""
    found = tried.values(of)
    return tuple(found[key] if math.isfinite(found[key]) else math.inf for key in (COST, DRIVES, WATTS, LATENCY))
