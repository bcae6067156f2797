"""What a calibration found."""

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
"""A value counts as told if its deviation is at most this share of the one before; more than `fit.TOLD` is unknown."""
LEVEL = 0.9


@dataclass(frozen=True)
class Value:
    """A value of the product: as the product has it, with the range, and as it was found, with the interval of 90 %.
    `left` is what is left of its deviation (1: nothing was told). An `unknown` one stays as it was, and its interval is
    that of its range. A choice has the probability of what was found; its interval are the options that are left."""

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
    """A figure of a load that the fit did not use: measured, predicted with what was found, and with the product as it
    was. IOPS, or latencies in ns."""

    load: str
    figure: str
    measured: float
    predicted: float
    before: float

    @property
    def error_pct(self) -> float:
        """How far the prediction is off."""
        return 100.0 * (self.predicted / self.measured - 1.0)

    @property
    def before_pct(self) -> float:
        """How far it was off before."""
        return 100.0 * (self.before / self.measured - 1.0)


@dataclass(frozen=True)
class Line:
    """A load as it was measured, and what the fit leaves of its figures: in percent, measured over fitted."""

    load: str
    times: int
    iops: float
    rest_pct: dict[str, float]


@dataclass
class Calibrated:
    """A product with values as they were found: `text` is its file. `misfit` is how much farther figures lie off the
    fit than chance and what is known of the model's errors explain (1: as expected). `comparison` is, of a trace, its
    second half measured beside replayed, as a record has it."""

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
        """Values that were found or narrowed."""
        return [value for value in self.values if value.state != "unknown"]

    @property
    def unknown(self) -> list[Value]:
        """Values of which the measurements say nothing."""
        return [value for value in self.values if value.state == "unknown"]

    @property
    def frame(self) -> pl.DataFrame:
        """A row a value."""
        return pl.DataFrame([{**asdict(value), "options": ", ".join(value.options)} for value in self.values])

    def to_dict(self) -> dict[str, Json]:
        """As JSON has it."""
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
    """The one that is farthest off."""
    return max(checks, key=lambda one: abs(one.error_pct), default=None)
