"""What an assessment takes that is a word, and how much it may be asked to simulate."""

from __future__ import annotations

from enum import StrEnum

MOST_SPARES = 64
LEAST_ARRAYS, MOST_ARRAYS = 1000, 10_000_000


class Distribution(StrEnum):
    """Of drives' lives."""

    exponential = "exponential"
    weibull = "weibull"


class Rebuilds(StrEnum):
    """Of the times of rebuilds."""

    exponential = "exponential"
    constant = "constant"


class Method(StrEnum):
    """Of simulating the mean time to data loss."""

    auto = "auto"
    biased = "biased"
    direct = "direct"
