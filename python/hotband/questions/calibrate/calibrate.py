"""A calibration from end to end: choose loads, measure, fit, validate (docs/guides/calibrate.md)."""

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
"""Ratio of the fit's errors to the expected ones from which a note suggests another kind of drive."""
FAR_OFF = 4.0
OTHER_KIND = 2.0
MOST_BEYOND = 0.5
"""If more than half of the figures are off by a factor of two beyond all ranges, it was another kind of drive."""
SPREAD_SAID = 2.0
"""Ratio of the variance of repeats to the expected one from which a note reports it: chance alone keeps a dozen
repeats below it."""


@dataclass(frozen=True)
class CalibrationTask:
    """The product to calibrate (`like`), the target (name and text of a model, or an `executor`), the time limit and
    the folder of measurements. `span_bytes` is the used part of the target; `reads` leaves out all loads that write.
    `path_ns`: see `measured`."""

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
    """The loads of a plan, validation loads last, with the result of the screening."""

    task: CalibrationTask
    unknowns: Unknowns
    screened: Screened
    design: Design
    plan: Plan
    loads: list[Measurement]
    counts: list[int]
    runs: int

    @property
    def chosen(self) -> list[int]:
        """Indices of the candidates that are measured."""
        return [index for index, count in enumerate(self.plan.counts) if count]


def plan(task: CalibrationTask, watch: Watch) -> Planned:
    """Screen the product's values and choose the measurements. Raises UserError, RunsInterrupted."""
    if task.seconds < LEAST_SECONDS:
        raise UserError(
            "question.duration", "", f"{task.seconds:g} s", f"is too short: expected at least {LEAST_SECONDS:g} s"
        )
    kind, tags = _kind(task.like)
    unknowns = _unknowns(task.like)
    loads = [candidate for candidate in candidates(kind, tags) if not (task.reads and candidate.writes)]
    loads = within(loads, task.span_bytes)
    model = Model(task.like, loads, watch, task.jobs, _ios(task))
    screened = screen(model, unknowns)
    # The first loads: random commands of 4 KiB, one by one.
    single = min(rate for rate, load in zip(screened.rates, loads, strict=True) if load.name in SINGLE)
    checked = within(held_out(kind, SHARE_OF_RATE * single), task.span_bytes)
    if task.reads:
        checked = [load.reads_only() for load in checked]
    design = Design(screened, loads)
    chosen = design.plan(task.seconds, sum(load.time for load in checked))
    return Planned(
        task,
        unknowns,
        screened,
        design,
        chosen,
        [*loads, *checked],
        [*chosen.counts, *([1] * len(checked))],
        model.runs,
    )


def of_plan(planned: Planned, measured: Sequence[Measured], watch: Watch) -> Calibrated:
    """Calibrate from measurements of a plan's loads. Raises UserError, RunsInterrupted."""
    used = [measured[index] for index in planned.chosen]
    kept_back = [load_measured for load_measured in measured if load_measured.load.held_out and load_measured.runs]
    return _found(planned.task, planned, used, kept_back, watch)


def of_results(
    task: CalibrationTask, measured: Sequence[Measured], watch: Watch, kept_back: Sequence[Measured] = ()
) -> Calibrated:
    """Calibrate from measurements of given loads, validated on `kept_back`. Raises UserError, RunsInterrupted."""
    unknowns = _unknowns(task.like)
    loads = [load_measured.load for load_measured in measured]
    model = Model(task.like, loads, watch, task.jobs, _ios(task))
    screened = screen(model, unknowns)
    counts = tuple(len(load_measured.runs) for load_measured in measured)
    seconds = sum(count * load.time for count, load in zip(counts, loads, strict=True))
    chosen = Plan(counts, seconds, np.ones(len(unknowns.numbers)))
    planned = Planned(task, unknowns, screened, Design(screened, loads), chosen, loads, list(counts), model.runs)
    return _found(task, planned, measured, kept_back, watch)


def _found(
    task: CalibrationTask, planned: Planned, used: Sequence[Measured], kept_back: Sequence[Measured], watch: Watch
) -> Calibrated:
    data, spread = data_of(planned.screened, used, planned.chosen, task.path_ns)
    if not len(data.measured):
        raise UserError("question.target", "", task.target.name, "has no metric in common with the model: too few I/Os")
    _expect_like(task.like, planned, data, used)
    model = Model(task.like, [load_measured.load for load_measured in used], watch, task.jobs, _ios(task))
    fitted = fit(model, planned.unknowns, data)
    values = values_of(planned.unknowns, fitted, planned.screened.refused)
    if model.refusal(_settings(values)) is not None:
        # Some fitted values need others that were fitted, too, though the data says little about them.
        values = values_of(planned.unknowns, fitted, planned.screened.refused, keep_all=True)
    settings = _settings(values)
    checks = check(task.like, settings, kept_back, watch, task.jobs)
    deviations = np.ones(len(planned.unknowns.numbers))
    deviations[list(fitted.numbers)] = fitted.deviations
    return Calibrated(
        task.like.name,
        task.target.name,
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
    """Return the fitted values as settings of a run."""
    return tuple((value.key, value.value) for value in values if value.state != "unknown")


def _expect_like(like: Product, planned: Planned, data: Data, used: Sequence[Measured]) -> None:
    """Raise UserError if no values of the product can explain most figures."""
    reach = np.abs(data.slopes).sum(axis=1) * FARTHEST + math.log(OTHER_KIND)
    reach += sum((np.max(np.abs(steps), axis=0) for steps in data.steps), np.zeros(len(data.base)))
    away = np.abs(data.measured - data.base)
    if np.mean(away > reach) <= MOST_BEYOND:
        return
    worst = int(np.argmax(away - reach))
    figure = data.figures[worst]
    was, is_ = (span(math.exp(value)) for value in (data.measured[worst], data.base[worst]))
    named = f"{used[figure.load].load.name}: {figure.side} {figure.name} {was}, the product {is_}"
    accepted = f"does not fit: no values in its ranges explain most figures ({named}); expected another product"
    raise UserError("question.like", "", like.name, f"{accepted}, or black-box")


def _lines(used: Sequence[Measured], data: Data, fitted: Fitted) -> list[Line]:
    """Return each load with the remaining errors of the fit."""
    lines = []
    scale = np.sqrt(np.diag(data.covariance))
    for index, load_measured in enumerate(used):
        rest = {
            f"{figure.side} {figure.name}": 100.0 * math.expm1(float(far * deviation))
            for figure, far, deviation in zip(data.figures, fitted.rest, scale, strict=True)
            if figure.load == index
        }
        lines.append(Line(load_measured.load.name, len(load_measured.runs), means(load_measured.runs).iops, rest))
    return lines


def _notes(data: Data, fitted: Fitted, used: Sequence[Measured], spread: float) -> list[str]:
    """Return notes on the limits of the fit."""
    notes = []
    if spread > SPREAD_SAID:
        by = math.sqrt(spread)
        notes.append(f"repeats vary {by:.1f} times as much as chance in the model: does anything else use the drive?")
    if fitted.misfit > 1.0:
        by = fitted.misfit
        notes.append(f"errors of the fit are {by:.1f} times as large as expected: intervals are wider by that factor")
    far = sorted(zip(np.abs(fitted.rest), data.figures, fitted.rest, strict=True), key=lambda row: -row[0])
    named = [
        f"{used[figure.load].load.name} ({figure.side} {figure.name})" for size, figure, _ in far if size > FAR_OFF
    ][:3]
    if named:
        notes.append(f"not explained by any values in their ranges: {', '.join(named)}")
    if fitted.misfit > MOST_MISFIT:
        notes.append("this may be another kind of drive: start from another product, or from black-box")
    return notes


def _kind(like: Product) -> tuple[str, int]:
    """Return the kind of a product and its queue depth."""
    description = product(like.name)
    tags = next((value["value"] for value in description["values"] if value["key"] == "queue_tags"), "32")
    return str(description["kind"]), int(float(tags))


def _ios(task: CalibrationTask) -> int:
    """Return the measured I/Os of a load in the model."""
    return task.ios or (SSD_IOS if _kind(task.like)[0] == "ssd" else IOS)


def _unknowns(like: Product) -> Unknowns:
    expect_one_volume(like)
    unknowns = unknowns_of(like.name, dict(like.held))
    if not unknowns.numbers:
        accepted = "has no uncertain value: expected a product with ranges of values"
        raise UserError("question.like", "", like.name, accepted)
    return unknowns


__all__ = ["CalibrationTask", "Planned", "of_plan", "of_results", "plan", "predict"]


SEEDS = 4
"""Number of runs whose mean is a prediction."""
SEED = 5_000_001
SHOWN = ("mean", "p50", "p99")


def check(
    product: Product, settings: tuple[Setting, ...], measured: Sequence[Measured], watch: Watch, jobs: int | None
) -> list[Check]:
    """Return the validation errors, from the loads that were held out. Raises UserError, RunsInterrupted."""
    if not measured:
        return []
    checks = []
    predicted, before = predict(
        product, [load_measured.load for load_measured in measured], [settings, ()], watch, jobs
    )
    for index, load_measured in enumerate(measured):
        seen = means(load_measured.runs)
        ours, old = predicted[index], before[index]
        checks.append(Check(load_measured.load.name, "IOPS", seen.iops, ours.iops, old.iops))
        if seen.p99 and ours.p99 and old.p99:
            checks.append(Check(load_measured.load.name, "p99", seen.p99, ours.p99, old.p99))
        for side, name in seen.logs:
            if (side, name) in ours.logs and (side, name) in old.logs and name in SHOWN:
                values = [math.exp(source.logs[side, name]) for source in (seen, ours, old)]
                checks.append(Check(load_measured.load.name, f"{side} {name}", *values))
    return checks


def predict(
    product: Product,
    loads: Sequence[Measurement],
    settings: Sequence[tuple[Setting, ...]],
    watch: Watch,
    jobs: int | None,
) -> list[list[Seen]]:
    """Return the predictions of loads for each of several settings of a product, as means over several seeds."""
    model = Model(product, loads, watch, jobs)
    points = [(setting, SEED + n * BETWEEN_SEEDS) for setting in settings for n in range(SEEDS)]
    runs = model.at(points, "checking")
    lists = [runs[index * SEEDS : (index + 1) * SEEDS] for index in range(len(settings))]
    return [[means([run[load] for run in runs_of_setting]) for load in range(len(loads))] for runs_of_setting in lists]
