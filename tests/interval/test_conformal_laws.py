"""Does the term for what the model leaves out follow its definition, number by number?"""

from __future__ import annotations

import math

import pytest

from hotband.inference.interval.conformal import ARRAYS, POOLS, Kind, ModelTerm, Pool, Residual, Spread, rank_quantile
from hotband.inference.interval.figureclass import FigureClass
from hotband.questions.study.intervals.coverage import coverage, half_width, is_inside, terms_of

RANDOM, APPLICATION = Kind(FigureClass.RANDOM), Kind(FigureClass.APPLICATION)
TIME, GAIN = Kind(FigureClass.TIME), Kind(FigureClass.GAIN)
POOLED = Kind(FigureClass.RANDOM, POOLS)
NONE = Spread()


def some(
    logs: list[float],
    kind: Kind = RANDOM,
    study: str = "s",
    machines: int = 2,
    spread: Spread = NONE,
    weight: float = 1.0,
) -> list[Residual]:
    """Residuals of one study, in turn of so many machines."""
    return [
        Residual(study, f"m{n % machines}", f"{kind}-{n}", kind, log, spread, "seen", weight)
        for n, log in enumerate(logs)
    ]


@pytest.mark.parametrize("count", [1, 2, 9, 10, 19, 20, 49, 99, 100])
def test_the_quantile_has_the_rank_of_its_definition(count: int) -> None:
    scores = [(float(n), 1.0) for n in range(count, 0, -1)]
    for level in range(1, 100):
        rank = -(-(count + 1) * level // 100)
        assert rank_quantile(scores, level) == (rank if rank <= count else math.inf), level


def test_the_quantile_counts_weights_and_one_more() -> None:
    scores = [(1.0, 0.5), (2.0, 0.5), (3.0, 2.0), (4.0, 0.5)]
    # Of 3.5 and one more 4.5: 1 at 2, 3 at 3, 3.5 at 4.
    assert rank_quantile(scores, 100 * 0.5 / 4.5) == 1.0
    assert rank_quantile(scores, 22) == 2.0
    assert rank_quantile(scores, 23) == 3.0
    assert rank_quantile(scores, 66) == 3.0
    assert rank_quantile(scores, 67) == 4.0
    assert rank_quantile(scores, 77) == 4.0
    assert rank_quantile(scores, 78) == math.inf
    assert rank_quantile([], 50) == math.inf


def test_a_spread_is_the_root_of_twice_the_mean_square_of_a_side() -> None:
    found = Spread.of([-0.3, 0.1, 0.2, 0.0], seed=0.05)
    assert found.low == pytest.approx(math.sqrt(2 * 0.09 / 4 + 0.0025))
    assert found.high == pytest.approx(math.sqrt(2 * 0.05 / 4 + 0.0025))
    assert Spread.of([]) == Spread(0.0, 0.0) == Spread()


def test_the_farthest_draws_begin_at_the_nominal_run() -> None:
    assert Spread.farthest([0.2, 0.1], 0.01) == Spread(pytest.approx(0.02), pytest.approx(0.22))
    assert Spread.farthest([-0.2, -0.1], 0.01) == Spread(pytest.approx(0.22), pytest.approx(0.02))
    assert Spread.farthest([0.3]) == Spread(0.0, 0.3)


def test_a_size_is_the_median_of_five_figures_or_of_the_next_pool() -> None:
    five = ModelTerm([*some([0.1, -0.2, 0.3, -0.4, 0.5]), *some([0.9] * 4, APPLICATION)])
    assert five.size(RANDOM) == pytest.approx(0.3)
    assert five.size(APPLICATION) == pytest.approx(0.5), "four are too few: with the random rates"
    assert five.size(TIME) == pytest.approx(0.5), "none: of all"
    assert ModelTerm([]).size(RANDOM) == 0.0
    few = ModelTerm(some([0.1, 0.2, 0.3]))
    assert few.size(RANDOM) == pytest.approx(0.2), "of all, where no pool has five"


@pytest.mark.parametrize(
    ("count", "machines", "weight", "name"),
    [
        (10, 2, 1.0, "random rate of drives and arrays"),
        (9, 2, 1.0, "rates of drives and arrays"),
        (10, 1, 1.0, "rates of drives and arrays"),
        (20, 2, 0.5, "random rate of drives and arrays"),
        (19, 2, 0.5, "rates of drives and arrays"),
    ],
)
def test_a_pool_needs_ten_figures_of_two_machines(count: int, machines: int, weight: float, name: str) -> None:
    term = ModelTerm([*some([0.1] * count, machines=machines, weight=weight), *some([0.2] * 10, APPLICATION)])
    assert term.pool(RANDOM).name == name


def test_machines_of_one_name_in_two_studies_are_two() -> None:
    term = ModelTerm([*some([0.1] * 5, machines=1), *some([0.1] * 5, study="t", machines=1)])
    assert term.pool(RANDOM).name == "random rate of drives and arrays"


def test_pools_widen_from_the_kind_by_family_class_and_all() -> None:
    of = [*some([0.1] * 3), *some([0.2] * 3, APPLICATION), *some([0.3] * 4, POOLED), *some([0.4] * 2, TIME)]
    of += some([0.5] * 2, Kind(FigureClass.SEQUENTIAL, POOLS))
    names = [(name, len(found)) for name, found in ModelTerm(of)._chain(RANDOM)]
    assert names == [
        ("random rate of drives and arrays", 3),
        ("rates of drives and arrays", 6),
        ("random rate", 7),
        ("rates", 12),
    ]
    assert [name for name, _ in ModelTerm(of)._chain(GAIN)] == ["gain of drives and arrays", "gain"]
    assert ModelTerm(of).pool(RANDOM).name == "rates"
    assert ModelTerm(of).pool(TIME) == Pool("all", tuple(of))


def test_a_score_is_a_residual_over_size_and_spread_of_its_side() -> None:
    spread = Spread(0.3, 0.4)
    term = ModelTerm(some([0.1] * 5))
    up, down = some([0.5, -0.5], spread=spread)
    assert term.score(up) == pytest.approx(0.5 / math.hypot(0.1, 0.4))
    assert term.score(down) == pytest.approx(0.5 / math.hypot(0.1, 0.3))


def test_without_any_size_what_is_off_is_infinitely_far() -> None:
    term = ModelTerm(some([0.0] * 5))
    off, right = some([0.2, 0.0])
    assert (term.score(off), term.score(right)) == (math.inf, 0.0)


def test_an_interval_is_the_quantile_of_the_scores_times_its_scale() -> None:
    # Size 0.10, scores n / 10 of n to 19: at 80 % the 16th, 1.6.
    term = ModelTerm(some([0.01 * n for n in range(1, 20)]))
    assert term.factor(RANDOM, 80) == pytest.approx(1.6)
    assert term.bounds(RANDOM, Spread(), 80) == (pytest.approx(-0.16), pytest.approx(0.16))
    low, high = term.bounds(RANDOM, Spread(0.1, 0.2), 80)
    assert low == pytest.approx(-1.6 * math.hypot(0.1, 0.1))
    assert high == pytest.approx(1.6 * math.hypot(0.1, 0.2))
    low, high = term.bounds(RANDOM, Spread(0.1, 0.2), 80, Spread(0.01, 0.02))
    assert (low, high) == (pytest.approx(-0.17), pytest.approx(0.18))


def test_a_level_beyond_a_pool_is_of_a_wider_one_and_no_smaller() -> None:
    narrow = some([0.01 * n for n in range(1, 13)])
    alike = some([0.02] * 40, APPLICATION)
    # 12 figures know 92 % (12 of 13), not 93: then of 52, of which the 50th is taken.
    term = ModelTerm([*narrow, *alike])
    largest = 0.12 / 0.065
    assert term.factor(RANDOM, 92) == pytest.approx(largest)
    assert term.factor(RANDOM, 93) == pytest.approx(largest), "the 50th of all 52 is smaller than the largest"
    wide = ModelTerm([*narrow, *some([0.02] * 35 + [0.2] * 5, APPLICATION)])
    assert wide.factor(RANDOM, 93) == pytest.approx(0.2 / 0.02)
    assert wide.factor(RANDOM, 99) == pytest.approx(10.0), "where all are too few it is the largest of all"
    assert ModelTerm([]).factor(RANDOM, 50) == math.inf


def test_a_pool_that_is_too_small_has_no_say() -> None:
    term = ModelTerm([*some([0.3] * 4 + [9.0] * 5), *some([0.1] * 80, APPLICATION)])
    # Random rates are nine: the pool is all 89 rates. The 45th of their scores is 1.
    assert term.factor(RANDOM, 50) == pytest.approx(1.0)


@pytest.mark.parametrize(("others", "left_out"), [(5, {"m0", "m1"}), (4, {"m0"})])
def test_a_study_is_left_out_where_five_others_have_the_kind(others: int, left_out: set[str]) -> None:
    own, rest = some([0.1] * 6), some([0.2] * others, study="t")
    found = ModelTerm([*own, *rest]).without("s", "m0", RANDOM)
    assert {one.machine for one in own} - {one.machine for one in found.residuals if one.study == "s"} == left_out
    assert sum(one.study == "t" for one in found.residuals) == others


def test_of_a_kind_that_nobody_has_the_study_is_left_out() -> None:
    found = ModelTerm([*some([0.1] * 6), *some([0.2] * 3, study="t")]).without("s", "m0", TIME)
    assert {one.study for one in found.residuals} == {"t"}


def test_inside_is_between_the_ends_and_at_them() -> None:
    term = ModelTerm(some([0.1] * 19))
    inside = [is_inside(one, term, 90) for one in some([0.0, 0.1, 0.11, -0.1, -0.11])]
    assert inside == [True, True, False, True, False]


def test_half_a_width_is_in_percent_of_the_prediction() -> None:
    term = ModelTerm(some([math.log(2)] * 19))
    assert half_width(some([0.0])[0], term, 90) == pytest.approx(75.0), "from a half to double: 150 % wide"


def test_coverage_counts_each_class_and_all_together() -> None:
    good = [*some([0.1] * 20), *some([0.1] * 20, study="t")]
    bad = some([0.5] * 10, TIME, "t")
    rows = coverage([*good, *bad, *some([0.1] * 20, TIME)], 90)
    assert [(row["figure_class"], row["predicted"], row["figures"], row["inside"]) for row in rows] == [
        ("random rate", "seen", 40, 40),
        ("mean time", "seen", 30, 20),
        ("all", "seen", 70, 60),
    ]
    assert [row["coverage_pct"] for row in rows] == pytest.approx([100.0, 100 * 20 / 30, 100 * 60 / 70])
    assert rows[0]["width_pct"] == pytest.approx(100 * math.sinh(0.1))


def test_the_term_of_each_class_says_what_it_rests_on() -> None:
    own = [*some([0.1] * 6), *some([0.3] * 6, study="t")]
    again = [Residual(one.study, one.machine, one.figure, one.kind, 0.2, was="blind") for one in own]
    (row,) = terms_of(ModelTerm([*own, *again]))
    assert row == {
        "figure_class": "random rate",
        "system": ARRAYS,
        "figures": 6,
        "studies": 2,
        "size": pytest.approx(0.2),
        "pooled_with": "random rate of drives and arrays",
        "pooled_figures": 12,
    }
