"""The measurements of each load of a plan, and the spread of their repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hotband.questions.calibrate.figures import Figure, Seen, means, vector
from hotband.questions.calibrate.fit import Data
from hotband.questions.calibrate.screen import Screened, covariance, floors

if TYPE_CHECKING:
    from hotband.questions.calibrate.loads import Measurement


STEP_SHARE = 1 / 3
"""Share of the least variance of a figure that steps of a histogram cause between repeats; all repeats share the
rest."""


@dataclass(frozen=True)
class Measured:
    """A load with the figures of each of its runs."""

    load: Measurement
    runs: tuple[Seen, ...]
    notes: tuple[str, ...] = ()


def data_of(
    screened: Screened, measured: Sequence[Measured], places: Sequence[int], path_ns: float = 0.0
) -> tuple[Data, float]:
    """Return the data of the fit: figures both measured and modelled, of loads at these `places` among the screened
    ones; and the factor by which repeats vary more than seeds. `path_ns` is the possible delay between the program and
    the target (a host, a network), equal for all latencies."""
    index = {index_of_load: number for number, index_of_load in enumerate(places)}
    rows, figures = [], []
    for row, figure in enumerate(screened.figures):
        load = index.get(figure.load)
        if load is not None and all((figure.side, figure.name) in run.logs for run in measured[load].runs):
            rows.append(row)
            figures.append(Figure(load, figure.side, figure.name))
    joined = [means(load_measured.runs) for load_measured in measured]
    counts = np.array([joined[figure.load].counts[figure.side] for figure in figures], dtype=float)
    spread = _spread(screened, rows, figures, measured)
    repeats = np.array([len(measured[figure.load].runs) for figure in figures])
    hardware = np.diag(screened.noise)[rows] * screened.counts[rows] / np.maximum(counts, 1.0)
    more = max(spread - 1.0, 0.0) * (hardware + STEP_SHARE * floors(figures) / repeats)
    added = path_ns * np.exp(-screened.base[rows])
    data = Data(
        tuple(figures),
        vector(figures, joined),
        covariance(screened, rows, counts) + np.diag(more) + np.outer(added, added),
        screened.slopes[rows],
        tuple(tuple(step[rows] for step in steps) for steps in screened.steps),
        screened.base[rows],
        np.diag(screened.noise)[rows],
    )
    return data, spread


def _spread(screened: Screened, rows: Sequence[int], figures: Sequence[Figure], measured: Sequence[Measured]) -> float:
    """Return the ratio of the variance of repeats to the expected; 1 without repeats."""
    ratios = []
    least = floors(figures)
    for row, figure, floor in zip(rows, figures, least, strict=True):
        runs = measured[figure.load].runs
        if len(runs) < 2:
            continue
        values = [run.logs[figure.side, figure.name] for run in runs]
        count = np.mean([run.counts[figure.side] for run in runs])
        expected = screened.noise[row, row] * screened.counts[row] / max(float(count), 1.0) + STEP_SHARE * floor
        # The median of a variance over its mean, by degrees of freedom (Wilson and Hilferty 1931).
        median = (1.0 - 2.0 / (9.0 * (len(runs) - 1))) ** 3
        ratios.append(float(np.var(values, ddof=1)) / expected / median)
    # Not the mean: one load that varies for some other reason says nothing about the others.
    return float(np.median(ratios)) if ratios else 1.0
