"""Results with the errors of studies."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.html import frame_html
from hotband.base.text.schema import with_schema

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.data.documents.study import AccountDoc, ClassErrorsDoc

ALL = "all"
SETS = ("seen", "blind", "now")
OF_SET = ("measurements", "median_pct", "p90_pct", "largest_pct")


@dataclass(frozen=True)
class Accuracy:
    """The errors of studies, by class of figure."""

    _document: AccountDoc

    @property
    def frame(self) -> pl.DataFrame:
        """One row per study (last "all") and class of figure: study, figure_class, then errors of figures that were
        `seen` while the models were built, of `blind` predictions, and of these figures as predicted `now` (null if
        there is none): seen_measurements, seen_median_pct, seen_p90_pct, seen_largest_pct, and so on; `intervals`,
        published figures whose prediction has an interval, and `inside`, those that lie in it."""
        columns = {f"{name}_{key}": pl.Int64 if key == OF_SET[0] else pl.Float64 for name in SETS for key in OF_SET}
        counts = {"intervals": pl.Int64, "inside": pl.Int64}
        schema = {"study": pl.String, "figure_class": pl.String, **columns, **counts}
        studies = [*((name, study["classes"]) for name, study in self._document["studies"].items())]
        rows = [
            _row(name, class_errors)
            for name, classes in (*studies, (ALL, self._document["totals"]))
            for class_errors in classes
        ]
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def goals(self) -> pl.DataFrame:
        """Goals and the errors reached: figures, measurements, statistic, most_pct, reached_pct, holds."""
        return pl.DataFrame(list(self._document["goals"]), infer_schema_length=None)

    def to_dict(self) -> AccountDoc:
        """Return a copy of what `hotband study accuracy --json` prints, with the large errors (`missed`) of each
        study."""
        return with_schema(copy.deepcopy(self._document), "hotband-study-accuracy")

    def __repr__(self) -> str:
        return f"<Accuracy of {', '.join(self._document['studies'])}>"

    def _repr_html_(self) -> str:
        names = [f"{name}_{key}" for name in SETS for key in OF_SET[:2]]
        return f"<div>{frame_html(self.frame.select('study', 'figure_class', *names))}</div>"


def _row(study: str, class_errors: ClassErrorsDoc) -> tuple[str | float | None, ...]:
    numbers: list[float | None] = []
    for errors in (class_errors["seen"], class_errors["blind"], class_errors["now"]):
        numbers += [errors["measurements"], errors["median_pct"], errors["p90_pct"], errors["largest_pct"]]
    covered = class_errors["coverage"]
    ends = (None, None) if covered is None else (covered["intervals"], covered["inside"])
    return (study, class_errors["figure_class"], *numbers, *ends)


@dataclass(frozen=True)
class BlindErrors:
    """Absolute errors in percent of the blind predictions of a class of figures; each measurement counts once."""

    study: str
    figures: str
    measurements: int
    median_pct: float | None
    p90_pct: float | None
    largest_pct: float | None


@dataclass(frozen=True)
class AllBlindErrors:
    """Errors of blind predictions, by study of the catalog and class of figures, and last over all studies."""

    errors: tuple[BlindErrors, ...]

    def to_dict(self) -> list[dict[str, Json]]:
        """Return the rows."""
        return [asdict(error) for error in self.errors]

    @property
    def frame(self) -> pl.DataFrame:
        """The rows."""
        return pl.DataFrame(self.to_dict(), infer_schema_length=None)
