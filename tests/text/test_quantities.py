"""Does Python read times and sizes as the engine does?"""

from __future__ import annotations

import pytest

from hotband import _core
from hotband.base.text.quantities import in_units, size_bytes, span_ns, timed_text, ungrouped, with_unit

NUMBERS = ("3", "1.5", "1e3", "2.5E-1", "1_000", ".5", "5.", "0", "1e300", "1.5.2", "-1", "1,000", "1e", "e3", "\u0661")


def of_engine(kind: str, text: str, scale: float) -> float | None:
    try:
        return _core.quantity(kind, text) * scale or None
    except ValueError:
        return None


@pytest.mark.parametrize("unit", ["ns", "us", "µs", "ms", "s", "min", "h", "d", "m", "S", ""])
@pytest.mark.parametrize("gap", ["", " "])
def test_times(unit: str, gap: str) -> None:
    for number in NUMBERS:
        text = f"{number}{gap}{unit}"
        told = span_ns(text)
        assert told == pytest.approx(of_engine("time", text, 1e9)), text


@pytest.mark.parametrize(
    "unit",
    [
        *("B", "kB", "KB", "MB", "GB", "TB", "PB", "EB", "KiB", "kiB", "KIB", "MiB", "GiB", "TiB", "PiB"),
        *("k", "K", "m", "M", "g", "G", "t", "T", "p", "P", "x", ""),
        *("b", "kb", "Kb", "mb", "Mb", "gb", "Gb", "tb", "Tb"),
    ],
)
def test_sizes(unit: str) -> None:
    for number in NUMBERS:
        text = f"{number} {unit}"
        told = size_bytes(text)
        assert told == (of_engine("size", text, 1.0)), text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("512", None),
        ("512 B", 512),
        ("4k", 4096),
        ("1.5 kB", 1500),
        ("900 GB", 900_000_000_000),
        ("8GiB", 8 << 30),
        (" 2 T ", 2 << 40),
        ("3 PB", 3 * 10**15),
        ("3 PiB", 3 << 50),
        ("3p", 3 << 50),
        ("1_000 MB", 1_000_000_000),
        ("0.4 B", None),
        ("0.5 B", 1),
        ("8.9e3 PB", 8_900_000_000_000_000_000),
        ("9000 PB", None),
        ("1e300 B", None),
        ("20 Tb", None),
        ("1 EB", None),
        ("-1 B", None),
        ("\ud800 B", None),
        ("", None),
    ],
)
def test_sizes_that_are_known(text: str, told: float | None) -> None:
    assert size_bytes(text) == told


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1500", "1500"),
        ("1,500", "1500"),
        ("12,345,678.5", "12345678.5"),
        ("1,500 us", "1500 us"),
        ("1.5", "1.5"),
        ("1,5", None),
        ("0,532", None),
        ("1,5000", None),
        ("1,500,0", None),
        ("1.5,000", None),
    ],
)
def test_a_comma_stands_between_thousands_alone(text: str, plain: str | None) -> None:
    assert ungrouped(text) == plain


@pytest.mark.parametrize(
    ("text", "of_engine"),
    [
        ("5 days", "5 d"),
        ("5 day", "5 d"),
        ("1e3 hours", "1e3 h"),
        ("2 weeks", "14 d"),
        ("1 year", "365.25 d"),
        ("6 months", "182.625 d"),
        ("30 minutes", "30 min"),
        ("10sec", "10 s"),
        ("3 \u03bcs", "3 us"),
        ("25 Gbit/s", "25 Gb/s"),
        ("25GbE", "25 Gb/s"),
        ("25Gbps", "25 Gb/s"),
        ("100 Mbps", "100 Mb/s"),
        ("400 kbit/s", "50 kB/s"),
        ("0.1 Tbps", "100 Gb/s"),
        ("2 GBps", "2 GB/s"),
        ("2 TB/s", "2000 GB/s"),
    ],
)
def test_units_in_words_become_those_of_the_engine(text: str, of_engine: str) -> None:
    assert in_units(text) == of_engine
    kind = "rate" if "/s" in of_engine else "time"
    assert _core.quantity(kind, of_engine) > 0


@pytest.mark.parametrize("text", ["5 mb/s", "5 gbps", "5 m", "days", "5", "5 days each", "1.5.2 days", "4 KiB", ""])
def test_an_ambiguous_unit_and_other_text_are_unchanged(text: str) -> None:
    assert in_units(text) == text


@pytest.mark.parametrize(
    ("number", "text"), [(4096, "4096 B"), (4096.0, "4096 B"), (0.25, "0.25 B"), (10**15, "1000000000000000 B")]
)
def test_a_number_with_a_unit_is_exact(number: float, text: str) -> None:
    assert with_unit(number, "B") == text


@pytest.mark.parametrize(
    ("text", "of_engine"),
    [
        ("d1@1 minute", "d1@1 min"),
        ("at 0.1 seconds: fail d1", "at 0.1 s: fail d1"),
        ("at 2 hours: set d1.think=1 second", "at 2 h: set d1.think=1 second"),
        ("d1 @ 60 s", "d1 @ 60 s"),
        ("at 1 fortnight: fail d1", "at 1 fortnight: fail d1"),
        ("1 minute", "1 minute"),
        ("", ""),
    ],
)
def test_the_time_of_an_event_gets_the_engines_unit(text: str, of_engine: str) -> None:
    assert timed_text(text) == of_engine
