"""Metrics that questions name, read from a run's record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.table import IOPS, LATENCY, MBS, Unit

if TYPE_CHECKING:
    from hotband.data.record.record import Figures, Record

FIGURES = {
    "iops": "iops",
    "io/s": "iops",
    "i/os a second": "iops",
    "mb/s": "bandwidth",
    "gb/s": "bandwidth",
    "bandwidth": "bandwidth",
    "throughput": "bandwidth",
    "mean": "mean",
    "average": "mean",
    "avg": "mean",
    "latency": "mean",
    "median": "p50",
}
"""Accepted names of metrics, and ours for them; percentiles are p and a number."""
RATES = {"iops": "IOPS", "bandwidth": "MB/s"}
"""Metrics that are better if larger, and their units."""


@dataclass(frozen=True)
class Figure:
    """A metric of all I/Os, or of reads or writes: "iops" and "bandwidth" (bytes per second), "mean" and percentiles
    such as "p99.9" (seconds)."""

    side: str
    name: str

    def __str__(self) -> str:
        name = RATES.get(self.name, self.name)
        return f"{self.side}.{name}" if self.side else name

    @property
    def is_rate(self) -> bool:
        """Return whether a larger value is better."""
        return self.name in RATES

    @property
    def unit(self) -> Unit:
        """Return the unit of the metric in tables."""
        return {"iops": IOPS, "bandwidth": MBS}.get(self.name, LATENCY)

    @property
    def percentile(self) -> float | None:
        """Return the percentage of a percentile; None for other metrics."""
        return float(self.name[1:]) if self.name[0] == "p" else None

    @property
    def document_name(self) -> str:
        """Return the name of the metric in a record's summary, if it is there."""
        side = f"{self.side}." if self.side else ""
        names = {"iops": "iops", "bandwidth": "bandwidth_bytes_per_s", "mean": "latency_mean_ns"}
        return side + names.get(self.name, f"latency_{self.name.replace('.', '')}_ns")

    @property
    def document_scale(self) -> float:
        """Return the unit of the metric in a record's summary: latencies of records are in nanoseconds."""
        return 1.0 if self.is_rate else 1e-9

    def of(self, record: Record) -> float | None:
        """Return the metric's value; None if the run has none."""
        summary: Figures = record.summary if not self.side else getattr(record, self.side)
        quantile = self.percentile
        if quantile is not None:
            exact = {50.0: summary.p50, 99.0: summary.p99, 99.9: summary.p999}
            found = exact.get(quantile) or summary.percentile(quantile)
            return None if found is None else float(found)
        value = getattr(summary, self.name)
        return None if value is None else float(value)

    def needed(self, record: Record) -> float:
        """Return the metric's value. Raises UserError if the load has no such I/Os."""
        value = self.of(record)
        summary: Figures = record.summary if not self.side else getattr(record, self.side)
        if value is None or not summary.count:
            what = f"the load has no {self.side}s" if self.side else "no I/O was answered"
            raise UserError("question.question", "", str(self), f"{what}; expected a figure of what it does")
        return value


def shown(figure: Figure, value: float) -> str:
    """Format a value with its unit."""
    return figure.unit.shown(value)
