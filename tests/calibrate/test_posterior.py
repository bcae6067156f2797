"""What measurements tell, where everything is a straight line and the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hotband.questions.calibrate.posterior import Linear, conditioned, posterior_of
from hotband.questions.calibrate.profile import objective, profile_of

SLOPES = np.array([[0.05, 0.0, 0.0], [0.04, 0.06, 0.0], [0.0, 0.03, 0.0]])
COVARIANCE = np.diag([0.01, 0.02, 0.02]) ** 2
OUTER = 1.6449


def test_what_no_figure_depends_on_stays_as_it_was() -> None:
    _, spread, _ = conditioned(np.array([0.1, 0.1, 0.1]), SLOPES, COVARIANCE)
    assert spread[2, 2] == pytest.approx(1.0)
    assert spread[0, 0] < 0.2
    assert spread[1, 1] < 0.3


def test_nine_of_ten_intervals_hold_the_truth() -> None:
    random = np.random.default_rng(5)
    inside = 0
    for _ in range(600):
        truth = random.standard_normal(3)
        rest = SLOPES @ truth + random.multivariate_normal(np.zeros(3), COVARIANCE)
        mean, spread, _ = conditioned(rest, SLOPES, COVARIANCE)
        inside += int(np.sum(np.abs(mean - truth) <= OUTER * np.sqrt(np.diag(spread))))
    # 1,800 intervals: the standard deviation of the share is 0.7 %, with values of a draw alike 1.2 %.
    assert inside / 1800 == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("true_option", [0, 1])
def test_the_option_that_was_measured_is_the_likelier_one(true_option: int) -> None:
    step = np.array([0.0, 0.2, -0.2])
    rest = SLOPES @ np.array([0.5, -0.5, 0.0]) + true_option * step
    linear = Linear(rest, np.zeros(3), (0,), SLOPES, ((np.zeros(3), step),), COVARIANCE, ((2 / 3, 1 / 3),))
    posterior = posterior_of(linear)
    assert posterior.best.options == (true_option,)
    assert posterior.probability(0, true_option) > 0.95


def test_a_choice_without_a_trace_keeps_its_prior() -> None:
    linear = Linear(
        np.zeros(3), np.zeros(3), (0,), SLOPES, ((np.zeros(3), np.zeros(3)),), COVARIANCE, ((2 / 3, 1 / 3),)
    )
    assert posterior_of(linear).parts[0].options == (0,)
    assert len(posterior_of(linear).parts) == 1


def test_the_profile_of_a_straight_line_is_its_gaussian() -> None:
    rest = SLOPES @ np.array([0.4, 0.8, 0.0])
    mean, spread, _ = conditioned(rest, SLOPES, COVARIANCE)
    root = np.linalg.cholesky(COVARIANCE)
    places = [*np.linspace(-2.5, 2.5, 11), float(mean[0])]
    found = [
        objective(rest - SLOPES @ np.array([place, *mean[1:]]), SLOPES[:, 1:], mean[1:], place, root)
        for place in places
    ]
    profile = profile_of(places, found, 1.0)
    deviation = math.sqrt(spread[0, 0])
    assert profile.deviation == pytest.approx(deviation, rel=0.1)
    assert profile.quantile(0.95) == pytest.approx(mean[0] + OUTER * deviation, abs=0.2 * deviation)


def test_a_kink_leaves_what_lies_beyond_it_open() -> None:
    # Nothing changes below -0.5: all that the figure says is that the value lies there.
    places = [-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5]
    found = [max(place + 0.5, 0.0) ** 2 * 400 + place**2 for place in places]
    profile = profile_of(places, found, 1.0)
    assert profile.quantile(0.05) < -1.8
    assert profile.quantile(0.95) < -0.4
