"""Do simulated intervals hold the closed form as often as they say, 95 % of the time, over many seeds?

Too narrow, or around something else, and too few hold it; too wide, and all do. Seeds are fixed, so the count is the
same on every run; the bounds are those that a true 95 % stays within in all but one of a thousand choices of seeds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from reliability_cases import CASES
from scipy.stats import binom

from forms import sized
from hotband.inference.reliability import chain as exact
from hotband.inference.reliability.cycles import by_cycles, direct
from hotband.inference.reliability.estimate import Estimate
from hotband.inference.reliability.mission import simulate

RUNS = sized(50, 100)
LAYOUTS = ("raid1", "raid5", "raid6", "raid10")
MISSION = 87600.0
OFTEN = [name for name in CASES if name.endswith("often") and sized(name not in ("raidz3-often", "raid60-often"), True)]
"""Cases that lose often; the two that cost most are in the long form alone."""


def held(estimates: list[Estimate], truth: float) -> int:
    return sum(one.low <= truth <= one.high for one in estimates)


def runs(name: str, run: Callable[[np.random.Generator], Estimate | None]) -> list[Estimate]:
    seeds = (np.random.default_rng([list(CASES).index(name), seed]) for seed in range(RUNS))
    found = [run(rng) for rng in seeds]
    assert None not in found, f"{name}: no loss was seen"
    return [one for one in found if one is not None]


def pooled(estimates: list[Estimate]) -> tuple[float, float]:
    """Mean of the runs and its standard error."""
    values = np.array([one.value for one in estimates])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@pytest.fixture(scope="module")
def cycles() -> dict[str, tuple[list[Estimate], float]]:
    """Estimates of the mean time to loss of every case, and its closed form."""
    found = {}
    for name, case in CASES.items():
        chain = exact.build(*case)
        estimates = runs(name, lambda rng, chain=chain: by_cycles(chain, rng, 4000).hours)
        found[name] = (estimates, exact.mean_time_to_loss(chain)[0])
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_mean_time_to_loss_covers_the_closed_form(layout: str, cycles: dict[str, tuple[list[Estimate], float]]) -> None:
    cases = [case for name, case in cycles.items() if name.startswith(f"{layout}-")]
    assert len(cases) >= 3
    covered, of = sum(held(*case) for case in cases), sum(len(case[0]) for case in cases)
    low, high = binom.interval(0.999, of, 0.95)
    assert low <= covered <= high, f"{covered} of {of}"


@pytest.mark.parametrize("name", CASES)
def test_mean_time_to_loss_has_no_bias(name: str, cycles: dict[str, tuple[list[Estimate], float]]) -> None:
    estimates, truth = cycles[name]
    # The quotient's own bias is of the order of its variance: some hundredths of its error.
    value, error = pooled(estimates)
    assert abs(value - truth) < 3.5 * error
    assert error < 0.01 * truth, "a wrong rate would show"


def test_coverage_would_fail_for_a_closed_form_that_is_five_percent_off(
    cycles: dict[str, tuple[list[Estimate], float]],
) -> None:
    for name, (estimates, truth) in cycles.items():
        value, error = pooled(estimates)
        assert abs(value - 1.05 * truth) > 3.5 * error, name


@pytest.mark.parametrize("layout", sized(("raid1", "raid6"), LAYOUTS))
def test_loss_in_a_mission_covers_the_closed_form(layout: str) -> None:
    covered = of = 0
    for name, case in CASES.items():
        if name.startswith(f"{layout}-") and not name.endswith("often"):
            truth = float(exact.loss_within(exact.build(*case), MISSION).sum())
            estimates = runs(name, lambda rng, case=case: simulate(*case, MISSION, rng, 2000).loss)
            covered, of = covered + held(estimates, truth), of + len(estimates)
            value, error = pooled(estimates)
            assert abs(value - truth) < 3.5 * error, name
    low, high = binom.interval(0.999, of, 0.95)
    assert low <= covered <= high, f"{covered} of {of}"


@pytest.mark.parametrize("name", OFTEN)
def test_loss_of_short_lives_in_a_mission(name: str) -> None:
    hours = 2000.0
    truth = float(exact.loss_within(exact.build(*CASES[name]), hours).sum())
    found = simulate(*CASES[name], hours, np.random.default_rng(5), 40_000).loss
    assert found.value == pytest.approx(truth, abs=3.5 * (found.high - found.low) / 3.92)
    assert found.high - found.low < 0.1 * truth


@pytest.mark.parametrize("name", OFTEN)
def test_direct_simulation_agrees_with_cycles(name: str) -> None:
    chain = exact.build(*CASES[name])
    truth, shares = exact.mean_time_to_loss(chain)
    found = direct(chain, np.random.default_rng(3), 4000, truth)
    biased = by_cycles(chain, np.random.default_rng(4), 40_000)
    assert found.hours is not None
    assert found.hours.value == pytest.approx(truth, abs=3.5 * (found.hours.high - found.hours.low) / 3.92)
    np.testing.assert_allclose(found.shares, shares, atol=0.03)
    np.testing.assert_allclose(biased.shares, shares, atol=0.03)
