"""Ratios of the two machines of a part: measured with the program, predicted by the model for the study's load, and
published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hotband.execution.experiment import Experiment, Say
from hotband.questions.study.definition import Study, published_row
from hotband.questions.study.intervals.intervalfile import INTERVALS_FILE, read_intervals
from hotband.questions.study.intervals.lines import figure_key
from hotband.questions.study.runs import collect, points, with_sequences

if TYPE_CHECKING:
    from hotband.data.documents.emulate import RatioDoc
    from hotband.questions.study.emulate.parts import Part

LEVEL = 1.05
"""Ratios nearer to 1 than this are level: emulation and model agree within 5 % (issue J: mean latency and IOPS), so a
smaller difference has no direction."""


def direction(ratio: float) -> str:
    """Return the direction of a ratio: up, down or level."""
    if 1 / LEVEL < ratio < LEVEL:
        return "level"
    return "up" if ratio > 1 else "down"


def ratio_of(measure: str, unit: str, a: float | None, b: float | None, source: str) -> RatioDoc | None:
    """Return the ratio B over A; None if either has no number above zero."""
    if a is None or b is None or a <= 0 or b <= 0:
        return None
    ratio = b / a
    return {
        "measure": measure,
        "unit": unit,
        "a": a,
        "b": b,
        "ratio": ratio,
        "direction": direction(ratio),
        "source": source,
    }


def published_ratio(study: Study, part: Part) -> RatioDoc | None:
    """Return the published ratio; None unless both machines have a published figure."""
    if part.published is None:
        return None
    measure, load = study.measure(part.published), study.load(part.load)
    rows = [published_row(study, side.config, load, measure) for side in (part.a, part.b)]
    a, b = rows
    if a is None or b is None:
        return None
    return ratio_of(measure.metric, measure.unit, a.value, b.value, f"{a.id}, {b.id}")


def predicted_ratio(study: Study, part: Part, out: Path | None, fresh: bool, say: Say) -> RatioDoc | None:
    """Return the predicted ratio: from the predictions that the study ships with its intervals, if it has both; else
    from the runs that the two figures need, stored in `out`."""
    measure = study.measure(part.predicted)
    values = _kept(study, part)
    source = f"stored with the study ({INTERVALS_FILE})"
    if None in values:
        say(f"{part.id}: running the model of the study's load {part.load}")
        values, source = _run(study, part, out, fresh, say), "run with it"
    return ratio_of(measure.metric, measure.unit, *values, source)


def _kept(study: Study, part: Part) -> tuple[float | None, float | None]:
    intervals = read_intervals(study.folder / INTERVALS_FILE)

    def of(config: str) -> float | None:
        cells = {figure_key(config, part.load, part.predicted): 1.0}
        predictions = (
            (spread.predicted for spread in intervals.figures.values() if spread.cells == cells)
            if intervals is not None
            else ()
        )
        return next(iter(predictions), None)

    return of(part.a.config.id), of(part.b.config.id)


def _run(study: Study, part: Part, out: Path | None, fresh: bool, say: Say) -> tuple[float | None, float | None]:
    """Run the two cells of the study, and those before them in a sequence."""
    load = study.load(part.load)
    pairs = with_sequences(study, [(side.config, load) for side in (part.a, part.b)])
    experiment = Experiment(points(study, pairs, out, study.seed), what=f"the study {study.name}")
    results = collect(study, pairs, experiment.run(out=out, fresh=fresh, say=say).finished)
    a, b = (results.value(side.config.id, load.id, part.predicted) for side in (part.a, part.b))
    return a, b
