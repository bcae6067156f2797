"""A calibration from end to end: which loads, measured, fitted, checked, written (docs/guides/calibrate.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hotband.base.errors import UserError
from hotband.base.text.numbers import span
from hotband.data.catalog.entries import product
from hotband.execution.experiment import Executor
from hotband.questions.calibrate.calibrated import Calibrated, Check, Line, Value
from hotband.questions.calibrate.design import Design, Plan
from hotband.questions.calibrate.figures import Seen, means
from hotband.questions.calibrate.fit import Data, Fitted, fit
from hotband.questions.calibrate.loads import SHARE_OF_RATE, Measurement, candidates, held_out, within
from hotband.questions.calibrate.measured import Measured, data_of
from hotband.questions.calibrate.model import IOS, SSD_IOS, Model, Product, Watch, expect_one_volume
from hotband.questions.calibrate.screen import BETWEEN_SEEDS, Screened, screen
from hotband.questions.calibrate.unknowns import FARTHEST, Setting, Unknowns, unknowns_of
from hotband.questions.calibrate.values import values_of

LEAST_SECONDS = 30.0
SINGLE = ("random reads", "random writes")
MOST_MISFIT = 3.0
"""Figures that lie so many times farther off than chance explains are not of such a drive, which is said."""
FAR_OFF = 4.0
OTHER_KIND = 2.0
MOST_BEYOND = 0.5
"""Where more than half of the figures are off by a factor of two beyond all ranges, it was another kind of drive."""
SPREAD_SAID = 2.0
"""Of the variance of repeats over that expected: with a dozen of repeats it is below by chance."""


@dataclass(frozen=True)
class Asked:
    """What is calibrated (`like`), on which target (a model's name and text where it is one; `executor` where it is
    none), for how long, with what is measured there (`folder`). `span_bytes` is what of the target is used; `reads`
    leaves out all loads that write. `path_ns`: see `measured`."""

    like: Product
    target: Product
    seconds: float = 600.0
    executor: Executor | None = None
    folder: Path | None = None
    span_bytes: int | None = None
    reads: bool = False
    seed: int = 1
    jobs: int | None = None
    ios: int | None = None
    path_ns: float = 0.0


@dataclass
class Planned:
    """The loads of a plan, the last of them held out, with what the screening found."""

    asked: Asked
    unknowns: Unknowns
    screened: Screened
    design: Design
    plan: Plan
    loads: list[Measurement]
    counts: list[int]
    runs: int

    @property
    def chosen(self) -> list[int]:
        """Places of the candidates that are measured."""
        return [index for index, count in enumerate(self.plan.counts) if count]


def plan(asked: Asked, watch: Watch) -> Planned:
    """Screens the product's values and chooses what is measured. Raises UserError, RunsInterrupted."""
    if asked.seconds < LEAST_SECONDS:
        raise UserError(
            "question.duration", "", f"{asked.seconds:g} s", f"is too short: expected at least {LEAST_SECONDS:g} s"
        )
    kind, tags = _kind(asked.like)
    unknowns = _unknowns(asked.like)
    loads = [candidate for candidate in candidates(kind, tags) if not (asked.reads and candidate.writes)]
    loads = within(loads, asked.span_bytes)
    model = Model(asked.like, loads, watch, asked.jobs, _ios(asked))
    screened = screen(model, unknowns)
    # One by one, of 4 KiB at random: what the first loads are.
    single = min(rate for rate, one in zip(screened.rates, loads, strict=True) if one.name in SINGLE)
    checked = within(held_out(kind, SHARE_OF_RATE * single), asked.span_bytes)
    if asked.reads:
        checked = [one.reads_only() for one in checked]
    design = Design(screened, loads)
    found = design.plan(asked.seconds, sum(one.time for one in checked))
    return Planned(
        asked, unknowns, screened, design, found, [*loads, *checked], [*found.counts, *([1] * len(checked))], model.runs
    )


def of_plan(planned: Planned, measured: Sequence[Measured], watch: Watch) -> Calibrated:
    """The calibration by what was measured of a plan's loads. Raises UserError, RunsInterrupted."""
    used = [measured[place] for place in planned.chosen]
    kept_back = [one for one in measured if one.load.held_out and one.runs]
    return _found(planned.asked, planned, used, kept_back, watch)


def of_results(
    asked: Asked, measured: Sequence[Measured], watch: Watch, kept_back: Sequence[Measured] = ()
) -> Calibrated:
    """The calibration by measurements of loads that somebody chose, checked on those kept back. Raises UserError,
    RunsInterrupted."""
    unknowns = _unknowns(asked.like)
    loads = [one.load for one in measured]
    model = Model(asked.like, loads, watch, asked.jobs, _ios(asked))
    screened = screen(model, unknowns)
    counts = tuple(len(one.runs) for one in measured)
    seconds = sum(count * load.time for count, load in zip(counts, loads, strict=True))
    chosen = Plan(counts, seconds, np.ones(len(unknowns.numbers)))
    planned = Planned(asked, unknowns, screened, Design(screened, loads), chosen, loads, list(counts), model.runs)
    return _found(asked, planned, measured, kept_back, watch)


def _found(
    asked: Asked, planned: Planned, used: Sequence[Measured], kept_back: Sequence[Measured], watch: Watch
) -> Calibrated:
    data, spread = data_of(planned.screened, used, planned.chosen, asked.path_ns)
    if not len(data.measured):
        raise UserError("question.result", "", asked.target.name, "has no figure that the model has too: too few I/Os")
    _expect_like(asked.like, planned, data, used)
    model = Model(asked.like, [one.load for one in used], watch, asked.jobs, _ios(asked))
    fitted = fit(model, planned.unknowns, data)
    values = values_of(planned.unknowns, fitted, planned.screened.refused)
    if model.refusal(_settings(values)) is not None:
        # Some that were found go with others that were fitted, though little was told of them.
        values = values_of(planned.unknowns, fitted, planned.screened.refused, keep_all=True)
    settings = _settings(values)
    checks = check(asked.like, settings, kept_back, watch, asked.jobs)
    deviations = np.ones(len(planned.unknowns.numbers))
    deviations[list(fitted.numbers)] = fitted.deviations
    return Calibrated(
        asked.like.name,
        asked.target.name,
        values,
        checks,
        _lines(used, data, fitted),
        fitted.misfit,
        planned.design.best_next(planned.plan.counts, deviations),
        notes=_notes(data, fitted, used, spread),
        runs=planned.runs + model.runs,
        seconds=planned.plan.seconds,
    )


def _settings(values: Sequence[Value]) -> tuple[Setting, ...]:
    """What was found, as a run is set to."""
    return tuple((value.key, value.value) for value in values if value.state != "unknown")


def _expect_like(like: Product, planned: Planned, data: Data, used: Sequence[Measured]) -> None:
    """Raises UserError where most figures lie beyond what any values of the product could make of them."""
    reach = np.abs(data.slopes).sum(axis=1) * FARTHEST + math.log(OTHER_KIND)
    reach += sum((np.max(np.abs(steps), axis=0) for steps in data.steps), np.zeros(len(data.base)))
    away = np.abs(data.measured - data.base)
    if np.mean(away > reach) <= MOST_BEYOND:
        return
    worst = int(np.argmax(away - reach))
    figure = data.figures[worst]
    was, is_ = (span(math.exp(value)) for value in (data.measured[worst], data.base[worst]))
    named = f"{used[figure.load].load.name}: {figure.side} {figure.name} {was}, the product {is_}"
    accepted = f"was not measured: no values in its ranges explain most figures ({named}); expected another product"
    raise UserError("question.like", "", like.name, f"{accepted}, or black-box")


def _lines(used: Sequence[Measured], data: Data, fitted: Fitted) -> list[Line]:
    """Each load with what the fit leaves."""
    lines = []
    scale = np.sqrt(np.diag(data.covariance))
    for index, one in enumerate(used):
        rest = {
            f"{figure.side} {figure.name}": 100.0 * math.expm1(float(far * deviation))
            for figure, far, deviation in zip(data.figures, fitted.rest, scale, strict=True)
            if figure.load == index
        }
        lines.append(Line(one.load.name, len(one.runs), means(one.runs).iops, rest))
    return lines


def _notes(data: Data, fitted: Fitted, used: Sequence[Measured], spread: float) -> list[str]:
    """What has to be known of the fit."""
    notes = []
    if spread > SPREAD_SAID:
        by = math.sqrt(spread)
        notes.append(f"repeats spread {by:.1f} times as much as chance does in the model: do others use it too?")
    if fitted.misfit > 1.0:
        by = fitted.misfit
        notes.append(f"figures lie {by:.1f} times as far off the fit as expected: intervals are as much wider")
    far = sorted(zip(np.abs(fitted.rest), data.figures, fitted.rest, strict=True), key=lambda one: -one[0])
    named = [f"{used[one.load].load.name} ({one.side} {one.name})" for size, one, _ in far if size > FAR_OFF][:3]
    if named:
        notes.append(f"not explained by any values in their ranges: {', '.join(named)}")
    if fitted.misfit > MOST_MISFIT:
        notes.append("this may be no such drive: begin from another product, or from black-box")
    return notes


def _kind(like: Product) -> tuple[str, int]:
    """The kind of a product and how many commands it takes at once."""
    of = product(like.name)
    tags = next((value["value"] for value in of["values"] if value["key"] == "queue_tags"), "32")
    return str(of["kind"]), int(float(tags))


def _ios(asked: Asked) -> int:
    """Measured I/Os of a load in the model."""
    return asked.ios or (SSD_IOS if _kind(asked.like)[0] == "ssd" else IOS)


def _unknowns(like: Product) -> Unknowns:
    expect_one_volume(like)
    found = unknowns_of(like.name, dict(like.held))
    if not found.numbers:
        accepted = "has no uncertain value: expected a product of which values have a range"
        raise UserError("question.like", "", like.name, accepted)
    return found


__all__ = ["Asked", "Planned", "of_plan", "of_results", "plan", "predict"]


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
    for index, one in enumerate(measured):
        seen = means(one.runs)
        ours, old = predicted[index], before[index]
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
    points = [(setting, SEED + n * BETWEEN_SEEDS) for setting in settings for n in range(SEEDS)]
    runs = model.at(points, "checking")
    lists = [runs[index * SEEDS : (index + 1) * SEEDS] for index in range(len(settings))]
    return [[means([run[load] for run in of]) for load in range(len(loads))] for of in lists]
