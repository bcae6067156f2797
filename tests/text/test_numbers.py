"""Does the one formatter write quantities as people read them?"""

from __future__ import annotations

import pytest

from hotband.base.text.numbers import (
    between,
    cell,
    counted,
    energy,
    millis,
    number,
    percent,
    quantity,
    rate,
    share,
    size,
    span,
    with_sign,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number(0), "0"),
        (number(1234.5), "1,234"),
        (number(12345), "12,345"),
        (number(246.12), "246"),
        (number(999.96), "1,000"),
        (number(95.99), "96.0"),
        (number(58.0), "58"),
        (number(58.04), "58.0"),
        (number(9.996), "10.0"),
        (number(4.06), "4.06"),
        (number(4.0), "4"),
        (number(4.001), "4.00"),
        (number(0.00213), "0.00213"),
        (number(1.5e-9), "1.5e-09"),
        (number(-1234.5), "-1,234"),
        (number(None), "–"),
        (number(float("nan")), "–"),
        (quantity(246.12, "IOPS"), "246 IOPS"),
        (quantity(None, "IOPS"), "–"),
        (with_sign(3), "+3"),
        (with_sign(-1200.4), "-1,200"),
        (counted(1, "drive"), "1 drive"),
        (counted(12345, "drive"), "12,345 drives"),
        (counted(2, "flush"), "2 flushes"),
        (cell(True), "yes"),
        (cell("as it is"), "as it is"),
    ],
)
def test_numbers(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (percent(3.25), "+3.25 %"),
        (percent(-14.44), "-14.4 %"),
        (percent(437.9), "+438 %"),
        (percent(7.7, signed=False), "7.7 %"),
        (percent(None), "–"),
        (share(0.5), "50 %"),
        (share(0.9912), "99.1 %"),
        (share(0.9995), "99.95 %"),
        (share(0.9999999), "over 99.999 %"),
        (share(1.0), "100 %"),
    ],
)
def test_percent(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (span(0), "0 ns"),
        (span(77_300), "77.3 µs"),
        (span(999_960), "1.00 ms"),
        (span(4_060_000), "4.06 ms"),
        (span(60e9), "60 s"),
        (span(500.4e9), "8 min 20 s"),
        (span(600e9), "10 min"),
        (span(90_660e9), "25 h 11 min"),
        (span(2.5e6 * 3600e9), "2,500,000 h"),
        (millis(77_300), "0.0773 ms"),
    ],
)
def test_times(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (size(512), "512 B"),
        (size(4096), "4 KiB"),
        (size(1536 * 1024), "1,536 KiB"),
        (size(4100), "4.1 kB"),
        (size(8 * 2**30), "8 GiB"),
        (size(960_197_124_096), "960 GB"),
        (size(3.84e12), "3.84 TB"),
        (rate(1008025.6), "1.01 MB/s"),
        (rate(1.122e9), "1,122 MB/s"),
        (energy(2.4e3), "2.4 kJ"),
        (energy(0.0071), "7.1 mJ"),
        (energy(54e-6), "54 µJ"),
    ],
)
def test_sizes_rates_and_energies(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (between(4900.0, 6300.0), "4,900 to 6,300"),
        (between(90e3, 150e3, span), "90 to 150 µs"),
        (between(0.9e6, 1.2e9, span), "900 µs to 1.2 s"),
        (between(99.9791, 99.9799), "100"),
    ],
)
def test_intervals(text: str, expected: str) -> None:
    assert text == expected
