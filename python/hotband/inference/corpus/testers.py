"""Spread between two testers of one product: a floor below which no prediction can be expected to err."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

from hotband.base.heavy import np
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.loads import Load, class_of, load_of


@dataclass(frozen=True)
class Disagreement:
    """Spread between testers of one product under the same load, by class of figure: products and pairs of testers, the
    median and the 90th percentile over products as shares, where both directions count alike."""

    figure_class: str
    products: int
    pairs: int
    median: float
    ninety: float


def disagreements(figures: Iterable[Figure]) -> dict[str, Disagreement]:
    """Return the spread between testers by class; none of a class that no two testers measured on one product."""
    measured: dict[tuple[str, str, tuple[object, ...], str, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for figure in figures:
        load = load_of(figure)
        if isinstance(load, Load) and figure.middle > 0:
            key = (class_of(figure.metric, load), figure.family, _alike(load), figure.side, figure.metric)
            measured[key][figure.tester].append(figure.middle)
    differences: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (figure_class, family, *_), by_tester in measured.items():
        middles = [median(values) for values in by_tester.values()]
        for first, second in combinations(middles, 2):
            differences[figure_class][family].append(math.expm1(abs(math.log(first / second))))
    return {name: _disagreement(name, list(products.values())) for name, products in differences.items()}


def _alike(load: Load) -> tuple[object, ...]:
    """Return what loads of two testers must share: those that name a path or a span seldom name the same."""
    state = load.state if load.direction != "read" else ""
    names = ("direction", "random", "sync", "part", "block", "depth", "of_flush", "rate", "read_pct")
    return (*(getattr(load, name) for name in names), state)


def _disagreement(name: str, products: list[list[float]]) -> Disagreement:
    means = [fmean(pairs) for pairs in products]
    return Disagreement(name, len(means), sum(map(len, products)), median(means), float(np.quantile(means, 0.9)))
