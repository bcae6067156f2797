"""Do the intervals hold what they promise?"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_up import SSD, points
from scipy.stats import binom, ttest_ind

from hotband.inference.audit import resample
from hotband.inference.audit.difference import of_repeats
from hotband.inference.audit.distribution import Distribution
from hotband.inference.audit.lengths import largest_supported, longest_rising
from hotband.inference.audit.orderstat import interval_ranks, least_count

VALUES = st.floats(50.0, 200.0)


@pytest.mark.parametrize(("share", "count"), [(0.5, 6), (0.9, 36), (0.99, 368), (0.999, 3688), (0.9999, 36887)])
def test_a_percentile_needs_so_many(share: float, count: int) -> None:
    # The least n with share^n <= 2.5 %: below, even the largest of n is not above the quantile often enough.
    assert least_count(share) == count
    assert share**count <= 0.025 < share ** (count - 1)


def test_ranks_are_those_of_the_binomial_law() -> None:
    # Binomial (100, 0.5): 39 or fewer with 1.76 %, 40 or fewer with 2.84 %.
    assert interval_ranks(100, 0.5) == (40, 61)


@given(st.integers(0, 10_000_000), st.sampled_from([0.01, 0.5, 0.9, 0.99, 0.99999]), st.sampled_from([0.9, 0.95]))
def test_ranks_are_those_of_scipy(count: int, share: float, confidence: float) -> None:
    tail = (1 - confidence) / 2
    low, high = (int(binom.ppf(tail, count, at)) for at in (share, 1 - share))
    assert interval_ranks(count, share, confidence) == (low, count + 1 - high)


@given(st.lists(VALUES, min_size=1, max_size=8), st.lists(VALUES, min_size=2, max_size=8))
def test_intervals_of_repeats_are_those_of_scipy(a: list[float], b: list[float]) -> None:
    assume(len(set(a)) > 1 or len(set(b)) > 1)
    ends = ttest_ind(np.log(b), np.log(a), equal_var=len(a) == 1).confidence_interval(0.95)
    ratio, factor = sum(b) / len(b) / (sum(a) / len(a)), math.exp((ends.high - ends.low) / 2)
    found = of_repeats(a, b)
    assert found.low == pytest.approx(100 * (ratio / factor - 1), rel=1e-6)
    assert found.high == pytest.approx(100 * (ratio * factor - 1), rel=1e-6)


@given(st.integers(1, 3000), st.sampled_from([0.5, 0.9, 0.99, 0.999]))
def test_ranks_are_closed_from_the_least_count_on(count: int, share: float) -> None:
    low, high = interval_ranks(count, share)
    assert 0 <= low < high <= count + 1
    assert (low >= 1 and high <= count) == (count >= least_count(share))


def test_the_interval_of_a_quantile_covers_it() -> None:
    random, hits, runs, count = np.random.default_rng(1), 0, 2000, 5000
    low, high = interval_ranks(count, 0.99)
    for _ in range(runs):
        sample = np.sort(random.exponential(size=count))
        hits += bool(sample[low - 1] <= -math.log(0.01) <= sample[high - 1])
    # 95 % and a little more, as ranks are whole; three standard errors of 2,000 runs are 1.5 %.
    assert 0.945 <= hits / runs <= 0.975


def test_a_series_of_steps_is_worth_fewer_ios() -> None:
    random = np.random.default_rng(3)
    values = points(SSD)
    shares = [(place + 1) / len(values) for place in range(len(values))]
    shape = Distribution("histogram", values, shares, 100_000)
    mean = float(np.mean(values))
    even = mean + np.sqrt(resample.variance(shape) / 1000) * random.normal(size=100)
    steps = np.repeat([mean * 0.9, mean * 1.1], 50)
    effects = [resample.design_effect(values, shape) for values in (even, steps)]
    assert effects[0] is not None
    assert effects[0] < 2
    assert effects[1] is not None
    assert effects[1] > 50
    assert resample.design_effect(even[:19], shape) is None


def test_a_quantile_between_printed_ones_is_interpolated() -> None:
    shape = Distribution("percentiles", [1e6, 1e8], [0.9, 0.99], 1000)
    assert shape.quantile(0.945) == pytest.approx(1e7)
    assert shape.quantile(0.999) is None
    assert shape.quantile(0.5) is None


def test_a_share_counts_whole_buckets() -> None:
    shape = Distribution("bins", [1e6, 2e6, 4e6], [0.3, 0.6, 1.0], 1000)
    assert shape.share_below(2.08e6) == 0.6
    assert shape.share_below(1.99e6) == 0.3
    assert shape.share_below(0.5e6) == 0.0


@given(st.lists(st.integers(0, 20), max_size=9))
def test_the_longest_rising_sequence_is_the_longest(values: list[int]) -> None:
    places = longest_rising([float(value) for value in values])
    assert all(values[a] < values[b] and a < b for a, b in pairwise(places))
    best = [1] * len(values)
    for later in range(len(values)):
        best[later] = 1 + max((best[e] for e in range(later) if values[e] < values[later]), default=0)
    assert len(places) == max(best, default=0)


def test_the_largest_supported_percentile_is_the_inverse() -> None:
    assert largest_supported(3688) == pytest.approx(0.999, abs=1e-5)
