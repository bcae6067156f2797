"""Sources of an interval: shares of its squared width, by uncertain value, seed and model error, and the benefit of
measurements.

Left out: a measurement would also move the prediction; here it only removes a value's uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.base.text.numbers import percent, share
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.shares import Share, samples_of, shares_of
from hotband.inference.interval.surface import Effect

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.data.documents.interval import ShareDoc, WhyFigureDoc
    from hotband.data.documents.study import IntervalDoc
    from hotband.inference.interval.conformal import Spread
    from hotband.inference.interval.uncertain import Uncertain


RIDGE = 1.0
"""Penalty of the slopes where values were drawn together only: a slope supported by one sample is halved."""
WORTH_PCT = 1.0
"""A measurement that narrows the interval by less is no advice."""
GIVEN = (
    "The load sets this rate, and a slower machine would also reach it: no measurement of the machine would narrow "
    "it. Explain a latency instead, such as p99, or find the highest rate."
)
"""The advice for a rate that does not depend on the machine."""


@dataclass(frozen=True)
class Evidence:
    """Data of one figure: its class and unit, the prediction and its interval, the spread by values and seed, the size
    of the model error, effects of each value, and samples. `effects` is empty if values were only sampled together;
    `is_given` marks a rate that the load sets and reaches, `rests_on` names the source of the model error.
    """

    figure: str
    label: str
    figure_class: str
    unit: str
    predicted: float
    interval: IntervalDoc
    spread: Spread
    seed: float
    unexplained: float
    size: float
    effects: Sequence[Effect]
    places: Floats
    seen: Floats
    is_given: bool = False
    rests_on: str = "from figures of other studies"


def why(of: Evidence, values: Sequence[Uncertain], meanings: Mapping[str, str], seed: int) -> WhyFigureDoc:
    """Return where the interval of a figure comes from; `meanings` are those of keys."""
    by_all = (of.spread.low**2 + of.spread.high**2) / 2
    by_seed = min(of.seed**2, by_all)
    whole = by_all + of.size**2
    part = (lambda square: square / whole) if whole > 0 else (lambda square: 0.0)
    by_values = by_all - by_seed
    rest = min(of.unexplained**2, by_values)
    rows = _rows(of, values, meanings, seed, by_values - rest, whole) if values else []
    return {
        "figure": of.figure,
        "label": of.label,
        "figure_class": of.figure_class,
        "unit": of.unit,
        "predicted": of.predicted,
        "rests_on": of.rests_on,
        "interval": of.interval,
        "of_values": part(by_values),
        "of_seed": part(by_seed),
        "of_model": part(of.size**2),
        "unexplained": part(rest),
        "values": rows,
        "advice": GIVEN if of.is_given else _advice(rows, part(of.size**2)),
    }


def _rows(
    of: Evidence, values: Sequence[Uncertain], meanings: Mapping[str, str], seed: int, explained: float, whole: float
) -> list[ShareDoc]:
    """Return one row per group of values drawn together, those that matter most first."""
    samples = samples_of(Sampler(values, seed))
    effects = of.effects or regressed(of.places, of.seen)
    shares = shares_of(effects, samples, of.places, of.seen, seed)
    rows = [
        _row([values[n] for n in columns], [effects[n] for n in columns], share, meanings, explained, whole)
        for columns, share in zip(samples.groups, shares, strict=True)
    ]
    return sorted(rows, key=lambda row: -row["total"])


def regressed(places: Floats, seen: Floats) -> list[Effect]:
    """Effects of values that were drawn together only: straight lines by least squares with a penalty."""
    if not len(seen):
        return [Effect(0.0, 0.0)] * places.shape[1]
    squares = np.maximum((places**2).mean(axis=0), 1e-12)
    slopes = np.linalg.solve(places.T @ places + RIDGE * np.diag(squares), places.T @ seen)
    return [Effect(-float(slope), float(slope)) for slope in slopes]


def _row(
    values: Sequence[Uncertain],
    effects: Sequence[Effect],
    share: Share,
    meanings: Mapping[str, str],
    explained: float,
    whole: float,
) -> ShareDoc:
    first = values[0]
    keys = [value.range.key for value in values]
    told = [meanings[key] for key in keys if key in meanings]
    left = max(whole - share.total * explained, 0.0)
    return {
        "name": first.group if len(values) > 1 else first.name,
        "key": ", ".join(keys),
        "part": first.part,
        "nominal": ", ".join(value.range.nominal for value in values),
        "low": ", ".join(str(value.range.low) for value in values),
        "high": ", ".join(str(value.range.high) for value in values),
        "distribution": first.distribution.describe() if len(values) == 1 else "sampled together, low with low",
        "source": "; ".join(dict.fromkeys(value.source for value in values)),
        "confidence": "; ".join(dict.fromkeys(value.confidence for value in values if value.confidence)),
        "meaning": "; ".join(dict.fromkeys(told)),
        "first": share.first,
        "first_low": share.first_low,
        "first_high": share.first_high,
        "total": share.total,
        "total_low": share.total_low,
        "total_high": share.total_high,
        "low_pct": _percent([effect.low for effect in effects]),
        "high_pct": _percent([effect.high for effect in effects]),
        "narrower_pct": (1 - math.sqrt(left / whole)) * 100 if whole > 0 else 0.0,
    }


def _percent(log_ratios: Sequence[float | None]) -> float | None:
    """Return the joint effect of ends in percent; None if one was not run."""
    known = [log_ratio for log_ratio in log_ratios if log_ratio is not None]
    return math.expm1(sum(known)) * 100 if len(known) == len(log_ratios) else None


def _advice(rows: Sequence[ShareDoc], of_model: float) -> str:
    """Return which measurement would shrink the interval most."""
    best = max(rows, key=lambda row: row["narrower_pct"], default=None)
    model = f"Model error is {share(of_model)} of the uncertainty"
    if best is None or best["narrower_pct"] < WORTH_PCT:
        return f"{model}: no better value would narrow the interval, but measuring this machine would."
    what = f" ({best['meaning']})" if best["meaning"] else ""
    narrower = percent(best["narrower_pct"], signed=False)
    return f"Measure {best['key']}{what} of {best['part']}: the interval would be {narrower} narrower. {model}."
