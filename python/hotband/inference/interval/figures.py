"""The class that a figure's interval is of, and the number that its logarithm is taken of.

Left out: differences, and other values that can be negative; they have no logarithm, and no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from hotband.inference.interval.figureclass import FigureClass, class_of, figure_class, measurement

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc

BACK: dict[str, Callable[[float], float]] = {
    "gain_pct": lambda ratio: (ratio - 1) * 100,
    "reduction_pct": lambda ratio: (1 - ratio) * 100,
}


def class_for(study: str, row: FigureDoc) -> FigureClass:
    """Return the class of a figure. The mean time of a load that keeps a fixed number of I/Os outstanding is the
    inverse of its rate (Little's law), and as certain: it is of the class of that rate."""
    found = figure_class(row)
    if found is FigureClass.TIME and measurement(study, row).what == "rate":
        return class_of("IOPS", "IOPS", f"{row.get('workload') or ''} {row['label']}")
    return found


def log_of(value: float | None, kind: str = "") -> float | None:
    """Return the logarithm of a figure, of a gain or a reduction that of the ratio it represents; None if there is
    none."""
    if value is None or kind == "difference":
        return None
    ratio = RATIOS[kind](value) if kind in RATIOS else value
    return math.log(ratio) if ratio > 0 and math.isfinite(ratio) else None


def value_of(logarithm: float, kind: str = "") -> float:
    """Return the figure of a logarithm."""
    ratio = math.exp(logarithm)
    return BACK[kind](ratio) if kind in BACK else ratio


def between(value: float, low: float, high: float, kind: str = "") -> tuple[float, float]:
    """Return a figure's ends at log-ratios below and above it, the smaller one first."""
    middle = log_of(value, kind)
    assert middle is not None, "asked for a figure that has a logarithm"
    return sorted_pair(value_of(middle + low, kind), value_of(middle + high, kind))


def sorted_pair(one: float, other: float) -> tuple[float, float]:
    """Return the smaller one first: the larger reduction is the smaller ratio."""
    return (one, other) if one <= other else (other, one)


# The ratio that a percentage stands for: +47 % is 1.47 times, 33 % less is 0.67 times.
RATIOS: dict[str, Callable[[float], float]] = {
    "gain_pct": lambda percent: 1 + percent / 100,
    "reduction_pct": lambda percent: 1 - percent / 100,
}
