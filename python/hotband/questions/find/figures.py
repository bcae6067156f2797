"""Figures that questions name, read from what a run left."""

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
"""Names of figures, and what they are called here; percentiles are p and a number."""
RATES = {"iops": "IOPS", "bandwidth": "MB/s"}
"""Figures that more is better of, and their units."""


@dataclass(frozen=True)
class Figure:
    """A figure of all I/Os, or of reads or writes: "iops" and "bandwidth" (bytes a second), "mean" and percentiles such
    as "p99.9" (seconds)."""

    side: str
    name: str

    def __str__(self) -> str:
        name = RATES.get(self.name, self.name)
        return f"{self.side}.{name}" if self.side else name

    @property
    def is_rate(self) -> bool:
        """Return whether more of it is better."""
        return self.name in RATES

    @property
    def unit(self) -> Unit:
        """Return the unit in which tables show it."""
        return {"iops": IOPS, "bandwidth": MBS}.get(self.name, LATENCY)

    @property
    def percentile(self) -> float | None:
        """Return the percentage of a percentile."""
        return float(self.name[1:]) if self.name[0] == "p" else None

    @property
    def document_name(self) -> str:
        """Return the name of the figure in a record's summary, where that has it."""
        side = f"{self.side}." if self.side else ""
        names = {"iops": "iops", "bandwidth": "bandwidth_bytes_per_s", "mean": "latency_mean_ns"}
        return side + names.get(self.name, f"latency_{self.name.replace('.', '')}_ns")

    @property
    def document_scale(self) -> float:
        """Return its unit in a record's summary: latencies of records are in nanoseconds."""
        return 1.0 if self.is_rate else 1e-9

    def of(self, record: Record) -> float | None:
        """Return its value; None where the run has none."""
        summary: Figures = record.summary if not self.side else getattr(record, self.side)
        quantile = self.percentile
        if quantile is not None:
            exact = {50.0: summary.p50, 99.0: summary.p99, 99.9: summary.p999}
            found = exact.get(quantile) or summary.percentile(quantile)
            return None if found is None else float(found)
        value = getattr(summary, self.name)
        return None if value is None else float(value)

    def needed(self, record: Record) -> float:
        """Return its value. Raises UserError where the load has no such I/Os."""
        value = self.of(record)
        summary: Figures = record.summary if not self.side else getattr(record, self.side)
        if value is None or not summary.count:
            what = f"the load has no {self.side}s" if self.side else "no I/O was answered"
            raise UserError("question.question", "", str(self), f"{what}; expected a figure of what it does")
        return value


def shown(of: Figure, value: float) -> str:
    """Return a value with its unit."""
    return of.unit.shown(value)
