"""The fit: values for which the model reproduces the measurements, and their uncertainty.

Maximum a posteriori by least squares (scipy's trust region): the figures' differences, whitened by their covariance,
and the coordinates themselves, which are the prior. The model is run at every step; slopes are differences of runs with
the same seed. Choices are settled between fits by the posterior of the linear model, with steps from runs at the fitted
point. A profile gives the uncertainty of a value; if figures are farther off than their covariance allows, it is
widened by the same factor (Birge 1932).

Left out: a posterior with several separate peaks of the same choices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hotband.questions.calibrate.figures import Figure, vector
from hotband.questions.calibrate.posterior import Linear, Part, Posterior, left_of, posterior_of
from hotband.questions.calibrate.profile import Profile, mixed, objective, places_of, profile_of
from hotband.questions.calibrate.screen import SEED, sure
from hotband.questions.calibrate.unknowns import FARTHEST, Unknowns

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.questions.calibrate.model import At, Model


STEP = 0.5
"""Half of the distance between the two runs of a slope, in standard deviations of the prior."""
NEAR = 0.75
"""Slopes are reused from a point that is nearer than this in every coordinate, and, while combinations of choices are
compared, from one of other options: they change the speed of a fit, not its result."""
MOST_STEPS = 6
ROUNDS = 8
"""Most fits, each with other choices."""
CURVED = 0.2
"""Error of slopes from the screening before the first fit, as a share of them."""
WORTH_A_FIT = 0.03
"""Least probability of a combination of choices that is fitted."""
OUTLIER = 4.0
MOST_OUTLIERS = 0.4
"""Figures this many deviations off are outliers, unless a larger share of all is: then the model is wrong."""
TOLD = 0.95
"""Share of the prior's deviation: values expected to stay above it are not fitted."""
BETTER = 2.0
"""A point of a profile whose objective is lower by more than this starts another fit."""
FAR = 30.0
"""Difference of a figure, in deviations, at values that the product cannot have."""


@dataclass(frozen=True)
class Data:
    """The measured figures, with slopes and steps from the screening as a start. `noise` is the variance of each figure
    between seeds of the model."""

    figures: tuple[Figure, ...]
    measured: Floats
    covariance: Floats
    slopes: Floats
    steps: tuple[tuple[Floats, ...], ...]
    base: Floats
    noise: Floats


@dataclass(frozen=True)
class Fitted:
    """The fitted unknowns (indices in the product's list), their coordinates, and their uncertainty. `rest` has the
    differences of figures in standard deviations, `misfit` the factor by which they exceed the expectation."""

    numbers: tuple[int, ...]
    choices: tuple[int, ...]
    places: Floats
    options: tuple[int, ...]
    posterior: Posterior
    profiles: tuple[Profile, ...]
    rest: Floats
    misfit: float

    @property
    def deviations(self) -> Floats:
        """Standard deviations of the coordinates, no larger than the prior's."""
        return np.array([min(profile.deviation, 1.0) for profile in self.profiles])


def fit(model: Model, unknowns: Unknowns, data: Data) -> Fitted:
    """Fit the unknowns that the data determines; then fit again with less weight on figures that no values explain.
    Raises UserError, RunsInterrupted."""
    numbers, choices = tellable(data)
    idle = [index for index in range(data.slopes.shape[1]) if index not in numbers]
    # Unknowns that are not fitted vary, too.
    covariance = data.covariance + data.slopes[:, idle] @ data.slopes[:, idle].T
    steps = tuple(data.steps[index] for index in choices)
    priors = tuple(unknowns.choices[index].prior for index in choices)
    middle, as_it_is = np.zeros(len(numbers)), (0,) * len(choices)
    linear = Linear(data.measured - data.base, middle, as_it_is, data.slopes[:, numbers], steps, covariance, priors)
    task = _Task(model, unknowns.only(numbers, choices), data, _root(covariance))
    best, posterior = _searched(task, linear)
    deviations = np.sqrt(np.diag(covariance))
    far = np.abs(best.rest) > OUTLIER * deviations
    if far.any() and np.mean(far) <= MOST_OUTLIERS:
        # As in iterated reweighting: an additional error as large as the difference (Huber and Ronchetti 2009,
        # chapter 7).
        covariance = covariance + np.diag(np.where(far, best.rest**2, 0.0))
        task.root = _root(covariance)
        best, posterior = _searched(task, replace(linear, covariance=covariance), best)
    best, across = _descended(task, best)
    misfit = _misfit(task.whitened(best.rest), best.places)
    profiles = _profiles(across, posterior, best.options, max(1.0, misfit))
    away = best.rest / deviations
    return Fitted(tuple(numbers), tuple(choices), best.places, best.options, posterior, profiles, away, misfit)


def _root(covariance: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)


@dataclass(frozen=True)
class _Fit:
    """A fit with given options: its end point, the remaining differences, their squares in standard deviations, the
    squares of the prior, and the logarithm of the determinant of the information on the coordinates."""

    options: tuple[int, ...]
    places: Floats
    slopes: Floats
    rest: Floats
    off: float
    prior: float
    information: float

    @property
    def squares(self) -> float:
        """The objective of the fit."""
        return self.off + self.prior

    def evidence(self, widened: float) -> float:
        """Return the logarithm of the evidence of the choices (Laplace), with deviations of figures times `widened`."""
        return -0.5 * (self.off / widened**2 + self.prior + self.information)


def _searched(task: _Task, linear: Linear, start: _Fit | None = None) -> tuple[_Fit, Posterior]:
    """Search the best fit over combinations of choices, fitting those that earlier fits make likely. Starts from a fit
    with another covariance, if there is one."""
    if start is None:
        # Slopes hold around the middle of the ranges: far from it they have an error.
        curved = np.diag(CURVED**2 * (linear.slopes**2).sum(axis=1))
        posterior = posterior_of(replace(linear, covariance=linear.covariance + curved))
    else:
        posterior = Posterior((Part(start.options, 1.0, start.places, np.eye(len(start.places))),))
    fits: dict[tuple[int, ...], _Fit] = {}
    posteriors: dict[tuple[int, ...], Posterior] = {}
    for _ in range(ROUNDS):
        part = next(
            (
                candidate
                for candidate in posterior.parts
                if candidate.options not in fits and candidate.probability > WORTH_A_FIT
            ),
            None,
        )
        if part is None:
            break
        fit = task.fit(part.options, part.mean)
        fits[fit.options] = fit
        # A bad fit says little about options: its differences have errors as large.
        wide = linear.covariance * max(1.0, _misfit(task.whitened(fit.rest), fit.places)) ** 2
        steps = task.steps(fit.places, fit.options)
        around = Linear(fit.rest, fit.places, fit.options, fit.slopes, steps, wide, linear.priors)
        posteriors[fit.options] = posterior_of(around)
        posterior = posteriors[min(fits.values(), key=lambda candidate: candidate.squares).options]
    best = min(fits.values(), key=lambda candidate: candidate.squares)
    widened = max(1.0, _misfit(task.whitened(best.rest), best.places))
    known = {candidate.options: (candidate.evidence(widened), candidate.places) for candidate in fits.values()}
    return best, posteriors[best.options].with_fits(known, best.options)


def _descended(task: _Task, best: _Fit) -> tuple[_Fit, list[Across]]:
    """Return a fit with fresh slopes and the objective through the range of each coordinate; fit again if a point there
    is better."""
    task.known = []
    best = min(best, task.fit(best.options, best.places), key=lambda candidate: candidate.squares)
    best = replace(best, slopes=task.near(best.places, best.options))
    across = task.across(best.places, best.options, best.slopes)
    better = min(across, key=lambda profile: profile.least, default=None)
    if better is None or better.least >= across[0].here - BETTER:
        return best, across
    again = task.fit(best.options, better.best_start(best.places))
    if again.squares >= best.squares:
        return best, across
    return again, task.across(again.places, again.options, again.slopes)


def _misfit(whitened: Floats, places: Floats) -> float:
    """Return the ratio of the figures' errors to the expected: the root of the sum of squares, prior included, over
    their number."""
    return math.sqrt(float(whitened @ whitened + places @ places) / max(len(whitened), 1))


def _profiles(
    across: Sequence[Across], posterior: Posterior, options: tuple[int, ...], widened: float
) -> tuple[Profile, ...]:
    """Return profiles of the coordinates over all combinations of choices: that of the best, shifted for the others."""
    profiles = []
    for line in across:
        alone = profile_of(line.places, line.objectives, widened)
        best_part = next((part for part in posterior.parts if part.options == options), posterior.best)
        parts = [
            (part.probability, alone.moved(float(part.mean[line.number] - best_part.mean[line.number])))
            for part in posterior.parts
        ]
        profiles.append(mixed(parts))
    return tuple(profiles)


@dataclass(frozen=True)
class Across:
    """The objective at values of one coordinate, the fit's among them (`here` is the objective there)."""

    number: int
    places: tuple[float, ...]
    objectives: tuple[float, ...]
    here: float

    @property
    def least(self) -> float:
        """Least objective."""
        return min(self.objectives)

    def best_start(self, places: Floats) -> Floats:
        """Return the fitted point with this coordinate moved to the least objective."""
        start = places.copy()
        start[self.number] = self.places[self.objectives.index(self.least)]
        return start


def tellable(data: Data) -> tuple[list[int], list[int]]:
    """Return indices of the numbers about which the data is informative, and of the choices that move a figure."""
    left = np.sqrt(np.diag(left_of(data.slopes, data.covariance)))
    numbers = [index for index, share in enumerate(left) if share < TOLD]
    return numbers, [index for index, steps in enumerate(data.steps) if any(step.any() for step in steps)]


class _Task:
    """The least squares of some unknowns; the others keep the product's values."""

    def __init__(self, model: Model, unknowns: Unknowns, data: Data, root: Floats) -> None:
        self.model, self.unknowns, self.data, self.root = model, unknowns, data, root
        self.error = np.sqrt(2.0 * data.noise)
        self.known: list[tuple[Floats, tuple[int, ...], Floats]] = []

    def fitted(self, start: Floats, options: tuple[int, ...]) -> Floats:
        """Return the coordinates with the least sum of squares."""
        from scipy.optimize import least_squares

        if not len(start):
            return start

        def rest(places: Floats) -> Floats:
            if self.model.refusal(self.unknowns.settings(places, options)) is not None:
                return np.concatenate([np.full(len(self.data.measured), FAR), places])
            return np.concatenate([self.whitened(self.data.measured - self.predicted(places, options)), places])

        def slopes(places: Floats) -> Floats:
            return np.vstack([-np.linalg.solve(self.root, self.near(places, options)), np.eye(len(places))])

        solution = least_squares(
            rest, start, slopes, bounds=(-FARTHEST, FARTHEST), xtol=1e-2, ftol=1e-2, max_nfev=MOST_STEPS
        )
        return np.asarray(solution.x)

    def across(self, places: Floats, options: tuple[int, ...], slopes: Floats) -> list[Across]:
        """Evaluate the objective through the range of each coordinate."""
        whole = self.data.measured - self.predicted(places, options)
        errors = np.sqrt(np.diag(left_of(slopes, self.root @ self.root.T)))
        tried: list[list[tuple[float, At]]] = []
        for number, error in enumerate(errors):
            moved = [
                (coordinate, replaced(places, number, coordinate))
                for coordinate in places_of(float(places[number]), error)
            ]
            points = [(coordinate, self.at(point, options)) for coordinate, point in moved]
            tried.append([tried_point for tried_point in points if self.model.refusal(tried_point[1][0]) is None])
        self.model.at([at for points in tried for _, at in points], "uncertainty of each value")
        lines = []
        for number, points in enumerate(tried):
            others, other_places = np.delete(slopes, number, axis=1), np.delete(places, number)
            here = objective(whole, others, other_places, float(places[number]), self.root)
            values = [
                objective(self.data.measured - self._logs(at), others, other_places, coordinate, self.root)
                for coordinate, at in points
            ]
            at_places = (*(coordinate for coordinate, _ in points), float(places[number]))
            lines.append(Across(number, at_places, (*values, here), here))
        return lines

    def at(self, places: Floats, options: Sequence[int]) -> At:
        """Return the model's point of coordinates and options."""
        return self.unknowns.settings(places, options), SEED

    def predicted(self, places: Floats, options: tuple[int, ...]) -> Floats:
        """Return logarithms of the predicted figures; the measured ones if the model has none."""
        return self._logs(self.at(places, options))

    def _logs(self, at: At) -> Floats:
        [loads] = self.model.at([at], "fitting")
        logs = vector(self.data.figures, loads)
        return np.where(np.isnan(logs), self.data.measured, logs)

    def fit(self, options: tuple[int, ...], start: Floats) -> _Fit:
        """Fit with given options; the objective includes their priors."""
        places = self.fitted(np.clip(start, -FARTHEST + 0.1, FARTHEST - 0.1), options)
        rest = self.data.measured - self.predicted(places, options)
        whitened = self.whitened(rest)
        chosen = zip(self.unknowns.choices, options, strict=True)
        prior = float(places @ places) - 2.0 * sum(math.log(choice.prior[option]) for choice, option in chosen)
        slopes = self.near(places, options)
        whitened_slopes = np.linalg.solve(self.root, slopes)
        information = float(np.linalg.slogdet(np.eye(len(places)) + whitened_slopes.T @ whitened_slopes)[1])
        return _Fit(options, places, slopes, rest, float(whitened @ whitened), prior, information)

    def whitened(self, rest: Floats) -> Floats:
        """Convert differences of figures to independent standard deviations."""
        return np.asarray(np.linalg.solve(self.root, rest), dtype=np.float64)

    def near(self, places: Floats, options: tuple[int, ...]) -> Floats:
        """Return slopes at the point, or at a known point near it."""
        distances = [
            (known_options != options, float(np.abs(places - at).max(initial=0.0)), slopes)
            for at, known_options, slopes in self.known
        ]
        close = [distance for distance in distances if distance[1] < NEAR]
        if close:
            return min(close, key=lambda distance: distance[:2])[2]
        self.known.append((places.copy(), options, self.slopes(places, options)))
        return self.known[-1][2]

    def slopes(self, places: Floats, options: tuple[int, ...]) -> Floats:
        """Return the slopes by each coordinate, between two runs around the point."""
        ends = []
        for index in range(len(places)):
            low, high = places.copy(), places.copy()
            low[index] = max(places[index] - STEP, -FARTHEST)
            high[index] = min(places[index] + STEP, FARTHEST)
            for end in (low, high):
                if self.model.refusal(self.unknowns.settings(end, options)) is not None:
                    end[index] = places[index]
            ends.append((low, high))
        self.model.at([self.at(end, options) for pair in ends for end in pair], "fitting")
        columns = []
        for index, (low, high) in enumerate(ends):
            width = high[index] - low[index]
            moved = self.predicted(high, options) - self.predicted(low, options)
            columns.append(sure(moved, self.error) / width if width else np.zeros(len(moved)))
        return np.column_stack(columns) if columns else np.zeros((len(self.data.measured), 0))

    def steps(self, places: Floats, options: tuple[int, ...]) -> tuple[tuple[Floats, ...], ...]:
        """Return what each other option of each choice adds to the figures at the point."""
        here = self.predicted(places, options)
        wanted = {}
        for index, choice in enumerate(self.unknowns.choices):
            for option in range(len(choice.options)):
                chosen = (*options[:index], option, *options[index + 1 :])
                if option != options[index] and self.model.refusal(self.unknowns.settings(places, chosen)) is None:
                    wanted[index, option] = chosen
        self.model.at([self.at(places, chosen) for chosen in wanted.values()], "fitting")
        return tuple(
            tuple(
                sure(self.predicted(places, wanted[index, option]) - here, self.error)
                if (index, option) in wanted
                else np.zeros(len(here))
                for option in range(len(choice.options))
            )
            for index, choice in enumerate(self.unknowns.choices)
        )


def replaced(places: Floats, number: int, coordinate: float) -> Floats:
    """Return a point with one coordinate replaced."""
    moved = places.copy()
    moved[number] = coordinate
    return moved
