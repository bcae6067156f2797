"""Is the chain the one that books solve by hand, and are its numbers right where floating point is short of digits?"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from reliability_cases import CASES, array, coded
from scipy.linalg import expm

from hotband.inference.reliability.array import Array, Conditions
from hotband.inference.reliability.chain import build, loss_within, mean_time_to_loss, rates
from hotband.inference.reliability.textbook import approximate


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


@pytest.mark.parametrize(("groups", "group", "drives"), [("raid50", "raid5", 6), ("raid60", "raid6", 8)])
def test_two_groups_lose_twice_as_often_as_one(groups: str, group: str, drives: int) -> None:
    conditions = Conditions(1e6, 5.0)
    one, two = mttdl(group, drives, conditions), mttdl(groups, 2 * drives, conditions)
    assert two == pytest.approx(one / 2, rel=1e-3)


def test_groups_of_raid_60_are_independent() -> None:
    # Each group by itself is a chain of 0, 1, 2 and lost; both together have all pairs of these for states.
    conditions = Conditions(3e3, 24.0)
    n, fail, repair = 5, 1 / 3e3, 1 / 24.0
    states = [(a, b) for a in range(3) for b in range(3)]
    out = np.zeros((9, 9))
    for at, (a, b) in enumerate(states):
        for one, other, pair in ((a, b, lambda x, y: (x, y)), (b, a, lambda x, y: (y, x))):
            out[at, at] += (n - one) * fail + one * repair
            for step, rate in ((1, (n - one) * fail), (-1, one * repair)):
                if 0 <= one + step <= 2:
                    out[at, states.index(pair(one + step, other))] -= rate
    expected = np.linalg.solve(out, np.ones(9))[0]
    assert mttdl("raid60", 10, conditions) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "like"), [("raidz1", array("raid5", 7)), ("raidz2", array("raid6", 7)), ("coded", array("raid6", 7))]
)
def test_one_group_is_what_its_parities_make_it(name: str, like: Array) -> None:
    conditions = Conditions(1e5, 10.0, 1e15)
    of = coded(5, 2) if name == "coded" else array(name, 7)
    assert mean_time_to_loss(build(of, conditions))[0] == mean_time_to_loss(build(like, conditions))[0]


@pytest.mark.parametrize("of", [array("raidz3", 11), coded(8, 3)])
def test_three_parities_one_rebuild_at_a_time(of: Array) -> None:
    n, fail, repair = 11, 1e-5, 0.1
    conditions = Conditions(1e5, 10.0, one_rebuild=True)
    # Birth and death: from j failed to j + 1 it takes 1 / up, and as often back as the chance of a repair says.
    expected, step = 0.0, 0.0
    for gone in range(4):
        up, down = (n - gone) * fail, repair if gone else 0.0
        step = 1 / up + down / up * step
        expected += step
    assert mean_time_to_loss(build(of, conditions))[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("of", "formula"),
    [
        (array("raid50", 12), lambda life, repair: life**2 / (12 * 5 * repair)),
        (array("raid60", 12), lambda life, repair: life**3 / (12 * 5 * 4 * repair**2)),
        (array("raidz3", 12), lambda life, repair: life**4 / (12 * 11 * 10 * 9 * repair**3)),
        (coded(8, 3), lambda life, repair: life**4 / (11 * 10 * 9 * 8 * repair**3)),
        (coded(4, 2), lambda life, repair: life**3 / (6 * 5 * 4 * repair**2)),
    ],
)
def test_textbook_of_groups_and_codes(of: Array, formula: Callable[[float, float], float]) -> None:
    life, repair = 1.4e6, 6.0
    conditions = Conditions(life, repair)
    assert approximate(of, conditions).both == pytest.approx(formula(life, repair), rel=1e-12)
    # Rebuilds side by side repair j failed drives j times as fast: f! as long a life.
    exact = mean_time_to_loss(build(of, conditions))[0]
    assert exact == pytest.approx(math.factorial(of.tolerated) * formula(life, repair), rel=2e-3)


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
