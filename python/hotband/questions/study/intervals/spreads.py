"""Results for Python: the effect of uncertain values and the seed on the figures of a study."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypedDict

from hotband.base.heavy import pl
from hotband.base.text.schema import with_schema

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.data.documents.interval import ClassTermDoc, CoverageDoc
    from hotband.questions.study.intervals.intervalfile import IntervalFile

TEXTS = ("figure", "config", "label", "unit", "figure_class")
NUMBERS = ("predicted", "low", "high", "seed", "unexplained")


@dataclass(frozen=True)
class Spreads:
    """The effect of a study's uncertain values on its figures; its intervals rest on it."""

    file: IntervalFile

    @property
    def frame(self) -> pl.DataFrame:
        """One row per figure: figure (its id), config, label, unit, figure_class, predicted, then standard deviations
        of its logarithm: `low` downwards and `high` upwards, from values and seed, `seed` alone, and `unexplained`,
        joint effects of values that are not split up."""
        schema = {name: pl.String if name in TEXTS else pl.Float64 for name in (*TEXTS, *NUMBERS)}
        rows = [{"figure": name, **vars(spread)} for name, spread in self.file.figures.items()]
        return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON that `hotband study intervals --json` prints."""
        document: dict[str, Json] = json.loads(self.file.text())
        return with_schema(document, "hotband-study-intervals")

    def __repr__(self) -> str:
        intervals = self.file
        counts = f"{len(intervals.figures)} figures, {len(intervals.values)} uncertain values"
        return f"<Spreads of {intervals.study}: {counts}>"


class AllStudiesDoc(TypedDict):
    """Coverage of intervals of `level` percent, each study left out, and the data behind the model error."""

    level: float
    studies: list[str]
    coverage: list[CoverageDoc]
    terms: list[ClassTermDoc]


@dataclass(frozen=True)
class AllIntervals:
    """Coverage of intervals: how often they contain the published figure."""

    document: AllStudiesDoc
    schema: ClassVar[str] = "hotband-all-intervals"

    def to_dict(self) -> AllStudiesDoc:
        """Return a copy of the document."""
        return copy.deepcopy(self.document)
