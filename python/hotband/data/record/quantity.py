"""Numbers that show their unit and are otherwise plain floats."""

from __future__ import annotations


class Seconds(float):
    """A time: a float in seconds that prints in a fitting unit, such as `4.06 ms`.

    `.ms`, `.us` and `.ns` are the same time in smaller units; arithmetic gives plain floats in seconds.
    """

    __slots__ = ()

    @property
    def ms(self) -> float:
        """Return the time in milliseconds."""
        return float(self) * 1e3

    @property
    def us(self) -> float:
        """Return the time in microseconds."""
        return float(self) * 1e6

    @property
    def ns(self) -> float:
        """Return the time in nanoseconds."""
        return float(self) * 1e9

    def __repr__(self) -> str:
        return scaled(float(self), (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)))

    __str__ = __repr__


class BytesPerSecond(float):
    """A bandwidth: a float in bytes per second that prints in decimal units, such as `1.01 MB/s`."""

    __slots__ = ()

    @property
    def mb(self) -> float:
        """Return the bandwidth in MB/s, of 10^6 bytes."""
        return float(self) / 1e6

    def __repr__(self) -> str:
        return scaled(float(self), (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)))

    __str__ = __repr__


def seconds(nanoseconds: float | None) -> Seconds | None:
    """Convert nanoseconds of a record to Seconds; None stays None."""
    return None if nanoseconds is None else Seconds(nanoseconds / 1e9)


def scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    """Return a number in the first unit in which it is 1 or more, else in the last."""
    unit, size = next((candidate for candidate in units if abs(value) >= candidate[1]), units[-1])
    shown = value / size
    return f"{shown:,.3g} {unit}" if abs(shown) < 1000 else f"{shown:,.0f} {unit}"
