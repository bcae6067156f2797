"""Is the summary the geometric mean, and a comparison the ratio?"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotband.questions.review import compare
from hotband.questions.review.access import bins
from hotband.questions.review.summary import GROUPS, geometric_mean, overall, summary

Reviewed = Callable[[str], dict[str, Any]]
SAVVIO = "savvio-10k1"
NUMBERS = st.lists(st.floats(min_value=1e-3, max_value=1e9), min_size=1, max_size=30)


def renamed(review: dict[str, Any], name: str) -> dict[str, Any]:
    other = copy.deepcopy(review)
    other["machine"]["name"] = name
    return other


def test_of_two_and_eight_it_is_four() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([]) is None
    assert geometric_mean([1.0, 0.0]) is None


@given(NUMBERS, st.floats(min_value=0.01, max_value=100.0))
def test_it_lies_between_the_ends_and_scales(values: list[float], factor: float) -> None:
    mean = geometric_mean(values)
    assert mean is not None
    assert min(values) * (1 - 1e-9) <= mean <= max(values) * (1 + 1e-9)
    assert geometric_mean([value * factor for value in values]) == pytest.approx(mean * factor)


def test_each_group_is_the_geometric_mean_of_its_figures(reviewed: Reviewed) -> None:
    review = reviewed(SAVVIO)
    server = [row["iops"] for row in review["patterns"]]
    access = [1e9 / review["access"][op]["mean_ns"] for op in ("read", "write")]
    rows = {row["group"]: row for row in review["summary"]}
    for group, figures in (("server", server), ("access", access)):
        assert rows[group]["geometric_mean"] == pytest.approx(math.prod(figures) ** (1 / len(figures)))
        assert rows[group]["of"] == len(figures)
    means = [row["geometric_mean"] for row in review["summary"]]
    assert review["overall"] == pytest.approx(math.prod(means) ** (1 / len(means)))
    assert review["summary"] == summary(review)
    assert overall([]) is None


def test_a_machine_is_as_fast_as_itself(reviewed: Reviewed) -> None:
    one = reviewed(SAVVIO)
    compared = compare([one, renamed(one, "twin")])
    assert compared["baseline"] == SAVVIO
    assert compared["machines"] == [SAVVIO, "twin"]
    for group in compared["groups"]:
        assert group["ratios"] == {SAVVIO: pytest.approx(1.0), "twin": pytest.approx(1.0)}
    assert compared["overall"]["twin"] == pytest.approx(1.0)


def test_twice_the_iops_are_twice_in_their_group_and_a_root_of_it_overall(reviewed: Reviewed) -> None:
    one = reviewed(SAVVIO)
    faster = renamed(one, "faster")
    for row in faster["patterns"]:
        row["iops"] *= 2
    compared = compare([one, faster])
    ratios = {group["group"]: group["ratios"]["faster"] for group in compared["groups"]}
    assert ratios["server"] == pytest.approx(2.0)
    assert ratios["files"] == pytest.approx(1.0)
    assert compared["overall"]["faster"] == pytest.approx(2 ** (1 / len(ratios)))


def test_half_the_access_time_is_twice_as_fast(reviewed: Reviewed) -> None:
    one = reviewed(SAVVIO)
    faster = renamed(one, "faster")
    for op in ("read", "write"):
        faster["access"][op]["mean_ns"] /= 2
    ratios = {group["group"]: group["ratios"]["faster"] for group in compare([one, faster])["groups"]}
    assert ratios["access"] == pytest.approx(2.0)


def test_what_one_machine_lacks_is_left_out(reviewed: Reviewed) -> None:
    one = reviewed(SAVVIO)
    other = renamed(one, "other")
    other["streams"] = None
    # Its slowest steps are missing, and the others are alike: that must not look like a gain.
    other["patterns"] = [row for row in other["patterns"] if row["queue_depth"] > 8]
    compared = compare([one, other])
    ratios = {group["group"]: group["ratios"]["other"] for group in compared["groups"]}
    assert ratios["streams"] is None
    assert ratios["server"] == pytest.approx(1.0)
    assert compared["overall"]["other"] == pytest.approx(1.0)
    assert "streams" not in {group["group"] for group in compare([other, one])["groups"]}


def test_groups_have_names_of_their_own() -> None:
    assert len({group.name for group in GROUPS}) == len(GROUPS)


@given(st.lists(st.tuples(st.integers(1, 10**12), st.integers(1, 10**6)), min_size=1, max_size=50))
def test_bins_hold_every_access_once(buckets: list[tuple[int, int]]) -> None:
    found = bins(buckets)
    assert sum(count for _, count in found) == sum(count for _, count in buckets)
    assert len(found) <= 60
    assert found[-1][0] >= max(upper for upper, _ in buckets) > found[-1][0] - found[0][0]
    for upper, count in found:
        assert count == sum(many for at, many in buckets if upper - found[0][0] < at <= upper)


def test_no_access_has_no_bins() -> None:
    assert bins([]) == []
