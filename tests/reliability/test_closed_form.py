"""Is the chain the one that books solve by hand, and are its numbers right where floating point is short of digits?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from reliability_cases import CASES, array
from scipy.linalg import expm

from hotband.reliability.array import Conditions
from hotband.reliability.chain import build, loss_within, mean_time_to_loss, rates
from hotband.reliability.textbook import approximate


def mttdl(kind: str, drives: int, conditions: Conditions) -> float:
    return mean_time_to_loss(build(array(kind, drives), conditions))[0]


def test_a_mirror_of_two() -> None:
    fail, repair = 1 / 1e5, 1 / 10.0
    assert mttdl("raid1", 2, Conditions(1e5, 10.0)) == pytest.approx((3 * fail + repair) / (2 * fail**2), rel=1e-12)


@pytest.mark.parametrize("drives", [3, 5, 16])
def test_raid_5_with_sector_errors(drives: int) -> None:
    conditions = Conditions(1e5, 10.0, 1e14)
    fail, repair, error = 1e-5, 0.1, conditions.error_chance(array("raid5", drives))
    # From n drives: the time there and with one missing; back again unless a drive or a sector ends it.
    out = (drives - 1) * fail + repair
    back = repair * (1 - error) / out
    expected = (1 / (drives * fail) + 1 / out) / (1 - back)
    assert mttdl("raid5", drives, conditions) == pytest.approx(expected, rel=1e-9)


def test_raid_6_one_rebuild_at_a_time() -> None:
    n, fail, repair = 8, 1e-5, 0.1
    a, b, c = n * fail, (n - 1) * fail, (n - 2) * fail
    # Birth and death: expected time by first-step analysis (Trivedi, Probability and Statistics, ch. 8).
    expected = 1 / c + (1 / b) * (1 + repair / c) + (1 / a) * (1 + repair / b + repair**2 / (b * c))
    assert mttdl("raid6", 8, Conditions(1e5, 10.0, one_rebuild=True)) == pytest.approx(expected, rel=1e-12)


def test_pairs_side_by_side_lose_as_often_as_one_of_them_alone_times_their_number() -> None:
    conditions = Conditions(1e6, 5.0, 1e15)
    pair, many = mttdl("raid1", 2, conditions), mttdl("raid10", 24, conditions)
    assert many == pytest.approx(pair / 12, rel=1e-4)


@pytest.mark.parametrize("kind", ["raid0", "single", "concat"])
def test_without_redundancy_the_first_failure_counts(kind: str) -> None:
    drives = 1 if kind == "single" else 4
    assert mttdl(kind, drives, Conditions(1e5, 10.0, 1e14)) == pytest.approx(1e5 / drives, rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_mean_time_is_the_solution_of_the_linear_equations(name: str) -> None:
    chain = build(*CASES[name])
    between, loss = rates(chain)
    out = between.sum(axis=1) + loss.sum(axis=1)
    times = np.linalg.solve(np.diag(out) - between, np.ones(len(out)))
    found, shares = mean_time_to_loss(chain)
    assert found == pytest.approx(times[0], rel=1e-5), "plain elimination loses digits, but not all"
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("often")])
def test_the_chance_in_a_mission_is_that_of_the_matrix_exponential(name: str) -> None:
    chain = build(*CASES[name])
    between, loss = rates(chain)
    count = len(between)
    generator = np.zeros((count + 2, count + 2))
    generator[:count, :count], generator[:count, count:] = between, loss
    generator -= np.diag(generator.sum(axis=1))
    np.testing.assert_allclose(loss_within(chain, 8760.0), expm(generator * 8760.0)[0, count:], rtol=1e-8)


@pytest.mark.parametrize("name", [name for name in CASES if not name.endswith("often")])
def test_a_rare_loss_is_as_likely_as_its_mean_time_says(name: str) -> None:
    chain = build(*CASES[name])
    mean, _ = mean_time_to_loss(chain)
    hours = 87600.0
    assert loss_within(chain, hours).sum() == pytest.approx(-math.expm1(-hours / mean), rel=5e-3)


@pytest.mark.parametrize("name", ["raid1-real", "raid5-real", "raid6-one-rebuild", "raid10-real"])
def test_the_textbook_agrees_where_repairs_are_short(name: str) -> None:
    exact, _ = mean_time_to_loss(build(*CASES[name]))
    assert approximate(*CASES[name]).both == pytest.approx(exact, rel=2e-3)


def test_the_textbook_of_raid_5_is_that_of_patterson() -> None:
    found = approximate(array("raid5", 10), Conditions(3e4, 1.0))
    assert found.failure == pytest.approx(3e4**2 / (10 * 9 * 1.0))


def test_waiting_for_drives_counts_as_repair_and_spares_do_away_with_it() -> None:
    prompt = mttdl("raid5", 5, Conditions(1e6, 10.0))
    waits = mttdl("raid5", 5, Conditions(1e6, 10.0, replacement=30.0))
    spared = mttdl("raid5", 5, Conditions(1e6, 10.0, spares=2, replacement=30.0))
    assert waits == pytest.approx(prompt / 4, rel=1e-2), "a repair of 40 h against one of 10 h"
    assert spared == pytest.approx(prompt, rel=1e-3)
