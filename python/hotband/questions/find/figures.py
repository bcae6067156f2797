"""Metrics that questions name, read from a run's record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.table import IOPS, LATENCY, MBS, TPS, Unit
from hotband.data.record.durability import commit_figure, commit_share, decides
from hotband.data.record.overload import only_script

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hotband.data.record.record import Figures, Record

ENDINGS = ("/s", " a second", " per second")
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
    "tps": "tps",
    **dict.fromkeys((f"{word}{ending}" for word in ("transactions", "tx") for ending in ENDINGS), "tps"),
    "transactions": "tps",
}
"""Accepted names of metrics, and ours for them; percentiles are p and a number."""
COMMIT = "commit"
"""Side of a write with its flush."""
OF_TRANSACTIONS = ("mean", "p50", "p99", "p99.9")
"""Latencies of transactions that records have."""
TRANSACTION = "transaction"
"""Side of the runs of a script, whatever it calls them."""
RATES = {"iops": "IOPS", "bandwidth": "MB/s", "tps": "TPS"}
"""Metrics that are better if larger, and their units."""


@dataclass(frozen=True)
class Figure:
    """A metric of all I/Os, or of reads, writes, flushes or commits: "iops" and "bandwidth" (bytes per second), "mean"
    and percentiles such as "p99.9" (seconds); or of transactions, runs of a script: "tps" per second, and latencies. A
    commit is a write with its flush, for which an application waits; a latency of all I/Os is that of commits where
    they take longer and are not too few to show in it."""

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
        return {"iops": IOPS, "bandwidth": MBS, "tps": TPS}.get(self.name, LATENCY)

    @property
    def is_of_script(self) -> bool:
        """Return whether the metric is one of a script's runs."""
        return self.name == "tps" or self.side == TRANSACTION

    @property
    def percentile(self) -> float | None:
        """Return the percentage of a percentile; None for other metrics."""
        return float(self.name[1:]) if self.name[0] == "p" else None

    @property
    def document_name(self) -> str:
        """Return the name of the metric in a record's summary, if it is there."""
        side = f"{self.side}." if self.side else ""
        names = {
            "iops": "iops",
            "bandwidth": "bandwidth_bytes_per_s",
            "mean": "latency_mean_ns",
            "tps": "transactions_per_s",
        }
        return side + names.get(self.name, f"latency_{self.name.replace('.', '')}_ns")

    @property
    def document_scale(self) -> float:
        """Return the unit of the metric in a record's summary: latencies of records are in nanoseconds."""
        return 1.0 if self.is_rate else 1e-9

    @property
    def column(self) -> str:
        """Return the name of the metric in frames and JSON, which ends in its unit."""
        return self.document_name.replace(".", "_", 1) if self.side else self.document_name

    def recorded(self, value: float) -> float:
        """Return a value in the unit of records: latencies in nanoseconds, as `column` states."""
        # Fifteen digits are exact in both units: 0.0147 s are 14,700,000 ns, not 14,700,000.000000002.
        return value if self.is_rate else float(f"{value / self.document_scale:.15g}")

    def of(self, record: Record) -> float | None:
        """Return the metric's value; None if the run has none."""
        return self.in_record(record)._alone(record)

    def at(self, record: Record, quantile: float) -> float | None:
        """Return another percentile of the same I/Os."""
        return Figure(self.side, f"p{quantile!r}").of(record)

    def name_in(self, record: Record) -> str:
        """Return the name of the metric, after `commit` if the value is that of commits."""
        return f"{COMMIT} {self}" if self.is_of_commits(record) else str(self)

    def in_record(self, record: Record) -> Figure:
        """Return the metric of the commits if the value is theirs, else this one."""
        return Figure(COMMIT, self.name) if self.is_of_commits(record) else self

    def is_of_commits(self, record: Record) -> bool:
        """Return whether a metric of all I/Os is that of commits."""
        share = commit_share(record.document)
        if self.side or self.is_rate or not share:
            return False
        commit = Figure(COMMIT, self.name)._alone(record)
        return decides(commit, self._alone(record), share, self.percentile)

    def is_flushed(self, record: Record) -> bool:
        """Return whether the value contains the time of flushes."""
        return self.side in ("flush", COMMIT) or self.is_of_commits(record)

    def has_interval(self, record: Record) -> bool:
        """Return whether intervals of such a value are known: neither times of flushes nor transactions have any."""
        return not self.is_flushed(record) and not self.is_of_script

    def _alone(self, record: Record) -> float | None:
        if self.is_of_script:
            return self._of_script(record)
        if self.side == COMMIT:
            value = commit_figure(record.document, self.percentile)
            return None if value is None else value / 1e9
        summary = self.figures_of(record)
        if summary is None:
            return None
        quantile = self.percentile
        if quantile is not None:
            exact = {50.0: summary.p50, 99.0: summary.p99, 99.9: summary.p999}
            found = exact.get(quantile) or summary.percentile(quantile)
            return None if found is None else float(found)
        value = getattr(summary, self.name)
        return None if value is None else float(value)

    def _of_script(self, record: Record) -> float | None:
        """Return a metric of the runs of a record's only script; None if it has none, or several."""
        script = only_script(record.document)
        if script is None:
            return None
        if self.name == "tps":
            return script["per_second"]
        value = script.get(f"duration_{self.name.replace('.', '')}_ns")
        return value / 1e9 if isinstance(value, int | float) else None

    def figures_of(self, record: Record) -> Figures | None:
        """Return the figures of the metric's I/Os, those of the flushes for commits; None if there are none."""
        if not self.side:
            return record.summary
        figures: Figures | None = getattr(record.summary, "flush" if self.side == COMMIT else self.side)
        return figures

    def needed(self, record: Record) -> float:
        """Return the metric's value. Raises UserError if the load has no such I/Os."""
        value = self.of(record)
        if self.is_of_script:
            if value is None:
                script = only_script(record.document)
                lacks = "the load is no single script" if script is None else "no transaction ended in the time"
                raise UserError("question.question", "", str(self), lacks)
            return value
        summary = self.figures_of(record)
        if value is None or summary is None or not summary.count:
            what = f"the load has no {_MANY[self.side]}" if self.side else "no I/O was answered"
            raise UserError("question.question", "", str(self), f"{what}; expected a figure of what it does")
        return value


def commit_notes(figures: Iterable[Figure], records: Iterable[Record]) -> list[str]:
    """Return a note if a latency of all I/Os is that of the commits in a run."""
    pairs = ((figure, record) for record in records for figure in figures)
    named = dict.fromkeys(str(figure) for figure, record in pairs if figure.is_of_commits(record))
    says = "is that of commits, writes with their flush"
    return [f"{name} {says}; write.{name} is that of writes alone" for name in named]


_MANY = {"read": "reads", "write": "writes", "flush": "flushes", COMMIT: "flushes"}


def shown(figure: Figure, value: float) -> str:
    """Format a value with its unit."""
    return figure.unit.shown(value)
