"""The figures of a study by the size of their errors, from its stored predictions: which of them to explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hotband.base.heavy import pl
from hotband.base.text.schema import to_doc, to_object
from hotband.inference.interval.figures import log_of
from hotband.questions.study.comparisons import error_of

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.questions.study.definition import Study
    from hotband.questions.study.intervals.intervalfile import IntervalFile


@dataclass(frozen=True)
class FigureError:
    """A figure that `study why` can explain, as published and as predicted when the study's values were sampled; a gain
    or a reduction is scored by its ratio."""

    figure: str
    config: str
    label: str
    unit: str
    published: float
    predicted: float
    error_pct: float


@dataclass(frozen=True)
class FigureErrors:
    """The figures of a study with their errors, the largest first."""

    schema: ClassVar[str] = "hotband-study-errors"

    study: str
    rows: tuple[FigureError, ...]

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per figure."""
        return pl.DataFrame([to_doc(row) for row in self.rows], infer_schema_length=None)

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON has it."""
        return to_object({"study": self.study, "figures": list(self.rows)})


def largest_errors(study: Study, intervals: IntervalFile) -> FigureErrors:
    """Return the published figures that have an interval, those with the largest errors first."""
    published = {row.id: row.value for row in study.published}
    rows = []
    for name, spread in intervals.figures.items():
        value, predicted = published.get(name), spread.predicted
        error = error_of(spread.scored_as, value, predicted)
        is_explained = log_of(predicted, spread.scored_as) is not None
        if is_explained and value is not None and predicted is not None and error is not None:
            rows.append(FigureError(name, spread.config, spread.label, spread.unit, value, predicted, error))
    return FigureErrors(study.name, tuple(sorted(rows, key=lambda row: -abs(row.error_pct))))
