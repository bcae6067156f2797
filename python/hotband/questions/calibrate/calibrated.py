"""The result of a calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from hotband.base.heavy import pl
from hotband.base.text.schema import to_doc, to_object
from hotband.base.text.values import Json

if TYPE_CHECKING:
    from hotband.data.documents.record_traces import ComparisonDoc
    from hotband.questions.calibrate.design import Next

State = Literal["told", "narrowed", "unknown"]
TOLD = 0.5
"""Share of its prior deviation up to which a value counts as determined; above `fit.TOLD` it is unknown."""
LEVEL = 0.9


@dataclass(frozen=True)
class Value:
    """A value of the product: the original with its range, and the fitted one with its 90 % interval. `left` is the
    remaining share of its deviation (1: no information). An `unknown` value stays unchanged, and its interval is its
    range. A choice has the probability of the chosen option, and the remaining options as its interval."""

    key: str
    group: str
    prior: str
    prior_low: str
    prior_high: str
    value: str
    low: str
    high: str
    state: State
    left: float
    probability: float | None = None
    options: tuple[str, ...] = ()
    at_edge: bool = False
    note: str = ""


@dataclass(frozen=True)
class Check:
    """A figure of a load that the fit did not use: measured, predicted with the fitted values, and with the original
    product. IOPS, or latencies in ns."""

    load: str
    figure: str
    measured: float
    predicted: float
    before: float

    @property
    def error_pct(self) -> float:
        """Error of the prediction, in percent."""
        return 100.0 * (self.predicted / self.measured - 1.0)

    @property
    def before_pct(self) -> float:
        """Error of the prediction with the original product, in percent."""
        return 100.0 * (self.before / self.measured - 1.0)


@dataclass(frozen=True)
class Line:
    """A measured load, and the errors that the fit leaves: in percent, measured over fitted."""

    load: str
    times: int
    iops: float
    rest_pct: dict[str, float]


@dataclass
class Calibrated:
    """A product with fitted values: `text` is its file. `misfit` is the ratio of the fit's errors to those that chance
    and the model error explain (1: as expected). For a trace, `comparison` compares its second half, measured and
    replayed, as in a record."""

    like: str
    target: str
    values: list[Value]
    checks: list[Check]
    lines: list[Line]
    misfit: float
    best_next: Next | None
    text: str = ""
    notes: list[str] = field(default_factory=list)
    comparison: ComparisonDoc | None = None
    runs: int = 0
    seconds: float = 0.0

    @property
    def told(self) -> list[Value]:
        """Values that the measurements determine or narrow."""
        return [value for value in self.values if value.state != "unknown"]

    @property
    def unknown(self) -> list[Value]:
        """Return the values that the measurements do not determine."""
        return [value for value in self.values if value.state == "unknown"]

    @property
    def frame(self) -> pl.DataFrame:
        """One row per value."""
        return pl.DataFrame([{**asdict(value), "options": ", ".join(value.options)} for value in self.values])

    def to_dict(self) -> dict[str, Json]:
        """Return the result as JSON."""
        return to_object(
            {
                "schema": "hotband-calibrate",
                "like": self.like,
                "target": self.target,
                "values": self.values,
                "checks": [
                    to_doc(check, error_pct=check.error_pct, before_pct=check.before_pct) for check in self.checks
                ],
                "loads": self.lines,
                "misfit": self.misfit,
                "best_next": self.best_next,
                "comparison": self.comparison,
                "notes": self.notes,
            }
        )


def worst(checks: Sequence[Check]) -> Check | None:
    """Return the check with the largest error."""
    return max(checks, key=lambda checked: abs(checked.error_pct), default=None)
