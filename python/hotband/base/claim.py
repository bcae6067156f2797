"""A figure that follows from others of the same result, and the range that they allow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from hotband.base.text.numbers import span

EXACT = 1e-6
"""Relative difference between two forms of one number in a record: more than floating point and rounding to ns make."""
PRINTED = 0.01
"""Share by which two printed forms of one figure may differ: tools cut runtimes to milliseconds and rates to whole
numbers, and count I/Os in flight at either end once (as for `bandwidth`)."""
IN_FLIGHT = 256
"""I/Os that only one of two counts may have, if the concurrency is not known: those in flight where a ramp ended."""

LENGTH_OF_TIME = "a length of time"
"""Source of claims that a time is not negative."""


class ClaimDoc(TypedDict):
    """A claim as a record stores it; no `high` means that the range has no upper end."""

    figure: str
    stated: float
    source: str
    low: float
    high: float | None


@dataclass(frozen=True)
class Claim:
    """A figure as the result states it, and the range that its other figures (`source`) allow."""

    figure: str
    stated: float
    source: str
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the figure is in the range."""
        return self.low <= self.stated <= self.high

    @property
    def words(self) -> str:
        """The contradiction in a sentence."""
        near, bound = (self.low, "at least ") if self.stated < self.low else (self.high, "at most ")
        if math.isclose(self.low, self.high, rel_tol=0.2):
            # Both ends are the derived value with its tolerance.
            near, bound = (self.low + self.high) / 2, ""
        return f"{self.figure} is {self.shown(self.stated)}, but {self.source} makes {bound}{self.shown(near)}"

    def shown(self, value: float) -> str:
        """Format a value of the figure, with as many digits as the contradiction needs."""
        if self.figure.endswith(("latency", "time")):
            other = self.low if self.stated < self.low else self.high
            alike = span(self.stated) == span(other)
            return f"{value:,.0f} ns" if alike else span(value)
        return f"{value:,.0f}" if value == int(value) or abs(value) >= 1e5 else f"{value:,.6g}"

    def to_dict(self) -> ClaimDoc:
        """Return it as a record stores it."""
        high = None if math.isinf(self.high) else self.high
        return {"figure": self.figure, "stated": self.stated, "source": self.source, "low": self.low, "high": high}

    @staticmethod
    def of(document: ClaimDoc) -> Claim:
        """Return a claim that a record stores."""
        high = math.inf if document["high"] is None else document["high"]
        return Claim(document["figure"], document["stated"], document["source"], document["low"], high)


def equal(figure: str, stated: float | None, source: str, derived: float | None, share: float = EXACT) -> list[Claim]:
    """Claim that a figure equals what others make, within a share; nothing if either is unknown."""
    if stated is None or derived is None:
        return []
    slack = share * abs(derived)
    return [Claim(figure, stated, source, derived - slack, derived + slack)]


def near(figure: str, stated: float | None, source: str, derived: float | None, step: float) -> list[Claim]:
    """Claim that a printed figure equals what others make, within `PRINTED` or a `step` of its last digit."""
    if stated is None or derived is None:
        return []
    slack = max(PRINTED * abs(derived), step)
    return [Claim(figure, stated, source, derived - slack, derived + slack)]


def largest_deviation(mean: float, low: float, high: float) -> float:
    """Return the largest standard deviation of values with this mean between these ends: all lie at the ends (Bhatia
    and Davis)."""
    return math.sqrt(max(0.0, (high - mean) * (mean - low)))


def broken(claims: Iterable[Claim]) -> list[ClaimDoc]:
    """Return the claims that do not hold, as a record stores them."""
    return [claim.to_dict() for claim in claims if not claim.holds]
