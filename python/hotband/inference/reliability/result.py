"""The result of the reliability question in Python."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.shown import Shown
from hotband.base.text.html import frame_html
from hotband.base.text.numbers import number
from hotband.base.views import view_of

if TYPE_CHECKING:
    from hotband.data.documents.reliability import EstimateDoc, ReliabilityDoc

COLUMNS = ("figure", "simulated", "low", "high", "closed_form", "difference_pct")


@dataclass(frozen=True)
class Simulated:
    """A simulated figure with its 95 % interval from `low` to `high`."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Reliability:
    """Mean time to data loss and chance of loss of an array."""

    _document: ReliabilityDoc

    @property
    def mttdl_years(self) -> Simulated | None:
        """Mean time to data loss; None if it cannot be simulated (see `reason`)."""
        return _simulated(self._document["mttdl"]["simulated"])

    @property
    def exact_mttdl_years(self) -> float | None:
        """Mean time to data loss by the closed form; None if there is no closed form."""
        closed_form = self._document["mttdl"]["closed_form"]
        return None if closed_form is None else closed_form["value"]

    reason = Shown[str | None]("Why there is no mean time to data loss; None if there is one.", "mttdl", "reason")
    years = Shown[float]("Length of the mission in years.", "mission", "years")

    @property
    def loss(self) -> Simulated:
        """Chance of losing data within the mission, from 0 to 1."""
        estimate = self._document["mission"]["loss"]
        return Simulated(estimate["value"], estimate["low"], estimate["high"])

    causes = Shown[Mapping[str, float]](
        "Shares of the causes of loss within the mission; they add up to 1.",
        "mission",
        "loss",
        "causes",
    )
    exact_loss = Shown[float | None](
        "Chance of loss by the closed form; None if there is no closed form.",
        "mission",
        "closed_form",
    )

    @property
    def bytes_lost_per_tb(self) -> Simulated:
        """Mean number of bytes lost within the mission per usable terabyte."""
        estimate = self._document["mission"]["bytes_lost_per_tb"]
        return Simulated(estimate["value"], estimate["low"], estimate["high"])

    mtbf_hours = Shown[float]("Mean life of a drive.", "given", "mtbf_hours")
    rebuild_hours = Shown[float | None](
        "Time to rebuild a drive; None if nothing is rebuilt.",
        "given",
        "rebuild_hours",
    )
    sources = Shown[Mapping[str, str]]("Sources of the values that the figures were computed from.", "given", "sources")

    @property
    def frame(self) -> pl.DataFrame:
        """A table with one row per figure ("mttdl_years", "loss", "bytes_lost_per_tb").

        The columns are figure, simulated, low and high (the 95 % interval), closed_form and difference_pct; a missing
        value is null.
        """
        schema = {name: pl.String if name == "figure" else pl.Float64 for name in COLUMNS}
        return pl.DataFrame(list(self._rows()), schema=schema, orient="row")

    def _rows(self) -> Iterator[tuple[str | float | None, ...]]:
        mttdl, mission = self._document["mttdl"], self._document["mission"]
        rows = (
            ("mttdl_years", self.mttdl_years, self.exact_mttdl_years, mttdl.get("difference_pct")),
            ("loss", self.loss, self.exact_loss, mission["difference_pct"]),
            ("bytes_lost_per_tb", self.bytes_lost_per_tb, mission["closed_form_bytes_lost_per_tb"], None),
        )
        for name, estimate, exact, difference in rows:
            ends = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
            yield (name, *ends, exact, difference)

    def to_dict(self) -> ReliabilityDoc:
        """Return a copy of the document that `hotband reliability --json` prints."""
        return copy.deepcopy(self._document)

    def __repr__(self) -> str:
        mean = "" if self.mttdl_years is None else f"MTTDL {number(self.mttdl_years.value)} years, "
        loss = f"loss within {self.years:g} years {number(self.loss.value)}"
        return f"<Reliability of {self._document['machine']}: {mean}{loss}>"

    def _repr_html_(self) -> str:
        from html import escape

        head, *given = view_of(self, "lines")(self._document)
        lines = "".join(f"<br>{escape(line.strip())}" for line in given)
        return f"<div><strong>{escape(head)}</strong>{lines}{frame_html(self.frame)}</div>"


def _simulated(estimate: EstimateDoc | None) -> Simulated | None:
    return None if estimate is None else Simulated(estimate["value"], estimate["low"], estimate["high"])
