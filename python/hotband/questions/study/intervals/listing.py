"""Intervals of a study's figures, as its result lists them: spreads from the study's folder, and the model error from
all other studies, as if this one were new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.data.catalog import CATALOG_DIR
from hotband.inference.interval import LEVEL
from hotband.inference.interval.conformal import ARRAYS, POOLS, Kind, ModelTerm, Spread
from hotband.inference.interval.figures import between, class_for, log_of
from hotband.inference.interval.residuals import RESIDUALS_FILE, read_residuals
from hotband.questions.study.blind import scored_as
from hotband.questions.study.intervals.intervalfile import INTERVALS_FILE, IntervalFile, read_intervals
from hotband.questions.study.intervals.lines import lines_of
from hotband.questions.study.runs import machine_of

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc, IntervalDoc, StudyIntervalsDoc
    from hotband.questions.study.definition import Study


def systems_of(study: Study) -> dict[str, str]:
    """Return the system of each configuration, by its label: pools, or drives and arrays."""
    systems: dict[str, str] = {}
    for config, load in study.pairs():
        machine = _core.machine(CATALOG_DIR, *machine_of(study, config, load))
        systems.setdefault(config.label, POOLS if machine["is_replicated"] else ARRAYS)
    return systems


def interval_of(
    study: Study, row: FigureDoc, spread: Spread, term: ModelTerm, systems: Mapping[str, str], level: float = LEVEL
) -> IntervalDoc | None:
    """Return the interval of a figure; None without a prediction that has a logarithm."""
    kind = scored_as(study, row)
    if log_of(row["predicted"], kind) is None or row["predicted"] is None:
        return None
    kind_of_figure = Kind(class_for(study.name, row), systems.get(row["config"], ARRAYS))
    bounds = term.without(study.name, row["config"], kind_of_figure).bounds(kind_of_figure, spread, level)
    low, high = between(row["predicted"], *bounds, kind)
    return {"level": level, "low": low, "high": high}


def intervals_of(
    study: Study, rows: Sequence[FigureDoc], seed: int, level: float = LEVEL
) -> tuple[dict[str, IntervalDoc | None], StudyIntervalsDoc | None]:
    """Return the intervals of figures by id, and the data behind them; nothing if there is no such data. Raises
    UserError for a damaged file."""
    residuals = read_residuals()
    # A study with its own data compares single I/Os, whose errors those of other studies do not show.
    if residuals is None or study.data is not None:
        return {}, None
    intervals = read_intervals(study.folder / INTERVALS_FILE)
    spreads = {} if intervals is None else {name: figure.spread for name, figure in intervals.figures.items()}
    term, systems = residuals.term(), systems_of(study)
    by_id = {row["id"]: interval_of(study, row, spreads.get(row["id"], Spread()), term, systems, level) for row in rows}
    predicted = {row["id"]: row["predicted"] for row in rows}
    return by_id, _rests_on(study, intervals, residuals.is_stale(study.name, predicted), predicted, seed, level)


def _rests_on(
    study: Study,
    intervals: IntervalFile | None,
    is_stale: bool,
    predicted: Mapping[str, float | None],
    seed: int,
    level: float,
) -> StudyIntervalsDoc:
    """Describe the data behind intervals, and whether the model or the values have changed since."""
    remedy = f"sample and store them again (study intervals {study.name})"
    sentences = []
    changed: list[str] = []
    if intervals is None:
        sentences.append(f"No value has been sampled yet, so intervals contain only the model error: {remedy}")
    else:
        changed = intervals.changed({value.name: value for line in lines_of(study) for value in line.values})
        if intervals.seed == str(seed) and intervals.is_stale(predicted):
            sentences.append(f"The predictions have changed since the values were sampled: {remedy}")
        if changed:
            sentences.append(f"{len(changed)} values have changed since ({', '.join(changed[:3])}): {remedy}")
    if is_stale:
        sentences.append(
            f"Predictions have changed since the model error was estimated ({RESIDUALS_FILE.name}): "
            "estimate it again from all studies"
        )
    text = f"Each figure has its {level:g} % interval; the model error comes from the other studies."
    return {"level": level, "text": " ".join([text, *sentences]), "stale": bool(sentences), "changed": changed}
