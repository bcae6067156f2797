"""Values of a disk under which its model answers the I/Os of a trace as they were measured.

What is compared are sorted latencies, class by class (reads and writes, by how far they begin from the end of the
one before): phase and order of single I/Os then do not matter. Demerit is made of the same squares; the prior counts as
much as a few of them. Floats are found by least squares (scipy, trust region, differences
forward), switches one after the other, each option with numbers of its own.

Standard errors are those of the jackknife over ten stretches of the trace: what each stretch would move the values by,
with the slopes of the fit. They hold what the model cannot explain, as far as it differs from stretch to stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hotband.questions.calibrate.trace.replay import Replays, class_name
from hotband.questions.calibrate.trace.unknowns import MOST, Number, Switch, settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from hotband.base.arrays import Floats
    from hotband.execution.experiment import Tick


RANKS = 40
"""Quantiles of a class that are compared."""
LEAST_OF_CLASS = 20
"""Classes of fewer I/Os count only in the whole."""
EXPECTED_DEMERIT = 0.03
"""A fit with a demerit of this share of the mean has residuals of one: what the prior is weighed against."""
STEP = 0.15
"""Of a coordinate, for slopes: latencies of a disk jump by a revolution, so small steps see steps."""
ROUGH, FINE = 4, 15
"""Evaluations of slopes while options are tried, and at the end."""
STRETCHES = 10


@dataclass
class Fitted:
    """What was found: coordinates, their standard errors, options, the residuals' size (1: as expected), and costs of
    the options that were tried, by switch."""

    numbers: list[Number]
    switches: list[Switch]
    places: Floats
    deviations: Floats
    options: list[int]
    misfit: float
    tried: dict[str, list[float]]

    @property
    def point(self) -> dict[str, str]:
        """The values found."""
        return settings(self.numbers, list(self.places), self.switches, self.options)


class Fit:
    """One fit to the first I/Os of a trace."""

    def __init__(self, replays: Replays, numbers: list[Number], switches: list[Switch], tick: Tick | None) -> None:
        self.replays, self.numbers, self.switches, self.tick = replays, numbers, switches, tick
        measured = replays.measured
        self.ios = measured.half
        self.latency, self.classes = measured.latency_ms[: self.ios], measured.classes[: self.ios]
        self.groups = [
            np.flatnonzero(self.classes == number)
            for number in range(6)
            if np.count_nonzero(self.classes == number) >= LEAST_OF_CLASS
        ] or [np.arange(self.ios)]
        terms = sum(min(len(group), RANKS) for group in self.groups)
        self.scale = EXPECTED_DEMERIT * float(self.latency.mean()) * np.sqrt(self.ios / terms)

    def residuals(self, found: Floats, among: NDArray[np.bool_] | None = None) -> Floats:
        """Differences of sorted latencies by class, of all I/Os or of some."""
        parts = []
        for group in self.groups:
            own = group if among is None else group[among[group]]
            if len(own) == 0:
                parts.append(np.zeros(min(len(group), RANKS)))
                continue
            count = min(len(group), RANKS)
            at = (np.arange(count) + 0.5) / count
            ours, theirs = (np.quantile(values[own], at) for values in (found, self.latency))
            parts.append((ours - theirs) * np.sqrt(len(group) / count) / self.scale)
        return np.concatenate(parts)

    def at(self, places: Sequence[Floats], options: Sequence[int]) -> list[Floats]:
        """Latencies at several coordinates."""
        points = [settings(self.numbers, list(place), self.switches, options) for place in places]
        return self.replays.latencies(points, self.ios, self.tick)

    def solve(self, start: Floats, options: Sequence[int], steps: int) -> tuple[float, Floats, Floats]:
        """The least cost from a start, where it is, and the slopes there."""
        from scipy.optimize import least_squares

        kept: dict[bytes, Floats] = {}

        def value(place: Floats) -> Floats:
            if place.tobytes() not in kept:
                [found] = self.at([place], options)
                kept[place.tobytes()] = np.concatenate([self.residuals(found), place])
            return kept[place.tobytes()]

        def slopes(place: Floats) -> Floats:
            base = value(place)
            moved = []
            for number in range(len(place)):
                one = place.copy()
                one[number] += STEP if one[number] + STEP <= MOST else -STEP
                moved.append(one)
            found = self.at(moved, options)
            columns = [
                (np.concatenate([self.residuals(latency), one]) - base) / (one[number] - place[number])
                for number, (latency, one) in enumerate(zip(found, moved, strict=True))
            ]
            return np.stack(columns, axis=1)

        done = least_squares(value, start, slopes, bounds=(-MOST, MOST), max_nfev=steps, xtol=1e-3, ftol=1e-3)
        return float(done.cost), np.asarray(done.x), np.asarray(done.jac)

    def run(self, watch: Callable[[str], AbstractContextManager[Tick | None]]) -> Fitted:
        """The whole fit. Raises UserError, RunsInterrupted."""
        options = [0] * len(self.switches)
        places = np.zeros(len(self.numbers))
        with watch("fitting") as self.tick:
            cost, places, _ = self.solve(places, options, ROUGH)
            tried: dict[str, list[float]] = {}
            for number, switch in enumerate(self.switches):
                costs = [cost]
                for option in range(1, len(switch.options)):
                    other = [*options[:number], option, *options[number + 1 :]]
                    found, at, _ = self.solve(places, other, ROUGH)
                    costs.append(found)
                    if found < cost:
                        cost, places, options = found, at, other
                tried[switch.key] = costs
            cost, places, slopes = self.solve(places, options, FINE)
            [latency] = self.at([places], options)
        residuals = self.residuals(latency)
        misfit = float(np.sqrt(np.mean(residuals**2)))
        return Fitted(self.numbers, self.switches, places, self._deviations(latency, slopes), options, misfit, tried)

    def _deviations(self, latency: Floats, slopes: Floats) -> Floats:
        """Standard errors of the coordinates, at most those of the prior."""
        inverse = np.linalg.pinv(slopes.T @ slopes)
        own = slopes[: -len(self.numbers)] if len(self.numbers) else slopes
        whole = self.residuals(latency)
        stretch = np.arange(self.ios) * STRETCHES // self.ios
        moves = [
            inverse @ (own.T @ (self.residuals(latency, stretch == number) - whole)) for number in range(STRETCHES)
        ]
        spread: Floats = np.std(np.stack(moves), axis=0, ddof=1) / np.sqrt(STRETCHES)
        # What the prior alone leaves of a value that nothing tells.
        left = np.sqrt(np.clip(np.diag(inverse), 0.0, 1.0))
        found: Floats = np.minimum(np.maximum(spread, left), 1.0)
        return found

    def rest(self, latency: Floats) -> dict[str, float]:
        """Errors of the means by class, in percent."""
        found = {}
        for group in self.groups:
            measured = float(self.latency[group].mean())
            name = class_name(int(self.classes[group[0]])) if self.classes[group[0]] >= 0 else "all"
            found[name] = 100.0 * (float(latency[group].mean()) / measured - 1.0)
        return found
