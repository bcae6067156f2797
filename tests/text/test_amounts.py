"""Are numbers read as spreadsheets of any country write them, and those with two readings refused?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotband.base.text.amounts import AmbiguousAmount, amount


@pytest.mark.parametrize("text", ["", "1..2", "01,150.0,0", "-1", "1e3", "nan", "1,15.5", "1 15", "1,150 000", "٣"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert amount(text, True) is None


@pytest.mark.parametrize("text", ["1.150", "1,150", "999,999"])
def test_three_digits_behind_one_mark_have_two_readings(text: str) -> None:
    with pytest.raises(AmbiguousAmount):
        amount(text, True)


MARKS = [(",", "."), (".", ","), (" ", ","), ("\u2019", ".")]


@given(st.integers(0, 10**9), st.integers(0, 99), st.sampled_from(MARKS))
def test_two_decimals_have_one_reading(whole: int, cents: int, marks: tuple[str, str]) -> None:
    thousands, point = marks
    text = f"{whole:,}".replace(",", thousands) + f"{point}{cents:02}"
    assert amount(text, True) == float(f"{whole}.{cents:02}")
