"""Screening: what each uncertain value does to each figure of each load, by finite differences of the model.

Every number is moved to a standard deviation on either side of the middle of its range, every choice to its other
options, one at a time. A difference that chance could make is none.

What it leaves out: values that act together, until the fit runs the model where it has got to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hotband.questions.calibrate.figures import FLOORS, Figure, Seen, figures_of, vector

if TYPE_CHECKING:
    from hotband.base.arrays import Floats
    from hotband.questions.calibrate.model import At, Model
    from hotband.questions.calibrate.unknowns import Unknowns


JUMP, OTHER_SIDE, JUMPS = 0.05, 0.25, 2
"""A percentile jumps where a number moves it by so much on one side of the middle and by less than this share of it on
the other, and so many numbers do. One alone may be a limit that is met on one side."""
SEEDS = 12
"""Runs that differ in nothing but the seed: standard deviations are then known to a fifth."""
SEED, BETWEEN_SEEDS = 1, 1000
STEP = 1.0
SURE = 2.0
"""A difference counts from so many of its own standard errors on (of two runs as if they had nothing in common: with
the same seed they have)."""
TO_DIAGONAL = 0.2
"""Of the covariance of a dozen runs, which has next to no rank, so much is put on its diagonal (Ledoit and Wolf 2004:
shrunk towards what is simple)."""
SCALED = {"mean": 0.01, "p50": 0.02, "p99": 0.04}
"""Standard deviation of figures of solid-state drives that are simulated at a fraction of their size, in shares:
between a 256th and an eighth of one of 960 GB, rates moved by 1 %, percentiles by 4 % (docs/guides/calibrate.md)."""
IN_COMMON = 0.5
"""Of the variance of that so much is one error of all figures of reads, or of writes: garbage is collected more or less
often in every load. An estimate."""
UNSTABLE = 0.10
"""A figure of which the logarithm varies by more between seeds is not used: a percentile between two modes."""


@dataclass(frozen=True)
class Screened:
    """Figures of loads with what moves them: `base` their logarithms, `slopes` by the coordinates of the unknowns, a
    column each, `steps` what each option of each choice adds. `noise` is their covariance between seeds in runs of
    `counts` I/Os. `refused` has what the product cannot have, with the reason. `is_scaled` says that the drive was
    simulated at a fraction of its size."""

    unknowns: Unknowns
    figures: tuple[Figure, ...]
    base: Floats
    slopes: Floats
    steps: tuple[tuple[Floats, ...], ...]
    noise: Floats
    counts: Floats
    rates: tuple[float, ...]
    refused: dict[str, str]
    is_scaled: bool = False

    def rows(self, loads: Sequence[int]) -> list[int]:
        """Places of the figures of some loads."""
        return [index for index, one in enumerate(self.figures) if one.load in set(loads)]


def screen(model: Model, unknowns: Unknowns) -> Screened:
    """What moves the figures of a model's loads. Raises UserError, RunsInterrupted."""
    middle, as_it_is = np.zeros(len(unknowns.numbers)), [0] * len(unknowns.choices)
    seeds = [(unknowns.settings(middle, as_it_is), SEED + n * BETWEEN_SEEDS) for n in range(SEEDS)]
    sides, options, refused = _points(model, unknowns)
    model.at([*seeds, *sides.values(), *options.values()], "which values can be told")
    runs = model.at(seeds, "")
    figures, noise = stable(runs)
    both = [place for place in range(len(unknowns.numbers)) if {(place, -STEP), (place, STEP)} <= set(sides)]
    pairs = [model.at([sides[place, -STEP], sides[place, STEP]], "") for place in both]
    kept = [place for place, jumps in enumerate(jumping(figures, runs[0], pairs)) if not jumps]
    figures, noise = [figures[place] for place in kept], noise[np.ix_(kept, kept)]
    base = vector(figures, runs[0])
    error = np.sqrt(2.0 * np.diag(noise))
    slopes = np.zeros((len(figures), len(unknowns.numbers)))
    for place in range(len(unknowns.numbers)):
        ends = [end for end in (-STEP, STEP) if (place, end) in sides]
        at = {end: vector(figures, model.at([sides[place, end]], "")[0]) for end in ends}
        if len(ends) == 2:
            slopes[:, place] = sure(at[STEP] - at[-STEP], error) / (2 * STEP)
        elif ends:
            slopes[:, place] = sure(at[ends[0]] - base, error) / ends[0]
    steps = tuple(
        tuple(
            sure(vector(figures, model.at([options[place, option]], "")[0]) - base, error)
            if (place, option) in options
            else np.zeros(len(figures))
            for option in range(len(choice.options))
        )
        for place, choice in enumerate(unknowns.choices)
    )
    rates = tuple(one.iops for one in runs[0])
    ios = counts(figures, runs[0])
    return Screened(unknowns, tuple(figures), base, slopes, steps, noise, ios, rates, refused, model.is_scaled)


def _points(
    model: Model, unknowns: Unknowns
) -> tuple[dict[tuple[int, float], At], dict[tuple[int, int], At], dict[str, str]]:
    """The points on either side of each number and of every other option of each choice, and what is refused."""
    sides: dict[tuple[int, float], At] = {}
    options: dict[tuple[int, int], At] = {}
    refused: dict[str, str] = {}
    as_it_is = [0] * len(unknowns.choices)
    for index, number in enumerate(unknowns.numbers):
        for end in (-STEP, STEP):
            moved = np.zeros(len(unknowns.numbers))
            moved[index] = end
            settings = unknowns.settings(moved, as_it_is)
            why = model.refusal(settings)
            if why is None:
                sides[index, end] = (settings, SEED)
            else:
                refused[number.name] = why
    for index, choice in enumerate(unknowns.choices):
        for option in range(1, len(choice.options)):
            chosen = list(as_it_is)
            chosen[index] = option
            settings = unknowns.settings(np.zeros(len(unknowns.numbers)), chosen)
            why = model.refusal(settings)
            if why is None:
                options[index, option] = (settings, SEED)
            else:
                refused[choice.name] = why
    return sides, options, refused


def stable(runs: Sequence[Sequence[Seen]]) -> tuple[list[Figure], Floats]:
    """The figures that all runs have and that vary little between seeds, and their covariance between seeds. Figures of
    different loads have nothing in common but chance."""
    found = [one for one in figures_of(runs[0]) if all((one.side, one.name) in run[one.load].logs for run in runs)]
    values = np.array([vector(found, run) for run in runs])
    kept = [place for place, deviation in enumerate(values.std(axis=0, ddof=1)) if deviation <= UNSTABLE]
    figures = [found[place] for place in kept]
    noise = np.atleast_2d(np.cov(values[:, kept], rowvar=False)) * (1 - TO_DIAGONAL)
    noise[np.diag_indices(len(kept))] /= 1 - TO_DIAGONAL
    loads = np.array([figure.load for figure in figures])
    return figures, np.where(loads[:, None] == loads[None, :], noise, 0.0)


def jumping(figures: Sequence[Figure], middle: Sequence[Seen], pairs: Sequence[Sequence[Sequence[Seen]]]) -> list[bool]:
    """Which figures jump: percentiles that several numbers move on one side of the middle only, as they do where the
    latency has several values and a percentile goes from one to the next. `pairs` are the runs on either side."""
    base = vector(figures, middle)
    one_sided = np.zeros(len(figures))
    for low, high in pairs:
        moved = np.sort(np.nan_to_num(np.abs([vector(figures, low) - base, vector(figures, high) - base])), axis=0)
        one_sided += (moved[1] > JUMP) & (moved[0] < moved[1] * OTHER_SIDE)
    return [one.name != "mean" and bool(count >= JUMPS) for one, count in zip(figures, one_sided, strict=True)]


def sure(difference: Floats, error: Floats) -> Floats:
    """Differences that chance does not make, and that are more than nothing."""
    return np.asarray(np.where(np.abs(np.nan_to_num(difference)) > SURE * error, np.nan_to_num(difference), 0.0))


def counts(figures: Sequence[Figure], loads: Sequence[Seen]) -> Floats:
    """I/Os behind each figure."""
    return np.array([loads[figure.load].counts[figure.side] for figure in figures], dtype=float)


def floors(figures: Sequence[Figure]) -> Floats:
    """The least variance of each figure."""
    return np.array([FLOORS[figure.name] ** 2 for figure in figures])


def covariance(screened: Screened, rows: Sequence[int], measured: Floats) -> Floats:
    """The covariance of measured less predicted of some figures, of which so many I/Os each were `measured`: chance on
    both sides, what no figure is better than, and what the size that is simulated does."""
    ratio = np.sqrt(screened.counts[rows] / np.maximum(measured, 1.0))
    noise = screened.noise[np.ix_(rows, rows)]
    figures = [screened.figures[row] for row in rows]
    least = floors(figures)
    scaled = np.array([SCALED[figure.name] if screened.is_scaled else 0.0 for figure in figures])
    sides = np.array([figure.side for figure in figures])
    alike = np.where(sides[:, None] == sides[None, :], IN_COMMON, 0.0)
    alike[np.diag_indices(len(figures))] = 1.0
    return np.asarray(noise * np.outer(ratio, ratio) + noise + np.diag(least) + np.outer(scaled, scaled) * alike)
