"""Intervals of drives whose product line was measured: errors of the line's own figures shift and narrow them.

Errors of one line are alike, the more so the more their loads are alike. Each error is divided by the scale of its
group (`conformal`); how alike two of them are is learned over all families at once (`scripts/corpus_learn.py`). The
best linear prediction of a further error (Robinson 1991; kriging, Cressie 1993) is then the centre of the interval, and
its width shrinks by the root of the variance that remains. Without figures of the line both are those of the other
families.

Left out: sizes of a line count as one product, each predicted from its own data sheet.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from hotband.base.heavy import np
from hotband.base.text.write import write_file
from hotband.data.corpus import files
from hotband.data.corpus.loads import SPEEDS
from hotband.inference.corpus.conformal import SHARE, WIDEST, At, OfLine, Pools, Residual, Width
from hotband.inference.corpus.residuals import RATES_OF_ANY

if TYPE_CHECKING:
    from numpy.typing import NDArray

Name = TypeVar("Name", str, tuple[str, ...])
SHIPPED_LIKENESS = Path(files.__file__).parent / "likeness.json"
"""Written by `scripts/corpus_learn.py` (`make accuracy`)."""
LEAST_EXPLAINED = 0.05
"""Share of the variance that figures of a line must explain to be evidence: less changes a width by under 3 %."""
NEAREST = 200
"""Most loads of a line that an interval rests on: those most like its own."""


@dataclass(frozen=True)
class Likeness:
    """Correlation of two errors of a product line: `line`, and `tester` more if one tester measured both. It falls by
    exp(-x) for each doubling of depth and of block, for all the way from reads to writes, and for each group that both
    figures would need to be wider."""

    line: float
    tester: float
    depth: float
    block: float
    mix: float
    group: float


@dataclass(frozen=True)
class Likenesses:
    """Correlations of errors of rates, and of those of latencies."""

    rates: Likeness
    latencies: Likeness

    def of(self, groups: Sequence[str]) -> Likeness:
        """Return that of figures of these groups."""
        return self.rates if groups[-1] == RATES_OF_ANY else self.latencies


@cache
def shipped_likenesses() -> Likenesses:
    """Return the correlations that the shipped families show."""
    known = json.loads(SHIPPED_LIKENESS.read_text(encoding="utf-8"))
    return Likenesses(**{name: Likeness(**values) for name, values in known.items()})


def write_likenesses(likenesses: Likenesses) -> None:
    """Write the correlations that ship."""
    known = {
        name: {key: float(f"{value:.3g}") for key, value in values.items()}
        for name, values in asdict(likenesses).items()
    }
    write_file(SHIPPED_LIKENESS, json.dumps(known, indent=1) + "\n")


@dataclass(frozen=True)
class Errors:
    """Errors of a product line in scales of their groups."""

    testers: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    at: tuple[At, ...]
    values: tuple[float, ...]

    def distances(self) -> NDArray[np.float64]:
        """Return how far apart each two of them are in depth, block, mix and groups."""
        read_pct, block, depth = np.array([each[:3] for each in self.at], dtype=float).T
        logs = (np.log2(depth), np.log2(block), read_pct / 100.0)
        names, places = _distinct(self.groups)
        steps = np.array([[_steps(first, second) for second in names] for first in names], dtype=float)
        return np.stack([*(np.abs(np.subtract.outer(log, log)) for log in logs), steps[np.ix_(places, places)]])

    def same_tester(self) -> NDArray[np.float64]:
        """Return 1 for each two of one tester, else 0."""
        _, places = _distinct(self.testers)
        return np.equal.outer(places, places).astype(float)


def _distinct(names: Sequence[Name]) -> tuple[list[Name], NDArray[np.int64]]:
    """Return the different names, and the place of each name among them."""
    known = {name: rank for rank, name in enumerate(dict.fromkeys(names))}
    return list(known), np.array([known[name] for name in names])


def _steps(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many groups wider both figures must be taken to be in one."""
    return max(_first_shared(first, second), _first_shared(second, first))


def _first_shared(groups: Sequence[str], others: Sequence[str]) -> int:
    return next((rank for rank, group in enumerate(groups) if group in others), len(groups))


def errors_of(residuals: Sequence[Residual], pools: Pools) -> Errors:
    """Return the errors of a product line; those of one measurement (rate and mean latency) are one."""
    values: dict[tuple[str, tuple[str, ...], At, int], list[float]] = {}
    for residual in residuals:
        scale = pools.scale(residual.groups, residual.family)
        if scale:
            key = (residual.tester, residual.groups, residual.at, residual.run)
            values.setdefault(key, []).append(residual.value / scale)
    testers, groups, at, _ = zip(*values, strict=True) if values else ((), (), (), ())
    return Errors(testers, groups, at, tuple(map(fmean, values.values())))


def correlations(
    distances: NDArray[np.float64], same_tester: NDArray[np.float64], likeness: Likeness
) -> NDArray[np.float64]:
    """Return the correlation of each two errors."""
    falls = np.array([likeness.depth, likeness.block, likeness.mix, likeness.group])
    alike = (likeness.line + likeness.tester * same_tester) * np.exp(-np.tensordot(falls, distances, 1))
    np.fill_diagonal(alike, 1.0)
    return alike


def predicted_error(errors: Errors, likeness: Likeness) -> tuple[float, float]:
    """Return the best prediction of the last of the errors from the others, and the share of its variance that is
    left."""
    alike = correlations(errors.distances(), errors.same_tester(), likeness)
    nearest = np.argsort(-alike[-1, :-1], kind="stable")[:NEAREST]
    row = alike[-1, nearest]
    weights = np.linalg.solve(alike[np.ix_(nearest, nearest)], row)
    # What a figure shares with no other always remains.
    left = max(1.0 - float(weights @ row), 1.0 - likeness.line - likeness.tester)
    return float(weights @ np.array(errors.values)[nearest]), left


def width_of(
    pools: Pools,
    groups: Sequence[str],
    metric: str,
    at: At,
    known: Sequence[Residual],
    *,
    tester: str,
    share: float = SHARE,
    widest: float = WIDEST,
) -> Width | None:
    """Return the interval of a figure of these groups at a load: by the `known` residuals of its product line in its
    class and by all other families, or by all families if none are known. `tester` is who measures the figure."""
    errors = errors_of(known, pools)
    if not errors.values:
        return pools.width(groups, share, widest=widest)
    line = known[0].family
    wide = pools.width(groups, share, line, widest=math.inf)
    if wide is None:
        return None
    with_figure = Errors(
        (*errors.testers, tester), (*errors.groups, tuple(groups)), (*errors.at, at), (*errors.values, 0.0)
    )
    mean, left = predicted_error(with_figure, shipped_likenesses().of(groups))
    if left > 1.0 - LEAST_EXPLAINED:
        return pools.width(groups, share, widest=widest)
    shift = -mean * pools.scale(tuple(groups), line)
    factor = wide.factor ** math.sqrt(left)
    of_line = OfLine(line, len(errors.values), shift if metric in SPEEDS else -shift)
    return replace(wide, factor=factor, of_line=of_line) if factor <= widest else None
