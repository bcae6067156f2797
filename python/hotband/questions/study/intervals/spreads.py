"""How far uncertain values and the seed move the figures of a study, as Python has it."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypedDict

from hotband.base.text.schema import with_schema

if TYPE_CHECKING:
    import polars as pl

    from hotband.base.text.values import Json
    from hotband.data.documents.interval import ClassTermDoc, CoverageDoc
    from hotband.questions.study.intervals.intervalfile import IntervalFile

TEXTS = ("figure", "config", "label", "unit", "figure_class")
NUMBERS = ("predicted", "low", "high", "seed", "unexplained")


@dataclass(frozen=True)
class Spreads:
    """What the uncertain values of a study do to its figures; its intervals rest on it."""

    file: IntervalFile

    @property
    def frame(self) -> pl.DataFrame:
        """A row a figure: figure (its id), config, label, unit, figure_class, predicted, then standard deviations of
        its logarithm: `low` downwards and `high` upwards, by the values and the seed, `seed` alone, and `unexplained`,
        what values do together and is not split up."""
        import polars as pl

        schema = {name: pl.String if name in TEXTS else pl.Float64 for name in (*TEXTS, *NUMBERS)}
        rows = [{"figure": name, **vars(one)} for name, one in self.file.figures.items()]
        return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)

    def to_dict(self) -> dict[str, Json]:
        """All that `hotband study intervals --json` prints."""
        found: dict[str, Json] = json.loads(self.file.text())
        return with_schema(found, "hotband-study-intervals")

    def __repr__(self) -> str:
        of = self.file
        return f"<Spreads of {of.study}: {len(of.figures)} figures, {len(of.values)} uncertain values>"


class AllStudiesDoc(TypedDict):
    """How often intervals of `level` percent hold what is published, each study left out, and what the model's term
    rests on."""

    level: float
    studies: list[str]
    coverage: list[CoverageDoc]
    terms: list[ClassTermDoc]


@dataclass(frozen=True)
class AllIntervals:
    """How often intervals hold what is published."""

    document: AllStudiesDoc
    schema: ClassVar[str] = "hotband-all-intervals"

    def to_dict(self) -> AllStudiesDoc:
        """Return a copy of the document."""
        return copy.deepcopy(self.document)
