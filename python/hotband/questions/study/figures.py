"""Figures of a study: of its cells, of comparisons of two configurations, and those that its conclusions add."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Unpack

from hotband.questions.study import comparisons
from hotband.questions.study.definition import Load, Measure, Published, Study, published_row
from hotband.questions.study.measures import error_pct
from hotband.questions.study.runs import Cell, Results

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc, FigureDoc, FindingDoc, NamedFigure
    from hotband.data.documents.study_answer import AnswerDoc


@dataclass
class Conclusion:
    """Claims, findings and figures that do not belong to a single cell, and the answer to the study's question."""

    claims: list[ClaimDoc] = field(default_factory=list)
    findings: list[FindingDoc] = field(default_factory=list)
    figures: list[FigureDoc] = field(default_factory=list)
    answer: AnswerDoc | None = None


def figure(
    *,
    published: float | None,
    predicted: float | None,
    note: str = "",
    error: float | None = None,
    **named: Unpack[NamedFigure],
) -> FigureDoc:
    """Return a figure with its error: the given one, or that of the prediction in percent of the published value."""
    error = error_pct(published, predicted) if error is None else error
    return {**named, "published": published, "predicted": predicted, "error_pct": error, "note": note}


def cell_figures(results: Results) -> dict[tuple[str, str, str], FigureDoc]:
    """Return every figure of every cell, published or not, by the ids of config, load and measure."""
    study = results.study
    listed = {}
    for cell in results.cells.values():
        if cell.config.what_if or cell.load.what_if:
            continue
        for offset, name in enumerate(cell.load.measures):
            listed[cell.config.id, cell.load.id, name] = _cell_figure(study, cell, study.measure(name), offset)
    return listed


def _cell_figure(study: Study, cell: Cell, measure: Measure, offset: int) -> FigureDoc:
    """Return the figure of a measure of a cell, with its published row."""
    row = published_row(study, cell.config, cell.load, measure)
    first = cell.config.ids.get(cell.load.id)
    numbered = study.id_format.format(first + offset) if first is not None else None
    value = cell.value(measure)
    return figure(
        id=_figure_id(study, cell, row) if row else numbered or _own_id(study, cell, measure),
        config=cell.config.label,
        label=cell.load.label,
        workload=measure.published or cell.load.published,
        metric=measure.metric,
        published=row.value if row else None,
        unit=measure.unit,
        predicted=value.number,
        source=row.id if row else "not published, or withheld",
        caveat=row.caveat if row else "",
        note=value.note,
        group=cell.load.group or cell.load.label,
    )


def _figure_id(study: Study, cell: Cell, row: Published) -> str:
    """Return the row's id. A row published for all configurations has it only with the first of them, and a row of a
    load with several variants only with the first variant. Others get a suffix."""
    shared = cell.load.published_config and cell.config.id != study.configs[0].id
    again = study.data is not None and cell.load.id != _first_way(study, cell).id
    return row.id + (f"/{cell.config.id}" if shared else "") + (f"/{cell.load.id}" if again else "")


def _first_way(study: Study, cell: Cell) -> Load:
    """Return the first load of the configuration with the same published name."""
    variants = (
        load for config, load in study.pairs() if config is cell.config and load.published == cell.load.published
    )
    return next(variants)


def _own_id(study: Study, cell: Cell, measure: Measure) -> str:
    return f"{study.name}/{cell.config.id}/{cell.load.id}/{measure.id}"


def comparison_figures(results: Results) -> list[FigureDoc]:
    """Return the figures of comparisons whose configurations were all run."""
    listed = []
    for comparison in results.study.comparisons:
        cells = [results.cells.get((config, comparison.load)) for config in comparison.sides]
        values = [cell.value(results.study.measure(comparison.measure)) for cell in cells if cell is not None]
        if len(values) == len(cells):
            value = comparisons.compare(comparison.kind, values[0], comparisons.mean(values[1:]))
            listed.append(figure(**comparisons.figure_of(results.study, comparison, value)))
    return listed


def figures(results: Results) -> list[FigureDoc]:
    """Return every figure of cells and comparisons."""
    return [*cell_figures(results).values(), *comparison_figures(results)]
