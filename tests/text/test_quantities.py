"""Does Python read times and sizes as the engine does?"""

from __future__ import annotations

import pytest

from hotband import _core
from hotband.text.quantities import size_bytes, span_ns

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


@pytest.mark.parametrize("unit", ["B", "k", "K", "KiB", "kB", "MB", "MiB", "GB", "TiB", "TB", "PB", "x", ""])
def test_sizes(unit: str) -> None:
    for number in NUMBERS:
        text = f"{number} {unit}"
        told = size_bytes(text)
        assert told == (of_engine("size", text, 1.0)), text
