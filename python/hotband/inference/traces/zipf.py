"""Zipf's law fitted to how often blocks are touched, by maximum likelihood.

The population's blocks have ranks; a block that a share u of them is more popular than is touched `least` x u^-theta
times on average: as many times as a Poisson number of that mean. Blocks that were never touched are not seen, so
observed counts are conditional on one touch. With a = 1/theta, the share of the population that is touched at least n
times is

    P(n, least) + least^a x Gamma(n - a) / Gamma(n) x Q(n - a, least)

(P and Q the regularised incomplete gamma functions; the integral over u by parts). Blocks that are chosen by their hash
have the same law. Standard error: from the curvature of the likelihood at its maximum (observed information).

Leaves out: touches of a block that come in bursts, or of many blocks together, which make counts less even than
Poisson's, and the error too small; `misfit` says how far the law is from what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.inference.traces.properties import CountClass, Zipf

if TYPE_CHECKING:
    from hotband.base.arrays import Floats


FEWEST_BLOCKS = 100
"""With fewer, a standard error is above a tenth (theta / sqrt(n))."""
LOWEST, HIGHEST = 0.01, 10.0
"""Exponents that are tried: published ones of storage are 0 to 2. At the lowest all blocks are identical."""
ALIKE = 1.05 * LOWEST
"""Up to here the search has come to its end: all blocks are identical."""
STARTS = tuple((theta, least) for theta in (0.1, 0.5, 1.0) for least in (0.05, 0.7))
"""Start of the search: exponents, and touches of the least popular block by the mean."""
STEP = 1e-3
"""Step of the logarithms of both values, for second differences."""
NODES = 240
"""Nodes of the integral where the closed form does not hold: accurate to 1e-4 of it."""


def zipf_of(counts: Sequence[CountClass]) -> Zipf | None:
    """Fit the law; None for fewer than 100 blocks, for blocks accessed only once, or if the counts do not distinguish
    exponents."""
    blocks = np.array([count.blocks for count in counts], float)
    if blocks.sum() < FEWEST_BLOCKS or counts[-1].to_count < 2:
        return None
    begins = np.array([count.from_count for count in counts], float)
    ends = np.array([count.to_count + 1 for count in counts], float)
    theta, least, error = _fitted(begins, ends, blocks)
    if not np.isfinite(error):
        return None
    seen = np.cumsum(blocks[::-1])[::-1] / blocks.sum()
    law = seen_at_least(begins, theta, least)
    return Zipf(theta, error, least, float(np.abs(law - seen).max()))


def seen_at_least(touches: Floats, theta: float, least: float) -> Floats:
    """Return the share of the seen blocks that are accessed at least `touches` times."""
    reached = at_least(np.concatenate((np.ones(1), touches)), max(theta, LOWEST), least)
    share: Floats = reached[1:] / reached[0]
    return share


def _fitted(begins: Floats, ends: Floats, blocks: Floats) -> tuple[float, float, float]:
    """Fit the exponent, touches of the least popular block, and standard error of the exponent."""
    from scipy.optimize import minimize

    points = np.concatenate((np.ones(1), begins, ends))

    def unlikely(values: Floats) -> float:
        theta, least = (float(value) for value in np.exp(values))
        if not LOWEST <= theta <= HIGHEST or not 1e-9 < least < 1e12:
            return 1e300
        reached = at_least(points, theta, least)
        inside = reached[1 : 1 + len(blocks)] - reached[1 + len(blocks) :]
        return -float(blocks @ np.log(np.maximum(inside, 1e-300) / max(float(reached[0]), 1e-300)))

    mean = float((begins * blocks).sum() / blocks.sum())
    starts = [np.log(np.array([theta, least * mean])) for theta, least in STARTS]
    optimum = minimize(
        unlikely, min(starts, key=unlikely), method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-4}
    )
    theta, least = (float(value) for value in np.exp(optimum.x))
    if theta > ALIKE:
        return theta, least, theta * _error(unlikely, optimum.x)
    return 0.0, least, _error_of_none(unlikely, optimum.x)


def _error(unlikely: Callable[[Floats], float], at: Floats) -> float:
    """Return the standard error of the logarithm of the exponent; infinite if the other value can replace it."""
    first, other = np.array([STEP, 0.0]), np.array([0.0, STEP])
    middle = unlikely(at)
    across = unlikely(at + first + other) + unlikely(at - first - other)
    across = (across - unlikely(at + first - other) - unlikely(at - first + other)) / 4
    along = [unlikely(at + way) - 2 * middle + unlikely(at - way) for way in (first, other)]
    determinant = along[0] * along[1] - across**2
    if determinant <= 0 or along[1] <= 0:
        return float("inf")
    return float(np.sqrt(along[1] / determinant) * STEP)


def _error_of_none(unlikely: Callable[[Floats], float], at: Floats) -> float:
    """The exponent that is a standard error away from none: half a unit of likelihood lower, the other value as likely
    as it can be with it."""
    from scipy.optimize import brentq, minimize_scalar

    def lower(theta: float) -> float:
        def of(least: float) -> float:
            return unlikely(np.array([np.log(theta), least]))

        return float(minimize_scalar(of, bracket=(at[1], at[1] - theta)).fun) - unlikely(at) - 0.5

    return float(brentq(lower, 2 * LOWEST, 1.0, xtol=1e-3)) if lower(2 * LOWEST) < 0 < lower(1.0) else 2 * LOWEST


def at_least(touches: Floats, theta: float, least: float) -> Floats:
    """Return the share of the population that is touched at least `touches` times."""
    from scipy.special import gammainc, gammaincc, gammaln

    a = 1 / theta
    shape = touches - a
    upper = np.empty_like(touches)
    # The Gamma function has poles at zero and below: there is an integral over y = ln(x / least).
    closed = shape > 0.5
    logs = a * np.log(least) + gammaln(shape[closed]) - gammaln(touches[closed])
    upper[closed] = np.exp(logs) * gammaincc(shape[closed], least)
    if not closed.all():
        rest = touches[~closed]
        # Beyond, the integrand is below e^-60 of what it was.
        y = np.linspace(0.0, np.log1p((60 + rest.max()) / least), NODES)
        logs = np.outer(rest - a, y) - least * np.exp(y) + (rest * np.log(least) - gammaln(rest))[:, None]
        upper[~closed] = np.trapezoid(np.exp(logs), y, axis=1)
    reached: Floats = np.clip(gammainc(touches, least) + upper, 0.0, 1.0)
    return reached
