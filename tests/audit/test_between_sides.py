"""Is the difference of two sides what their numbers make it, and its verdict what its interval says?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from made_up import DISK, SSD, changed, deep, result
from scipy.stats import beta, t

from hotband.base.errors import UserError
from hotband.data.record.rounds import MOST_ROUNDS
from hotband.inference.audit import Audited, difference
from hotband.inference.audit.alike import unlike_words
from hotband.inference.audit.audited import Side
from hotband.inference.audit.compare import Comparison, compare, comparisons_data, state_of
from hotband.inference.audit.correlated import mean_law
from hotband.inference.audit.difference import (
    FASTER,
    NONE,
    SLOWER,
    TOO_SHORT,
    Difference,
    Interval,
    iops_difference,
    of_repeats,
    of_samples,
    percentile_difference,
    series_of,
)
from hotband.inference.audit.resample import design_effect

PLAIN = result("a", SSD, seconds=10)


def timed(*rows: tuple[float, float | None, float | None], seconds: float = 10, interval: Any = 10**9) -> Audited:
    """A result with samples: time in seconds, IOPS, mean latency."""
    frame = pl.DataFrame(
        [{"time_ns": time * 1e9, "iops": iops, "latency_mean_ns": latency} for time, iops, latency in rows],
        schema={"time_ns": pl.Float64, "iops": pl.Float64, "latency_mean_ns": pl.Float64},
    )
    one = replace(changed(PLAIN, "duration_ns", to=round(seconds * 1e9)), series=frame)
    return changed(one, "series", to={"interval_ns": interval, "file": "series.parquet"})


def values(run: Audited, column: str) -> list[float] | None:
    found = series_of(run, column)
    return None if found is None else [float(one) for one in found]


def test_rates_of_streams_add_and_latencies_are_weighed_by_them() -> None:
    run = timed((0, 100, 5.0), (0, 300, 9.0), (1, 50, 4.0), (2.9, 10, 2.0))
    assert values(run, "iops") == [400.0, 50.0, 10.0]
    assert values(run, "latency_mean_ns") == [8.0, 4.0, 2.0]


def test_samples_outside_of_the_whole_intervals_do_not_count() -> None:
    run = timed((-1, 1, 1.0), (0, 5, 1.0), (8, 7, 1.0), (9, 9, 1.0), seconds=9.5)
    assert values(run, "iops") == [5.0, *[0.0] * 7, 7.0], "the last half second is no interval"
    assert series_of(timed((9, 9, 1.0), seconds=9.5), "iops") is None


def test_stalls_have_a_rate_and_no_latency() -> None:
    run = timed((1, 5, 2.0), (2, 0, None), (4, 7, 3.0))
    assert values(run, "iops") == [5.0, 0.0, 0.0, 7.0]
    assert values(run, "latency_mean_ns") == [2.0, 3.0]


def test_what_is_not_known_of_an_interval_leaves_it_out() -> None:
    run = timed((0, 5, 2.0), (1, None, 2.0), (1, 5, 2.0), (2, 6, None), (2, 6, 4.0), (3, 7, 3.0))
    assert values(run, "iops") == [5.0, 12.0, 7.0]
    assert values(run, "latency_mean_ns") == [2.0, 3.0]


def test_without_samples_an_interval_or_a_value_there_is_no_series() -> None:
    run = timed((0, 5, None), (1, 6, None))
    assert values(run, "iops") == [5.0, 6.0]
    assert series_of(run, "latency_mean_ns") is None
    assert series_of(replace(run, series=None), "iops") is None
    assert series_of(changed(run, "series", to=None), "iops") is None
    assert series_of(timed((0, 5, 1.0), interval=0), "iops") is None
    assert series_of(timed((0, 5, 1.0), interval=None), "iops") is None


@pytest.mark.parametrize(("seconds", "known"), [(MOST_ROUNDS, True), (MOST_ROUNDS + 1, False)])
def test_a_series_of_weeks_is_a_mistake(seconds: float, known: bool) -> None:
    assert (series_of(timed((0, 5, 1.0), seconds=seconds), "iops") is not None) is known


def test_two_repeats_each_are_welchs_t_of_logarithms() -> None:
    a, b = [100.0, 110.0], [140.0, 150.0, 145.0]
    found = of_repeats(a, b)
    logs = [np.log(a), np.log(b)]
    parts = [own.var(ddof=1) / len(own) for own in logs]
    freedom = sum(parts) ** 2 / sum(part**2 / (len(own) - 1) for part, own in zip(parts, logs, strict=True))
    factor = math.exp(t.ppf(0.975, freedom) * math.sqrt(sum(parts)))
    ratio = 145 / 105
    assert found.low == pytest.approx(100 * (ratio / factor - 1))
    assert found.high == pytest.approx(100 * (ratio * factor - 1))
    assert (found.basis, found.least) == ("repeats: 2 and 3 runs, Welch's t", False)


def test_one_run_beside_repeats_is_students_t() -> None:
    found = of_repeats([100.0, 110.0, 105.0], [140.0])
    factor = math.exp(t.ppf(0.975, 2) * math.sqrt(np.log([100, 110, 105]).var(ddof=1) * (1 / 3 + 1)))
    assert found.low == pytest.approx(100 * (140 / 105 / factor - 1))
    assert found.basis == "repeats: 3 and 1 runs, Student's t, one run assumed to vary like the others"


@pytest.mark.filterwarnings("ignore:Precision loss")
def test_repeats_that_are_equal_on_both_sides_have_no_width() -> None:
    found = of_repeats([100.0, 100.0], [150.0, 150.0])
    assert (found.low, found.high) == (pytest.approx(50.0), pytest.approx(50.0))
    one = of_repeats([100.0, 100.0], [150.0, 151.0])
    assert one.low is not None
    assert one.high is not None
    assert one.low < 45 < 56 < one.high, "one side that differs is enough for a width"


def rated(name: str, iops: float) -> Audited:
    return changed(result(name, DISK), "summary", "iops", to=iops)


def test_a_side_with_two_runs_has_repeats() -> None:
    one, two = [rated("a", 100.0)], [rated("b", 100.0), rated("c", 110.0)]
    for a, b in ((one, two), (two, one)):
        found = iops_difference(a, b)
        assert found is not None
        assert found.how.startswith("repeats: ")
    found = iops_difference(one, two)
    assert found is not None
    assert (found.metric, found.unit, found.a, found.b) == ("IOPS", "1/s", 100.0, 105.0)
    assert found.change_pct == pytest.approx(5.0)


def test_percentiles_of_two_runs_have_repeats() -> None:
    slow = [result(name, DISK, slower=slower) for name, slower in (("a", 1.0), ("b", 1.02))]
    found = percentile_difference([result("c", DISK)], slow, 50)
    assert isinstance(found, Difference)
    assert found.how == "repeats: 1 and 2 runs, Student's t, one run assumed to vary like the others"
    assert (found.metric, found.unit) == ("p50", "ms")
    assert found.a == pytest.approx(11.0, rel=1e-3), "3 ms and 8 ms"
    assert found.change_pct == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("iops", [0.0, None])
def test_a_rate_that_is_not_known_has_no_difference(iops: float | None) -> None:
    known, unknown = rated("a", 5.0), changed(result("b", DISK), "summary", "iops", to=iops)
    assert iops_difference([known], [unknown]) is None
    assert iops_difference([known, unknown], [known]) is None
    assert iops_difference([], [known]) is None


def test_without_samples_it_is_the_law_of_clopper_and_pearson() -> None:
    a, b = (changed(rated(name, iops), "summary", "count", to=n) for name, iops, n in (("a", 10, 100), ("b", 24, 120)))
    found = difference._poisson(a, b)
    # 120 of 220 I/Os, in 10 s and 5 s.
    low, high = beta.ppf(0.025, 120, 101), beta.ppf(0.975, 121, 100)
    assert found.low == pytest.approx(100 * (low / (1 - low) * 2 - 1))
    assert found.high == pytest.approx(100 * (high / (1 - high) * 2 - 1))
    assert found.least
    none = difference._poisson(a, changed(b, "summary", "count", to=0))
    assert none == Interval(None, None, "no series, and no count of I/Os")


def test_samples_of_one_side_alone_are_no_samples() -> None:
    sampled = replace(timed(*[(n, 100, 1.0) for n in range(30)], seconds=30), name="sampled")
    for a, b in ((sampled, result("b", SSD)), (result("b", SSD), sampled)):
        found = iops_difference([a], [b])
        assert found is not None
        assert "Poisson distribution" in found.how


def test_samples_are_those_of_each_side() -> None:
    noisy, even = (
        changed(timed(*[(n, rate(n), 1.0) for n in range(count)], seconds=count), "summary", "iops", to=100.0)
        for rate, count in ((lambda n: 100.0 + 10 * (n % 3 - 1), 30), (lambda n: 100.0, 25))
    )
    laws = [of_samples(np.array(values(a, "iops")), np.array(values(b, "iops")), 1.0, 1)
            for a, b in ((noisy, even), (even, noisy))]  # fmt: skip
    for law, (a, b), counts in zip(laws, ((noisy, even), (even, noisy)), ("30 and 25", "25 and 30"), strict=True):
        found = iops_difference([a], [b])
        assert found is not None
        assert found.how == f"samples over time: {counts}, one run each"
        assert (found.low_pct, found.high_pct) == (law.low, law.high)


def test_constant_samples_have_the_ratio_that_was_counted() -> None:
    found = of_samples(np.full(30, 100.0), np.full(25, 200.0), 1.9, 1)
    assert (found.low, found.high) == (pytest.approx(90.0), pytest.approx(90.0))
    assert (found.basis, found.least) == ("samples over time: 30 and 25, one run each", False)


def test_noisy_samples_have_the_interval_of_two_means() -> None:
    random = np.random.default_rng(5)
    a, b = (100 + 10 * random.standard_normal(39) for _ in range(2))
    laws = [mean_law(own) for own in (a, b)]
    spread = math.sqrt(sum(float(law.spread / own.mean()) ** 2 for law, own in zip(laws, (a, b), strict=True) if law))
    found = of_samples(a, b, 1.5, 1)
    assert found.low is not None
    assert found.high is not None
    # Laws of many rho are no single t; their middle is near that of the samples.
    assert found.high - found.low == pytest.approx(150 * 2 * t.ppf(0.975, 38) * spread, rel=0.05)
    assert (found.high + found.low) / 2 == pytest.approx(50.0, abs=1.0)


def test_samples_whose_mean_may_be_zero_say_nothing() -> None:
    wild = np.array([0.0] * 19 + [1000.0])
    for a, b in ((wild, np.full(20, 5.0)), (np.full(20, 5.0), wild)):
        found = of_samples(a, b, 1.0, 1)
        assert found == Interval(None, None, "the samples over time vary too much for their number")


JUDGED = [
    (Interval(None, None, "how"), TOO_SHORT, TOO_SHORT),
    (Interval(1.0, None, "how"), TOO_SHORT, TOO_SHORT),
    (Interval(-1.0, 2.0, "how"), NONE, NONE),
    (Interval(0.0, 2.0, "how"), NONE, NONE),
    (Interval(-2.0, 0.0, "how"), NONE, NONE),
    (Interval(0.1, 2.0, "how"), FASTER, SLOWER),
    (Interval(-2.0, -0.1, "how"), SLOWER, FASTER),
    (Interval(-1.0, 2.0, "how", least=True), NONE, NONE),
]


@pytest.mark.parametrize(("found", "rate", "time"), JUDGED)
def test_a_verdict_is_what_its_interval_says(found: Interval, rate: str, time: str) -> None:
    for verdict, higher in ((rate, True), (time, False)):
        one = difference._judged("x", "y", (80.0, 100.0), found, higher_is_faster=higher)
        assert (one.verdict, one.low_pct, one.high_pct, one.how) == (verdict, found.low, found.high, "how")
        assert (one.metric, one.unit, one.a, one.b, one.change_pct) == ("x", "y", 80.0, 100.0, 25.0)


@pytest.mark.parametrize(("b", "rate", "time"), [(109.0, NONE, NONE), (111.0, FASTER, SLOWER), (90.0, SLOWER, FASTER)])
def test_beyond_an_interval_that_is_the_least_it_is_one_run_each(b: float, rate: str, time: str) -> None:
    found = Interval(0.1, 2.0, "how", least=True)
    for verdict, higher in ((rate, True), (time, False)):
        one = difference._judged("x", "y", (100.0, b), found, higher_is_faster=higher)
        assert (one.verdict, one.low_pct, one.high_pct) == (verdict, None, None)
        often = "; runs of one target often differ by 10 %" if verdict == NONE else ""
        assert one.how == f"one run each, so how much runs differ is unknown{often} (how)"


@pytest.mark.parametrize(
    ("kind", "series", "said"),
    [
        ("plus", True, "histogram, I/Os by the series"),
        ("plus", False, "histogram, no series: I/Os assumed independent"),
        ("json", True, "printed percentiles, no series: I/Os assumed independent"),
    ],
)
def test_how_a_percentile_was_had_is_said(kind: str, series: bool, said: str) -> None:
    rows = [(n, 100, 1e5) for n in range(300)]
    own = timed(*rows, seconds=300) if series else None
    one = replace(result("a", SSD, kind=kind), series=own.series if own else None)
    if own is not None:
        one = changed(one, "series", to=own.record["series"])
    found = percentile_difference([one], [replace(one, name="b")], 50)
    assert isinstance(found, Difference)
    assert found.how.removesuffix(", and that is the least they vary; samples or several runs are needed") == said
    assert found.verdict == NONE


def test_two_ways_are_both_said() -> None:
    found = percentile_difference([result("a", SSD)], [result("b", SSD, kind="json")], 50)
    assert isinstance(found, Difference)
    independent = "no series: I/Os assumed independent"
    assert found.how == f"histogram, {independent} and printed percentiles, {independent}"


def test_a_percentile_is_known_no_better_than_its_buckets() -> None:
    """One bucket of 1 ms each, and of 2 ms: the ratio is 2, each edge known to 1/128 of its value."""

    def one(name: str, at: int) -> Audited:
        made = result(name, SSD)
        return changed(made, "streams", 0, "read", "histogram", to={"kind": "fio", "buckets": [[at, 10_000]]})

    found = difference._of_histograms(one("a", 10**6), one("b", 2 * 10**6), 50, 1)
    width = 100 * (1 / 128 + 1 / 128) * 2
    assert (found.low, found.high) == (pytest.approx(100 - width), pytest.approx(100 + width))
    back = difference._of_histograms(one("a", 2 * 10**6), one("b", 10**6), 50, 1)
    assert (back.low, back.high) == (pytest.approx(-50 - width / 4), pytest.approx(-50 + width / 4))


def test_a_percentile_without_enough_ios_is_not_compared() -> None:
    def some(ios: int) -> Audited:
        made = result("a", SSD)
        return changed(made, "streams", 0, "read", "histogram", to={"kind": "fio", "buckets": [[10**6, ios]]})

    assert isinstance(percentile_difference([some(368)], [some(368)], 99), Difference)
    assert percentile_difference([some(368)], [some(367)], 99) == "p99: a has 367 I/Os; 368 are needed"
    none = changed(some(5), "streams", 0, "read", "histogram", to={"kind": "none", "buckets": []})
    assert percentile_difference([none], [some(368)], 99) == "p99: a has no distribution that reaches it"


def test_ios_that_follow_each_other_are_worth_fewer() -> None:
    rows = [(n, 100, 1e5 if n < 150 else 1.02e5) for n in range(300)]
    own = timed(*rows, seconds=300)
    one = changed(replace(result("a", SSD, seconds=30), series=own.series, name="a"), "series", to=own.record["series"])
    one = changed(one, "duration_ns", to=300 * 10**9)
    found = percentile_difference([one], [one], 99.9)
    assert isinstance(found, str)
    samples, points = series_of(one, "latency_mean_ns"), one.quantiles(None)
    assert samples is not None
    assert points is not None
    effect = design_effect(samples, points)
    assert effect is not None
    worth = f"{points.count / effect:,.0f} independent ones"
    assert found == f"p99.9: a has {points.count:,} I/Os, worth {worth}; 3,688 are needed"
    assert isinstance(percentile_difference([one], [one], 90), Difference), "36 are enough"


@pytest.mark.filterwarnings("ignore:Precision loss")
def test_of_open_loops_the_median_decides() -> None:
    loops = {
        "closed": ({}, {}, "IOPS"),
        "open": ({"rate": 50.0}, {"rate": 50.0}, "p50"),
        "half": ({}, {"rate": 50.0}, "p50"),
    }
    for first, second, metric in loops.values():
        a, b = ([result(f"{n}", DISK, slower=slower + n / 1000, **more) for n in range(3)]
                for slower, more in ((1.0, first), (1.2, second)))  # fmt: skip
        found = compare(Side("a", a), Side("b", b), anyway=True)
        by_metric = {one.metric: one.verdict for one in found.differences}
        assert found.verdict == by_metric[metric]
        assert by_metric["p50"] == SLOWER
        if metric == "p50" and first:
            assert by_metric["IOPS"] == NONE


def test_without_a_difference_none_is_shown() -> None:
    bare = changed(changed(result("a", DISK), "summary", "iops", to=None), "streams", to=[])
    found = compare(Side("a", [bare]), Side("b", [bare]))
    assert (found.verdict, found.differences) == (NONE, [])
    assert len(found.unsupported) == 4


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({}, {}, []),
        ({"read_pct": 100.0, "block_bytes": None}, {"block_bytes": 8192}, []),
        ({"pattern": None}, {"pattern": "sequential"}, []),
        ({"rate_iops": 50.0}, {}, ["requested rate differs: 50.0 and None"]),
        ({"rate_iops": 50.0}, {"rate_iops": 60.0}, ["requested rate differs: 50.0 and 60.0"]),
        ({"working_set_bytes": 10**12}, {"working_set_bytes": 95 * 10**10}, []),
        ({"working_set_bytes": 10**12}, {"working_set_bytes": 94 * 10**10},
         ["working set, bytes differs: 1 TB and 940 GB"]),
        ({"working_set_bytes": 94 * 10**10}, {"working_set_bytes": 10**12},
         ["working set, bytes differs: 940 GB and 1 TB"]),
    ],
)  # fmt: skip
def test_what_was_not_asked_of_both_is_told(first: dict[str, Any], second: dict[str, Any], words: list[str]) -> None:
    # Rates that are asked for make an open loop, whose concurrency is not known.
    assert unlike_words(result("a", DISK, **first), result("b", DISK, **second)) == words


def test_what_differs_is_told_once_and_of_the_first_run() -> None:
    a = Side("a", [result("a", DISK)])
    others = [result(name, deep(4), concurrency=4) for name in ("b", "c")]
    found = compare(a, Side("b", others), anyway=True)
    assert found.unlike == ["concurrency differs: 1 and 4"]


def modelled(name: str, seed: int) -> Audited:
    return changed(changed(result(name, DISK), "target", "kind", to="model"), "seed", to=str(seed))


def test_two_repeats_of_a_model_with_one_seed_are_refused() -> None:
    a = Side("a", [modelled("a1", 1), modelled("a2", 2)])
    assert compare(a, Side("b", [modelled("b1", 1), modelled("b2", 3)])).differences
    with pytest.raises(UserError, match="two repeats of a side use it") as refused:
        compare(a, Side("b", [modelled("b1", 3), modelled("b2", 2), modelled("b3", 3)]))
    assert (refused.value.where, refused.value.value) == ("b", "3")
    measured = [result(name, DISK) for name in ("c1", "c2")]
    assert compare(Side("c", measured), Side("d", measured)).differences, "hardware has no seed"


def test_a_comparison_as_data_has_its_sides_and_states() -> None:
    a, b = Side("a", [result("a1", DISK), result("a2", DISK)]), Side("b", [result("b1", DISK)])
    row = Difference("IOPS", "1/s", 100.0, 150.00000001, 50.0, None, 60.0, "how", TOO_SHORT)
    data = comparisons_data([Comparison(a, b, [row], FASTER, ["unlike"], ["unsupported"])])
    assert data["confidence"] == 0.95
    (one,) = data["comparisons"]
    assert one["a"] == {"name": "a", "runs": ["a1", "a2"], "state": ["not known"]}
    assert one["b"] == {"name": "b", "runs": ["b1"], "state": ["not known"]}
    assert (one["verdict"], one["unlike"], one["unsupported"]) == (FASTER, ["unlike"], ["unsupported"])
    assert one["differences"] == [
        {"metric": "IOPS", "unit": "1/s", "a": 100, "b": 150.00000001, "change_pct": 50, "low_pct": None,
         "high_pct": 60,
         "how": "how", "verdict": TOO_SHORT}
    ]  # fmt: skip
    assert state_of(a) == ["not known"], "once where it is the same"
