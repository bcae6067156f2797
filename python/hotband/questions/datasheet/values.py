"""Values of a drive's file: a number with its unit, its source, and its range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

GIVEN = "data sheet"
SAME = 0.005
"""The share by which an expected value may differ from a stated number and still count as stated: rounding of texts."""
SCALES = {
    "time": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    "rate": (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)),
    "size": (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)),
    "power": (("W", 1.0),),
    "share": (("%", 0.01),),
}


@dataclass(frozen=True)
class Value:
    """One value: a text or a count. Estimates have a range. `rule` is the source; `given` values are lines."""

    key: str
    value: str | int
    rule: str
    range: tuple[str | int, str | int] | None = None
    given: bool = False


@dataclass(frozen=True)
class Expected:
    """A quantity that is expected of a drive, in base units, with its 90 % range; `why` names what it rests on."""

    value: float
    low: float
    high: float
    why: str

    def within(self, least: float, most: float) -> Expected:
        """Return the same, limited to possible values."""
        return self.each(lambda number: min(max(number, least), most))

    def each(self, change: Callable[[float], float]) -> Expected:
        """Return the same, with its numbers changed by a function that rises."""
        return Expected(change(self.value), change(self.low), change(self.high), self.why)

    def numbers(self) -> tuple[float, float, float]:
        """Return the value and the ends of its range."""
        return self.value, self.low, self.high

    def inverted(self) -> Expected:
        """Return the time of a single event, of a rate of events."""
        return Expected(1.0 / self.value, 1.0 / self.high, 1.0 / self.low, self.why)


def text(number: float, quantity: str) -> str:
    """Return a number in base units with a fitting unit, to four digits; capacities to the byte."""
    if quantity == "bytes":
        return f"{round(number)} B"
    if quantity == "speed":
        return f"{round(number)} rpm"
    scales = SCALES[quantity]
    unit, size = next((scale for scale in scales if number >= scale[1]), scales[-1])
    return f"{float(f'{number / size:.4g}'):.15g} {unit}"


def given(key: str, number: float, quantity: str) -> Value:
    """Return a value that the data sheet states."""
    return Value(key, text(number, quantity), GIVEN, given=True)


def estimate(key: str, number: float, ends: tuple[float, float], quantity: str, rule: str) -> Value:
    """Return a value that follows by a rule, with the range of the rule."""
    low, high = (text(end, quantity) for end in (min(*ends, number), max(*ends, number)))
    return Value(key, text(number, quantity), rule, (low, high))


def follows(key: str, expected: Expected, quantity: str, stated: float | None, rule: str = "") -> Value:
    """Return a value as it is expected; it counts as given if it is the `stated` number of a line."""
    ends = (text(expected.low, quantity), text(expected.high, quantity))
    value = text(expected.value, quantity)
    if stated is not None and abs(expected.value / stated - 1.0) < SAME:
        return Value(key, value, rule or GIVEN, None if ends[0] == ends[1] else ends, given=True)
    return Value(key, value, "; ".join(filter(None, (rule, expected.why))), ends)


def counted(key: str, expected: Expected, stated: float | None, rule: str = "") -> Value:
    """Return a count as it is expected (see `follows`)."""
    value, low, high = (max(1, round(number)) for number in (expected.value, expected.low, expected.high))
    if stated is not None and value == stated:
        return Value(key, value, rule or GIVEN, None if low == high else (low, high), given=True)
    return Value(key, value, "; ".join(filter(None, (rule, expected.why))), (low, high))


def fixed(key: str, value: str | int, low: str | int, high: str | int, rule: str) -> Value:
    """Return an estimate (see `estimate`) of a text or a count."""
    return Value(key, value, rule, (low, high))


def forced_writes(interface: str) -> Value:
    """Return the value for forced writes to a drive of this interface."""
    if interface.startswith(("sata", "ata")):
        rule = "Linux sends SATA drives no FUA unless libata.fua=1 is set, and flushes after a forced write"
        return Value("forced_writes", "flush", rule, given=True)
    return Value("forced_writes", "fua", "hosts send NVMe and SAS drives forced writes as such", given=True)
