"""Intervals of predictions by conformal prediction over families: how far off were those of families left out?

A family counts once, whatever the number of its figures, because figures of one drive err together. The interval of a
class rests on its own families where there are enough, else on a wider pool, and says which.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEAST_FAMILIES = 10
"""Fewer families than these do not make an interval of their own. Without one of ten, the widest of the other nine is
what 90 % of ten stay within."""
SHARE = 0.90
WIDEST = 10.0
"""Factor above which an interval is not printed. Decisions still use it: a figure further off is certain."""


@dataclass(frozen=True)
class Residual:
    """The logarithm of predicted over measured of a figure whose family was left out, with the groups that it is of,
    the narrowest first."""

    family: str
    source: str
    groups: tuple[str, ...]
    value: float


@dataclass(frozen=True)
class Width:
    """An interval is the prediction divided and multiplied by `factor`; it rests on `families` of `group`."""

    factor: float
    group: str
    families: int

    @property
    def ends(self) -> tuple[float, float]:
        """The logarithms of the factors between which measured over predicted lies."""
        return -math.log(self.factor), math.log(self.factor)

    @property
    def words(self) -> str:
        """The evidence in one phrase."""
        return f"from {self.families} families: {self.group}"


class Pools:
    """Residuals by group and family, from which intervals are taken."""

    def __init__(self, residuals: Iterable[Residual]) -> None:
        self.residuals = tuple(residuals)
        self._groups: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for residual in self.residuals:
            for group in residual.groups:
                self._groups[group][residual.family].append(abs(residual.value))
        self._widths: dict[tuple[str, float, str], Width] = {}

    def width(
        self, groups: Sequence[str], share: float = SHARE, without: str = "", *, widest: float = WIDEST
    ) -> Width | None:
        """Return the interval of a figure of these groups, the narrowest first, without a family; None where no group
        has enough families (that one counted), or where theirs is wider than `widest`."""
        enough = (group for group in groups if len(self._groups[group]) >= LEAST_FAMILIES)
        group = next(enough, None)
        if group is None:
            return None
        key = (group, share, without)
        if key not in self._widths:
            families = [values for family, values in self._groups[group].items() if family != without]
            factor = math.exp(_quantile(families, share))
            self._widths[key] = Width(factor, group, len(families))
        width = self._widths[key]
        return width if width.factor <= widest else None


def _quantile(families: Sequence[Sequence[float]], share: float) -> float:
    """Return the quantile of values that weigh one a family, with a further family that may be anywhere."""
    weighted = sorted((value, 1.0 / len(values)) for values in families for value in values)
    wanted, total = share * (len(families) + 1), 0.0
    for value, weight in weighted:
        total += weight
        if total >= wanted - 1e-9:
            return value
    return weighted[-1][0]
