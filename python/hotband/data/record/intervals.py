"""The intervals of a record's figures, as a mapping of frozen objects: `r.intervals["p99"].low`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.data.record.quantity import BytesPerSecond, Seconds

if TYPE_CHECKING:
    from hotband.data.documents.interval import FigureIntervalDoc, RunIntervalsDoc
    from hotband.data.documents.record import RecordDoc

NAMES = {
    "iops": "iops",
    "bandwidth_bytes_per_s": "bandwidth",
    "latency_mean_ns": "mean",
    "latency_p50_ns": "p50",
    "latency_p99_ns": "p99",
    "latency_p999_ns": "p999",
}
"""Names of figures in the document, and in Python."""


@dataclass(frozen=True)
class Interval:
    """A range that contains a figure in `level` percent of such predictions: I/Os per second, bytes per second or
    seconds. `values_low` and `values_high` are the range from the machine's uncertain values alone."""

    level: float
    predicted: float
    low: float
    high: float
    values_low: float
    values_high: float

    def __contains__(self, value: float) -> bool:
        """Return whether a measured value is in the range."""
        return self.low <= value <= self.high


class Intervals(Mapping[str, Interval]):
    """Intervals by figure: "iops", "bandwidth", "mean", "p50", "p99", "p999"; if there are reads and writes, also
    "read.iops" and so on."""

    def __init__(self, document: RunIntervalsDoc) -> None:
        self.level = document["level"]
        self.draws = document["draws"]
        self.notes = tuple(document["notes"])
        self._found = {_name(figure["figure"]): _interval(figure) for figure in document["figures"]}

    def __getitem__(self, name: str) -> Interval:
        if not self._found and self.notes:
            raise KeyError(f"{name}: {self.notes[0]}")
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<Intervals of {self.level:g} %: {', '.join(self) or '; '.join(self.notes)}>"


def figures_of(record: RecordDoc) -> list[FigureIntervalDoc]:
    """Return the intervals in a record's document; none if it has none."""
    document = record.get("intervals")
    return [] if document is None else list(document["figures"])


def figure_interval(record: RecordDoc, figure: str) -> FigureIntervalDoc | None:
    """Return the interval of a figure in a record's document; None if it has none."""
    return next((interval for interval in figures_of(record) if interval["figure"] == figure), None)


def _name(figure: str) -> str:
    side, dot, name = figure.rpartition(".")
    return f"{side}{dot}{NAMES.get(name, name)}"


def _interval(document: FigureIntervalDoc) -> Interval:
    numbers = (
        document["predicted"],
        document["low"],
        document["high"],
        document["values_low"],
        document["values_high"],
    )
    if document["figure"].endswith("_ns"):
        return Interval(document["level"], *(Seconds(number / 1e9) for number in numbers))
    if document["figure"].endswith("_bytes_per_s"):
        return Interval(document["level"], *(BytesPerSecond(number) for number in numbers))
    return Interval(document["level"], *numbers)
