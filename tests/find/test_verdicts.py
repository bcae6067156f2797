"""Whether a condition holds by the ends of an interval, which figures of a product may move off the prediction."""

from __future__ import annotations

import pytest

from hotband.questions.find.figures import Figure
from hotband.questions.find.margin import Margin
from hotband.questions.find.question import Condition
from hotband.questions.slo import Judged, met_text

BELOW = Condition(Figure("", "p99"), 300e-6, "p99 < 300 us")


@pytest.mark.parametrize(
    ("value", "ends", "verdict", "holds"),
    [
        (293e-6, (100e-6, 290e-6), "yes", "yes"),
        (293e-6, (200e-6, 400e-6), "likely", "likely"),
        (293e-6, (301e-6, 832e-6), "no", "no"),
        (310e-6, (200e-6, 400e-6), "no", "unlikely"),
        (310e-6, (100e-6, 290e-6), "no", "yes"),
    ],
)
def test_a_condition_is_judged_by_its_interval(
    value: float, ends: tuple[float, float], verdict: str, holds: str
) -> None:
    assert Judged(BELOW, value, "p99", ends).verdict == verdict
    assert Margin(BELOW, None, value, ends, 90.0).holds == holds


def test_an_interval_that_holds_nowhere_is_the_reason() -> None:
    judged = [Judged(BELOW, 293e-6, "p99", (301e-6, 832e-6))]
    assert met_text("a", judged) == "a does not meet p99 < 300 us: the interval of p99 is 301 µs to 832 µs."
    assert Margin(BELOW, None, 293e-6, (301e-6, 832e-6), 90.0).text == (
        "the 90 % interval of p99 there is 301 µs to 832 µs"
    )
