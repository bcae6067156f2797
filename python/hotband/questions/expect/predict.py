"""Runs of rebuilt loads on machines, and the intervals of their figures.

Left out: samples for all rows of a long result. Uncertain values are sampled for up to `DRAWN_ROWS` rows; the others
use the spread of the nearest of those (by rate), with a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import Load
from hotband.data.record.finished import Finished
from hotband.data.record.unmodelled import why_no_interval
from hotband.execution.experiment import Experiment, Point, Say
from hotband.execution.runs.run import prepare
from hotband.execution.runs.scale import scaled
from hotband.inference.interval import DRAWS_OF_MANY, LEVEL
from hotband.inference.interval.ceiling import capped, room_of
from hotband.inference.interval.conformal import Kind, ModelTerm, Spread
from hotband.inference.interval.figures import between
from hotband.inference.interval.of_record import is_inverse, kinds_of, spread_of
from hotband.inference.interval.of_run import Asked, Watch, draw
from hotband.inference.interval.residuals import model_term
from hotband.questions.expect.judge import Judged, compared
from hotband.questions.expect.results import Row

if TYPE_CHECKING:
    from hotband.data.inputs.specify import Named

IOS = 100_000
"""Measured I/Os of a prediction: a thousand lie beyond the 99th percentile."""
DRAWN_ROWS = 2
MODEL_ERROR_ALONE = "intervals cover the model's error, not uncertain values of the drive, which hotband expect draws"
"""Note for a prediction without sampled values."""


@dataclass
class Predicted:
    """A row with its run and its figures."""

    row: Row
    spec: RunSpec
    finished: Finished
    figures: list[Judged]


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
    text = (load if settings.duration else load.with_ios(settings.ios)).text()
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
    none = [why for prediction in predictions if (why := why_no_interval(prediction.finished.record)) is not None]
    predictions = [prediction for prediction in predictions if why_no_interval(prediction.finished.record) is None]
    if not predictions:
        return list(dict.fromkeys(none))
    drawn = _drawn_rows(predictions) if settings.draws else []
    term = model_term()
    spreads: dict[int, dict[str, Spread]] = {}
    for index in drawn:
        prediction = predictions[index]
        drawn_run = draw(
            prediction.spec, prediction.finished, Asked(settings.level, settings.draws), settings.jobs, say, watch
        )
        spreads[index] = {name: spread_of(name, drawn_run) for name in drawn_run.nominal}
    for prediction in predictions:
        nearest = min(drawn, key=lambda other: abs(_rate(predictions[other]) - _rate(prediction)), default=None)
        spread = {} if nearest is None else spreads[nearest]
        kinds = kinds_of(prediction.spec, prediction.finished, [figure.figure for figure in prediction.figures])
        room = room_of(prediction.spec, prediction.finished.record)
        prediction.figures = [
            _with_interval(figure, kinds[figure.figure], spread, settings.level, (term, room))
            for figure in prediction.figures
        ]
    if not drawn:
        none.append(MODEL_ERROR_ALONE)
    elif len(predictions) > len(drawn):
        names = " and ".join(predictions[index].row.name for index in drawn)
        none.append(f"uncertain values were sampled for {names}; the other rows use the spread of the nearest")
    return list(dict.fromkeys(none))


def _with_interval(
    figure: Judged, kind: Kind, spreads: dict[str, Spread], level: float, limits: tuple[ModelTerm, Mapping[str, float]]
) -> Judged:
    spread = spreads.get(figure.figure) or spreads.get(figure.figure.rpartition(".")[2]) or Spread()
    term, room = limits
    ends = capped(figure.figure, term.bounds(kind, spread, level), room, is_inverse=is_inverse(kind))
    low, high = between(figure.predicted, *ends)
    return replace(figure, low=low, high=high)


def _rate(prediction: Predicted) -> float:
    import math

    return math.log(max(prediction.finished.record["summary"]["iops"] or 1.0, 1e-3))


def _drawn_rows(predictions: Sequence[Predicted]) -> list[int]:
    """Return the rows that are sampled: those with the lowest and the highest rate."""
    order = sorted(range(len(predictions)), key=lambda index: _rate(predictions[index]))
    return order if len(order) <= DRAWN_ROWS else [order[0], order[-1]]
