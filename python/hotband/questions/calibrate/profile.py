"""How far each coordinate is known where the model is no straight line: its profile, by runs across its range.

The coordinate is moved through its range, everything else as it was fitted; at each place the others then give way as
the slopes at the fit say. The square root of the difference of the objective to its least is a normal deviation
(Laplace's marginal, Tierney and Kadane 1986, without the change of the determinant). A straight line through it between
the places gives the density, the density the interval.

What it leaves out: curvature of figures in the other coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hotband.questions.calibrate.unknowns import FARTHEST

if TYPE_CHECKING:
    from hotband.base.arrays import Floats


ACROSS = (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)
AROUND = (-2.0, -1.0, 1.0, 2.0)
"""Places that are run: across the range, and so many standard errors around the fit."""
SHARP = 0.3
"""Of a value that is known this well only the outer places across the range are run."""
FINE = 1201
NEAREST = 0.02
"""Places closer than this to one another are one."""


@dataclass(frozen=True)
class Profile:
    """The density of a coordinate at `places` (evenly spaced), which sums to 1."""

    places: Floats
    density: Floats

    def moved(self, by: float) -> Profile:
        """The same, farther on."""
        return Profile(self.places, np.interp(self.places, self.places + by, self.density, left=0.0, right=0.0))

    def quantile(self, share: float) -> float:
        """The place below which that share lies."""
        return float(np.interp(share, np.cumsum(self.density), self.places))

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        mean = float(self.places @ self.density)
        return float(np.sqrt((self.places - mean) ** 2 @ self.density))


def places_of(fitted: float, error: float) -> list[float]:
    """Where a coordinate that was fitted is run."""
    across = [place for place in ACROSS if error > SHARP or abs(place) > 1.0]
    wanted = [*across, *(fitted + step * error for step in AROUND)]
    found: list[float] = []
    for place in sorted(min(max(one, -FARTHEST), FARTHEST) for one in wanted):
        if abs(place - fitted) > NEAREST and (not found or place - found[-1] > NEAREST):
            found.append(place)
    return found


def objective(rest: Floats, slopes: Floats, others: Floats, own: float, root: Floats) -> float:
    """The least sum of squares at a place of one coordinate, where `rest` is measured less predicted there and the
    `others`, with these slopes, may move from where they are."""
    whitened = np.concatenate([np.linalg.solve(root, rest), -others])
    design = np.vstack([np.linalg.solve(root, slopes), np.eye(len(others))])
    if design.shape[1]:
        moved, *_ = np.linalg.lstsq(design, whitened, rcond=None)
        whitened = whitened - design @ moved
    return float(whitened @ whitened) + own**2


def profile_of(places: Sequence[float], objectives: Sequence[float], widened: float) -> Profile:
    """The density through objectives at places, the fit among them; without the prior's part they are divided by the
    square of `widened`. Beyond the last place it goes on as the prior."""
    order = np.argsort(places)
    at, values = np.asarray(places)[order], np.asarray(objectives)[order]
    misfit = (values - at**2) / widened**2
    fine = np.linspace(-FARTHEST - 1, FARTHEST + 1, FINE)
    # A parabola in a deviation is a straight line of its signed root.
    least = int(np.argmin(misfit))
    root = np.sqrt(np.maximum(misfit - misfit[least], 0.0)) * np.where(at < at[least], -1.0, 1.0)
    log = -0.5 * (np.interp(fine, at, root) ** 2 + fine**2)
    density = np.exp(log - log.max())
    return Profile(fine, density / density.sum())


def mixed(profiles: Sequence[tuple[float, Profile]]) -> Profile:
    """Profiles with their probabilities as one."""
    density = sum((weight * one.density for weight, one in profiles), np.zeros(FINE))
    return Profile(profiles[0][1].places, density / density.sum())
