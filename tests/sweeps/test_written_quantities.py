"""Is a quantity written in one form, that of the engine, however it was given?"""

from __future__ import annotations

import pytest

from hotband.data.inputs.values import base_of, spelled, values_of


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (("4k", "4K", "4KiB", "4 KiB", "4096 B", "4.0 KiB"), "4 KiB"),
        (("1500 us", "1.5ms", "0.0015 s", "1500000 ns"), "1.5 ms"),
        (("1 MiB", "1024 KiB", "1m"), "1 MiB"),
        (("1.5 GB", "1500 MB"), "1.5 GB"),
        (("512 MB", "512000 kB"), "512 MB"),
        (("1.2 GB/s", "1200 MB/s"), "1.2 GB/s"),
        (("100 MiB/s", "102400KiB/s"), "100 MiB/s"),
        (("25%", "25 %", "25.0 %"), "25 %"),
        (("15000rpm", "15000 rpm"), "15000 rpm"),
        (("0.05 W", "50 mW"), "50 mW"),
        (("4160500 ns", "4160.5us"), "4160.5 us"),  # three places at most, and exact
        (("1234567 B",), "1234.567 kB"),
        (("0 s", "0 ms"), "0 ns"),
    ],
)
def test_one_quantity_is_one_text(texts: tuple[str, ...], written: str) -> None:
    assert {spelled(text) for text in texts} == {written}
    assert {base_of(text) for text in texts} == {base_of(written)}


@pytest.mark.parametrize("text", ["1.10", "16", "on", "raid5", "4 parsecs", "0.3 B"])
def test_what_is_no_quantity_with_a_unit_stays(text: str) -> None:
    assert spelled(text) == text


def test_speeds_have_ranges_as_other_quantities_have() -> None:
    assert values_of("rpm", "5000rpm..15000rpm/5000 rpm").listed == ("5000 rpm", "10000 rpm", "15000 rpm")
