"""Two results compared: differences of IOPS and of percentiles with their 95 % intervals, and what they show.

IOPS from blocks of the series, percentiles from the histograms with as many independent I/Os as the series shows them
to be worth (`resample`); results without a series by the Poisson and the binomial law, which take I/Os to be
independent, and say so. Left out: differences between repeats, unless each side has several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from hotband.audit.audited import Audited
from hotband.audit.comparability import DATA_TOLERANCE, data_of
from hotband.audit.orderstat import CONFIDENCE, least_count
from hotband.errors import UserError
from hotband.record.document import known

if TYPE_CHECKING:
    from hotband.audit.finding import Number
    from hotband.audit.resample import Numbers

SCHEMA, SCHEMA_VERSION = "hotband-compare", 1
PERCENTILES = (50.0, 90.0, 99.0, 99.9)
FASTER, SLOWER, NONE = "faster", "slower", "no difference shown"


@dataclass(frozen=True)
class Difference:
    """One figure of A and B: change of B against A in percent with its interval, how that was had, the verdict on B."""

    metric: str
    unit: str
    a: float
    b: float
    change_pct: float
    low_pct: float
    high_pct: float
    how: str
    verdict: str


class DifferenceDoc(TypedDict):
    """The same as JSON has it."""

    metric: str
    unit: str
    a: Number
    b: Number
    change_pct: Number
    low_pct: Number
    high_pct: Number
    how: str
    verdict: str


class ComparisonDoc(TypedDict):
    """All that `hotband compare --json` prints."""

    schema: str
    schema_version: int
    a: str
    b: str
    confidence: float
    verdict: str
    differences: list[DifferenceDoc]
    unlike: list[str]
    unsupported: list[str]


@dataclass(frozen=True)
class Comparison:
    """What `hotband compare A B` finds. `unlike` lists what was not equal, `unsupported` what was not compared and
    why."""

    a: str
    b: str
    differences: list[Difference]
    verdict: str
    unlike: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)

    def data(self) -> ComparisonDoc:
        """As JSON has it."""
        from hotband.audit.finding import kept

        rows: list[DifferenceDoc] = [
            {
                "metric": one.metric,
                "unit": one.unit,
                "a": kept(one.a),
                "b": kept(one.b),
                "change_pct": kept(one.change_pct),
                "low_pct": kept(one.low_pct),
                "high_pct": kept(one.high_pct),
                "how": one.how,
                "verdict": one.verdict,
            }
            for one in self.differences
        ]
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "a": self.a,
            "b": self.b,
            "confidence": CONFIDENCE,
            "verdict": self.verdict,
            "differences": rows,
            "unlike": self.unlike,
            "unsupported": self.unsupported,
        }


def compare(a: Audited, b: Audited, seed: int = 1, anyway: bool = False) -> Comparison:
    """B against A. Raises UserError where they were not asked the same, unless told to go on `anyway`."""
    unlike = unlike_words(a, b)
    if unlike and not anyway:
        raise UserError(
            "compare", "", f"{a.name}, {b.name}", f"{unlike[0]}; expected equal loads (--anyway compares them)"
        )
    found: list[Difference] = []
    unsupported: list[str] = []
    rate = iops_difference([a], [b], seed)
    if rate is not None:
        found.append(rate)
    for pct in PERCENTILES:
        one = percentile_difference(a, b, pct, seed)
        if isinstance(one, Difference):
            found.append(one)
        else:
            unsupported.append(one)
    return Comparison(a.name, b.name, found, _overall(a, b, found), unlike, unsupported)


def _overall(a: Audited, b: Audited, found: Sequence[Difference]) -> str:
    """Of closed loops the rate decides; of open ones, whose rate is given, the median."""
    chosen = "IOPS" if a.concurrency and b.concurrency else "p50"
    return next((one.verdict for one in found if one.metric == chosen), found[0].verdict if found else NONE)


def unlike_words(a: Audited, b: Audited) -> list[str]:
    """What was asked of one and not of the other."""
    found = []
    pairs: list[tuple[str, Any, Any]] = [("concurrency", a.concurrency, b.concurrency)]
    for name, key in (("size of an I/O", "block_bytes"), ("share of reads", "read_pct"), ("pattern", "pattern")):
        pairs.append((name, getattr(a.asked, key), getattr(b.asked, key)))
    pairs.append(("rate asked for", a.asked.rate_iops, b.asked.rate_iops))
    for name, one, other in pairs:
        if one != other and (None not in (one, other) or name == "rate asked for"):
            found.append(f"{name} differs: {one} and {other}")
    mine, theirs = data_of(a), data_of(b)
    for key in sorted(mine.keys() & theirs.keys()):
        low, high = sorted((mine[key], theirs[key]))
        if low < (1 - DATA_TOLERANCE) * high:
            found.append(f"{key} differs: {mine[key]:,.6g} and {theirs[key]:,.6g}")
    return found


def series_of(run: Audited, column: str) -> Numbers | None:
    """A value of every whole interval, over all streams and directions; None without a series that has it."""
    import numpy as np

    series = run.record.get("series")
    interval = series.get("interval_ns") if series else None
    if run.series is None or not interval or run.series[column].null_count() == len(run.series):
        return None
    whole = int(run.duration_ns // interval)
    rates, waited = np.zeros(whole), np.zeros(whole)
    for time, iops, latency in run.series.select("time_ns", "iops", "latency_mean_ns").iter_rows():
        place = int(time // interval)
        if place < whole and iops:
            rates[place] += iops
            waited[place] += iops * (latency or 0.0)
    if column == "iops":
        return rates
    busy = rates > 0
    return waited[busy] / rates[busy]


def iops_difference(a: Sequence[Audited], b: Sequence[Audited], seed: int = 1) -> Difference | None:
    """The difference of IOPS of two targets, of repeats where both have some; None where a rate is not known."""
    rates = [[float(run.summary().get("iops") or 0.0) for run in own] for own in (a, b)]
    if not all(all(own) and own for own in rates):
        return None
    mean_a, mean_b = (math.fsum(own) / len(own) for own in rates)
    change = 100 * (mean_b / mean_a - 1)
    if min(len(own) for own in rates) > 1:
        low, high = _of_repeats(rates[0], rates[1])
        how = f"repeats: {len(rates[0])} and {len(rates[1])} runs, Welch's t"
    else:
        low, high, how = _of_one_run(a[0], b[0], seed)
    return _judged("IOPS", "1/s", mean_a, mean_b, (change, low, high), how, higher_is_faster=True)


def _of_repeats(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Interval of the relative difference of means of repeats (Welch), the error of A's mean in the ratio included."""
    from scipy.special import stdtrit

    means = [math.fsum(own) / len(own) for own in (a, b)]
    errors = [
        math.fsum((value - mean) ** 2 for value in own) / (len(own) - 1) / len(own) / mean**2
        for own, mean in zip((a, b), means, strict=True)
    ]
    ratio = means[1] / means[0]
    if not any(errors):
        return 100 * (ratio - 1), 100 * (ratio - 1)
    freedom = sum(errors) ** 2 / sum(error**2 / (len(own) - 1) for error, own in zip(errors, (a, b), strict=True))
    half = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * math.sqrt(sum(errors)) * ratio
    return 100 * (ratio - 1 - half), 100 * (ratio - 1 + half)


def _of_one_run(a: Audited, b: Audited, seed: int) -> tuple[float, float, str]:
    """Blocks of both series; where one has none, the Poisson law on both counts."""
    import numpy as np

    from hotband.audit import resample

    random = np.random.default_rng(seed)
    draws, lengths = [], []
    for run in (a, b):
        values = series_of(run, "iops")
        if values is None or len(values) < resample.LEAST_INTERVALS:
            return (*_poisson(a, b), "no series: Poisson law, I/Os taken to be independent")
        lengths.append(resample.block_length(values))
        draws.append(resample.means(values, random) / values.mean() * known(run.summary()["iops"]))
    low, high = np.percentile(100 * (draws[1] / draws[0] - 1), (2.5, 97.5))
    return float(low), float(high), f"series: blocks of {lengths[0]} and {lengths[1]} samples"


def _poisson(a: Audited, b: Audited) -> tuple[float, float]:
    """Interval of the ratio of two Poisson rates: given their sum, one count is binomial (Clopper and Pearson)."""
    from scipy.special import betaincinv

    counts = [float(run.summary().get("count") or 0) for run in (a, b)]
    if not all(counts):
        return -100.0, math.inf
    times = [count / known(run.summary()["iops"]) for count, run in zip(counts, (a, b), strict=True)]
    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(counts[1], counts[0] + 1, tail))
    high = float(betaincinv(counts[1] + 1, counts[0], 1 - tail))
    scale = times[0] / times[1]
    return 100 * (low / (1 - low) * scale - 1), 100 * (high / (1 - high) * scale - 1)


def percentile_difference(a: Audited, b: Audited, pct: float, seed: int = 1) -> Difference | str:
    """The difference of a percentile, or why it cannot be compared."""
    import numpy as np

    from hotband.audit import resample

    random = np.random.default_rng([seed, round(10 * pct)])
    draws, values, ways, widths = [], [], [], []
    for run in (a, b):
        points = run.quantiles(None)
        value = None if points is None else points.quantile(pct / 100)
        if points is None or value is None or points.kind == "bins":
            return f"p{pct:g}: {run.name} has no distribution that reaches it"
        series = series_of(run, "latency_mean_ns")
        effect = 1.0 if series is None else resample.design_effect(series, points, random)
        effective = points.count / effect
        if effective < least_count(pct / 100):
            worth = f"{points.count:,} I/Os" + (f", worth {effective:,.0f} independent ones" if effect > 1 else "")
            return f"p{pct:g}: {run.name} has {worth}; {least_count(pct / 100):,} are needed"
        draws.append(resample.quantiles(points, pct / 100, effective, random))
        values.append(value)
        widths.append(points.resolution)
        ways.append(_way(points.interpolated, series is not None and points.kind == "histogram"))
    low, high = (float(end) for end in np.percentile(100 * (draws[1] / draws[0] - 1), (2.5, 97.5)))
    # A bucket says no more than its edges do.
    width = 100 * sum(widths) * values[1] / values[0]
    change = 100 * (values[1] / values[0] - 1)
    triple = (change, min(low, change) - width, max(high, change) + width)
    how = " and ".join(dict.fromkeys(ways))
    return _judged(f"p{pct:g}", "ms", values[0] / 1e6, values[1] / 1e6, triple, how, higher_is_faster=False)


def _way(interpolated: bool, has_series: bool) -> str:
    shape = "printed percentiles" if interpolated else "histogram"
    return f"{shape}, I/Os by the series" if has_series else f"{shape}, no series: I/Os taken to be independent"


def _judged(
    metric: str, unit: str, a: float, b: float, change: tuple[float, float, float], how: str, *, higher_is_faster: bool
) -> Difference:
    """With the verdict on B."""
    middle, low, high = change
    if low > 0:
        verdict = FASTER if higher_is_faster else SLOWER
    elif high < 0:
        verdict = SLOWER if higher_is_faster else FASTER
    else:
        verdict = NONE
    return Difference(metric, unit, a, b, middle, low, high, how, verdict)
