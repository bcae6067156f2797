"""Are the laws of means and quantiles those that their definitions give, worked out another way?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from hotband.inference.audit import correlated, resample
from hotband.inference.audit.correlated import LEAST_SAMPLES, PRIOR_POWER, MeanLaw, mean_law
from hotband.inference.audit.distribution import Distribution

WHITE = 100 + np.random.default_rng(4).normal(0, 5, 30)


def by_matrices(values: Any, rho: float) -> tuple[float, float, float]:
    """Generalized least squares with the whole matrix of correlations: the mean, its scale, the logarithm of how likely
    the samples make rho."""
    count = len(values)
    apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    inverse = np.linalg.inv(rho**apart / (1 - rho**2))
    information = inverse.sum()
    mean = float(inverse.sum(axis=0) @ values / information)
    residual = float((values - mean) @ inverse @ (values - mean))
    log = np.linalg.slogdet(inverse)[1] / 2 - math.log(information) / 2 - (count - 1) / 2 * math.log(residual)
    return mean, math.sqrt(residual / (count - 1) / information), log - PRIOR_POWER * math.log(1 - rho**2)


def test_the_law_of_a_mean_is_that_of_generalized_least_squares() -> None:
    law = mean_law(WHITE)
    assert law is not None
    rhos = np.linspace(correlated.RHO_LOW, correlated.RHO_HIGH, correlated.RHO_STEPS)
    assert law.weights.shape == rhos.shape
    means, scales, logs = (np.array(own) for own in zip(*(by_matrices(WHITE, rho) for rho in rhos), strict=True))
    weights = np.exp(logs - logs.max())
    assert law.centres == pytest.approx(means)
    assert law.scales == pytest.approx(scales)
    assert law.weights == pytest.approx(weights / weights.sum())
    assert set(law.freedom) == {29}


def test_laws_of_many_series_are_those_of_each() -> None:
    other = WHITE[::-1] ** 2
    both = mean_law(np.stack([WHITE, other]))
    assert both is not None
    for place, values in enumerate((WHITE, other)):
        law = mean_law(values)
        assert law is not None
        assert both.weights[place] == pytest.approx(law.weights)
        assert both.scales[place] == pytest.approx(law.scales)


def test_a_constant_series_has_its_value_as_mean() -> None:
    law = mean_law(np.full(25, 7.0))
    assert law is not None
    assert law.centres == pytest.approx(np.full(len(law.weights), 7.0))
    assert float(law.spread) < 1e-100
    assert float(law.weights.sum()) == pytest.approx(1.0)


@pytest.mark.parametrize(("count", "known"), [(LEAST_SAMPLES - 1, False), (LEAST_SAMPLES, True)])
def test_twenty_samples_are_needed(count: int, known: bool) -> None:
    assert LEAST_SAMPLES == 20
    assert (mean_law(WHITE[:count]) is not None) is known


def hidden(count: int) -> Any:
    """A slow wave under the noise of single samples, which averages of neighbours cancel."""
    places = np.arange(count)
    return 100 + 10 * np.sin(2 * np.pi * places / 40) + 50 * (-1.0) ** places


def test_a_wave_under_noise_is_believed_of_averages() -> None:
    values = hidden(61)
    law = mean_law(values)
    pairs = correlated._of_autoregression(values[1:].reshape(-1, 2).mean(axis=-1))
    assert law is not None
    assert law.freedom[0] == 29, "of 61 samples the last 60 make 30 pairs"
    assert law.centres == pytest.approx(pairs.centres)
    assert law.scales == pytest.approx(pairs.scales)
    assert float(law.spread) > correlated.BELIEVED * float(correlated._of_autoregression(values).spread)


def test_fewer_than_forty_samples_are_not_averaged() -> None:
    law = mean_law(hidden(39))
    assert law is not None
    assert law.freedom[0] == 38
    again = mean_law(hidden(40))
    assert again is not None
    assert again.freedom[0] == 19


def test_averages_that_widen_by_chance_only_are_not_believed() -> None:
    values = 100 + np.random.default_rng(4).normal(0, 5, 320)
    law = mean_law(values)
    assert law is not None
    assert law.freedom[0] == 319


TWO = MeanLaw(np.array([9.0, 9.0]), np.array([0.25, 0.75]), np.array([10.0, 12.0]), np.array([3.0, 1.0]))


def test_the_spread_of_a_law_is_the_root_of_its_mean_square_scale() -> None:
    assert float(TWO.spread) == pytest.approx(math.sqrt(0.25 * 9 + 0.75))


def test_a_law_says_how_likely_the_mean_is_below_a_value() -> None:
    assert float(TWO.below(11.0)) == pytest.approx(0.25 * t.cdf(1 / 3, 9) + 0.75 * t.cdf(-1, 9))
    assert float(TWO.below(1e9)) == pytest.approx(1.0)


def test_draws_of_a_law_are_below_a_value_as_often_as_it_says() -> None:
    drawn = TWO.draw(np.random.default_rng(1), 20_000)
    assert len(drawn) == 20_000
    for value in (8.0, 10.0, 11.0, 12.0, 13.0):
        # Three standard errors of 20,000 draws are 1.1 %.
        assert np.mean(drawn < value) == pytest.approx(float(TWO.below(value)), abs=0.011)


class Counts:
    """In place of random numbers: what was asked of the binomial law, and answers."""

    def __init__(self, *answers: int) -> None:
        self.answers, self.asked = answers, (0, 0.0, 0)

    def binomial(self, number: int, share: float, size: int) -> Any:
        self.asked = (number, share, size)
        return np.array(self.answers)


HISTOGRAM = Distribution("histogram", [1e6, 2e6, 4e6], [0.25, 0.5, 1.0], 100)


def test_a_resampled_quantile_is_the_bucket_that_holds_its_share() -> None:
    random = Counts(0, 25, 26, 50, 51, 99, 100)
    found = resample.quantiles(HISTOGRAM, 0.5, 100.4, random, 7)
    assert random.asked == (100, 0.5, 7)
    assert list(found) == [1e6, 1e6, 2e6, 2e6, 4e6, 4e6, 4e6]


def test_fewer_than_one_io_are_one() -> None:
    random = Counts(0, 1)
    assert list(resample.quantiles(HISTOGRAM, 0.5, 0.2, random)) == [1e6, 4e6]
    assert random.asked == (1, 0.5, resample.DRAWS)


def test_printed_percentiles_are_resampled_between_each_other() -> None:
    printed = Distribution("percentiles", [0.0, 1e6, 1e8], [0.5, 0.9, 0.99], 1000)
    found = resample.quantiles(printed, 0.9, 1000, Counts(900, 945, 990, 1000, 100))
    assert list(found) == pytest.approx([1e6, 1e7, 1e8, 1e8, 1.0])


def test_a_variance_is_that_of_the_buckets() -> None:
    # 1, 2 and 4 ms in shares of 1/4, 1/4 and 1/2: the mean is 2.75 ms.
    expected = (1.75**2 + 0.75**2 + 2 * 1.25**2) / 4 * 1e12
    assert resample.variance(HISTOGRAM) == pytest.approx(expected)
    assert resample.variance(replace(HISTOGRAM, shares=[0.2, 0.4, 0.8])) == pytest.approx(expected)


def test_a_design_effect_is_the_variance_of_the_mean_over_that_of_independent_ios() -> None:
    samples = 1e6 * WHITE
    law = mean_law(samples)
    assert law is not None
    effect = float(law.spread) ** 2 / (resample.variance(HISTOGRAM) / 100)
    assert effect > 1
    assert resample.design_effect(samples, HISTOGRAM) == pytest.approx(effect)
    assert resample.design_effect(1e-6 * samples, HISTOGRAM) == 1.0, "no fewer than independent ones"


@pytest.mark.parametrize(
    "of",
    [
        replace(HISTOGRAM, kind="percentiles"),
        replace(HISTOGRAM, kind="bins"),
        replace(HISTOGRAM, count=0),
        Distribution("histogram", [1e6], [1.0], 100),
    ],
)
def test_without_a_variance_there_is_no_effect(of: Distribution) -> None:
    assert resample.design_effect(1e6 * WHITE, of) == 1.0


def test_averages_of_averages_are_believed_where_they_widen_further() -> None:
    law, pairs = mean_law(hidden(80)), hidden(80).reshape(-1, 2).mean(axis=-1)
    fours = correlated._of_autoregression(pairs.reshape(-1, 2).mean(axis=-1))
    assert law is not None
    assert law.scales == pytest.approx(fours.scales)
    assert float(fours.spread) > float(correlated._of_autoregression(pairs).spread)
