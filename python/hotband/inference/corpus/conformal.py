"""Intervals of predictions by conformal prediction over families: how far off were those of families left out?

A family counts once, whatever the number of its figures, because figures of one drive err together. The interval of a
class rests on its own families where there are enough, else on a wider pool, and says which.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LEAST_FAMILIES = 10
"""Fewer families than these do not make an interval of their own: 90 % of nine cannot be told from all."""
SHARE = 0.90
WIDEST = 10.0
"""A factor from which an interval decides nothing and is not printed."""


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
    def words(self) -> str:
        """The evidence in one phrase."""
        return f"from {self.families} families of {self.group}"


def width(residuals: Iterable[Residual], groups: Sequence[str], share: float = SHARE) -> Width | None:
    """Return the interval of a figure of these groups, the narrowest first; None where no group has enough families, or
    where theirs is so wide that it decides nothing."""
    pools: Mapping[str, dict[str, list[float]]] = {group: defaultdict(list) for group in groups}
    for residual in residuals:
        for group in residual.groups:
            if group in pools:
                pools[group][residual.family].append(abs(residual.value))
    for group in groups:
        families = pools[group]
        if len(families) >= LEAST_FAMILIES:
            factor = math.exp(_quantile(list(families.values()), share))
            return Width(factor, group, len(families)) if factor <= WIDEST else None
    return None


def _quantile(families: Sequence[Sequence[float]], share: float) -> float:
    """Return the quantile of values that weigh one a family, with a further family that may be anywhere."""
    weighted = sorted((value, 1.0 / len(values)) for values in families for value in values)
    wanted, total = share * (len(families) + 1), 0.0
    for value, weight in weighted:
        total += weight
        if total >= wanted - 1e-9:
            return value
    return weighted[-1][0]
