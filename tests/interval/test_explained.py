"""Do the shares of an interval add up to the whole, and is the best measurement the advice?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from hotband.data.documents.interval import WhyFigureDoc
from hotband.execution.experiment.ranges import Range
from hotband.inference.interval.conformal import Spread
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.surface import Effect
from hotband.inference.interval.uncertain import Uncertain
from hotband.inference.interval.why import Evidence, regressed, why

MEANINGS = {"a": "what a means", "b": "what b means"}
SPREAD = Spread(0.3, 0.1)


def value(name: str, group: str = "", low: str = "4 ms", high: str = "6 ms") -> Uncertain:
    of = Range(f"disk: {name}", name, low, high, "5 ms")
    distribution = distribution_of(of)
    assert distribution is not None
    return Uncertain(of, distribution, "disk", f"source of {name}", "low", group or f"disk: {name}")


def evidence(
    effects: Sequence[Effect] = (),
    spread: Spread = SPREAD,
    seed: float = 0.0,
    unexplained: float = 0.0,
    size: float = 0.2,
) -> Evidence:
    """Of squares: values and seed 0.05 of 0.09 together with the model's 0.04."""
    return Evidence(
        "iops",
        "load on disk",
        "random rate",
        "IOPS",
        500.0,
        {"level": 90.0, "low": 400.0, "high": 600.0},
        spread,
        seed,
        unexplained,
        size,
        effects,
        np.empty((0, len(effects))),
        np.empty(0),
    )


def told(of: Evidence, *values: Uncertain) -> WhyFigureDoc:
    return why(of, values, MEANINGS, 1)


def test_shares_are_squares_over_their_sum() -> None:
    found = told(evidence(seed=0.1))
    assert found["of_model"] == pytest.approx(0.04 / 0.09)
    assert found["of_seed"] == pytest.approx(0.01 / 0.09)
    assert found["of_values"] == pytest.approx(0.04 / 0.09)
    assert found["unexplained"] == 0.0


def test_a_seed_is_no_more_than_all_and_what_is_unexplained_no_more_than_values() -> None:
    found = told(evidence(seed=5.0))
    assert (found["of_seed"], found["of_values"]) == (pytest.approx(0.05 / 0.09), pytest.approx(0.0))
    found = told(evidence(seed=0.1, unexplained=0.15))
    assert found["unexplained"] == pytest.approx(0.0225 / 0.09)
    assert told(evidence(seed=0.1, unexplained=7.0))["unexplained"] == pytest.approx(0.04 / 0.09)


def test_of_nothing_there_are_no_shares() -> None:
    found = told(evidence([Effect(0.0, 0.0)], Spread(), size=0.0), value("a"))
    assert {found["of_values"], found["of_seed"], found["of_model"], found["unexplained"]} == {0.0}
    assert found["values"][0]["narrower_pct"] == 0.0


def test_a_figure_keeps_what_is_known_of_it() -> None:
    found = told(evidence())
    assert (found["figure"], found["label"], found["figure_class"]) == ("iops", "load on disk", "random rate")
    assert (found["unit"], found["predicted"], found["interval"]["low"], found["values"]) == ("IOPS", 500.0, 400.0, [])


def test_a_row_says_whose_value_it_is_and_what_its_ends_do() -> None:
    (row,) = told(evidence([Effect(math.log(0.9), math.log(1.2))]), value("a"))["values"]
    assert (row["name"], row["key"], row["part"]) == ("disk: a", "a", "disk")
    assert (row["low"], row["nominal"], row["high"]) == ("4 ms", "5 ms", "6 ms")
    assert (row["source"], row["confidence"], row["meaning"]) == ("source of a", "low", "what a means")
    assert row["distribution"] == "triangle from 4 ms to 6 ms, peak at the nominal value"
    assert (row["low_pct"], row["high_pct"]) == (pytest.approx(-10.0), pytest.approx(20.0))
    assert (row["first"], row["total"]) == (pytest.approx(1.0, abs=0.01), pytest.approx(1.0, abs=0.01))
    assert (row["first_low"], row["first_high"]) == (row["first"], row["first"]), "no draws, no range"


def test_an_end_that_was_not_run_has_no_percent() -> None:
    (row,) = told(evidence([Effect(None, 0.2)]), value("a"))["values"]
    assert (row["low_pct"], row["high_pct"]) == (None, pytest.approx(100 * math.expm1(0.2)))


def test_values_of_a_group_are_a_row_whose_ends_act_together() -> None:
    both = (value("a", "disk: both"), value("b", "disk: both", "3 ms", "7 ms"))
    (row,) = told(evidence([Effect(-0.1, 0.1), Effect(-0.2, 0.2)]), *both)["values"]
    assert (row["name"], row["key"], row["part"]) == ("disk: both", "a, b", "disk")
    assert (row["low"], row["nominal"], row["high"]) == ("4 ms, 3 ms", "5 ms, 5 ms", "6 ms, 7 ms")
    assert row["distribution"] == "sampled together, low with low"
    assert (row["source"], row["confidence"]) == ("source of a; source of b", "low")
    assert row["meaning"] == "what a means; what b means"
    assert row["high_pct"] == pytest.approx(100 * math.expm1(0.3))
    (row,) = told(evidence([Effect(-0.1, None), Effect(-0.2, 0.2)]), *both)["values"]
    assert row["high_pct"] is None, "not known of one, not known of both"


def test_rows_stand_by_what_they_do_in_all() -> None:
    effects = [Effect(-0.1, 0.1), Effect(-0.3, 0.3), Effect(-0.2, 0.2)]
    rows = told(evidence(effects), value("a"), value("b"), value("c"))["values"]
    assert [row["key"] for row in rows] == ["b", "c", "a"]
    assert [row["total"] for row in rows] == pytest.approx([9 / 14, 4 / 14, 1 / 14], abs=0.02)


def test_the_advice_is_how_much_narrower_the_best_measurement_makes_it() -> None:
    # All 0.05 of 0.09 are of one value: the width is that of 0.04.
    found = told(evidence([Effect(-0.2, 0.2)]), value("a"))
    assert found["values"][0]["narrower_pct"] == pytest.approx(100 * (1 - math.sqrt(0.04 / 0.09)), abs=0.5)
    assert found["advice"] == (
        "Measure a (what a means) of disk: the interval would be 33.3 % narrower. "
        "Model error is 44.4 % of the uncertainty."
    )
    # The seed's and what nobody explains stay: 0.0275 of 0.09 are left to measure.
    less = told(evidence([Effect(-0.2, 0.2)], seed=0.1, unexplained=math.sqrt(0.0125)), value("c"))
    assert less["values"][0]["narrower_pct"] == pytest.approx(100 * (1 - math.sqrt(0.0625 / 0.09)), abs=0.3)
    assert less["advice"].startswith("Measure c of disk: the interval would be 16.7 % narrower.")


def test_what_narrows_by_less_than_a_percent_is_no_advice() -> None:
    wide = told(evidence([Effect(-0.2, 0.2)], Spread(0.142, 0.142), size=1.0), value("a"))
    assert wide["values"][0]["narrower_pct"] == pytest.approx(1.0, abs=0.02)
    small = told(evidence([Effect(-0.2, 0.2)], Spread(0.13, 0.13), size=1.0), value("a"))
    assert small["advice"] == (
        "Model error is 98.3 % of the uncertainty: no better value would narrow the interval, but measuring this "
        "machine would."
    )
    large = told(evidence([Effect(-0.2, 0.2)], Spread(0.16, 0.16), size=1.0), value("a"))
    assert large["advice"].startswith("Measure a (what a means) of disk: the interval would be 1.26 % narrower.")
    assert told(evidence())["advice"].startswith("Model error is 44.4 %")


def test_without_ends_effects_are_those_of_the_draws() -> None:
    values = (value("a"), value("b"))
    sampler = Sampler(values, 3)
    places = sampler.places(sampler.shares(32))
    of = replace(evidence(), places=places, seen=places @ np.array([0.3, 0.1]))
    rows = told(of, *values)["values"]
    assert [row["key"] for row in rows] == ["a", "b"]
    assert rows[0]["high_pct"] == pytest.approx(100 * math.expm1(0.3), abs=3)
    assert rows[0]["low_pct"] == pytest.approx(100 * math.expm1(-0.3), abs=3)
    assert rows[0]["total"] == pytest.approx(0.9, abs=0.03)


def test_a_regression_halves_what_one_draw_says() -> None:
    (effect,) = regressed(np.array([[0.5]]), np.array([0.2]))
    assert (effect.low, effect.high) == (pytest.approx(-0.2), pytest.approx(0.2)), "0.2 / 0.5, halved"
    (effect,) = regressed(np.array([[0.5]] * 4), np.array([0.2] * 4))
    assert effect.high == pytest.approx(0.4 * 4 / 5)
    (effect, never) = regressed(np.array([[0.5, 0.0]]), np.array([0.2]))
    assert (effect.high, never.high) == (pytest.approx(0.2), 0.0), "a value that was never moved does nothing"
    assert regressed(np.empty((0, 2)), np.empty(0)) == [Effect(0.0, 0.0)] * 2
