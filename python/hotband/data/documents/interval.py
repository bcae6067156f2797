"""JSON documents of intervals, key by key, for mypy (docs/guides/intervals.md). Shares are of one; `low` and `high` are
in the unit of the figure that they are of."""

from __future__ import annotations

from typing import TypedDict

from hotband.data.documents.study import IntervalDoc


class BoundsDoc(TypedDict):
    """The ends of an interval whose level is said once for many figures."""

    low: float
    high: float


class FigureIntervalDoc(IntervalDoc):
    """The same of a figure of a run: its name (`iops`, `latency_p99_ns`; of reads `read.iops`), its class, the
    prediction, and what the values of the machine and the seed alone do to it (`values_low`, `values_high`)."""

    figure: str
    figure_class: str
    predicted: float
    values_low: float
    values_high: float


class ShareDoc(TypedDict):
    """What one uncertain value has to do with a figure. `first` is the share of the variance by the values that it
    makes alone, `total` with others, each with a 90 % interval where it was estimated from draws; `low_pct` and
    `high_pct` say what its ends do to the figure (None if the model refuses an end)."""

    name: str
    key: str
    part: str
    nominal: str
    low: str
    high: str
    distribution: str
    source: str
    confidence: str
    meaning: str
    first: float
    first_low: float
    first_high: float
    total: float
    total_low: float
    total_high: float
    low_pct: float | None
    high_pct: float | None
    narrower_pct: float


class WhyFigureDoc(TypedDict):
    """Where the interval of one figure comes from: shares of the squared width of the values, the seed and what the
    model leaves out (they add up to one), and each value."""

    figure: str
    label: str
    figure_class: str
    unit: str
    predicted: float
    interval: IntervalDoc
    of_values: float
    of_seed: float
    of_model: float
    unexplained: float
    values: list[ShareDoc]
    advice: str


class RunIntervalsDoc(TypedDict):
    """The intervals of a run, as its record keeps them. `runs` counts all that were simulated for them, `ios` their
    I/Os; `refused` are draws that the model refused and that were replaced; `duration_ns` is the measured time of a
    draw; `values` those that were drawn, `without_effect` those that a screening left out."""

    level: float
    draws: int
    refused: int
    runs: int
    ios: int
    duration_ns: int
    seed: str
    values: list[str]
    without_effect: list[str]
    figures: list[FigureIntervalDoc]
    notes: list[str]


class ClassTermDoc(TypedDict):
    """What the model leaves out of one class of figure: `size` is the median of the absolute log-ratios of published
    over predicted, of `figures` in `studies`; `pooled_with` is what the quantile is taken over."""

    figure_class: str
    system: str
    figures: int
    studies: int
    size: float
    pooled_with: str
    pooled_figures: int


class CoverageDoc(TypedDict):
    """How often the intervals of one class, made without the study that a figure is of, hold what was published.
    `width_pct` is half the median width, in percent of the prediction."""

    figure_class: str
    predicted: str
    figures: int
    inside: int
    coverage_pct: float
    width_pct: float
