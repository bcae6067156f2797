"""Is a range drawn by the law that its numbers, its units and its words make of it?"""

from __future__ import annotations

import math

import pytest

from hotband.execution.experiment.ranges import Range
from hotband.inference.interval.distribution import NOMINAL, Distribution, distribution_of


def made(low: object, nominal: str, high: object, *, is_choice: bool = False) -> Distribution:
    found = distribution_of(Range("x", "x", low, high, nominal), is_choice=is_choice)
    assert found is not None
    return found


def below(value: float, low: float, peak: float, high: float) -> float:
    """The share of a triangle below a value: the areas of two right-angled triangles."""
    if value < peak:
        return (value - low) ** 2 / ((high - low) * (peak - low))
    return 1 - (high - value) ** 2 / ((high - low) * (high - peak))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.97])
def test_the_value_of_a_share_has_that_share_below_it(share: float) -> None:
    of = made("10.0", "11.0", "15.0")
    assert (of.kind, of.is_whole) == ("triangular", False)
    assert below(float(of.at(share)), 10, 11, 15) == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.8, 0.99])
def test_the_logarithm_of_a_wide_range_has_the_share_below_it(share: float) -> None:
    of = made("10.0", "20.0", "80.0")
    ends = [math.log(x) for x in (10, 20, 80)]
    assert below(math.log(float(of.at(share))), *ends) == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize(
    ("low", "nominal", "high", "kind"),
    [
        ("10", "12", "19", "triangular"),
        ("10", "12", "20", "log-triangular"),
        ("10", "15", "30", "log-triangular"),
        ("0", "1", "2", "triangular"),
        ("-1", "1", "2", "triangular"),
        ("0.5", "0.6", "1", "log-triangular"),
    ],
)
def test_a_factor_of_two_between_positive_ends_makes_it_the_logarithm(
    low: str, nominal: str, high: str, kind: str
) -> None:
    assert made(low, nominal, high).kind == kind


def test_a_place_is_the_part_of_the_way_from_the_nominal_value_to_the_end() -> None:
    of = made("4.0", "5.0", "7.0")
    for share in (0.05, 0.2, 1 / 3, 0.5, 0.9):
        value = float(of.at(share))
        assert of.place(share) == pytest.approx(value - 5 if value < 5 else (value - 5) / 2, abs=1e-5)
    wide = made("1.0", "2.0", "16.0")
    for share in (0.02, 0.2, 0.5, 0.9):
        steps = math.log2(float(wide.at(share))) - 1
        assert wide.place(share) == pytest.approx(steps if steps < 0 else steps / 3, abs=1e-4)


def test_a_nominal_value_at_the_low_end_has_places_above_it_only() -> None:
    of = made("300", "300", "360")
    assert (of.place(0.0), of.place(1.0)) == (0.0, 1.0)
    assert of.place(0.75) == pytest.approx(0.5), "of a falling slope a quarter lies above the middle"
    other = made("240", "300", "300")
    assert (other.place(0.0), other.place(1.0)) == (-1.0, 0.0)
    assert other.place(0.25) == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("share", "drawn", "place"),
    [
        (0.0, "a", -1.0),
        (0.16, "a", -1.0),
        (0.17, NOMINAL, 0.0),
        (0.5, NOMINAL, 0.0),
        (0.83, NOMINAL, 0.0),
        (0.84, "c", 1.0),
        (1.0, "c", 1.0),
    ],
)
def test_a_choice_of_three_gives_each_end_a_sixth(share: float, drawn: str, place: float) -> None:
    of = made("a", "b", "c")
    assert (of.kind, of.at(share), of.place(share)) == ("choice", drawn, place)


@pytest.mark.parametrize(("share", "drawn", "place"), [(0.66, NOMINAL, 0.0), (0.67, "c", 1.0), (0.01, NOMINAL, 0.0)])
def test_a_choice_of_two_gives_the_other_a_third(share: float, drawn: str, place: float) -> None:
    of = made("b", "b", "c")
    assert (of.at(share), of.place(share)) == (drawn, place)


@pytest.mark.parametrize(("share", "drawn"), [(0.33, "a"), (0.34, NOMINAL), (0.99, NOMINAL)])
def test_a_choice_whose_high_end_is_nominal_has_its_low_end_alone(share: float, drawn: str) -> None:
    assert made("a", "b", "b").at(share) == drawn


def test_words_that_are_all_the_same_are_no_choice() -> None:
    assert distribution_of(Range("x", "x", "on", "on", "on")) is None
    assert distribution_of(Range("x", "x", "b", "b", "a")) is not None
    assert distribution_of(Range("x", "x", "a", "b", "a")) is not None
    assert distribution_of(Range("x", "x", "5", "5", "5"), is_choice=True) is None


def test_a_nominal_number_outside_of_its_range_makes_a_choice() -> None:
    assert made("5", "4", "9").kind == made("5", "10", "9").kind == "choice"
    assert made("5", "5", "9").kind == made("5", "9", "9").kind == "triangular"


def test_ends_of_another_kind_than_the_nominal_value_make_a_choice() -> None:
    assert made("1 ms", "2 MB", "3 MB").kind == "choice"
    assert made("1 %", "2 ms", "3 ms").kind == "choice"
    assert made("1 ms", "2", "3 ms").kind == "choice"
    assert made("1 rpm", "2 rpm", "3 rpm").kind == "log-triangular", "one unit, whatever it is"


def test_ends_are_told_in_the_unit_of_the_nominal_value() -> None:
    of = made("800 us", "1 ms", "0.0015 s")
    assert (of.low, of.nominal, of.high, of.unit) == (pytest.approx(0.8), 1.0, pytest.approx(1.5), "ms")
    of = made("1 MiB/s", "2 MB/s", "3000 kB/s")
    assert (of.low, of.high) == (pytest.approx(1.048576), pytest.approx(3.0))


@pytest.mark.parametrize(
    ("low", "nominal", "high", "kind"),
    [
        ("4 KiB", "8 KiB", "16 KiB", "choice"),
        ("512 B", "4 KiB", "1 MiB", "choice"),
        ("1 B", "2 B", "4 B", "choice"),
        ("4 kB", "8 kB", "16 kB", "log-triangular"),
        ("4 KiB", "12 KiB", "16 KiB", "log-triangular"),
        ("4 ms", "8 ms", "16 ms", "log-triangular"),
        ("0.25 B", "0.5 B", "1 B", "log-triangular"),
    ],
)
def test_sizes_in_steps_of_powers_of_two_are_a_choice(low: str, nominal: str, high: str, kind: str) -> None:
    assert made(low, nominal, high).kind == kind


def test_sizes_above_a_sector_are_whole_sectors() -> None:
    of = Distribution("triangular", 0.0, 1.0, 3.0, "kB")
    assert [of._text(value) for value in (0.3, 0.512, 0.6, 1.0, 1.3)] == ["300 B", "512 B", "512 B", "1024 B", "1536 B"]
    assert Distribution("triangular", 0.0, 1.0, 2.0, "B")._text(0.6) == "1 B"


def test_counts_are_whole_and_other_numbers_have_six_digits() -> None:
    assert made("10", "11", "15").at(0.5) == "12"
    assert made("10", "11", "15.0").at(0.5) == "11.8377"
    assert made("10 ms", "11 ms", "15 ms").at(0.5) == "11.8377 ms", "a count has no unit"
    assert made("1_000", "1_100", "1_500").at(1.0) == "1500"


def test_a_distribution_is_told_in_words() -> None:
    triangle = "triangle from 4 ms to 7 ms, peak at the nominal value"
    assert made("4 ms", "5 ms", "7 ms").describe() == triangle
    wide = "triangle of the logarithm from 2 ms to 7 ms, peak at the nominal value"
    assert made("2 ms", "5 ms", "7 ms").describe() == wide
    assert made("a", "b", "c").describe() == "nominal, or a or c in one case of three"
    assert made("a", "b", "b").describe() == "nominal, or a in one case of three"
    assert made("c", "b", "c").describe() == "nominal, or c in one case of three"
