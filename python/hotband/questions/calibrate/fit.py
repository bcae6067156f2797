"""The fit: values for which the model gives what was measured, and how far they are known.

Maximum a posteriori by least squares (scipy's trust region): the figures' differences, whitened by their covariance,
and the coordinates themselves, which are the prior. The model is run at every step; slopes are differences of runs with
the same seed. Choices are settled between fits by the posterior of the linear model, with steps from runs at the fitted
point. How far a value is known says its profile; where figures lie farther off than their covariance says, it is
widened by the same factor (Birge 1932).

What it leaves out: a posterior with several separate peaks of the same choices.
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
"""Half of the distance between the two runs that a slope is of, in standard deviations of the prior."""
NEAR = 0.75
"""Slopes are taken over from a point that is nearer than this in every coordinate, while combinations of choices are
compared also from one of other options: where a fit ends does not depend on them, only how fast it gets there."""
MOST_STEPS = 6
ROUNDS = 8
"""Fits at most, each with other choices."""
CURVED = 0.2
"""The error of slopes from the screening, as a share of them, before the first fit."""
WORTH_A_FIT = 0.03
"""Combinations of choices that are less likely are not fitted."""
OUTLIER = 4.0
MOST_OUTLIERS = 0.4
"""Figures so many deviations off are outliers, unless so large a share of all is: then it is the model."""
TOLD = 0.95
"""Values whose deviation is expected to stay above this share of the prior's are not fitted."""
BETTER = 2.0
"""A point whose objective is lower by more than this, seen while profiles were made, is fitted from again."""
FAR = 30.0
"""The difference of a figure, in deviations, at values that the product cannot have."""


@dataclass(frozen=True)
class Data:
    """What was measured of which figures, with slopes and steps from the screening for a start. `noise` is the
    variance of each figure between seeds of the model."""

    figures: tuple[Figure, ...]
    measured: Floats
    covariance: Floats
    slopes: Floats
    steps: tuple[tuple[Floats, ...], ...]
    base: Floats
    noise: Floats


@dataclass(frozen=True)
class Fitted:
    """The unknowns that were fitted (places in the product's list), where they are, and what is known of them.
    `rest` are the differences of figures in standard deviations, `misfit` is the factor by which they are larger than
    expected."""

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
    """Fits what the data can tell; what no values explain is then trusted less, and the rest is fitted again. Raises
    UserError, RunsInterrupted."""
    numbers, choices = tellable(data)
    idle = [place for place in range(data.slopes.shape[1]) if place not in numbers]
    # What is not fitted varies too.
    covariance = data.covariance + data.slopes[:, idle] @ data.slopes[:, idle].T
    steps = tuple(data.steps[place] for place in choices)
    priors = tuple(unknowns.choices[place].prior for place in choices)
    middle, as_it_is = np.zeros(len(numbers)), (0,) * len(choices)
    linear = Linear(data.measured - data.base, middle, as_it_is, data.slopes[:, numbers], steps, covariance, priors)
    task = _Task(model, unknowns.only(numbers, choices), data, _root(covariance))
    best, posterior = _searched(task, linear)
    deviations = np.sqrt(np.diag(covariance))
    far = np.abs(best.rest) > OUTLIER * deviations
    if far.any() and np.mean(far) <= MOST_OUTLIERS:
        # As in iterated reweighting: an error of its own, as large as the difference (Huber and Ronchetti 2009,
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
    """A fit with these options: where it ended, what is left there, its square in standard deviations, what the prior
    adds, and the logarithm of the determinant of the information on the coordinates."""

    options: tuple[int, ...]
    places: Floats
    slopes: Floats
    rest: Floats
    off: float
    prior: float
    information: float

    @property
    def squares(self) -> float:
        """What a fit makes least."""
        return self.off + self.prior

    def evidence(self, widened: float) -> float:
        """Logarithm of how likely the choices are (Laplace), where figures are off by so many times their deviation."""
        return -0.5 * (self.off / widened**2 + self.prior + self.information)


def _searched(task: _Task, linear: Linear, start: _Fit | None = None) -> tuple[_Fit, Posterior]:
    """The best fit over combinations of choices: those that the fits before make likely are fitted, too. From a fit
    with another covariance on, if there is one."""
    if start is None:
        # Slopes hold around the middle of the ranges: what they say of values far from it has an error.
        curved = np.diag(CURVED**2 * (linear.slopes**2).sum(axis=1))
        posterior = posterior_of(replace(linear, covariance=linear.covariance + curved))
    else:
        posterior = Posterior((Part(start.options, 1.0, start.places, np.eye(len(start.places))),))
    fits: dict[tuple[int, ...], _Fit] = {}
    found: dict[tuple[int, ...], Posterior] = {}
    for _ in range(ROUNDS):
        part = next((one for one in posterior.parts if one.options not in fits and one.probability > WORTH_A_FIT), None)
        if part is None:
            break
        fit = task.fit(part.options, part.mean)
        fits[fit.options] = fit
        # A fit that is far off says little of which option is right: its differences have errors as large.
        wide = linear.covariance * max(1.0, _misfit(task.whitened(fit.rest), fit.places)) ** 2
        steps = task.steps(fit.places, fit.options)
        around = Linear(fit.rest, fit.places, fit.options, fit.slopes, steps, wide, linear.priors)
        found[fit.options] = posterior_of(around)
        posterior = found[min(fits.values(), key=lambda one: one.squares).options]
    best = min(fits.values(), key=lambda one: one.squares)
    widened = max(1.0, _misfit(task.whitened(best.rest), best.places))
    known = {one.options: (one.evidence(widened), one.places) for one in fits.values()}
    return best, found[best.options].with_fits(known, best.options)


def _descended(task: _Task, best: _Fit) -> tuple[_Fit, list[Across]]:
    """A fit with slopes of its own and the objective through the range of each coordinate; fitted again where that goes
    below it."""
    task.known = []
    best = min(best, task.fit(best.options, best.places), key=lambda one: one.squares)
    best = replace(best, slopes=task.near(best.places, best.options))
    across = task.across(best.places, best.options, best.slopes)
    better = min(across, key=lambda one: one.least, default=None)
    if better is None or better.least >= across[0].here - BETTER:
        return best, across
    again = task.fit(best.options, better.best_start(best.places))
    if again.squares >= best.squares:
        return best, across
    return again, task.across(again.places, again.options, again.slopes)


def _misfit(whitened: Floats, places: Floats) -> float:
    """How much farther figures are off than expected: the root of the sum of squares, the prior's part in it, over
    their number."""
    return math.sqrt(float(whitened @ whitened + places @ places) / max(len(whitened), 1))


def _profiles(
    across: Sequence[Across], posterior: Posterior, options: tuple[int, ...], widened: float
) -> tuple[Profile, ...]:
    """Profiles of the coordinates over all combinations of choices: that of the best, moved as others have it."""
    found = []
    for one in across:
        alone = profile_of(one.places, one.objectives, widened)
        own = next((part for part in posterior.parts if part.options == options), posterior.best)
        parts = [
            (part.probability, alone.moved(float(part.mean[one.number] - own.mean[one.number])))
            for part in posterior.parts
        ]
        found.append(mixed(parts))
    return tuple(found)


@dataclass(frozen=True)
class Across:
    """The objective at places of one coordinate, the fit's among them (`here` is the objective there)."""

    number: int
    places: tuple[float, ...]
    objectives: tuple[float, ...]
    here: float

    @property
    def least(self) -> float:
        """The least objective."""
        return min(self.objectives)

    def best_start(self, places: Floats) -> Floats:
        """The fitted point with this coordinate where the objective was least."""
        start = places.copy()
        start[self.number] = self.places[self.objectives.index(self.least)]
        return start


def tellable(data: Data) -> tuple[list[int], list[int]]:
    """Places of the numbers of which the data is expected to tell something, and of the choices that move a figure."""
    left = np.sqrt(np.diag(left_of(data.slopes, data.covariance)))
    numbers = [index for index, share in enumerate(left) if share < TOLD]
    return numbers, [index for index, steps in enumerate(data.steps) if any(step.any() for step in steps)]


class _Task:
    """The least squares of some unknowns; the others are as the product has them."""

    def __init__(self, model: Model, unknowns: Unknowns, data: Data, root: Floats) -> None:
        self.model, self.unknowns, self.data, self.root = model, unknowns, data, root
        self.error = np.sqrt(2.0 * data.noise)
        self.known: list[tuple[Floats, tuple[int, ...], Floats]] = []

    def fitted(self, start: Floats, options: tuple[int, ...]) -> Floats:
        """The coordinates for which the sum of squares is least."""
        from scipy.optimize import least_squares

        if not len(start):
            return start

        def rest(places: Floats) -> Floats:
            if self.model.refusal(self.unknowns.settings(places, options)) is not None:
                return np.concatenate([np.full(len(self.data.measured), FAR), places])
            return np.concatenate([self.whitened(self.data.measured - self.predicted(places, options)), places])

        def slopes(places: Floats) -> Floats:
            return np.vstack([-np.linalg.solve(self.root, self.near(places, options)), np.eye(len(places))])

        found = least_squares(
            rest, start, slopes, bounds=(-FARTHEST, FARTHEST), xtol=1e-2, ftol=1e-2, max_nfev=MOST_STEPS
        )
        return np.asarray(found.x)

    def across(self, places: Floats, options: tuple[int, ...], slopes: Floats) -> list[Across]:
        """The objective through the range of each coordinate."""
        whole = self.data.measured - self.predicted(places, options)
        errors = np.sqrt(np.diag(left_of(slopes, self.root @ self.root.T)))
        tried: list[list[tuple[float, At]]] = []
        for number, error in enumerate(errors):
            moved = [(place, replaced(places, number, place)) for place in places_of(float(places[number]), error)]
            points = [(place, self.at(point, options)) for place, point in moved]
            tried.append([one for one in points if self.model.refusal(one[1][0]) is None])
        self.model.at([at for points in tried for _, at in points], "how far each value is known")
        found = []
        for number, points in enumerate(tried):
            others, own = np.delete(slopes, number, axis=1), np.delete(places, number)
            here = objective(whole, others, own, float(places[number]), self.root)
            values = [
                objective(self.data.measured - self._logs(at), others, own, place, self.root) for place, at in points
            ]
            at_places = (*(place for place, _ in points), float(places[number]))
            found.append(Across(number, at_places, (*values, here), here))
        return found

    def at(self, places: Floats, options: Sequence[int]) -> At:
        """The point of coordinates and options."""
        return self.unknowns.settings(places, options), SEED

    def predicted(self, places: Floats, options: tuple[int, ...]) -> Floats:
        """Logarithms of the figures; as measured where the model has none."""
        return self._logs(self.at(places, options))

    def _logs(self, at: At) -> Floats:
        [loads] = self.model.at([at], "fitting")
        found = vector(self.data.figures, loads)
        return np.where(np.isnan(found), self.data.measured, found)

    def fit(self, options: tuple[int, ...], start: Floats) -> _Fit:
        """The fit with these options, its sum of squares with what they cost by their priors."""
        places = self.fitted(np.clip(start, -FARTHEST + 0.1, FARTHEST - 0.1), options)
        rest = self.data.measured - self.predicted(places, options)
        whitened = self.whitened(rest)
        chosen = zip(self.unknowns.choices, options, strict=True)
        prior = float(places @ places) - 2.0 * sum(math.log(choice.prior[option]) for choice, option in chosen)
        slopes = self.near(places, options)
        told = np.linalg.solve(self.root, slopes)
        information = float(np.linalg.slogdet(np.eye(len(places)) + told.T @ told)[1])
        return _Fit(options, places, slopes, rest, float(whitened @ whitened), prior, information)

    def whitened(self, rest: Floats) -> Floats:
        """Differences of figures as so many standard deviations, independent of one another."""
        return np.asarray(np.linalg.solve(self.root, rest), dtype=np.float64)

    def near(self, places: Floats, options: tuple[int, ...]) -> Floats:
        """Slopes at the point, or those of one near it."""
        distances = [
            (of != options, float(np.abs(places - at).max(initial=0.0)), slopes) for at, of, slopes in self.known
        ]
        close = [distance for distance in distances if distance[1] < NEAR]
        if close:
            return min(close, key=lambda one: one[:2])[2]
        self.known.append((places.copy(), options, self.slopes(places, options)))
        return self.known[-1][2]

    def slopes(self, places: Floats, options: tuple[int, ...]) -> Floats:
        """By each coordinate, between two runs around the point."""
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
        """What each other option of each choice adds at the point."""
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


def replaced(places: Floats, number: int, place: float) -> Floats:
    """A point with one coordinate elsewhere."""
    moved = places.copy()
    moved[number] = place
    return moved
