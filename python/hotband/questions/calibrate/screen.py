"""Screening: effects of each uncertain value on each figure of each load, by finite differences of the model.

Every number moves by a standard deviation to either side of the middle of its range, every choice to its other options,
one at a time. A difference within chance counts as none.

Left out: values that act together, until the fit runs the model at its points.
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
"""A percentile jumps if a number moves it by at least this much on one side of the middle and by less than this share
on the other, and this many numbers do. A single one may be a limit that applies on one side."""
SEEDS = 12
"""Runs that differ only in the seed: they determine standard deviations to a fifth."""
SEED, BETWEEN_SEEDS = 1, 1000
STEP = 1.0
SURE = 2.0
"""Standard errors from which a difference counts (those of independent runs, although runs share the seed)."""
TO_DIAGONAL = 0.2
"""Share of the covariance of a dozen runs, which has a low rank, that moves to its diagonal (shrinkage, Ledoit and Wolf
2004)."""
SCALED = {"mean": 0.01, "p50": 0.02, "p99": 0.04}
"""Standard deviation of figures of solid-state drives at a fraction of their size, in shares: between 1/256 and 1/8 of
a drive of 960 GB, rates moved by 1 %, percentiles by 4 % (docs/guides/calibrate.md)."""
IN_COMMON = 0.5
"""Share of that variance that is common to all figures of reads, or of writes: the frequency of garbage collection in
every load. An estimate."""
UNSTABLE = 0.10
"""Most deviation of a figure's logarithm between seeds: a percentile between two modes varies more and is not used."""


@dataclass(frozen=True)
class Screened:
    """Figures of loads and their sensitivity: `base` has their logarithms, `slopes` a column for each coordinate of the
    unknowns, `steps` the effects of each option of each choice. `noise` is their covariance between seeds in runs of
    `counts` I/Os. `refused` has values that the product cannot have, with the reason. `is_scaled`: the drive was
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
        """Return the indices of the figures of some loads."""
        return [index for index, figure in enumerate(self.figures) if figure.load in set(loads)]


def screen(model: Model, unknowns: Unknowns) -> Screened:
    """Find the values that move the figures of a model's loads. Raises UserError, RunsInterrupted."""
    middle, as_it_is = np.zeros(len(unknowns.numbers)), [0] * len(unknowns.choices)
    seeds = [(unknowns.settings(middle, as_it_is), SEED + n * BETWEEN_SEEDS) for n in range(SEEDS)]
    sides, options, refused = _points(model, unknowns)
    model.at([*seeds, *sides.values(), *options.values()], "screening of the values")
    runs = model.at(seeds, "")
    figures, noise = stable(runs)
    both = [index for index in range(len(unknowns.numbers)) if {(index, -STEP), (index, STEP)} <= set(sides)]
    pairs = [model.at([sides[index, -STEP], sides[index, STEP]], "") for index in both]
    steady = [index for index, jumps in enumerate(jumping(figures, runs[0], pairs)) if not jumps]
    figures, noise = [figures[index] for index in steady], noise[np.ix_(steady, steady)]
    base = vector(figures, runs[0])
    error = np.sqrt(2.0 * np.diag(noise))
    slopes = np.zeros((len(figures), len(unknowns.numbers)))
    for index in range(len(unknowns.numbers)):
        ends = [end for end in (-STEP, STEP) if (index, end) in sides]
        at = {end: vector(figures, model.at([sides[index, end]], "")[0]) for end in ends}
        if len(ends) == 2:
            slopes[:, index] = sure(at[STEP] - at[-STEP], error) / (2 * STEP)
        elif ends:
            slopes[:, index] = sure(at[ends[0]] - base, error) / ends[0]
    steps = tuple(
        tuple(
            sure(vector(figures, model.at([options[choice_index, option]], "")[0]) - base, error)
            if (choice_index, option) in options
            else np.zeros(len(figures))
            for option in range(len(choice.options))
        )
        for choice_index, choice in enumerate(unknowns.choices)
    )
    rates = tuple(seen.iops for seen in runs[0])
    ios = counts(figures, runs[0])
    return Screened(unknowns, tuple(figures), base, slopes, steps, noise, ios, rates, refused, model.is_scaled)


def _points(
    model: Model, unknowns: Unknowns
) -> tuple[dict[tuple[int, float], At], dict[tuple[int, int], At], dict[str, str]]:
    """Return the points on either side of each number and of every other option of each choice, and refused values."""
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
    """Return the figures that all runs have and that vary little between seeds, and their covariance between seeds.
    Figures of different loads are independent."""
    candidates = [
        figure
        for figure in figures_of(runs[0])
        if all((figure.side, figure.name) in run[figure.load].logs for run in runs)
    ]
    values = np.array([vector(candidates, run) for run in runs])
    steady = [index for index, deviation in enumerate(values.std(axis=0, ddof=1)) if deviation <= UNSTABLE]
    figures = [candidates[index] for index in steady]
    noise = np.atleast_2d(np.cov(values[:, steady], rowvar=False)) * (1 - TO_DIAGONAL)
    noise[np.diag_indices(len(steady))] /= 1 - TO_DIAGONAL
    loads = np.array([figure.load for figure in figures])
    return figures, np.where(loads[:, None] == loads[None, :], noise, 0.0)


def jumping(figures: Sequence[Figure], middle: Sequence[Seen], pairs: Sequence[Sequence[Sequence[Seen]]]) -> list[bool]:
    """Return for each figure whether it jumps: a percentile that several numbers move on one side of the middle only,
    because it changes from one mode of the latency to the next. `pairs` are the runs on either side."""
    base = vector(figures, middle)
    one_sided = np.zeros(len(figures))
    for low, high in pairs:
        moved = np.sort(np.nan_to_num(np.abs([vector(figures, low) - base, vector(figures, high) - base])), axis=0)
        one_sided += (moved[1] > JUMP) & (moved[0] < moved[1] * OTHER_SIDE)
    return [figure.name != "mean" and bool(count >= JUMPS) for figure, count in zip(figures, one_sided, strict=True)]


def sure(difference: Floats, error: Floats) -> Floats:
    """Return differences beyond chance, zero for others."""
    return np.asarray(np.where(np.abs(np.nan_to_num(difference)) > SURE * error, np.nan_to_num(difference), 0.0))


def counts(figures: Sequence[Figure], loads: Sequence[Seen]) -> Floats:
    """Return the number of I/Os behind each figure."""
    return np.array([loads[figure.load].counts[figure.side] for figure in figures], dtype=float)


def floors(figures: Sequence[Figure]) -> Floats:
    """Return the least variance of each figure."""
    return np.array([FLOORS[figure.name] ** 2 for figure in figures])


def covariance(screened: Screened, rows: Sequence[int], measured: Floats) -> Floats:
    """Return the covariance of measured less predicted figures with `measured` I/Os each: chance on both sides, the
    least error of a figure, and the error of the model size."""
    ratio = np.sqrt(screened.counts[rows] / np.maximum(measured, 1.0))
    noise = screened.noise[np.ix_(rows, rows)]
    figures = [screened.figures[row] for row in rows]
    least = floors(figures)
    scaled = np.array([SCALED[figure.name] if screened.is_scaled else 0.0 for figure in figures])
    sides = np.array([figure.side for figure in figures])
    alike = np.where(sides[:, None] == sides[None, :], IN_COMMON, 0.0)
    alike[np.diag_indices(len(figures))] = 1.0
    return np.asarray(noise * np.outer(ratio, ratio) + noise + np.diag(least) + np.outer(scaled, scaled) * alike)
