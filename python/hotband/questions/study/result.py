"""The result of a study: figures as a frame, and records."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.html import frame_html
from hotband.base.text.numbers import percent
from hotband.base.text.schema import with_schema
from hotband.base.views import self_contained, view_of
from hotband.data.record.record import Record

if TYPE_CHECKING:
    from hotband.base.views import Report, View
    from hotband.data.documents.study import ClaimDoc, FindingDoc, StudyDoc

TEXTS_BEFORE, NUMBERS = ("id", "config", "label", "metric", "unit"), ("published", "predicted", "error_pct")


@dataclass(frozen=True)
class StudyResult:
    """The result of a study: `figures` with the published ones, `claims`, `findings`, `records` by run id."""

    records: Mapping[str, Record]
    _result: StudyDoc

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self._result["study"])

    @property
    def answer(self) -> str | None:
        """The answer to the study's question in a few sentences, with its published and predicted figures. None if only
        some loads were run, and for a study without an answer."""
        stored = self._result["answer"]
        return None if stored is None else f"{stored['text']} {stored['further']}".strip()

    @property
    def figures(self) -> pl.DataFrame:
        """One row per figure: id, config, label, metric, unit, published and predicted (in `unit`, null if there is
        none), error_pct (of the prediction, in percent of the published value), note, figure_class ("random rate"),
        blind and blind_error_pct (the prediction made before the figure was seen and its error; null for others). The
        90 % interval of the prediction, in `unit`, is from interval_low to interval_high (docs/guides/intervals.md)."""
        rows = self._result["figures"]
        texts = {name: [row.get(name) for row in rows] for name in (*TEXTS_BEFORE, "note", "figure_class")}
        numbers = {name: [row.get(name) for row in rows] for name in NUMBERS}
        made = [row["blind"] for row in rows]
        numbers["blind"] = [None if prediction is None else prediction["predicted"] for prediction in made]
        numbers["blind_error_pct"] = [None if prediction is None else prediction["error_pct"] for prediction in made]
        intervals = [row["interval"] for row in rows]
        numbers["interval_low"] = [None if interval is None else interval["low"] for interval in intervals]
        numbers["interval_high"] = [None if interval is None else interval["high"] for interval in intervals]
        later = ("note", "figure_class", "blind", "blind_error_pct", "interval_low", "interval_high")
        order = (*TEXTS_BEFORE, *NUMBERS, *later)
        return pl.DataFrame(
            [
                pl.Series(name, numbers[name], dtype=pl.Float64)
                if name in numbers
                else pl.Series(name, texts[name], dtype=pl.String)
                for name in order
            ]
        )

    @property
    def median_error_pct(self) -> float | None:
        """Median of the absolute errors in percent; None if nothing is published."""
        value = self._result["summary"]["median_abs_error_pct"]
        return None if value is None else float(value)

    @property
    def largest_error_pct(self) -> float | None:
        """Largest absolute error in percent; None if nothing is published."""
        value = self._result["summary"]["max_abs_error_pct"]
        return None if value is None else float(value)

    @property
    def claims(self) -> list[ClaimDoc]:
        """Published claims, each with whether it holds. Empty if only some loads were run."""
        return copy.deepcopy(self._result["claims"])

    @property
    def findings(self) -> list[FindingDoc]:
        """Findings in words. Empty if only some loads were run."""
        return copy.deepcopy(self._result["findings"])

    def to_dict(self) -> StudyDoc:
        """Return a copy of what `hotband study run --json` prints."""
        return with_schema(copy.deepcopy(self._result), "hotband-study")

    def report(self) -> Report:
        """Return its report: `.save("page.html")`, and every chart by name in `.charts`, as in
        `hotband.views.report`."""
        loaded = {name: record.loaded() for name, record in self.records.items()}
        report: Report = view_of("hotband-study", "report")(self._result, loaded)
        return report

    def plot(self) -> View:
        """Plot the errors (altair): one point per published figure, zero is exact. Raises UserError if there is
        none."""
        drawn: View = view_of("hotband-study", "chart")(self.name, self._result["figures"])
        return self_contained(drawn)

    def __repr__(self) -> str:
        error = (
            "" if self.median_error_pct is None else f", median error {percent(self.median_error_pct, signed=False)}"
        )
        return f"<Study {self.name}: {len(self._result['figures'])} figures of {len(self.records)} runs{error}>"

    def _repr_html_(self) -> str:
        shown = self.figures.select("config", "label", "metric", "published", "predicted", "unit", "error_pct")
        answer = f"<p>{escape(self.answer)}</p>" if self.answer else ""
        return f"<div><strong>{escape(str(self._result['title']))}</strong>{answer}{frame_html(shown)}</div>"
