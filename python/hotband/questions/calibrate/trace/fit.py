"""Fit the values of a disk with which its model completes the I/Os of a trace as measured.

The fit compares sorted latencies, class by class (reads and writes, by their distance from the end of the previous
one), so that phase and order of single I/Os do not matter. Demerit consists of the same squares; the prior counts as
much as a few of them. Numbers come from least squares (scipy, trust region, forward differences), switches one after
the other, with numbers fitted for each option.

Standard errors are those of the jackknife over ten stretches of the trace: the change of the values by each stretch,
with the slopes of the fit. They include the model error as far as it differs from stretch to stretch.
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
"""Number of compared quantiles of a class."""
LEAST_OF_CLASS = 20
"""Least I/Os of a class: smaller classes count only in the whole."""
EXPECTED_DEMERIT = 0.03
"""Demerit, as a share of the mean, at which residuals are one, which sets the weight of the prior."""
STEP = 0.15
"""Step of a coordinate for slopes: latencies of a disk jump by a revolution, so smaller steps measure jumps."""
ROUGH, FINE = 4, 15
"""Evaluations of slopes while trying options, and at the end."""
STRETCHES = 10


@dataclass
class Fitted:
    """The result of a fit: coordinates, their standard errors, options, the size of the residuals (1: as expected), and
    costs of the tried options, by switch."""

    numbers: list[Number]
    switches: list[Switch]
    places: Floats
    deviations: Floats
    options: list[int]
    misfit: float
    tried: dict[str, list[float]]

    @property
    def point(self) -> dict[str, str]:
        """The fitted values."""
        return settings(self.numbers, list(self.places), self.switches, self.options)


class Fit:
    """A fit to the first half of a trace."""

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

    def residuals(self, latencies: Floats, among: NDArray[np.bool_] | None = None) -> Floats:
        """Return differences of sorted latencies by class, of all I/Os or of some."""
        parts = []
        for group in self.groups:
            members = group if among is None else group[among[group]]
            if len(members) == 0:
                parts.append(np.zeros(min(len(group), RANKS)))
                continue
            count = min(len(group), RANKS)
            at = (np.arange(count) + 0.5) / count
            ours, theirs = (np.quantile(values[members], at) for values in (latencies, self.latency))
            parts.append((ours - theirs) * np.sqrt(len(group) / count) / self.scale)
        return np.concatenate(parts)

    def at(self, places: Sequence[Floats], options: Sequence[int]) -> list[Floats]:
        """Return latencies (ms) at several coordinates."""
        points = [settings(self.numbers, list(coordinates), self.switches, options) for coordinates in places]
        return self.replays.latencies(points, self.ios, self.tick)

    def solve(self, start: Floats, options: Sequence[int], steps: int) -> tuple[float, Floats, Floats]:
        """Return the least cost from a start, its coordinates, and the slopes there."""
        from scipy.optimize import least_squares

        residuals_at: dict[bytes, Floats] = {}

        def value(coordinates: Floats) -> Floats:
            if coordinates.tobytes() not in residuals_at:
                [latency] = self.at([coordinates], options)
                residuals_at[coordinates.tobytes()] = np.concatenate([self.residuals(latency), coordinates])
            return residuals_at[coordinates.tobytes()]

        def slopes(coordinates: Floats) -> Floats:
            base = value(coordinates)
            moved = []
            for number in range(len(coordinates)):
                neighbour = coordinates.copy()
                neighbour[number] += STEP if neighbour[number] + STEP <= MOST else -STEP
                moved.append(neighbour)
            latencies = self.at(moved, options)
            columns = [
                (np.concatenate([self.residuals(latency), neighbour]) - base)
                / (neighbour[number] - coordinates[number])
                for number, (latency, neighbour) in enumerate(zip(latencies, moved, strict=True))
            ]
            return np.stack(columns, axis=1)

        done = least_squares(value, start, slopes, bounds=(-MOST, MOST), max_nfev=steps, xtol=1e-3, ftol=1e-3)
        return float(done.cost), np.asarray(done.x), np.asarray(done.jac)

    def run(self, watch: Callable[[str], AbstractContextManager[Tick | None]]) -> Fitted:
        """Run the whole fit. Raises UserError, RunsInterrupted."""
        options = [0] * len(self.switches)
        places = np.zeros(len(self.numbers))
        with watch("fitting") as self.tick:
            cost, places, _ = self.solve(places, options, ROUGH)
            tried: dict[str, list[float]] = {}
            for number, switch in enumerate(self.switches):
                costs = [cost]
                for option in range(1, len(switch.options)):
                    other = [*options[:number], option, *options[number + 1 :]]
                    cost_of_option, at, _ = self.solve(places, other, ROUGH)
                    costs.append(cost_of_option)
                    if cost_of_option < cost:
                        cost, places, options = cost_of_option, at, other
                tried[switch.key] = costs
            cost, places, slopes = self.solve(places, options, FINE)
            [latency] = self.at([places], options)
        residuals = self.residuals(latency)
        misfit = float(np.sqrt(np.mean(residuals**2)))
        return Fitted(self.numbers, self.switches, places, self._deviations(latency, slopes), options, misfit, tried)

    def _deviations(self, latency: Floats, slopes: Floats) -> Floats:
        """Return standard errors of the coordinates, at most those of the prior."""
        inverse = np.linalg.pinv(slopes.T @ slopes)
        data_slopes = slopes[: -len(self.numbers)] if len(self.numbers) else slopes
        whole = self.residuals(latency)
        stretch = np.arange(self.ios) * STRETCHES // self.ios
        moves = [
            inverse @ (data_slopes.T @ (self.residuals(latency, stretch == number) - whole))
            for number in range(STRETCHES)
        ]
        spread: Floats = np.std(np.stack(moves), axis=0, ddof=1) / np.sqrt(STRETCHES)
        # The deviation of a value about which the data says nothing.
        left = np.sqrt(np.clip(np.diag(inverse), 0.0, 1.0))
        deviations: Floats = np.minimum(np.maximum(spread, left), 1.0)
        return deviations

    def rest(self, latency: Floats) -> dict[str, float]:
        """Return errors of the means by class, in percent."""
        errors = {}
        for group in self.groups:
            measured = float(self.latency[group].mean())
            name = class_name(int(self.classes[group[0]])) if self.classes[group[0]] >= 0 else "all"
            errors[name] = 100.0 * (float(latency[group].mean()) / measured - 1.0)
        return errors
