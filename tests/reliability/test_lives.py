"""Lives that are not exponential, against integrals that can be written down."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reliability_cases import array

from hotband.base.errors import UserError
from hotband.inference.reliability.array import Conditions
from hotband.inference.reliability.mission import Lives, simulate

HOURS = 87600.0


@pytest.mark.parametrize("shape", [0.7, 1.0, 1.5, 3.0])
def test_without_redundancy_the_chance_is_that_of_the_first_of_all(shape: float) -> None:
    conditions = Conditions(1e6, 10.0, shape=shape)
    scale = 1e6 / math.gamma(1 + 1 / shape)
    truth = -math.expm1(-5 * (HOURS / scale) ** shape)
    found = simulate(array("raid0", 5), conditions, HOURS, np.random.default_rng(1), 40_000).loss
    assert found.value == pytest.approx(truth, abs=3.5 * (found.high - found.low) / 3.92)
    assert found.high - found.low < 0.05 * truth


@pytest.mark.parametrize("shape", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("constant", [True, False])
def test_two_failures_within_a_rebuild(shape: float, constant: bool) -> None:
    drives, rebuild = 4, 5.0
    conditions = Conditions(5e6, rebuild, shape=shape, rebuild_constant=constant)
    scale = 5e6 / math.gamma(1 + 1 / shape)
    # Rare failures: n (n-1) R times the integral of the squared hazard (Weibull) over the mission.
    squared = shape**2 * HOURS ** (2 * shape - 1) / ((2 * shape - 1) * scale ** (2 * shape))
    truth = drives * (drives - 1) * rebuild * squared
    found = simulate(array("raid5", drives), conditions, HOURS, np.random.default_rng(2), 40_000).loss
    # Replaced drives and second failures are left out of the integral: of the order of the chance of one failure.
    left_out = drives * (HOURS / scale) ** shape
    error = 3.5 * (found.high - found.low) / 3.92
    assert found.value == pytest.approx(truth, abs=error + left_out * truth)


def test_the_mean_of_the_lives_is_the_mtbf() -> None:
    lives = Lives.of(Conditions(1e6, 1.0, shape=1.7))
    ages = lives.age(np.random.default_rng(3).standard_exponential(200_000))
    assert ages.mean() == pytest.approx(1e6, rel=0.01)
    np.testing.assert_allclose(lives.age(lives.hazard(ages)), ages)


def test_bytes_lost_are_chances_times_what_each_cause_costs() -> None:
    of, conditions = array("raid10", 8), Conditions(1e5, 20.0, 1e14)
    found = simulate(of, conditions, HOURS, np.random.default_rng(4), 20_000)
    expected = found.failure.value * 900e9 + found.sector.value * 4096 * conditions.expected_errors(of) / (
        conditions.error_chance(of)
    )
    assert found.bytes_lost.value == pytest.approx(expected)
    assert found.loss.value == pytest.approx(found.failure.value + found.sector.value)


def test_drives_that_fail_all_the_time_are_refused() -> None:
    with pytest.raises(UserError, match="failures in the mission"):
        simulate(array("raid5", 5), Conditions(1.0, 1e-6), HOURS, np.random.default_rng(1), 10)
