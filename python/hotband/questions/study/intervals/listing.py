"""Intervals of a study's figures, as its result lists them: spreads from the study's folder, and the term for what the
model leaves out from all other studies, as if this one were new."""

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
    """Whether configurations are pools or drives and arrays, by their label."""
    found: dict[str, str] = {}
    for config, load in study.pairs():
        told = _core.machine(CATALOG_DIR, *machine_of(study, config, load))
        found.setdefault(config.label, POOLS if told["is_replicated"] else ARRAYS)
    return found


def interval_of(
    study: Study, row: FigureDoc, spread: Spread, term: ModelTerm, systems: Mapping[str, str], level: float = LEVEL
) -> IntervalDoc | None:
    """The interval of a figure; None where there is no prediction, or none that has a logarithm."""
    kind = scored_as(study, row)
    if log_of(row["predicted"], kind) is None or row["predicted"] is None:
        return None
    of = Kind(class_for(study.name, row), systems.get(row["config"], ARRAYS))
    bounds = term.without(study.name, row["config"], of).bounds(of, spread, level)
    low, high = between(row["predicted"], *bounds, kind)
    return {"level": level, "low": low, "high": high}


def intervals_of(
    study: Study, rows: Sequence[FigureDoc], seed: int, level: float = LEVEL
) -> tuple[dict[str, IntervalDoc | None], StudyIntervalsDoc | None]:
    """The intervals of figures by id, and what they rest on; none where nothing is kept that they could rest on.
    Raises UserError for a damaged file."""
    residuals = read_residuals()
    # What others' figures were off by says nothing of single I/Os, which are what a study of data of its own compares.
    if residuals is None or study.data is not None:
        return {}, None
    kept = read_intervals(study.folder / INTERVALS_FILE)
    spreads = {} if kept is None else {name: one.spread for name, one in kept.figures.items()}
    term, systems = residuals.term(), systems_of(study)
    found = {row["id"]: interval_of(study, row, spreads.get(row["id"], Spread()), term, systems, level) for row in rows}
    predicted = {row["id"]: row["predicted"] for row in rows}
    return found, _rests_on(study, kept, residuals.is_stale(study.name, predicted), predicted, seed, level)


def _rests_on(
    study: Study,
    kept: IntervalFile | None,
    is_stale: bool,
    predicted: Mapping[str, float | None],
    seed: int,
    level: float,
) -> StudyIntervalsDoc:
    """What intervals rest on, and whether the model or the values have changed since."""
    remedy = f"draw and keep them again (study intervals {study.name})"
    said = []
    changed: list[str] = []
    if kept is None:
        said.append(f"No value was drawn yet, so only what the model leaves out is in them: {remedy}")
    else:
        changed = kept.changed({value.name: value for line in lines_of(study) for value in line.values})
        if kept.seed == str(seed) and kept.is_stale(predicted):
            said.append(f"The predictions have changed since values were drawn: {remedy}")
        if changed:
            said.append(f"{len(changed)} values are drawn otherwise now ({', '.join(changed[:3])}): {remedy}")
    if is_stale:
        said.append(
            f"Predictions have changed since the model's term was made ({RESIDUALS_FILE.name}): "
            "make it again of all studies"
        )
    text = f"Each figure has its {level:g} % interval; the model's term is from the other studies."
    return {"level": level, "text": " ".join([text, *said]), "stale": bool(said), "changed": changed}
