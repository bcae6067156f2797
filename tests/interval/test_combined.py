"""Are figures of comparisons and of studies the sums of logarithms that they are defined as?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from hotband.execution.experiment.ranges import Range
from hotband.inference.interval.conformal import FigureSpread, Spread
from hotband.inference.interval.distribution import distribution_of
from hotband.inference.interval.figures import between, log_of, sorted_pair, value_of
from hotband.inference.interval.uncertain import Uncertain
from hotband.questions.study.definition import Comparison
from hotband.questions.study.intervals.combine import Combined, of_comparison
from hotband.questions.study.intervals.lines import LineResult
from hotband.questions.study.intervals.of_study import Work, weights_of, with_spread

A, B, C = "a/mixed/most", "b/mixed/most", "c/mixed/most"
PREDICTED = {A: 600.0, B: 100.0, C: 300.0}


def comparison(kind: str, of: str = "a", over: tuple[str, ...] = ("b",)) -> Comparison:
    return Comparison("one", "one", "most", "mixed", of, over, kind)


@pytest.mark.parametrize(
    ("one", "weights"),
    [
        (comparison("ratio"), {A: 1.0, B: -1.0}),
        (comparison("gain_pct"), {A: 1.0, B: -1.0}),
        (comparison("inverse_ratio"), {A: -1.0, B: 1.0}),
        (comparison("difference"), {}),
        (comparison("ratio", "a", ("b", "c")), {A: 1.0, B: -0.25, C: -0.75}),
        (comparison("inverse_ratio", "a", ("b", "c")), {A: -1.0, B: 0.25, C: 0.75}),
        (comparison("ratio", "b", ("b", "c")), {B: 0.75, C: -0.75}),
    ],
)
def test_weights_are_one_for_a_figure_and_shares_of_what_it_is_over(one: Comparison, weights: dict[str, float]) -> None:
    assert of_comparison(one, PREDICTED.get) == pytest.approx(weights)


def test_configurations_without_a_prediction_share_alike() -> None:
    found = of_comparison(comparison("ratio", "a", ("b", "c")), lambda key: None)
    assert found == pytest.approx({A: 1.0, B: -0.5, C: -0.5})


def test_the_weights_of_a_cell_are_itself() -> None:
    study = cast("Any", type("Study", (), {"comparisons": [comparison("ratio")]}))
    assert weights_of(study, "row", {"row": A}, PREDICTED) == {A: 1.0}
    assert weights_of(study, "one", {"row": A}, PREDICTED) == {A: 1.0, B: -1.0}
    assert weights_of(study, "words", {"row": A}, PREDICTED) == {}


def line(key: str, values: list[str], seed: float = 0.03, **more: Any) -> LineResult:
    return LineResult("", values, {key: seed}, **more)


def test_a_figure_is_known_where_all_its_cells_were_run() -> None:
    lines = {"one": line(A, []), "two": line(B, [])}
    assert Combined({A: 1.0, B: -1.0}, lines).is_known
    assert not Combined({A: 1.0, C: -1.0}, lines).is_known
    assert not Combined({}, lines).is_known


def test_seeds_add_as_squares() -> None:
    lines = {"one": line(A, [], 0.03), "two": line(B, [], 0.08), "three": line(C, [], 5.0)}
    assert Combined({A: 1.0, B: -0.5}, lines).seed == pytest.approx(0.05)
    assert Combined({A: -2.0}, lines).seed == pytest.approx(0.06)


def test_values_are_those_of_its_lines_once() -> None:
    lines = {"one": line(A, ["v", "w"]), "two": line(B, ["x", "v"]), "three": line(C, ["y"])}
    assert Combined({A: 1.0, B: -1.0}, lines).values == ["v", "w", "x"]


def test_ends_are_summed_over_the_lines_that_have_the_value() -> None:
    lines = {
        "one": line(A, ["v", "w"], ends={"v low": {A: 0.3}, "v high": {A: 0.1}, "w high": {}}),
        "two": line(B, ["v"], ends={"v low": {B: 0.2}, "w low": {B: 9.0}}),
    }
    found = Combined({A: 1.0, B: -1.0}, lines)
    assert found.ends() == {("v", "low"): pytest.approx(0.1), ("w", "high"): 0.0}, "v was not run high in both"
    assert found.has_ends


def test_ends_are_there_where_every_line_with_values_has_them() -> None:
    with_ends, without = line(A, ["v"], ends={"v low": {A: 0.3}}), line(B, ["v"])
    assert not Combined({A: 1.0, B: -1.0}, {"one": with_ends, "two": without}).has_ends
    assert Combined({A: 1.0, B: -1.0}, {"one": with_ends, "two": line(B, [])}).has_ends


def test_draws_are_those_that_all_lines_have() -> None:
    lines = {
        "one": line(A, ["v"], draws=[{A: 0.1}, None, {A: 0.3}, {A: 0.4}, {A: 0.5}]),
        "two": line(B, ["v"], draws=[{B: 0.3}, {B: 0.1}, {}, None]),
        "three": line(C, []),
    }
    assert Combined({A: 1.0, B: -0.5}, lines).draws() == {0: pytest.approx(-0.05), 2: pytest.approx(0.3)}
    assert Combined({A: 1.0, C: -1.0}, lines).draws() == pytest.approx({0: 0.1, 2: 0.3, 3: 0.4, 4: 0.5})
    assert Combined({C: 1.0}, lines).draws() == {}


def value(name: str) -> Uncertain:
    of = Range(name, name, "4.0", "6.0", "5.0")
    distribution = distribution_of(of)
    assert distribution is not None
    return Uncertain(of, distribution, "part", "source", "low", name)


def work(places: Sequence[Sequence[float]], samples: Sequence[Sequence[float]]) -> Work:
    """Of the values u and v."""
    values = {name: value(name) for name in ("u", "v")}
    return Work(cast("Any", None), [], values, {}, np.array(places), np.array(samples))


PLACES, SAMPLES = [[9.0, 1.0], [9.0, -1.0], [9.0, 0.5]], [[9.0, 1.0], [9.0, 1.0], [9.0, -1.0], [9.0, 0.0]]


def spread_of(of: LineResult) -> FigureSpread:
    return with_spread(FigureSpread(100.0, "a"), Combined({A: 1.0}, {"one": of}), work(PLACES, SAMPLES))


def test_without_draws_a_figure_moves_by_its_seed() -> None:
    assert spread_of(line(A, [], 0.0212345)) == FigureSpread(100.0, "a", low=0.02123, high=0.02123, seed=0.02123)


def test_of_draws_alone_the_spread_is_theirs() -> None:
    found = spread_of(line(A, ["v"], 0.03, draws=[{A: 0.2}, {A: -0.1}, {A: 0.1}]))
    expected = Spread.of([0.2, -0.1, 0.1], 0.03)
    assert (found.low, found.high) == (pytest.approx(expected.low, abs=1e-5), pytest.approx(expected.high, abs=1e-5))
    assert (found.seed, found.unexplained) == (0.03, 0.0)


def test_with_ends_the_spread_is_the_surfaces_and_what_that_leaves_unexplained() -> None:
    ends = {"v low": {A: -0.2}, "v high": {A: 0.4}}
    # The surface has 0.4, -0.2 and 0.2 at the draws: 0, 0.1 and -0.2 are left.
    found = spread_of(line(A, ["v"], 0.03, ends=ends, draws=[{A: 0.4}, {A: -0.1}, {A: 0.0}]))
    rest = math.sqrt((0.01 + 0.04) / 3)
    expected = Spread.of([0.4, 0.4, -0.2, 0.0], math.hypot(0.03, rest))
    assert (found.low, found.high) == (pytest.approx(expected.low, abs=1e-5), pytest.approx(expected.high, abs=1e-5))
    assert (found.seed, found.unexplained) == (0.03, pytest.approx(rest, abs=1e-5))


def test_a_refused_draw_leaves_the_places_of_the_others() -> None:
    ends = {"v low": {A: -0.2}, "v high": {A: 0.4}}
    assert spread_of(line(A, ["v"], ends=ends, draws=[None, {A: -0.2}, {A: 0.2}])).unexplained == 0.0


@pytest.mark.parametrize(
    ("value", "kind", "ratio"),
    [(25.0, "", 25.0), (25.0, "ratio", 25.0), (25.0, "gain_pct", 1.25), (25.0, "reduction_pct", 0.75)],
)
def test_a_logarithm_goes_back_to_its_figure(value: float, kind: str, ratio: float) -> None:
    logarithm = log_of(value, kind)
    assert logarithm == pytest.approx(math.log(ratio))
    assert value_of(cast("float", logarithm), kind) == pytest.approx(value)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(None, ""), (3.0, "difference"), (0.0, ""), (-1.0, ""), (-100.0, "gain_pct"), (100.0, "reduction_pct"),
     (math.inf, "")],
)  # fmt: skip
def test_what_has_no_logarithm_is_none(value: float | None, kind: str) -> None:
    assert log_of(value, kind) is None


def test_small_figures_have_logarithms() -> None:
    assert log_of(0.5) == pytest.approx(-math.log(2))
    assert log_of(-50.0, "gain_pct") == pytest.approx(-math.log(2))


def test_the_ends_of_a_figure_are_in_order() -> None:
    assert between(100.0, -math.log(2), math.log(3)) == pytest.approx((50.0, 300.0))
    assert between(20.0, -math.log(2), math.log(1.5), "gain_pct") == pytest.approx((-40.0, 80.0))
    assert between(20.0, -math.log(2), math.log(1.5), "reduction_pct") == pytest.approx((-20.0, 60.0))
    assert (sorted_pair(2.0, 1.0), sorted_pair(1.0, 2.0)) == ((1.0, 2.0), (1.0, 2.0))
