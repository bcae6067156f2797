"""The difference of one metric between two sides, with a 95 % interval and a verdict.

If a side has repeats, each of its runs is one value, so that run-to-run variation counts: Student's t of their
logarithms. With one run each, IOPS come from the samples over time (`correlated`), percentiles from the histograms with
as many independent I/Os as the samples justify (`resample`). Runs without samples, and short runs whose samples do not
overlap, vary at least as much as independent I/Os: beyond that and `RUNS_DIFFER` one side is faster, without an
interval. Other runs with too few samples get no verdict. Left out: run-to-run variation, if each side has one run.
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
from hotband.inference.audit.distribution import Distribution
from hotband.inference.audit.orderstat import CONFIDENCE, least_count
from hotband.inference.audit.resample import design_effect
from hotband.inference.beta import beta_quantile, student_quantile

if TYPE_CHECKING:
    from hotband.base.arrays import Floats

FASTER, SLOWER, NONE, TOO_SHORT = "faster", "slower", "no difference shown", "too short to say"
TAIL = (1 - CONFIDENCE) / 2
RUNS_DIFFER = 1.1
"""Ratio up to which one run per side, without enough samples, shows no difference. More than a quarter of the file
systems and drives of Cao et al. (On the Performance Variation in Modern Storage Stacks, FAST 2017) varied by more than
10 % from run to run; range 1.02 (a drive alone, prepared alike) to 1.4 (their worst)."""
REPEATS = "repeats"
UNMISTAKABLE = 2.0
"""Ratio from which one run per side shows a difference whatever their samples: twice `RUNS_DIFFER`'s worst and more."""
ONE_RUN = "one run each, so how much runs differ is unknown"
"""Reason given with every verdict that rests on one run each without enough samples."""


@dataclass(frozen=True)
class Difference:
    """One metric of A and B: change of B against A in percent with its interval and method, and the verdict on B.

    Both ends are None if the data are too few for an interval; "faster" and "slower" then rest on one run each.
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
    """Ends of the change in percent, None if the data are too few. With `least`, the true interval is at least this
    wide."""

    low: float | None
    high: float | None
    basis: str
    least: bool = False


def series_of(run: Audited, column: str) -> Floats | None:
    """Return a column's value in every whole interval, over all streams and directions; None without such a series, or
    for a series of weeks, whose times are a mistake.

    An interval without a row between others had no I/O. An interval with a null is unknown and left out.
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
        index = int(time // interval)
        if not 0 <= index < whole:
            continue
        places.append(index)
        rates[index] += math.nan if iops is None else iops
        waited[index] += 0.0 if iops == 0 else math.nan if None in (iops, latency) else iops * latency
    if not places:
        return None
    rates, waited = rates[min(places) : max(places) + 1], waited[min(places) : max(places) + 1]
    if column == "iops":
        return rates[~np.isnan(rates)]
    busy = (rates > 0) & ~np.isnan(waited)
    return waited[busy] / rates[busy]


def iops_difference(a: Sequence[Audited], b: Sequence[Audited], seed: int = 1) -> Difference | None:
    """Return the difference of IOPS of two targets, over repeats if a side has any; None if a rate is unknown."""
    rates = [[run.summary().get("iops") or 0.0 for run in runs] for runs in (a, b)]
    if not all(all(runs) and runs for runs in rates):
        return None
    repeated = max(map(len, rates)) > 1
    interval = of_repeats(rates[0], rates[1]) if repeated else _rates_over_time(a[0], b[0], seed)
    return _judged("IOPS", "1/s", _means(rates), interval, higher_is_faster=True)


def percentile_difference(
    a: Sequence[Audited], b: Sequence[Audited], pct: float, seed: int = 1, *, of_commits: bool = False
) -> Difference | str:
    """Return the difference of a percentile of the I/Os, or of commits (the percentile of writes plus that of their
    flushes), or the reason why it cannot be compared."""
    name = f"commit p{pct:g}" if of_commits else f"p{pct:g}"
    values: list[list[float]] = []
    for runs in (a, b):
        values.append([])
        for run in runs:
            value = _supported(run, pct, of_commits)
            if isinstance(value, str):
                return f"{name}: {value}"
            values[-1].append(value)
    repeated = max(map(len, values)) > 1
    interval = of_repeats(values[0], values[1]) if repeated else _of_histograms(a[0], b[0], pct, seed, of_commits)
    means = _means(values)
    return _judged(name, "ms", (means[0] / 1e6, means[1] / 1e6), interval, higher_is_faster=False)


def _means(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    first, other = (math.fsum(numbers) / len(numbers) for numbers in values)
    return first, other


def of_repeats(a: Sequence[float], b: Sequence[float]) -> Interval:
    """Return the interval of the ratio of repeats: Welch's t of the logarithms; a side of one run is assumed to vary
    like the other (Student's t)."""
    alone = min(len(a), len(b)) == 1
    law = "Student's t, one run assumed to vary like the others" if alone else "Welch's t"
    basis = f"{REPEATS}: {len(a)} and {len(b)} runs, {law}"
    change = _means([a, b])
    ratio = change[1] / change[0]
    if len(set(a)) == len(set(b)) == 1:
        return Interval(100 * (ratio - 1), 100 * (ratio - 1), basis)
    with np.errstate(over="ignore"):
        factor = float(np.exp(_half_width(np.log(a), np.log(b), alone)))
    return Interval(100 * (ratio / factor - 1), 100 * (ratio * factor - 1), basis)


def _half_width(a: Floats, b: Floats, equal: bool) -> float:
    """Return half of the interval of a difference of means: Welch's t, Student's where both spread alike."""
    counts = [len(values) for values in (a, b)]
    squares = [float(((values - values.mean()) ** 2).sum()) for values in (a, b)]
    if equal:
        freedom = float(sum(counts) - 2)
        variance = sum(squares) / freedom * (1 / counts[0] + 1 / counts[1])
    else:
        parts = [square / (count - 1) / count for square, count in zip(squares, counts, strict=True)]
        variance = sum(parts)
        freedom = variance**2 / sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    return student_quantile(freedom, 1 - TAIL) * math.sqrt(variance)


def _rates_over_time(a: Audited, b: Audited, seed: int) -> Interval:
    """Return the interval of one run each, from the samples of both, or at least the Poisson law of both counts."""
    values = [series_of(run, "iops") for run in (a, b)]
    if values[0] is None or values[1] is None:
        return _poisson(a, b)
    few = _few((a, b), values)
    if few is not None:
        return _poisson(a, b, few) if _apart(values[0], values[1]) else Interval(None, None, few)
    return of_samples(values[0], values[1], known(b.summary()["iops"]) / known(a.summary()["iops"]), seed)


def of_samples(a: Floats, b: Floats, ratio: float, seed: int) -> Interval:
    """Return the interval of the ratio of two means of samples over time; the ratio itself comes from counts."""
    random = np.random.default_rng(seed)
    mean_laws = [mean_law(values) for values in (a, b)]
    draws = [
        law.draw(random, resample.DRAWS) / float(values.mean())
        for law, values in zip(mean_laws, (a, b), strict=True)
        if law
    ]
    if len(draws) < 2 or any(np.mean(means <= 0) > TAIL for means in draws):
        return Interval(None, None, "the samples over time vary too much for their number")
    first, other = (np.maximum(means, np.finfo(float).tiny) for means in draws)
    low, high = np.percentile(100 * (other / first * ratio - 1), (100 * TAIL, 100 * (1 - TAIL)))
    return Interval(float(low), float(high), f"samples over time: {len(a)} and {len(b)}, one run each")


def _few(runs: Sequence[Audited], series: Sequence[Floats | None]) -> str | None:
    """Return a sentence on the run that has too few samples over time for an interval; None if all have enough."""
    for run, values in zip(runs, series, strict=True):
        if values is not None and len(values) < LEAST_SAMPLES:
            samples = counted(len(values), "sample")
            return f"{run.name} has {samples} over time; {LEAST_SAMPLES} are needed, or several runs of each side"
    return None


def _apart(a: Floats | None, b: Floats | None) -> bool:
    """Return whether every sample of one run lies above every sample of the other; true for a run without samples."""
    if a is None or b is None:
        return True
    return bool(len(a) and len(b) and (a.min() > b.max() or b.min() > a.max()))


def _poisson(
    a: Audited, b: Audited, basis: str = "no series: Poisson distribution, I/Os assumed independent"
) -> Interval:
    """Return the interval of the ratio of two Poisson rates: given their sum, one count is binomial
    (Clopper-Pearson)."""
    counts = [int(run.summary().get("count") or 0) for run in (a, b)]
    if not all(counts):
        return Interval(None, None, "no series, and no count of I/Os")
    times = [count / known(run.summary()["iops"]) for count, run in zip(counts, (a, b), strict=True)]
    ends = beta_quantile(counts[1], counts[0] + 1, TAIL), beta_quantile(counts[1] + 1, counts[0], 1 - TAIL)
    low, high = (100 * (share / (1 - share) * times[0] / times[1] - 1) for share in ends)
    return Interval(low, high, basis, least=True)


def _supported(run: Audited, pct: float, of_commits: bool) -> float | str:
    """Return a percentile (ns) that the run's I/Os support, or the reason why they do not."""
    parts = _parts(run, of_commits)
    values = [part.quantile(pct / 100) for part in parts]
    value = sum(known for known in values if known is not None)
    if not parts or None in values or any(part.kind == "bins" for part in parts):
        return f"{run.name} has no distribution that reaches it"
    if not value:
        return f"{run.name} has a latency of zero"
    effect = _effect(run) or 1.0
    count = min(part.count for part in parts)
    if count / effect < least_count(pct / 100):
        worth = f"{count:,} I/Os" + (f", worth {number(count / effect)} independent ones" if effect > 1 else "")
        return f"{run.name} has {worth}; {least_count(pct / 100):,} are needed"
    return value


def _parts(run: Audited, of_commits: bool) -> list[Distribution]:
    """Return the distributions whose percentiles are added: of all I/Os, or of writes and of flushes; none without."""
    parts = run.commits() if of_commits else [run.quantiles(None)]
    return [] if None in parts else [part for part in parts if part is not None]


def _effect(run: Audited) -> float | None:
    """Return the design effect of a run's latencies: 1 without samples, None for too few. A series
    has no flushes, and commits are taken to vary alike."""
    series, points = series_of(run, "latency_mean_ns"), run.quantiles(None)
    return 1.0 if series is None or points is None else design_effect(series, points)


def _of_histograms(a: Audited, b: Audited, pct: float, seed: int, of_commits: bool = False) -> Interval:
    """Return the interval of one run each: resample both distributions with as many I/Os as the samples justify."""
    random = np.random.default_rng([seed, round(10 * pct)])
    draws, values, descriptions, widths = [], [], [], []
    latencies = [series_of(run, "latency_mean_ns") for run in (a, b)]
    few = _few((a, b), latencies)
    if few is not None and not _apart(latencies[0], latencies[1]):
        return Interval(None, None, few)
    least = few is not None
    for run, series in zip((a, b), latencies, strict=True):
        parts = _parts(run, of_commits)
        quantiles = [known(part.quantile(pct / 100)) for part in parts]
        # Of too few samples the effect is not known; independent I/Os are the least that they vary.
        effect = _effect(run) or 1.0
        draws.append(sum(resample.quantiles(part, pct / 100, part.count / effect, random) for part in parts))
        values.append(sum(quantiles))
        resolutions = [part.resolution * value for part, value in zip(parts, quantiles, strict=True)]
        widths.append(sum(resolutions) / values[-1] if values[-1] else 0.0)
        by_series = series is not None and parts[0].kind == "histogram"
        least |= not by_series
        descriptions.append(_way(any(part.interpolated for part in parts), by_series))
    low, high = (float(end) for end in np.percentile(100 * (draws[1] / draws[0] - 1), (100 * TAIL, 100 * (1 - TAIL))))
    # A bucket says no more than its edges do.
    width = 100 * sum(widths) * values[1] / values[0]
    change = 100 * (values[1] / values[0] - 1)
    basis = few or " and ".join(dict.fromkeys(descriptions))
    return Interval(min(low, change) - width, max(high, change) + width, basis, least)


def _way(interpolated: bool, by_series: bool) -> str:
    shape = "printed percentiles" if interpolated else "histogram"
    return f"{shape}, I/Os by the series" if by_series else f"{shape}, no series: I/Os assumed independent"


def _judged(
    metric: str, unit: str, means: tuple[float, float], interval: Interval, *, higher_is_faster: bool
) -> Difference:
    """Return the difference with the verdict on B. An interval that may be wider is not reported: its verdict rests on
    one run each."""
    a, b = means
    change = 100 * (b / a - 1)
    low, high, basis = interval.low, interval.high, interval.basis
    moved = FASTER if (b > a) == higher_is_faster else SLOWER
    is_far = not basis.startswith(REPEATS) and max(a, b) >= UNMISTAKABLE * min(a, b)
    if is_far and (low is None or high is None or low <= 0 <= high):
        verdict, low, high, basis = moved, None, None, f"{ONE_RUN} ({basis})"
    elif low is None or high is None:
        verdict = TOO_SHORT
    elif low <= 0 <= high:
        verdict = NONE
    elif interval.least:
        low = high = None
        verdict = moved if max(a, b) > RUNS_DIFFER * min(a, b) else NONE
        often = f"; runs of one target often differ by {share(RUNS_DIFFER - 1)}" if verdict == NONE else ""
        basis = f"{ONE_RUN}{often} ({basis})"
    else:
        verdict = FASTER if (low > 0) == higher_is_faster else SLOWER
    return Difference(metric, unit, a, b, change, low, high, basis, verdict)
