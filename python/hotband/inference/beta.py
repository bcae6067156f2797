"""The incomplete beta function, and quantiles of the binomial, beta and Student's t laws that follow from it.

`scipy.special` also has them, but its import takes half a second of processor time, longer than most commands. Left
out: counts of more than a billion, of which logarithms of the gamma function leave less than seven digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

MANY = 1e8
"""Parameters from which a beta law is a normal one, within a thousandth of its deviation; the fraction would need as
many terms as their root."""
TINY = 1e-300
"""Replaces a zero in the continued fraction (modified Lentz method)."""


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Numerical Recipes, 6.4)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if min(a, b) > MANY:
        mean = a / (a + b)
        return NormalDist(mean, math.sqrt(mean * (1 - mean) / (a + b + 1))).cdf(x)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    numerator, denominator = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or TINY)
    value, step = denominator, 0
    while True:
        step += 1
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        before = value
        for term in (even, odd):
            denominator = 1 / ((1 + term * denominator) or TINY)
            numerator = (1 + term / numerator) or TINY
            value *= numerator * denominator
        if abs(value - before) <= 1e-15 * abs(value):
            return math.exp(logarithm) * value / a


def beta_quantile(a: float, b: float, share: float) -> float:
    """Return the quantile of a beta law."""
    return _crossing(lambda x: incomplete_beta(a, b, x) >= share, 0.0, 1.0)


def student_quantile(freedom: float, share: float) -> float:
    """Return the quantile, above the median, of Student's t law."""
    rarer = 2 * (1 - share)

    def is_beyond(t: float) -> bool:
        return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) <= rarer

    high = 1.0
    while not is_beyond(high):
        high *= 2
    return _crossing(is_beyond, 0.0, high)


def binomial_quantile(below: float, count: int, share: float) -> int:
    """Return the smallest number that at most `below` of a binomial law lies under."""

    def is_enough(number: int) -> bool:
        return number >= count or incomplete_beta(count - number, number + 1, 1 - share) >= below

    near = min(max(round(count * share), 0), count)
    low, high, step = near, near, 1
    while low >= 0 and is_enough(low):
        low, high, step = low - step, low, 2 * step
    while not is_enough(high):
        low, high, step = high, high + step, 2 * step
    low = max(low, -1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _crossing(is_beyond: Callable[[float], bool], low: float, high: float) -> float:
    """Return the least number of floating point from which on a condition holds."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return high
