"""Runs of rebuilt loads on machines, and the intervals of their figures.

Left out: samples for all rows of a long result. Uncertain values are sampled for up to `DRAWN_ROWS` rows; the others
use the spread of the nearest of those (by rate), with a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import Load
from hotband.data.record.finished import Finished
from hotband.execution.experiment import Experiment, Point, Say
from hotband.execution.runs.run import prepare
from hotband.execution.runs.scale import scaled
from hotband.inference.interval import DRAWS_OF_MANY, LEVEL
from hotband.inference.interval.basis import bases_of, bounds_of, kinds_of
from hotband.inference.interval.ceiling import above_means
from hotband.inference.interval.conformal import Spread
from hotband.inference.interval.figures import between
from hotband.inference.interval.limits import limits_of
from hotband.inference.interval.of_corpus import Basis
from hotband.inference.interval.of_record import evidence_of, figure_of, is_inverse, missing_of, outside_of, spread_of
from hotband.inference.interval.of_run import Asked, Watch, draw
from hotband.questions.expect.judge import Judged, compared
from hotband.questions.expect.others import Others
from hotband.questions.expect.results import Row

if TYPE_CHECKING:
    from hotband.data.inputs.specify import Named

IOS = 100_000
"""Measured I/Os of a prediction: a thousand lie beyond the 99th percentile."""
DRAWN_ROWS = 2
MODEL_ERROR_ALONE = "intervals cover the model's error, not uncertain values of the drive, which hotband expect samples"
"""Note for a prediction without sampled values."""


@dataclass
class Predicted:
    """A row with its run, its figures, the basis of their intervals, and measurements of others on the same model."""

    row: Row
    spec: RunSpec
    finished: Finished
    figures: list[Judged]
    rests_on: str = ""
    others: list[Others] = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    """Options of the predictions. Without `draws` their intervals are those of the model's error alone."""

    set: tuple[tuple[str, str], ...] = ()
    seed: int = 1
    duration: str | None = None
    ios: int = IOS
    level: float = LEVEL
    draws: int = DRAWS_OF_MANY
    jobs: int | None = None


def spec_of(row: Row, machine: Named, settings: Settings) -> RunSpec:
    """Return the run of a row on a machine. Raises UserError if the machine cannot run it."""
    assert row.load is not None, "asked for rows that have a load"
    load = Load(row.load.text, row.name)
    is_whole = settings.duration is not None or "trace" in load.table
    text = (load if is_whole else load.with_ios(settings.ios)).text()
    held = dict(settings.set)
    settings_of_load = tuple((key, value) for key, value in row.load.settings.items() if key not in held)
    spec = RunSpec(
        row.name,
        machine.name,
        row.name,
        (*settings_of_load, *settings.set),
        settings.seed,
        settings.duration,
        machine_text=machine.text,
        workload_text=text,
        in_use=True,
    )
    prepare(spec)
    return scaled(spec)


def run(rows: Sequence[Row], machine: Named, settings: Settings, watch: Watch, title: str) -> list[Predicted]:
    """Run the rows that have a load on the machine. Raises UserError if it cannot run one."""
    specs = [(row, spec_of(row, machine, settings)) for row in rows if row.load is not None]
    if not specs:
        return []
    points = [Point(replace(spec, id=f"{index}")) for index, (_, spec) in enumerate(specs)]
    with watch(title) as tick:
        finished = Experiment(points).run(jobs=settings.jobs, progress=tick).finished
    by_id = {outcome.spec.id: outcome for outcome in finished}
    return [
        Predicted(row, spec, by_id[f"{index}"], compared(row.record, by_id[f"{index}"].record, row.load.asks))
        for index, (row, spec) in enumerate(specs)
        if row.load is not None
    ]


def with_intervals(predictions: Sequence[Predicted], settings: Settings, say: Say, watch: Watch) -> list[str]:
    """Add intervals to the figures of predictions; return notes on them. Raises UserError, RunsInterrupted."""
    bases = [bases_of(prediction.spec, prediction.finished.record, settings.level) for prediction in predictions]
    notes = [note for known in bases for note in missing_of(known)]
    by_studies = [
        prediction
        for prediction, known in zip(predictions, bases, strict=True)
        if any(known[figure_of(figure.figure)].is_of_studies for figure in prediction.figures)
    ]
    drawn = _drawn_rows(by_studies) if settings.draws else []
    spreads: dict[int, dict[str, Spread]] = {}
    for index in drawn:
        prediction = by_studies[index]
        drawn_run = draw(
            prediction.spec, prediction.finished, Asked(settings.level, settings.draws), settings.jobs, say, watch
        )
        spreads[index] = {name: spread_of(name, drawn_run) for name in drawn_run.nominal}
    for prediction, known in zip(predictions, bases, strict=True):
        nearest = min(drawn, key=lambda other: abs(_rate(by_studies[other]) - _rate(prediction)), default=None)
        prediction.rests_on = evidence_of(known, settings.level)
        _add_intervals(prediction, known, {} if nearest is None else spreads[nearest], settings.level)
        ends = {
            each.figure: (each.predicted, each.low, each.high)
            for each in prediction.figures
            if each.low is not None and each.high is not None
        }
        notes += outside_of(ends, known)
    if by_studies and not drawn:
        notes.append(MODEL_ERROR_ALONE)
    elif len(by_studies) > len(drawn):
        names = " and ".join(by_studies[index].row.name for index in drawn)
        notes.append(f"uncertain values were sampled for {names}; the other rows use the spread of the nearest")
    return list(dict.fromkeys(notes))


def _add_intervals(
    prediction: Predicted, bases: Mapping[str, Basis], spreads: Mapping[str, Spread], level: float
) -> None:
    """Add intervals to the figures of a prediction that have any."""
    spec, record = prediction.spec, prediction.finished.record
    names = [figure.figure for figure in prediction.figures]
    kinds, limits = kinds_of(spec, record, names), limits_of(spec, record)
    figures = []
    for figure in prediction.figures:
        name = figure.figure
        basis, spread = bases[figure_of(name)], spreads.get(name) or spreads.get(figure_of(name)) or Spread()
        if basis.has_interval:
            ends = bounds_of(basis, kinds[name], level, spread)
            ends = limits.within(name, figure.predicted, ends, is_inverse=is_inverse(kinds[name]))
            low, high = between(figure.predicted, *ends)
            figure = replace(figure, low=low, high=high)
        figures.append(figure)
    intervals = {
        each.figure: (each.low, each.high) for each in figures if each.low is not None and each.high is not None
    }
    above = above_means({figure.figure: figure.predicted for figure in figures}, intervals)
    prediction.figures = [
        replace(figure, low=above[figure.figure][0], high=above[figure.figure][1]) if figure.figure in above else figure
        for figure in figures
    ]


def _rate(prediction: Predicted) -> float:
    import math

    return math.log(max(prediction.finished.record["summary"]["iops"] or 1.0, 1e-3))


def _drawn_rows(predictions: Sequence[Predicted]) -> list[int]:
    """Return the rows that are sampled: those with the lowest and the highest rate."""
    order = sorted(range(len(predictions)), key=lambda index: _rate(predictions[index]))
    return order if len(order) <= DRAWN_ROWS else [order[0], order[-1]]
