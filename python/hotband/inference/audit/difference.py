"""One figure of two sides: its difference with a 95 % interval, and what that shows.

Where a side has repeats, each of its runs is one value, so that what differs from run to run counts: Student's t of
their logarithms. One run each: IOPS from the samples over time (`correlated`), percentiles from the histograms with as
many independent I/Os as the samples show them to be worth (`resample`). Runs without samples, and short runs whose
samples do not overlap, vary at least as independent I/Os would: beyond that and `RUNS_DIFFER` one is faster, without an
interval. Other runs of too few samples are too short to say. Left out: what differs from run to run, where each side
has one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.base.text.numbers import counted, number, share
from hotband.data.documents.record import known
from hotband.data.record.rounds import MOST_ROUNDS
from hotband.inference.audit import resample
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.correlated import LEAST_SAMPLES, mean_law
from hotband.inference.audit.orderstat import CONFIDENCE, least_count
from hotband.inference.audit.resample import design_effect

if TYPE_CHECKING:
    from hotband.base.arrays import Floats

FASTER, SLOWER, NONE, TOO_SHORT = "faster", "slower", "no difference shown", "too short to say"
TAIL = (1 - CONFIDENCE) / 2
RUNS_DIFFER = 1.1
"""Ratio up to which one run each, without enough samples, shows no difference. More than a quarter of the file systems
and drives of Cao et al. (On the Performance Variation in Modern Storage Stacks, FAST 2017) varied by more than 10 %
from run to run; range 1.02 (a drive alone, prepared alike) to 1.4 (their worst)."""
ONE_RUN = "one run each, so how much runs differ is unknown"
"""Said of every verdict that rests on one run each without enough samples."""


@dataclass(frozen=True)
class Difference:
    """One figure of A and B: change of B against A in percent with its interval, how that was had, the verdict on B.

    Both ends are None where there is too little for an interval; "faster" and "slower" then rest on one run each.
    """

    metric: str
    unit: str
    a: float
    b: float
    change_pct: float
    low_pct: float | None
    high_pct: float | None
    how: str
    verdict: str


@dataclass(frozen=True)
class Interval:
    """Ends of the change in percent, None where there is too little for them. `least` says that the true interval is at
    least so wide."""

    low: float | None
    high: float | None
    how: str
    least: bool = False


def series_of(run: Audited, column: str) -> Floats | None:
    """A value of every whole interval, over all streams and directions; None without a series that has it, or of
    weeks, which are a mistake in their times.

    An interval without a row, between others that have one, did no I/O. One with a null is not known and left out.
    """
    series = run.record.get("series")
    interval = series.get("interval_ns") if series else None
    if run.series is None or not interval or run.series[column].null_count() == len(run.series):
        return None
    whole = int(run.duration_ns // interval)
    if whole > MOST_ROUNDS:
        return None
    rates, waited = np.zeros(whole), np.zeros(whole)
    places = []
    for time, iops, latency in run.series.select("time_ns", "iops", "latency_mean_ns").iter_rows():
        place = int(time // interval)
        if not 0 <= place < whole:
            continue
        places.append(place)
        rates[place] += math.nan if iops is None else iops
        waited[place] += 0.0 if iops == 0 else math.nan if None in (iops, latency) else iops * latency
    if not places:
        return None
    rates, waited = rates[min(places) : max(places) + 1], waited[min(places) : max(places) + 1]
    if column == "iops":
        return rates[~np.isnan(rates)]
    busy = (rates > 0) & ~np.isnan(waited)
    return waited[busy] / rates[busy]


def iops_difference(a: Sequence[Audited], b: Sequence[Audited], seed: int = 1) -> Difference | None:
    """The difference of IOPS of two targets, of repeats where a side has some; None where a rate is not known."""
    rates = [[run.summary().get("iops") or 0.0 for run in own] for own in (a, b)]
    if not all(all(own) and own for own in rates):
        return None
    repeated = max(map(len, rates)) > 1
    found = of_repeats(rates[0], rates[1]) if repeated else _rates_over_time(a[0], b[0], seed)
    return _judged("IOPS", "1/s", _means(rates), found, higher_is_faster=True)


def percentile_difference(a: Sequence[Audited], b: Sequence[Audited], pct: float, seed: int = 1) -> Difference | str:
    """The difference of a percentile, or why it cannot be compared."""
    values: list[list[float]] = []
    for own in (a, b):
        values.append([])
        for run in own:
            value = _supported(run, pct)
            if isinstance(value, str):
                return value
            values[-1].append(value)
    repeated = max(map(len, values)) > 1
    found = of_repeats(values[0], values[1]) if repeated else _of_histograms(a[0], b[0], pct, seed)
    means = _means(values)
    return _judged(f"p{pct:g}", "ms", (means[0] / 1e6, means[1] / 1e6), found, higher_is_faster=False)


def _means(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    one, other = (math.fsum(own) / len(own) for own in values)
    return one, other


def of_repeats(a: Sequence[float], b: Sequence[float]) -> Interval:
    """Interval of the ratio of repeats: Welch's t of the logarithms; where a side has one run, it is taken to spread as
    the other's do (Student's t)."""
    alone = min(len(a), len(b)) == 1
    law = "Student's t, one run taken to spread as the others" if alone else "Welch's t"
    how = f"repeats: {len(a)} and {len(b)} runs, {law}"
    change = _means([a, b])
    ratio = change[1] / change[0]
    if len(set(a)) == len(set(b)) == 1:
        return Interval(100 * (ratio - 1), 100 * (ratio - 1), how)
    with np.errstate(over="ignore"):
        factor = float(np.exp(_half_width(np.log(a), np.log(b), alone)))
    return Interval(100 * (ratio / factor - 1), 100 * (ratio * factor - 1), how)


def _half_width(a: Floats, b: Floats, equal: bool) -> float:
    """Return half of the interval of a difference of means: Welch's t, Student's where both spread alike."""
    from scipy.special import stdtrit

    counts = [len(values) for values in (a, b)]
    squares = [float(((values - values.mean()) ** 2).sum()) for values in (a, b)]
    if equal:
        freedom = float(sum(counts) - 2)
        variance = sum(squares) / freedom * (1 / counts[0] + 1 / counts[1])
    else:
        parts = [square / (count - 1) / count for square, count in zip(squares, counts, strict=True)]
        variance = sum(parts)
        freedom = variance**2 / sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    return float(stdtrit(freedom, 1 - TAIL)) * math.sqrt(variance)


def _rates_over_time(a: Audited, b: Audited, seed: int) -> Interval:
    """One run each, from the samples of both; where one has none, at least the Poisson law of both counts."""
    values = [series_of(run, "iops") for run in (a, b)]
    if values[0] is None or values[1] is None:
        return _poisson(a, b)
    few = _few((a, b), values)
    if few is not None:
        return _poisson(a, b, few) if _apart(values[0], values[1]) else Interval(None, None, few)
    return of_samples(values[0], values[1], known(b.summary()["iops"]) / known(a.summary()["iops"]), seed)


def of_samples(a: Floats, b: Floats, ratio: float, seed: int) -> Interval:
    """Interval of the ratio of two means of samples over time; the ratio itself is known from counting."""
    random = np.random.default_rng(seed)
    laws = [mean_law(values) for values in (a, b)]
    draws = [law.draw(random, resample.DRAWS) / float(own.mean()) for law, own in zip(laws, (a, b), strict=True) if law]
    if len(draws) < 2 or any(np.mean(own <= 0) > TAIL for own in draws):
        return Interval(None, None, "the samples over time vary too much for their number")
    one, other = (np.maximum(own, np.finfo(float).tiny) for own in draws)
    low, high = np.percentile(100 * (other / one * ratio - 1), (100 * TAIL, 100 * (1 - TAIL)))
    return Interval(float(low), float(high), f"samples over time: {len(a)} and {len(b)}, one run each")


def _few(runs: Sequence[Audited], series: Sequence[Floats | None]) -> str | None:
    """Which run has too few samples over time for an interval; None where none has."""
    for run, values in zip(runs, series, strict=True):
        if values is not None and len(values) < LEAST_SAMPLES:
            samples = counted(len(values), "sample")
            return f"{run.name} has {samples} over time; {LEAST_SAMPLES} are needed, or several runs of each side"
    return None


def _apart(a: Floats | None, b: Floats | None) -> bool:
    """Whether every sample of one run lies above every sample of the other; of a run without samples, nothing speaks
    against it."""
    if a is None or b is None:
        return True
    return bool(len(a) and len(b) and (a.min() > b.max() or b.min() > a.max()))


def _poisson(a: Audited, b: Audited, how: str = "no series: Poisson law, I/Os taken to be independent") -> Interval:
    """Interval of the ratio of two Poisson rates: given their sum, one count is binomial (Clopper and Pearson)."""
    from scipy.special import betaincinv

    counts = [int(run.summary().get("count") or 0) for run in (a, b)]
    if not all(counts):
        return Interval(None, None, "no series, and no count of I/Os")
    times = [count / known(run.summary()["iops"]) for count, run in zip(counts, (a, b), strict=True)]
    ends = betaincinv(counts[1], counts[0] + 1, TAIL), betaincinv(counts[1] + 1, counts[0], 1 - TAIL)
    low, high = (100 * (float(share) / (1 - float(share)) * times[0] / times[1] - 1) for share in ends)
    return Interval(low, high, how, least=True)


def _supported(run: Audited, pct: float) -> float | str:
    """A percentile that the run's I/Os support, or why they do not."""
    points = run.quantiles(None)
    value = None if points is None else points.quantile(pct / 100)
    if points is None or value is None or points.kind == "bins":
        return f"p{pct:g}: {run.name} has no distribution that reaches it"
    series = series_of(run, "latency_mean_ns")
    effect = _effect(run, series) or 1.0
    effective = points.count / effect
    if effective < least_count(pct / 100):
        worth = f"{points.count:,} I/Os" + (f", worth {number(effective)} independent ones" if effect > 1 else "")
        return f"p{pct:g}: {run.name} has {worth}; {least_count(pct / 100):,} are needed"
    return value


def _effect(run: Audited, series: Floats | None) -> float | None:
    """The design effect of a run's latencies: 1 without samples, None of too few."""
    points = run.quantiles(None)
    return 1.0 if series is None or points is None else design_effect(series, points)


def _of_histograms(a: Audited, b: Audited, pct: float, seed: int) -> Interval:
    """One run each: both distributions resampled, as many independent I/Os as the samples show them to be worth."""
    random = np.random.default_rng([seed, round(10 * pct)])
    draws, values, ways, widths = [], [], [], []
    latencies = [series_of(run, "latency_mean_ns") for run in (a, b)]
    few = _few((a, b), latencies)
    if few is not None and not _apart(latencies[0], latencies[1]):
        return Interval(None, None, few)
    least = few is not None
    for run, series in zip((a, b), latencies, strict=True):
        points = run.quantiles(None)
        value = None if points is None else points.quantile(pct / 100)
        assert points is not None, "percentile_difference has looked"
        assert value is not None, "percentile_difference has looked"
        # Of too few samples the effect is not known; independent I/Os are the least that they vary.
        effect = _effect(run, series) or 1.0
        draws.append(resample.quantiles(points, pct / 100, points.count / effect, random))
        values.append(value)
        widths.append(points.resolution)
        by_series = series is not None and points.kind == "histogram"
        least |= not by_series
        ways.append(_way(points.interpolated, by_series))
    low, high = (float(end) for end in np.percentile(100 * (draws[1] / draws[0] - 1), (100 * TAIL, 100 * (1 - TAIL))))
    # A bucket says no more than its edges do.
    width = 100 * sum(widths) * values[1] / values[0]
    change = 100 * (values[1] / values[0] - 1)
    how = few or " and ".join(dict.fromkeys(ways))
    return Interval(min(low, change) - width, max(high, change) + width, how, least)


def _way(interpolated: bool, by_series: bool) -> str:
    shape = "printed percentiles" if interpolated else "histogram"
    return f"{shape}, I/Os by the series" if by_series else f"{shape}, no series: I/Os taken to be independent"


def _judged(
    metric: str, unit: str, means: tuple[float, float], found: Interval, *, higher_is_faster: bool
) -> Difference:
    """With the verdict on B. An interval that is only the least there may be is not given beyond itself: there the
    verdict is of one run each."""
    a, b = means
    change = 100 * (b / a - 1)
    low, high, how = found.low, found.high, found.how
    moved = FASTER if (b > a) == higher_is_faster else SLOWER
    if low is None or high is None:
        verdict = TOO_SHORT
    elif low <= 0 <= high:
        verdict = NONE
    elif found.least:
        low = high = None
        verdict = moved if max(a, b) > RUNS_DIFFER * min(a, b) else NONE
        often = f"; runs of one target often differ by {share(RUNS_DIFFER - 1)}" if verdict == NONE else ""
        how = f"{ONE_RUN}{often} ({how})"
    else:
        verdict = FASTER if (low > 0) == higher_is_faster else SLOWER
    return Difference(metric, unit, a, b, change, low, high, how, verdict)
