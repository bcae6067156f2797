"""JSON documents of intervals, key by key, for mypy (docs/guides/intervals.md). Shares are from 0 to 1; `low` and
`high` are in the unit of their figure."""

from typing import NotRequired, TypedDict

from hotband.data.documents.study import IntervalDoc


class BoundsDoc(TypedDict):
    """The ends of an interval whose level is stated once for several figures."""

    low: float
    high: float


class FigureIntervalDoc(IntervalDoc):
    """Interval of a run's figure: its name (`iops`, `latency_p99_ns`; for reads `read.iops`), its class, the
    prediction, what the interval `rests_on`, and the effect of the values of the machine and the seed alone
    (`values_low`, `values_high`)."""

    figure: str
    figure_class: str
    predicted: float
    rests_on: NotRequired[str]
    values_low: float
    values_high: float


class ShareDoc(TypedDict):
    """Effect of one uncertain value on a figure. `first` is the share of the variance from the value alone, `total`
    with others, each with a 90 % interval if it was estimated from samples; `low_pct` and `high_pct` are the effects of
    its ends (None if the model refuses an end)."""

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
    """Sources of one figure's interval: shares of the squared width from the values, the seed and the model error (they
    add up to one), and each value."""

    figure: str
    label: str
    figure_class: str
    unit: str
    predicted: float
    rests_on: str
    interval: IntervalDoc
    of_values: float
    of_seed: float
    of_model: float
    unexplained: float
    values: list[ShareDoc]
    advice: str


class RunIntervalsDoc(TypedDict):
    """The intervals of a run in its record. `runs` counts all runs that were simulated for them, `ios` their I/Os;
    `refused` counts samples that the model refused and that were replaced; `duration_ns` is the measured time of a
    sample; `values` are the sampled values, `without_effect` those that a screening left out; `rests_on` is the
    evidence."""

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
    rests_on: NotRequired[str]
    notes: list[str]


class ClassTermDoc(TypedDict):
    """Model error of one class of figure: `size` is the median of the absolute log-ratios of published over predicted,
    of `figures` in `studies`; `pooled_with` is the set of the quantile."""

    figure_class: str
    system: str
    figures: int
    studies: int
    size: float
    pooled_with: str
    pooled_figures: int


class CoverageDoc(TypedDict):
    """Share of published figures inside the intervals of one class, which were made without the figure's study.
    `width_pct` is half the median width, in percent of the prediction."""

    figure_class: str
    predicted: str
    figures: int
    inside: int
    coverage_pct: float
    width_pct: float
