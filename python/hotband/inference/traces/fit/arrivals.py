"""The times of I/Os as the load of a workload.

A closed loop is one of which nearly all I/Os find the same number in flight and come a constant time after an answer.
If the gaps are also even, it is a loop only if the time after an answer varies less than they do: at a fixed rate
that time is what a latency leaves of the gap, and varies as the latency does. Otherwise they come by the clock: evenly,
at random, or in gaps of several lengths at a rate that changes with time. The rate is that of pieces of the trace, the
gaps are a mixture of exponentials, fitted by maximum likelihood (EM) on the clock that the rates stretch.

Leaves out: which of both it is where latencies do not vary either (it is taken for a fixed rate if there is a pause);
that bursts at a fixed distance come by the clock; that the next I/O waits for an answer in any other way than a loop
does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import np
from hotband.data.inputs.rate import LEAST

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.inference.traces.fit.ios import Ios
    from hotband.inference.traces.properties import Properties


ALIKE = 0.95
"""Share of I/Os of a closed loop that find the same number in flight: others are at its beginning or repaired."""
CONSTANT = 0.8
"""Spread of the think time over its mean below which it is a loop's: 1 is that of arrivals at random."""
SHORT = 0.1
"""Mean of the think time over that of latencies below which it is a loop's, however it is spread."""
MOST_DEPTH = 65_536
"""Most I/Os that a loop keeps outstanding."""
PLAIN = 0.1
"""Index of dispersion and squared spread of gaps may be so far from 1, or three standard errors, to be at random."""
EVEN = 0.01
"""Squared spread of gaps below which they are all alike."""
ROUNDING = 1e-6
"""Tolerance in shares of the mean gap, at least 1 ns: the difference that whole nanoseconds allow in a standard
deviation."""
STEADY = 3.0
"""Standard errors by which pieces' counts differ more than those of one rate, for the rate to change."""
MOST_PIECES = 48
"""Pieces of the rate over time: numbers that can be read in a few lines."""
IOS_OF_PIECE = 200
"""On average, so that a piece's rate is known to 7 %."""
MOST_GAPS = 4
"""Exponentials of a mixture."""
ALMOST = 1.5
"""Times the mean of one exponential up to which another is the same."""
CLASSES = 300
"""Bins of gaps by length, to which the mixture is fitted."""
STEPS = 400
"""Iterations of EM: the likelihood then changes by less than 1e-6 a step on all samples."""


@dataclass(frozen=True)
class Loop:
    """A closed loop: I/Os outstanding, and pause in ns."""

    depth: int
    think_ns: float
    alike: float


@dataclass(frozen=True)
class Clock:
    """Arrivals by the clock: I/Os a second; gaps in ns and their shares, none if they are even (`is_even`) or
    plainly at random; length of a piece in ns and the rate in each over the mean."""

    rate: float
    is_even: bool
    gaps: tuple[tuple[float, float], ...]
    every_ns: float
    rates: tuple[float, ...]


def loop_of(ios: Ios) -> Loop | None:
    """Return the closed loop of a trace with latencies, None if it is not one."""
    if not ios.has_latencies or len(ios) < 2:
        return None
    done = np.sort(ios.issue + ios.latency)
    before = np.searchsorted(done, ios.issue, side="right")
    # With all that are asked for at the same time: where several are answered at once, several are asked for.
    depth = np.searchsorted(ios.issue, ios.issue, side="right") - before
    depths, counts = np.unique(depth, return_counts=True)
    usual, alike = int(depths[counts.argmax()]), float(counts.max() / len(ios))
    waits = before > 0
    if alike < ALIKE or not 1 <= usual <= MOST_DEPTH or not waits.any():
        return None
    think = (ios.issue[waits] - done[before[waits] - 1]).astype(float)
    mean = float(think.mean())
    is_short = mean <= SHORT * float(ios.latency.mean())
    if (not is_short and float(think.std()) > CONSTANT * mean) or _is_fixed(ios, float(think.std()), is_short):
        return None
    return Loop(usual, mean, alike)


def _is_fixed(ios: Ios, think_std: float, is_short: bool) -> bool:
    """Return whether gaps are even and at least as steady as the time after a completion. If both are as steady, a very
    short pause (`is_short`) indicates a loop."""
    gaps = np.diff(ios.issue).astype(float)
    mean, std = float(gaps.mean()), float(gaps.std())
    if std**2 >= EVEN * mean**2:
        return False
    near = max(1.0, ROUNDING * mean)
    return think_std > std + near or (abs(think_std - std) <= near and not is_short)


def clock_of(ios: Ios, trace: Properties) -> Clock:
    """Return arrivals of data I/Os by the clock, because a rate does not count flushes. Data I/Os that all come at one
    time are spread over the time of the flushes."""
    span_s, ios = ios.span_s, ios.data
    gaps = np.diff(ios.issue).astype(float)
    if not len(gaps) or not gaps.sum():
        return Clock(max(len(ios) / span_s, LEAST) if span_s else 1e6, True, (), 0.0, ())
    rate, scv = 1e9 / float(gaps.mean()), float(gaps.var() / gaps.mean() ** 2)
    if scv < EVEN:
        return Clock(rate, True, (), 0.0, ())
    at_random = all(abs(window.index - 1) <= max(PLAIN, 3 * window.error) for window in trace.time.dispersion)
    if at_random and abs(scv - 1) <= PLAIN:
        return Clock(rate, False, (), 0.0, ())
    every, rates = _rates(ios)
    times = _stretched((ios.issue - ios.issue[0]).astype(float), every, rates)
    gaps_of = mixture(np.diff(times))
    if len(gaps_of) == 1 and len(rates) == 1:
        return Clock(rate, False, (), 0.0, ())
    return Clock(rate, False, gaps_of, every, rates if len(rates) > 1 else ())


def _rates(ios: Ios) -> tuple[float, tuple[float, ...]]:
    """Return the length of a piece in ns, and the rate in each over the mean."""
    span = float(ios.issue[-1] - ios.issue[0]) + 1.0
    pieces = max(1, min(MOST_PIECES, len(ios) // IOS_OF_PIECE))
    every = max(span / pieces, 1e6)
    counts = np.bincount(((ios.issue - ios.issue[0]) / every).astype(int))
    # Of a Poisson process variance over mean is 1, with this standard error.
    if len(counts) < 2 or counts.var() / counts.mean() - 1 < STEADY * np.sqrt(2 / (len(counts) - 1)):
        return span, (1.0,)
    rates = counts / counts.mean()
    return every, tuple(float(f"{rate:.3g}") for rate in rates)


def _stretched(times: Floats, every: float, rates: tuple[float, ...]) -> Floats:
    """Convert times to a clock that runs at the given rates."""
    passed = np.concatenate(([0.0], np.cumsum(rates))) * every
    stretched: Floats = np.interp(times, np.arange(len(passed)) * every, passed)
    return stretched


def mixture(gaps: Floats) -> tuple[tuple[float, float], ...]:
    """Return mean gaps in ns and their shares, the fewest that explain them (Schwarz's criterion), with the same
    mean."""
    some = gaps[gaps >= 1.0]
    none = 1 - len(some) / len(gaps)
    if not len(some):
        return ((0.0, 1.0),)
    edges = np.geomspace(some.min(), some.max() * 1.001, CLASSES + 1)
    class_of = np.clip(np.searchsorted(edges, some, side="right") - 1, 0, CLASSES - 1)
    weight = np.bincount(class_of, minlength=CLASSES).astype(float)
    sums = np.bincount(class_of, some, minlength=CLASSES)
    values, weight = (sums[weight > 0] / weight[weight > 0]), weight[weight > 0]
    best, least = (np.array([some.mean()]), np.ones(1)), np.inf
    for many in range(1, MOST_GAPS + 1):
        means, shares, likelihood = _fitted(values, weight, many)
        cost = (2 * many - 1) * np.log(weight.sum()) - 2 * likelihood
        if cost < least:
            best, least = (means, shares), cost
    means, shares = _merged(*best)
    means = means * some.mean() / (means @ shares)
    zero = [(0.0, none)] if none > 0 else []
    return (*zero, *sorted((float(mean), float(share * (1 - none))) for mean, share in zip(means, shares, strict=True)))


def _merged(means: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Merge exponentials that hardly differ."""
    order = np.argsort(means)
    merged: list[list[float]] = []
    for mean, share in zip(means[order], shares[order], strict=True):
        if merged and mean < ALMOST * merged[-1][0]:
            last, part = merged[-1]
            merged[-1] = [float((last * part + mean * share) / (part + share)), float(part + share)]
        else:
            merged.append([float(mean), float(share)])
    return np.array([mean for mean, _ in merged]), np.array([share for _, share in merged])


def _fitted(values: Floats, weight: Floats, many: int) -> tuple[Floats, Floats, float]:
    """Return means, shares and log likelihood of `many` exponentials."""
    order = np.cumsum(weight) / weight.sum()
    parts = np.minimum((order * many).astype(int), many - 1)
    groups = [(values[parts == part], weight[parts == part]) for part in range(many)]
    groups = [group for group in groups if len(group[0])]
    means = np.array([(value * count).sum() / count.sum() for value, count in groups])
    shares = np.array([count.sum() for _, count in groups]) / weight.sum()
    density = np.empty(0)
    for _ in range(STEPS):
        each = shares / means * np.exp(-values[:, None] / means)
        density = np.maximum(each.sum(axis=1), 1e-300)
        part = each / density[:, None] * weight[:, None]
        shares = np.maximum(part.sum(axis=0) / weight.sum(), 1e-12)
        means = np.maximum((part * values[:, None]).sum(axis=0) / np.maximum(part.sum(axis=0), 1e-12), 1.0)
    return means, shares / shares.sum(), float(weight @ np.log(density))
