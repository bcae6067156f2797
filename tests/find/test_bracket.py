"""Does the search for a crossing come near enough, in twelve trials, whatever the function?"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from hotband.questions.find.axis import Axis
from hotband.questions.find.bracket import MOST_TRIALS, Bracket, Point

Score = Callable[[float], float]


def searched(axis: Axis, score: Score, first: list[float]) -> Bracket:
    """A bracket whose search is over."""
    bracket = Bracket(axis)
    values = first
    while values:
        found = {point.value: point for point in bracket.points}
        bracket.tell([*found.values(), *(Point(value, score(value)) for value in values)])
        values = bracket.next()
    return bracket


def axis(low: float, high: float, step: float, exact: bool = False) -> Axis:
    return Axis("x", low, high, step, str, 0.02, exact)


@pytest.mark.parametrize("crossing", [31.0, 97.3, 402.0, 655.5, 940.0])
@pytest.mark.parametrize(
    "score",
    [
        lambda at: lambda x: at / x - 1,
        lambda at: lambda x: math.log(at / x),
        # A queue: the limit on 1 / (capacity - x).
        lambda at: lambda x: (1000 - x) / (1000 - at) - 1,
        lambda at: lambda x: (at / x) ** 8 - 1,
    ],
)
def test_a_rate_is_bracketed_within_two_percent(crossing: float, score: Callable[[float], Score]) -> None:
    found = searched(axis(4, 1000, 1e-4), score(crossing), [30.0, 960.0])
    assert found.ends is not None
    low, high = (point.value for point in found.ends)
    assert low <= crossing <= high <= 1.021 * low
    assert len(found.points) <= MOST_TRIALS


@pytest.mark.parametrize("crossing", [2, 3, 17, 80, 81, 200, 255])
@pytest.mark.parametrize("power", [0.3, 1, 3])
def test_a_count_is_found_exactly_or_within_two_percent(crossing: int, power: float) -> None:
    """Beyond 50 a count is two percent of itself; twelve trials are enough for all 256."""
    found = searched(axis(1, 256, 1, exact=True), lambda x: ((x + 0.5) / crossing) ** power - 1, [1.0, 256.0])
    assert found.answer is not None
    assert crossing <= found.answer.value <= max(crossing, crossing * 1.02)
    assert len(found.points) <= MOST_TRIALS


@pytest.mark.parametrize("crossing", [31.0, 97.3, 402.0, 655.5, 940.0])
def test_of_a_step_nothing_can_be_guessed_and_what_is_missing_is_known(crossing: float) -> None:
    found = searched(axis(4, 1000, 1e-4), lambda x: 1.0 if x < crossing else -0.9, [30.0, 960.0])
    assert found.ends is not None
    low, high = (point.value for point in found.ends)
    assert low <= crossing <= high
    assert found.is_near == (high <= 1.0203 * low)
    # Guesses say nothing and cost a round each; what they leave is said with the answer.
    assert high <= 1.15 * low


def test_of_two_crossings_the_first_from_below_counts_and_the_other_is_told() -> None:
    found = searched(axis(1, 256, 1, exact=True), lambda x: 0.5 if x < 40 or x > 220 else -0.5, [1.0, 100.0, 256.0])
    assert found.ends is not None
    assert [point.value for point in found.ends] == [39.0, 40.0]
    assert [point.value for point in found.contradictions()] == [256.0]


def test_noise_of_a_percent_leaves_the_bracket_beside_the_crossing() -> None:
    chance = random.Random(1)
    noisy = searched(axis(4, 1000, 1e-4), lambda x: 300 / x * chance.gauss(1, 0.01) - 1, [30.0, 960.0])
    assert noisy.answer is not None
    # Three standard deviations of one trial beside the tolerance.
    assert noisy.answer.value == pytest.approx(300, rel=0.05)


def test_where_all_values_are_alike_there_is_no_answer() -> None:
    found = searched(axis(1, 256, 1, exact=True), lambda x: 1.0, [1.0, 256.0])
    assert found.ends is None
    assert found.answer is None
    assert len(found.points) == 2
