"""The fit on loads that it did not use: measured, predicted with what was found, and with the product as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.questions.calibrate.calibrated import Check
from hotband.questions.calibrate.figures import Seen, means
from hotband.questions.calibrate.model import Model, Product, Watch
from hotband.questions.calibrate.screen import BETWEEN_SEEDS

if TYPE_CHECKING:
    from hotband.questions.calibrate.loads import Measurement
    from hotband.questions.calibrate.measured import Measured
    from hotband.questions.calibrate.unknowns import Setting

SEEDS = 4
"""Predictions are the mean of so many runs."""
SEED = 5_000_001
SHOWN = ("mean", "p50", "p99")


def check(
    product: Product, found: tuple[Setting, ...], measured: Sequence[Measured], watch: Watch, jobs: int | None
) -> list[Check]:
    """The figures of the loads that were held out. Raises UserError, RunsInterrupted."""
    if not measured:
        return []
    checks = []
    predicted, before = predict(product, [one.load for one in measured], [found, ()], watch, jobs)
    for place, one in enumerate(measured):
        seen = means(one.runs)
        ours, old = predicted[place], before[place]
        checks.append(Check(one.load.name, "IOPS", seen.iops, ours.iops, old.iops))
        if seen.p99 and ours.p99 and old.p99:
            checks.append(Check(one.load.name, "p99", seen.p99, ours.p99, old.p99))
        for side, name in seen.logs:
            if (side, name) in ours.logs and (side, name) in old.logs and name in SHOWN:
                values = [math.exp(of.logs[side, name]) for of in (seen, ours, old)]
                checks.append(Check(one.load.name, f"{side} {name}", *values))
    return checks


def predict(
    product: Product,
    loads: Sequence[Measurement],
    settings: Sequence[tuple[Setting, ...]],
    watch: Watch,
    jobs: int | None,
) -> list[list[Seen]]:
    """What loads measure on a product with settings, each a list by load: the mean of several seeds."""
    model = Model(product, loads, watch, jobs)
    points = [(one, SEED + n * BETWEEN_SEEDS) for one in settings for n in range(SEEDS)]
    runs = model.at(points, "checking")
    lists = [runs[place * SEEDS : (place + 1) * SEEDS] for place in range(len(settings))]
    return [[means([run[load] for run in of]) for load in range(len(loads))] for of in lists]
