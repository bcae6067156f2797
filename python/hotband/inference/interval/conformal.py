"""Model error per kind of figure: split conformal intervals from the figures of studies (Vovk 2005;
Lei et al. 2018, locally weighted; docs/guides/intervals.md).

A residual is the logarithm of published over predicted. It is divided by its scale, the root of two squares: the size
of the residuals of its kind (their median), and the spread that the uncertain values and the seed give this very
figure, on the side that the residual lies. The interval of a new figure is its own scale times a quantile of those
scores, up and down. The quantile is that of rank ceil((n + 1) level), so that n exchangeable figures give the level,
whatever their distribution.

Left out: figures of one study resemble each other more than those of another (`coverage` measures the
effect on the coverage), and a new machine may resemble none of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from hotband.inference.interval.figureclass import FigureClass

ENOUGH = 10
"""A kind with fewer figures takes the quantile of a wider pool: of ten, the 90 % rank is the largest, of eight there is
none."""
ENOUGH_MACHINES = 2
"""Or with figures of one machine alone."""
SIZED = 5
"""A class with fewer figures takes the size of its family; a machine is left out instead of its study, if the other
studies have fewer."""
ALL = "all"
ARRAYS, POOLS = "drives and arrays", "pools"
"""A pool has daemons, a network and several hosts between the program and the drives: their model error says little
about a drive or an array on one host, and the other way round."""
FAMILIES = {
    FigureClass.RANDOM: "rates",
    FigureClass.SEQUENTIAL: "rates",
    FigureClass.APPLICATION: "rates",
    FigureClass.TIME: "times",
    FigureClass.P50: "times",
    FigureClass.P90: "times",
    FigureClass.P99: "times",
    FigureClass.P999: "times",
    FigureClass.GAIN: ALL,
    FigureClass.AMPLIFICATION: ALL,
    FigureClass.OTHER: ALL,
}


@dataclass(frozen=True)
class Spread:
    """Effect of the uncertain values and the seed on a figure, as the standard deviation of its logarithm seen from the
    nominal prediction, downwards and upwards."""

    low: float = 0.0
    high: float = 0.0

    @classmethod
    def of(cls, log_ratios: Iterable[float], seed: float = 0.0) -> Spread:
        """Spread of samples, and the standard deviation by seeds: on each side the root of twice the mean square, which
        is the standard deviation where both sides are identical."""
        found = list(log_ratios)
        low, high = (
            math.sqrt(2 * sum(x * x for x in found if x * sign > 0) / len(found) + seed * seed) if found else seed
            for sign in (-1, 1)
        )
        return cls(low, high)

    @classmethod
    def farthest(cls, log_ratios: Iterable[float], seed: float = 0.0) -> Spread:
        """Return how far the farthest draws lie, and two standard deviations by seeds with them."""
        found = [0.0, *log_ratios]
        return cls(2 * seed - min(found), 2 * seed + max(found))


NO_LIMIT = Spread(math.inf, math.inf)
"""Spread of figures whose samples are not known one by one."""


class Kind(NamedTuple):
    """Scope of a term: a class of figure, of drives and arrays or of pools."""

    figure_class: FigureClass
    system: str = ARRAYS

    def __str__(self) -> str:
        return f"{self.figure_class} of {self.system}"


class Pool(NamedTuple):
    """Residuals for a quantile, and their name."""

    name: str
    residuals: tuple[Residual, ...]


@dataclass(frozen=True)
class Residual:
    """A published figure next to its prediction: `log_ratio` of published over predicted. `kind` is "blind" if it
    was predicted before it was seen, else "seen"; of one measurement both may be known, each with half the `weight`.
    `machine` is the configuration of its study."""

    study: str
    machine: str
    figure: str
    kind: Kind
    log_ratio: float
    spread: Spread = Spread()
    was: str = "seen"
    weight: float = 1.0


def rank_quantile(scores: Sequence[tuple[float, float]], level: float) -> float:
    """Return the score that a share of `level` percent of exchangeable scores does not exceed: scores with weights, one
    more of weight one counted as larger than all. Infinite if there are too few."""
    total = sum(weight for _, weight in scores)
    wanted = level / 100 * (total + 1.0)
    reached = 0.0
    for score, weight in sorted(scores):
        reached += weight
        # Weights are halves: rounding in the product of the level must not cost a rank.
        if reached >= wanted - 1e-9:
            return score
    return math.inf


class ModelTerm:
    """The term of every kind of figure, from residuals."""

    def __init__(self, residuals: Sequence[Residual]) -> None:
        self.residuals = list(residuals)
        self._rests: dict[str, ModelTerm] = {}
        self._sizes: dict[Kind, float] = {}
        self._pools: dict[Kind, Pool] = {}

    def without(self, study: str, machine: str, of: Kind) -> ModelTerm:
        """Return the same without the study that a figure is of, so that it is as new as a user's machine. If the
        other studies hardly have its kind, only its machine is left out."""
        rest = self._rest(study, "")
        if len(rest._members(of)) >= SIZED or not self._members(of):
            return rest
        return self._rest(study, machine)

    def _rest(self, study: str, machine: str) -> ModelTerm:
        key = f"{study}/{machine}"
        if key not in self._rests:
            kept = [
                residual
                for residual in self.residuals
                if residual.study != study or (machine and residual.machine != machine)
            ]
            self._rests[key] = ModelTerm(kept)
        return self._rests[key]

    def size(self, of: Kind) -> float:
        """Return the median of the absolute residuals of a kind, or of the first pool that has enough."""
        if of not in self._sizes:
            sized = next((found for _, found in self._chain(of) if len(found) >= SIZED), self.residuals)
            self._sizes[of] = median(abs(one.log_ratio) for one in sized) if sized else 0.0
        return self._sizes[of]

    def pool(self, of: Kind) -> Pool:
        """Return the residuals for the quantile of a kind: itself if it has figures enough, else the first pool
        that has."""
        if of not in self._pools:
            enough = (Pool(name, tuple(found)) for name, found in self._chain(of) if _is_enough(found))
            self._pools[of] = next(enough, Pool(ALL, tuple(self.residuals)))
        return self._pools[of]

    def is_exercised(self, kind: Kind) -> bool:
        """Return whether figures of a kind were checked, or enough of its family on the same sort of system."""
        family = FAMILIES[kind.figure_class]
        same = [residual for residual in self.residuals if residual.kind.system == kind.system]
        alike = [residual for residual in same if FAMILIES[residual.kind.figure_class] == family]
        return bool(self._members(kind)) or (family != ALL and _is_enough(alike))

    def scale(self, of: Kind, spread: float) -> float:
        """Return the scale of a figure's residual."""
        return math.hypot(self.size(of), spread)

    def score(self, one: Residual) -> float:
        """Return a residual in scales."""
        side = one.spread.low if one.log_ratio < 0 else one.spread.high
        scale = self.scale(one.kind, side)
        return abs(one.log_ratio) / scale if scale > 0 else (math.inf if one.log_ratio else 0.0)

    def factor(self, of: Kind, level: float) -> float:
        """Number of scales that an interval of a kind spans. A level that its pool is too small for is taken from wider
        ones, and is at least the largest score of the narrower; where even all figures are too few, it is that."""
        least, enough = 0.0, False
        for _, found in (*self._chain(of), (ALL, self.residuals)):
            # The pool of a kind is the first that is large enough; narrower ones have no say.
            enough = enough or _is_enough(found)
            if not enough or not found:
                continue
            scores = [(self.score(one), one.weight) for one in found]
            reached = rank_quantile(scores, level)
            if math.isfinite(reached):
                return max(least, reached)
            least = max(least, *(score for score, _ in scores))
        return least or math.inf

    def bounds(self, of: Kind, spread: Spread, level: float, farthest: Spread = NO_LIMIT) -> tuple[float, float]:
        """Return the log-ratios between which a figure of a kind lies with a probability of `level` percent. They reach
        no further than those of a figure without spread and the `farthest` draw together: the scores are of figures
        whose spread is about as large as their kind's size, and say nothing of one that a value moves tenfold."""
        factor = self.factor(of, level)
        alone = factor * self.size(of)
        low = min(factor * self.scale(of, spread.low), alone + farthest.low)
        return -low, min(factor * self.scale(of, spread.high), alone + farthest.high)

    def _chain(self, of: Kind) -> Iterator[tuple[str, list[Residual]]]:
        """Pools of a kind, the narrowest first."""
        family = FAMILIES[of.figure_class]
        same = [residual for residual in self.residuals if residual.kind.system == of.system]
        yield str(of), self._members(of)
        if family != ALL:
            yield f"{family} of {of.system}", [one for one in same if FAMILIES[one.kind.figure_class] == family]
        yield (
            str(of.figure_class),
            [residual for residual in self.residuals if residual.kind.figure_class == of.figure_class],
        )
        if family != ALL:
            yield family, [residual for residual in self.residuals if FAMILIES[residual.kind.figure_class] == family]

    def _members(self, of: Kind) -> list[Residual]:
        return [residual for residual in self.residuals if residual.kind == of]


def _is_enough(found: Sequence[Residual]) -> bool:
    machines = {(one.study, one.machine) for one in found}
    return sum(one.weight for one in found) >= ENOUGH and len(machines) >= ENOUGH_MACHINES


@dataclass(frozen=True)
class FigureSpread:
    """A figure: what was predicted, of which kind it is, and how far the values and the seed move it (standard
    deviations of its logarithm, downwards and upwards; `seed` is in both). `unexplained` is the part of that the
    response surface does not have; `cells` are those whose logarithms it is the sum of, with their weights."""

    predicted: float | None
    config: str = ""
    label: str = ""
    unit: str = ""
    figure_class: str = ""
    scored_as: str = ""
    cells: dict[str, float] = field(default_factory=dict)
    low: float = 0.0
    high: float = 0.0
    seed: float = 0.0
    unexplained: float = 0.0

    @property
    def spread(self) -> Spread:
        """Spread in the form that intervals use."""
        return Spread(self.low, self.high)
