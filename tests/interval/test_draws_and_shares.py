"""Are draws, their surface and its indices what small numbers make them?"""

from __future__ import annotations

import numpy as np
import pytest

from hotband.execution.experiment.ranges import Range
from hotband.inference.interval import shares as shares_module
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.shares import Samples, indices, samples_of, shares_of
from hotband.inference.interval.sobol import Sobol, direction_numbers
from hotband.inference.interval.surface import PAIRED, Effect, Surface, additive, effects_of, fitted
from hotband.inference.interval.uncertain import Uncertain


def values(*names: str, groups: tuple[str, ...] = ()) -> list[Uncertain]:
    found = []
    for name, group in zip(names, groups or names, strict=True):
        of = Range(name, name, "4.0", "7.0", "5.0")
        distribution = distribution_of(of)
        assert distribution is not None
        found.append(Uncertain(of, distribution, "part", "source", "low", group))
    return found


def test_draws_go_on_where_they_ended() -> None:
    whole, parts = Sampler(values("a", "b"), 4), Sampler(values("a", "b"), 4)
    rows = [parts.shares(3), parts.shares(1), parts.shares(4)]
    assert np.array_equal(whole.shares(8), np.vstack(rows))


def test_draws_have_a_row_each_and_a_column_a_value() -> None:
    assert Sampler(values("a", "b", "c"), 1).shares(4).shape == (4, 3)
    assert Sampler(values("a", "b"), 1).shares(0).shape == (0, 2)
    assert Sampler([], 1).shares(5).shape == (5, 0)


def test_values_of_one_group_have_one_share() -> None:
    drawn = Sampler(values("a", "b", "c", groups=("x", "y", "x")), 1).shares(4)
    assert np.array_equal(drawn[:, 0], drawn[:, 2])
    assert not np.any(drawn[:, 0] == drawn[:, 1])


@pytest.mark.parametrize(("dimensions", "seed"), [(1, 0), (3, 1), (17, 7), (120, 2**63)])
def test_the_sequence_is_that_of_scipy(dimensions: int, seed: int) -> None:
    from scipy.stats import qmc

    sequence, reference = Sobol(dimensions, seed), qmc.Sobol(dimensions, rng=np.random.default_rng(seed))
    assert np.array_equal(sequence.random(64), reference.random(64))
    assert np.array_equal(sequence.random(3), reference.random(3))


def test_the_first_points_are_those_of_bratley_and_fox() -> None:
    # Bratley and Fox, ACM TOMS 14, 1988, algorithm 659, in gray code order: 0, then 1/2, then 3/4 and 1/4.
    first = direction_numbers(3)[:, :2] / 2.0**30
    assert first.tolist() == [[0.5, 0.25], [0.5, 0.75], [0.5, 0.75]]


def test_two_samples_are_not_alike_in_any_coordinate() -> None:
    one, other = Sampler(values("a", "b", "c", groups=("x", "y", "x")), 1).two_samples(256)
    assert one.shape == other.shape == (256, 3)
    assert np.array_equal(other[:, 0], other[:, 2])
    together = np.corrcoef(np.column_stack([one[:, :2], other[:, :2]]).T)
    assert np.abs(together - np.eye(4)).max() < 0.1


def test_places_are_those_of_each_values_own_distribution() -> None:
    of = values("a")
    of += [Uncertain(Range("c", "c", "x", "z", "y"), distribution, "p", "", "", "c")
           for distribution in [distribution_of(Range("c", "c", "x", "z", "y"))] if distribution]  # fmt: skip
    found = Sampler(of, 1).places(np.array([[0.0, 0.1], [1 / 3, 0.5], [1.0, 0.9]]))
    assert found == pytest.approx(np.array([[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]]), abs=1e-12)


def test_groups_are_columns_in_the_order_of_their_first() -> None:
    samples = samples_of(Sampler(values("a", "b", "c", groups=("x", "y", "x")), 1))
    assert samples.groups == ((0, 2), (1,))
    assert samples.one.shape == samples.other.shape == (shares_module.SAMPLES, 3)
    assert not np.array_equal(samples.one, samples.other)


def test_a_surface_is_two_lines_a_value_and_products() -> None:
    surface = Surface(np.array([-0.3, 0.1]), np.array([0.2, 0.4]), ((0, 1),), np.array([0.5]))
    places = np.array([[-1.0, 0.0], [0.5, 0.0], [0.0, -0.5], [0.0, 1.0], [0.5, -0.5]])
    assert surface.at(places) == pytest.approx([-0.3, 0.1, 0.05, 0.4, 0.1 + 0.05 - 0.125])
    assert Surface(surface.low, surface.high).at(places)[-1] == pytest.approx(0.15)


def test_an_effect_is_as_large_as_its_larger_end() -> None:
    sizes = [Effect(-0.3, 0.2).size, Effect(0.1, -0.2).size, Effect(None, -0.4).size, Effect(0.5, None).size]
    assert sizes == [0.3, 0.2, 0.4, 0.5]
    assert Effect(None, None).size == 0.0


def test_an_end_that_is_not_known_mirrors_the_other_and_none_is_flat() -> None:
    surface = additive([Effect(None, 0.2), Effect(0.1, None), Effect(None, None)])
    assert list(surface.low) == [-0.2, 0.1, 0.0]
    assert list(surface.high) == [0.2, -0.1, 0.0]


def test_effects_are_found_by_name_and_end() -> None:
    found = effects_of(["a", "b"], {("a", "low"): -0.1, ("b", "high"): 0.3, ("c", "low"): 0.4})
    assert found == [Effect(-0.1, None), Effect(None, 0.3)]


def test_products_are_of_the_four_strongest() -> None:
    effects = [Effect(-size, size) for size in (0.5, 0.1, 0.4, 0.0, 0.3, 0.2)]
    places = np.random.default_rng(1).uniform(-1, 1, (20, 6))
    found = fitted(effects, places, additive(effects).at(places))
    assert found.pairs == ((0, 2), (0, 4), (0, 5), (2, 4), (2, 5), (4, 5))
    assert found.products == pytest.approx(np.zeros(6), abs=1e-9), "what single effects explain is not theirs"
    assert PAIRED == 4


def test_products_need_more_draws_than_they_are() -> None:
    effects = [Effect(-0.1, 0.1), Effect(-0.2, 0.2), Effect(-0.3, 0.3)]
    places = np.random.default_rng(1).uniform(-1, 1, (4, 6))[:, :3]
    seen = additive(effects).at(places) + 0.1
    assert fitted(effects, places[:3], seen[:3]).pairs == ()
    assert len(fitted(effects, places, seen).pairs) == 3
    assert fitted(effects[:1], places[:, :1], seen).pairs == ()


def test_a_product_is_a_share_of_what_so_many_draws_say() -> None:
    effects = [Effect(0.0, 0.0), Effect(0.0, 0.0)]
    for draws in (2, 5, 64):
        found = fitted(effects, np.full((draws, 2), 0.5), np.full(draws, 0.25 * 0.8))
        assert found.products == pytest.approx([0.8 * draws / (draws + 1)]), "the penalty is one draw"


def exact() -> Samples:
    """All pairs of four rows of two values at -1 and 1: each column is even, and the two samples are independent."""
    corners = np.array([[x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    return Samples(np.repeat(corners, 4, axis=0), np.tile(corners, (4, 1)), ((0,), (1,)))


def test_indices_are_exact_on_all_corners() -> None:
    slopes = np.array([0.3, 0.1])
    first, total = indices(Surface(-slopes, slopes), exact())
    assert first == pytest.approx([0.9, 0.1])
    assert total == pytest.approx([0.9, 0.1])
    # a + b + ab of 0.3, 0.1 and 0.2: variances 0.09, 0.01 and 0.04.
    first, total = indices(Surface(-slopes, slopes, ((0, 1),), np.array([0.2])), exact())
    assert first == pytest.approx([9 / 14, 1 / 14])
    assert total == pytest.approx([13 / 14, 5 / 14])


def test_what_varies_not_has_no_indices() -> None:
    first, total = indices(Surface(np.zeros(2), np.zeros(2)), exact())
    assert list(first) == list(total) == [0.0, 0.0]


def test_the_range_of_shares_is_that_of_resampled_draws() -> None:
    places = np.array([[x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)] * 2)
    effects = [Effect(-0.3, 0.3), Effect(-0.1, 0.1)]
    product = np.where(np.arange(8) < 4, 0.2, 0.0) * places[:, 0] * places[:, 1]
    seen = additive(effects).at(places) + product
    found = shares_of(effects, exact(), places, seen, 1)
    # Half of the draws have the product 0.2, half none: fitted 0.1 x 8/9.
    squares = np.array([0.09, 0.01, (0.1 * 8 / 9) ** 2])
    assert found[0].first == pytest.approx(0.09 / squares.sum())
    assert found[1].total == pytest.approx((0.01 + squares[2]) / squares.sum())
    ends = []
    random = np.random.default_rng(1)
    for _ in range(shares_module.RESAMPLED):
        rows = random.integers(0, 8, 8)
        square = (0.2 * (rows < 4).sum() / 9) ** 2
        ends.append(0.09 / (0.1 + square))
    low, high = np.percentile([found[0].first, *ends], (5, 95))
    assert (found[0].first_low, found[0].first_high) == (pytest.approx(low), pytest.approx(high))
    assert found[0].first_low < found[0].first < found[0].first_high


def test_without_draws_a_share_is_its_own_range() -> None:
    found = shares_of([Effect(-0.3, 0.3), Effect(-0.1, 0.1)], exact(), np.empty((0, 2)), np.empty(0), 1)
    assert [(one.total_low, one.total, one.total_high) for one in found] == [
        (pytest.approx(share), pytest.approx(share), pytest.approx(share)) for share in (0.9, 0.1)
    ]
