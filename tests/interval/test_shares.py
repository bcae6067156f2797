"""Are the shares of values what they are known to be?"""

from __future__ import annotations

import numpy as np
import pytest

from hotband.execution.experiment.ranges import Range
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.shares import indices, samples_of, shares_of
from hotband.inference.interval.surface import Effect, Surface, additive, fitted
from hotband.inference.interval.uncertain import Uncertain
from hotband.inference.interval.why import regressed


def values(*names: str, group: str = "") -> list[Uncertain]:
    found = []
    for name in names:
        of = Range(name, name, "4 ms", "6 ms", "5 ms")
        distribution = distribution_of(of)
        assert distribution is not None
        found.append(Uncertain(of, distribution, "part", "source", "low", group or name))
    return found


def test_of_a_sum_each_has_its_share_of_the_variance() -> None:
    samples = samples_of(Sampler(values("a", "b", "c"), 1))
    first, total = indices(additive([Effect(-0.3, 0.3), Effect(-0.1, 0.1), Effect(0.0, 0.0)]), samples)
    assert first == pytest.approx([0.9, 0.1, 0.0], abs=0.02)
    assert total == pytest.approx([0.9, 0.1, 0.0], abs=0.02)


def test_of_a_product_nothing_is_alone_and_all_is_together() -> None:
    samples = samples_of(Sampler(values("a", "b"), 1))
    surface = Surface(np.zeros(2), np.zeros(2), ((0, 1),), np.array([0.5]))
    first, total = indices(surface, samples)
    assert first == pytest.approx([0.0, 0.0], abs=0.1)
    assert total == pytest.approx([1.0, 1.0], abs=0.1)


def test_values_of_a_group_share_a_row() -> None:
    sampler = Sampler(values("a", "b", group="both"), 1)
    samples = samples_of(sampler)
    assert samples.groups == ((0, 1),)
    assert indices(additive([Effect(-0.3, 0.3), Effect(-0.1, 0.1)]), samples)[0] == pytest.approx([1.0], abs=0.02)


def test_products_are_found_from_draws() -> None:
    sampler = Sampler(values("a", "b"), 3)
    places = sampler.places(sampler.shares(64))
    truth = Surface(np.array([-0.2, -0.1]), np.array([0.2, 0.1]), ((0, 1),), np.array([0.3]))
    found = fitted([Effect(-0.2, 0.2), Effect(-0.1, 0.1)], places, truth.at(places))
    assert found.products == pytest.approx([0.3], rel=0.05)


def test_an_end_that_was_not_run_does_the_opposite() -> None:
    surface = additive([Effect(None, 0.2), Effect(-0.1, None)])
    assert surface.at(np.array([[-1.0, 0.0], [0.0, 1.0]])) == pytest.approx([-0.2, 0.1])


def test_shares_have_a_range_where_they_rest_on_draws() -> None:
    sampler = Sampler(values("a", "b"), 3)
    places = sampler.places(sampler.shares(64))
    effects = [Effect(-0.2, 0.2), Effect(-0.1, 0.1)]
    noise = np.random.default_rng(1).normal(0, 0.05, 64)
    found = shares_of(effects, samples_of(sampler), places, additive(effects).at(places) + noise, 1)
    for one in found:
        assert one.total_low <= one.total <= one.total_high
        assert one.total_high > one.total_low
    assert found[0].total > found[1].total


def test_effects_are_found_from_draws_alone() -> None:
    sampler = Sampler(values("a", "b", "c"), 3)
    places = sampler.places(sampler.shares(32))
    truth = additive([Effect(-0.2, 0.2), Effect(0.1, -0.1), Effect(0.0, 0.0)])
    highs = [one.high for one in regressed(places, truth.at(places))]
    assert highs == pytest.approx([0.2, -0.1, 0.0], abs=0.02)
