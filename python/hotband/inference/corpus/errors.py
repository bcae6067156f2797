"""Errors of predictions of a corpus by class: every family has the weight one, its loads averaged."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from hotband.base.heavy import np
from hotband.data.corpus.loads import RATES


@dataclass(frozen=True)
class Judged:
    """A figure with its prediction: the family, the load that it is of, its metric and class, the logarithm of
    predicted over measured (None without a prediction), and the factor of its interval (None without one)."""

    family: str
    load: Hashable
    metric: str
    figure_class: str
    residual: float | None
    factor: float | None = None

    @property
    def error(self) -> float | None:
        """The error as a share: low guesses pay as high ones."""
        return None if self.residual is None else math.exp(abs(self.residual)) - 1.0

    @property
    def is_inside(self) -> bool | None:
        """Whether the measured figure lies in the interval; None without an interval."""
        if self.residual is None or self.factor is None:
            return None
        return abs(self.residual) <= math.log(self.factor) + 1e-12


@dataclass(frozen=True)
class Errors:
    """Errors of a class as shares, with numbers of families and figures; None where there are none. `left_out` is the
    share of figures without a prediction, `without_interval` that of figures without an interval, those among them;
    `sign` the mean error with its sign, `half_width` that of the intervals."""

    figure_class: str
    families: int
    figures: int
    left_out: float
    without_interval: float
    median: float | None
    ninety: float | None
    sign: float | None
    inside: float | None
    half_width: float | None


def counted(judged: Iterable[Judged]) -> list[Judged]:
    """Return the figures that count: of a load's rate, bytes and mean latency the first."""
    first: dict[tuple[Hashable, ...], Judged] = {}
    for figure in judged:
        metric = "rate" if figure.metric in RATES else figure.metric
        key = (figure.family, figure.load, figure.figure_class, metric)
        earlier = first.get(key)
        if earlier is None or (figure.metric in RATES and RATES.index(figure.metric) < RATES.index(earlier.metric)):
            first[key] = figure
    return list(first.values())


def by_family(judged: Iterable[Judged]) -> dict[str, float]:
    """Return the mean error of each family that has a prediction."""
    errors_of: dict[str, list[float]] = defaultdict(list)
    for figure in judged:
        if figure.error is not None:
            errors_of[figure.family].append(figure.error)
    return {family: _mean(values) for family, values in errors_of.items()}


def errors(name: str, judged: Sequence[Judged]) -> Errors:
    """Return the errors of figures that count."""
    families: Mapping[str, list[Judged]] = defaultdict(list)
    for figure in judged:
        families[figure.family].append(figure)
    known = {family: those for family, those in families.items() if any(figure.error is not None for figure in those)}
    sizes = list(by_family(judged).values())
    signs = [_mean([figure.residual for figure in those]) for those in known.values()]
    inside = [share for those in known.values() if (share := _share(those)) is not None]
    widths = [
        _mean([figure.factor for figure in those]) - 1.0
        for those in known.values()
        if any(figure.factor is not None for figure in those)
    ]
    out = [_mean([float(figure.error is None) for figure in those]) for those in families.values()]
    without = [_mean([float(figure.is_inside is None) for figure in those]) for those in families.values()]
    return Errors(
        name,
        len(known),
        sum(figure.error is not None for those in known.values() for figure in those),
        sum(out) / len(out) if out else 0.0,
        sum(without) / len(without) if without else 0.0,
        median(sizes) if sizes else None,
        float(np.quantile(sizes, 0.9)) if sizes else None,
        math.expm1(sum(signs) / len(signs)) if signs else None,
        sum(inside) / len(inside) if inside else None,
        median(widths) if widths else None,
    )


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known)


def _share(judged: Iterable[Judged]) -> float | None:
    known = [figure.is_inside for figure in judged if figure.is_inside is not None]
    return sum(known) / len(known) if known else None
