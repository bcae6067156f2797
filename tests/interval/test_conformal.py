"""Do intervals hold as many figures as they say, where the truth is known?"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from hotband.inference.interval.conformal import ARRAYS, POOLS, Kind, ModelTerm, Residual, Spread, rank_quantile
from hotband.inference.interval.figureclass import FigureClass
from hotband.questions.study.intervals.coverage import coverage

RANDOM = Kind(FigureClass.RANDOM)
NONE = Spread()


def residuals(logs: list[float], studies: int = 4, kind: Kind = RANDOM, spread: Spread = NONE) -> list[Residual]:
    """Residuals, in turn of so many studies, each of one machine."""
    return [Residual(f"s{n % studies}", "m", f"f{n}", kind, log, spread) for n, log in enumerate(logs)]


def test_the_quantile_is_that_of_the_finite_sample() -> None:
    scores = [(float(n), 1.0) for n in range(1, 20)]
    assert rank_quantile(scores, 90) == 18.0, "ceil(20 x 0.9) = 18"
    assert rank_quantile(scores, 95) == 19.0
    assert rank_quantile(scores, 96) == math.inf, "19 figures do not know"
    assert rank_quantile(scores[:9], 90) == 9.0
    assert rank_quantile(scores[:8], 90) == math.inf


def test_two_halves_count_as_one_figure() -> None:
    whole = [(float(n), 1.0) for n in range(1, 20)]
    halves = [(score, 0.5) for score, _ in whole for _ in range(2)]
    for level in (50, 80, 90, 95):
        assert rank_quantile(halves, level) == rank_quantile(whole, level)


def test_the_coverage_is_the_level_for_figures_alike() -> None:
    # The rank makes it at least the level, and at most one in (n + 1) more, whatever the distribution.
    random = np.random.default_rng(5)
    for draw in (random.standard_normal, lambda size: random.standard_cauchy(size) * 0.1):
        inside = 0
        for _ in range(600):
            drawn = [float(x) for x in draw(30)]
            low, high = ModelTerm(residuals(drawn[:-1])).bounds(RANDOM, Spread(), 90)
            inside += low <= drawn[-1] <= high
        assert 0.87 <= inside / 600 <= 0.94


def test_an_interval_ends_with_the_farthest_draw() -> None:
    term = ModelTerm(residuals([-0.2, -0.1, 0.1, 0.15, 0.2, 0.25, -0.3, 0.1, 0.05, 0.12, 0.4, 0.3]))
    alone, high = term.bounds(RANDOM, Spread(), 90)
    wide = Spread(0.0, 3.0)
    assert term.bounds(RANDOM, wide, 90)[1] > 2 * 3.0
    ends = term.bounds(RANDOM, wide, 90, Spread.farthest([-0.1, 2.5, 2.0], 0.25))
    assert ends == (pytest.approx(alone), pytest.approx(high + 2.5 + 2 * 0.25))
    # Where a spread is small, nothing changes.
    small = Spread(0.02, 0.02)
    assert term.bounds(RANDOM, small, 90, Spread(0.04, 0.04)) == term.bounds(RANDOM, small, 90)


def test_the_coverage_holds_where_spreads_differ() -> None:
    random = np.random.default_rng(6)
    inside = {0.02: 0, 0.3: 0}
    for number in range(800):
        spreads = [(0.02, 0.3)[n % 2] for n in range(40)]
        found = [
            Residual(f"s{n % 4}", "m", f"f{n}", RANDOM, float(random.normal(0, math.hypot(0.05, s))), Spread(s, s))
            for n, s in enumerate(spreads)
        ]
        new = (0.02, 0.3)[number % 2]
        low, high = ModelTerm(found).bounds(RANDOM, Spread(new, new), 90)
        inside[new] += low <= random.normal(0, math.hypot(0.05, new)) <= high
    assert all(0.8 <= count / 400 <= 0.98 for count in inside.values()), inside


def test_a_higher_level_is_never_narrower() -> None:
    random = np.random.default_rng(7)
    term = ModelTerm(
        residuals([float(x) for x in random.standard_cauchy(12) * 0.05])
        + residuals([float(x) for x in random.standard_normal(40)], kind=Kind(FigureClass.SEQUENTIAL))
    )
    for spread in (Spread(), Spread(0.05, 0.2)):
        bounds = [term.bounds(RANDOM, spread, level) for level in range(1, 100)]
        for (low, high), (wider_low, wider_high) in pairwise(bounds):
            assert wider_low <= low <= 0.0 <= high <= wider_high


def test_a_class_with_few_figures_takes_its_family() -> None:
    many = residuals([0.01 * n for n in range(1, 31)])
    few = residuals([0.3, 0.3, 0.3], kind=Kind(FigureClass.APPLICATION))
    term = ModelTerm(many + few)
    assert term.pool(RANDOM).name == "random rate of drives and arrays"
    assert term.pool(Kind(FigureClass.APPLICATION)).name == "rates of drives and arrays"
    assert term.pool(Kind(FigureClass.RANDOM, POOLS)).name == "random rate"
    assert term.pool(Kind(FigureClass.GAIN)).name == "all"


def test_a_study_is_left_out_of_its_own_intervals() -> None:
    good = residuals([0.05, -0.05] * 10, studies=2)
    bad = [Residual("bad", f"m{n % 2}", f"b{n}", RANDOM, 1.0) for n in range(10)]
    rows = {row["predicted"]: row for row in coverage(good + bad, 90) if row["figure_class"] == "random rate"}
    assert rows["seen"]["inside"] == 20, "what the others say of the bad one does not hold"
    assert rows["seen"]["figures"] == 30


def test_where_one_study_alone_has_a_kind_its_machines_are_left_out_in_turn() -> None:
    kind = Kind(FigureClass.P99, POOLS)
    found = [Residual("one", f"m{n % 2}", f"f{n}", kind, 0.1 * (1 + n % 2)) for n in range(20)]
    rest = ModelTerm(found + residuals([0.01] * 20)).without("one", "m0", kind)
    assert {one.machine for one in rest.residuals if one.study == "one"} == {"m1"}


def test_spreads_are_of_each_side() -> None:
    spread = Spread.of([-0.1, -0.1, 0.3, 0.3])
    assert spread.low == pytest.approx(0.1)
    assert spread.high == pytest.approx(0.3)
    assert Spread.of([], seed=0.02) == Spread(0.02, 0.02)
    assert Spread.of([0.0, 0.0], seed=0.02) == Spread(0.02, 0.02)


def test_systems_do_not_speak_for_each_other() -> None:
    term = ModelTerm(
        residuals([0.01 * n for n in range(1, 21)])
        + residuals([0.5 + 0.01 * n for n in range(20)], kind=Kind(FigureClass.RANDOM, POOLS))
    )
    assert term.bounds(Kind(FigureClass.RANDOM, ARRAYS), Spread(), 90)[1] < 0.25
