"""The result of `study swings` for Python: sensitivity to each assumption of a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.schema import with_schema
from hotband.questions.study.swingfile import SwingFile, summary

if TYPE_CHECKING:
    from hotband.base.text.values import Json
    from hotband.data.documents.study import MovedDoc, RefusedSwingDoc, SwingsDoc

TEXTS, NUMBERS = ("name", "range_low", "range_high", "end", "figure", "label"), ("nominal", "predicted", "moved_pct")


@dataclass(frozen=True)
class Swings:
    """Every assumption of a study at both ends of its range, one at a time."""

    _file: SwingFile

    @property
    def summary(self) -> SwingsDoc:
        """The summary that a study's result contains."""
        return summary(self._file)

    @property
    def text(self) -> str:
        """A sentence with the number of assumptions run, and of those that change little."""
        return summary(self._file)["text"]

    @property
    def moved(self) -> list[MovedDoc]:
        """Assumptions that change a prediction by more than 10 %, the largest change first."""
        return summary(self._file)["moved"]

    @property
    def refused(self) -> list[RefusedSwingDoc]:
        """Ends that the model refuses, with the reason."""
        return summary(self._file)["refused"]

    @property
    def frame(self) -> pl.DataFrame:
        """One row per assumption, end and figure: name, range_low and range_high, end ("low" or "high"), figure (its
        id) and label, nominal and predicted (null if there is none), moved_pct (null if it cannot be computed)."""
        schema = {name: pl.String if name in TEXTS else pl.Float64 for name in (*TEXTS, *NUMBERS)}
        return pl.DataFrame(list(self._rows()), schema=schema, orient="row")

    def _rows(self) -> Iterator[tuple[str | float | None, ...]]:
        for entry in self._file.entries:
            moved = {(end, figure): pct for end, figure, pct in entry.moves()}
            for end, figures in entry.ends.items():
                for figure, value in figures.items():
                    label = self._file.labels.get(figure, figure)
                    values = (entry.nominal.get(figure), value, moved.get((end, figure)))
                    yield (entry.name, entry.low, entry.high, end, figure, label, *values)

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON that `hotband study swings --json` prints."""
        return with_schema(asdict(self._file), "hotband-study-swings")

    def __repr__(self) -> str:
        return f"<Swings of {self._file.study}: {len(self._file.entries)} assumptions, {len(self.moved)} move a figure>"
