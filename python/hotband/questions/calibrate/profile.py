"""The uncertainty of each coordinate of a nonlinear model: its profile, by runs across its range.

The coordinate moves through its range, everything else stays as fitted; at each point the others then adapt by the
slopes at the fit. The square root of the difference of the objective to its least is a normal deviation (Laplace's
marginal, Tierney and Kadane 1986, without the change of the determinant). Linear interpolation between the points gives
the density, the density the interval.

Left out: curvature of figures in the other coordinates.
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
"""Points that are run: across the range, and at these standard errors around the fit."""
SHARP = 0.3
"""Standard error up to which only the outer points across the range are run."""
FINE = 1201
NEAREST = 0.02
"""Points closer together than this are one."""


@dataclass(frozen=True)
class Profile:
    """The density of a coordinate at `places` (evenly spaced), which sums to 1."""

    places: Floats
    density: Floats

    def moved(self, by: float) -> Profile:
        """Return the profile, shifted."""
        return Profile(self.places, np.interp(self.places, self.places + by, self.density, left=0.0, right=0.0))

    def quantile(self, share: float) -> float:
        """Return the coordinate below which a share lies."""
        return float(np.interp(share, np.cumsum(self.density), self.places))

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        mean = float(self.places @ self.density)
        return float(np.sqrt((self.places - mean) ** 2 @ self.density))


def places_of(fitted: float, error: float) -> list[float]:
    """Return the points at which a fitted coordinate is run."""
    across = [coordinate for coordinate in ACROSS if error > SHARP or abs(coordinate) > 1.0]
    wanted = [*across, *(fitted + step * error for step in AROUND)]
    chosen: list[float] = []
    for coordinate in sorted(min(max(coordinate, -FARTHEST), FARTHEST) for coordinate in wanted):
        if abs(coordinate - fitted) > NEAREST and (not chosen or coordinate - chosen[-1] > NEAREST):
            chosen.append(coordinate)
    return chosen


def objective(rest: Floats, slopes: Floats, others: Floats, coordinate: float, root: Floats) -> float:
    """Return the least sum of squares at a value of one coordinate: `rest` is measured less predicted there, and the
    `others` may move from their values by these slopes."""
    whitened = np.concatenate([np.linalg.solve(root, rest), -others])
    design = np.vstack([np.linalg.solve(root, slopes), np.eye(len(others))])
    if design.shape[1]:
        moved, *_ = np.linalg.lstsq(design, whitened, rcond=None)
        whitened = whitened - design @ moved
    return float(whitened @ whitened) + coordinate**2


def profile_of(places: Sequence[float], objectives: Sequence[float], widened: float) -> Profile:
    """Return the density through objectives at points, the fit among them; their part without the prior is divided by
    the square of `widened`. Beyond the last point it follows the prior."""
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
    """Mix profiles by their probabilities."""
    density = sum((weight * profile.density for weight, profile in profiles), np.zeros(FINE))
    return Profile(profiles[0][1].places, density / density.sum())
