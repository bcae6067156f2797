"""Intervals of predictions by conformal prediction over families: how far off were those of families left out?

A family counts once, whatever the number of its figures, because figures of one drive err together. Each group of
figures has its own scale of error, the mean over its families, drawn toward that of the next wider group: few families
teach little about a group. All figures together determine how many scales nine of ten figures stay within; for a group
of ten families alone, the worst family would determine it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

from hotband.base.text.numbers import counted

LEAST_FAMILIES = 10
"""Fewest families that are named as the evidence of an interval; with fewer, the next wider group is named."""
WEIGHT_OF_WIDER = 4.0
"""Number of families for which the scale of the next wider group counts, as the prior of the noise in `shrinkage`."""
FEW = 3.0
"""Variance of the scale of a group without any seen family, as a multiple of its square; with n families it is
divided by n + 1. Chosen after coverage was seen, over all classes and testers at once."""
SHARE = 0.90
WIDEST = 10.0
"""Factor above which an interval is not printed. Decisions still use it: a figure further off is certain."""


Pattern = Literal["random", "sequential", "sync"]
"""The order of I/Os; `sync` is for sync writes and flushes, in any order."""


class At(NamedTuple):
    """The load at which a figure was measured: percentage of reads, bytes of an I/O, I/Os in flight, pattern."""

    read_pct: float
    block: int
    depth: int
    pattern: Pattern


class Residual(NamedTuple):
    """The error of the prediction of a figure whose family was left out, with the groups that it is of, the narrowest
    first. `value` is the logarithm of predicted over measured speed: of a rate, and of the inverse of a latency. `run`
    numbers the measurement, whose rate and mean latency are one error."""

    family: str
    tester: str
    groups: tuple[str, ...]
    value: float
    at: At
    run: int

    @property
    def of_line(self) -> Key:
        """Return the key of the figures whose errors are the best evidence for this one."""
        return of_line(self.family, self.groups, self.at.pattern)


@dataclass(frozen=True)
class OfLine:
    """Evidence of one product line: its name, the number of its figures of a class, and the logarithm of measured over
    predicted that these make the likeliest."""

    line: str
    figures: int
    shift: float


@dataclass(frozen=True)
class Width:
    """An interval is the prediction divided and multiplied by `factor`, and moved by what its own product line shows;
    it rests on `families` of `group`."""

    factor: float
    group: str
    families: int
    of_line: OfLine | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The logarithms of the factors between which measured over predicted lies."""
        shift = self.of_line.shift if self.of_line else 0.0
        return shift - math.log(self.factor), shift + math.log(self.factor)

    @property
    def words(self) -> str:
        """The evidence in one phrase."""
        of_line = f"{counted(self.of_line.figures, 'figure')} of {self.of_line.line} and " if self.of_line else ""
        return f"from {of_line}{self.families} families: {self.group}"


Key = tuple[str, str, str, Pattern]


def of_line(family: str, groups: Sequence[str], pattern: Pattern) -> Key:
    """Return the key of figures of a product line that are of one pattern and one class, which only the two groups of
    any load are wider than, and are all rates, latencies of reads, or latencies of other loads."""
    return family, groups[-3:][0], groups[-1], pattern


class Pools:
    """Residuals by group and family, from which intervals are taken."""

    def __init__(self, residuals: Iterable[Residual]) -> None:
        self.residuals = tuple(residuals)
        errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for residual in self.residuals:
            for group in residual.groups:
                errors[group][residual.family].append(abs(residual.value))
        self._means = {
            group: {family: fmean(values) for family, values in families.items()} for group, families in errors.items()
        }
        self._sums = {group: sum(families.values()) for group, families in self._means.items()}
        self._of_lines: dict[Key, list[Residual]] = {}
        self._scales: dict[tuple[tuple[str, ...], tuple[str, ...]], float] = {}
        self._scaled: dict[tuple[str, str], list[list[float]]] = {}
        self._quantiles: dict[tuple[str, float, str], float] = {}

    def width(
        self, groups: Sequence[str], share: float = SHARE, without: str = "", *, widest: float = WIDEST
    ) -> Width | None:
        """Return the interval of a figure of these groups, the narrowest first, without one family; None if no group
        has enough families (including that one), or if the interval is wider than `widest`."""
        group = next((group for group in groups if len(self._means.get(group, ())) >= LEAST_FAMILIES), None)
        if group is None:
            return None
        factor = math.exp(self.scale(tuple(groups), without) * self.scales_within(groups, share, without))
        return Width(factor, group, self._count(group, without)) if factor <= widest else None

    def scales_within(self, groups: Sequence[str], share: float, without: str) -> float:
        """Return how many scales this share of all figures like those of these groups stays within."""
        return self._quantile(next(group for group in reversed(groups) if group in self._means), share, without)

    def of_line(self, family: str, groups: Sequence[str], pattern: Pattern) -> Sequence[Residual]:
        """Return the residuals of a product line that are evidence for a figure of these groups and this pattern."""
        key = of_line(family, groups, pattern)
        if key not in self._of_lines:
            same = (residual for residual in self.residuals if residual.family == family)
            self._of_lines[key] = [residual for residual in same if residual.of_line == key]
        return self._of_lines[key]

    def _count(self, group: str, *without: str) -> int:
        families = self._means.get(group, {})
        return len(families) - sum(family in families for family in without)

    def scale(self, groups: tuple[str, ...], *without: str) -> float:
        """Return the scale of errors of the narrowest group without these families, each named once; the fewer of its
        families are known, the wider it is."""
        key = (groups, without)
        if key not in self._scales:
            scale, weight = 0.0, 0.0
            for group in reversed(groups):
                count = self._count(group, *without)
                if count:
                    means = self._means[group]
                    total = self._sums[group] - sum(means.get(family, 0.0) for family in without)
                    scale = (total + weight * scale) / (count + weight)
                    weight = WEIGHT_OF_WIDER
            self._scales[key] = scale * math.sqrt(1.0 + FEW / (self._count(groups[0], *without) + 1))
        return self._scales[key]

    def _quantile(self, group: str, share: float, without: str) -> float:
        """Return how many scales this share of the figures of a wide group stays within, without a family."""
        if (group, without) not in self._scaled:
            scaled: dict[str, list[float]] = defaultdict(list)
            for residual in self.residuals:
                if residual.family != without and group in residual.groups:
                    scale = self.scale(residual.groups, residual.family, without)
                    scaled[residual.family].append(abs(residual.value) / scale if scale else math.inf)
            self._scaled[group, without] = list(scaled.values())
        key = (group, share, without)
        if key not in self._quantiles:
            self._quantiles[key] = _quantile(self._scaled[group, without], share)
        return self._quantiles[key]


def _quantile(families: Sequence[Sequence[float]], share: float) -> float:
    """Return the quantile of values that weigh one a family, with a further family that may be anywhere."""
    weighted = sorted((value, 1.0 / len(values)) for values in families for value in values)
    wanted, total = share * (len(families) + 1), 0.0
    for value, weight in weighted:
        total += weight
        if total >= wanted - 1e-9:
            return value
    return weighted[-1][0]
