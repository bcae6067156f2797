"""Compare measured with predicted figures: the choice of figures, and verdicts from their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.text.schema import to_doc
from hotband.base.text.values import Json
from hotband.data.documents.expected import Verdict
from hotband.data.record.stats import flush_latency
from hotband.inference.interval.of_run import figures_of

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc

RATES = ("iops", "bandwidth_bytes_per_s")
WIDE = 9.0
"""Upper over lower end from which a figure inside its interval proves nothing. A guess without a model, the median of
the drive's class, is within a factor of 3 of three quarters of the 116 families of the corpus (docs/accuracy.md), so
that an interval of a factor of 3 to either side holds three of four drives, whichever was predicted."""
LATENCIES = ("latency_mean_ns", "latency_p50_ns", "latency_p99_ns", "latency_p999_ns")

WORDS: Mapping[Verdict, str] = {
    "inside": "inside the interval",
    "undecided": "undecided",
    "better": "better than expected",
    "worse": "worse than expected",
}


@dataclass(frozen=True)
class Judged:
    """A figure with its prediction."""

    figure: str
    measured: float
    predicted: float
    low: float | None = None
    high: float | None = None

    @property
    def is_rate(self) -> bool:
        """Whether a larger figure is better."""
        return self.figure.rpartition(".")[2] in RATES

    @property
    def width(self) -> float:
        """Upper over lower end of the interval; infinite if the lower end is zero or there is none."""
        return math.inf if not self.low or self.high is None else self.high / self.low

    @property
    def log_ratio(self) -> float:
        """Logarithm of measured over predicted."""
        return math.log(self.measured / self.predicted)

    @property
    def verdict(self) -> Verdict | None:
        """Verdict on the measured figure; None without an interval."""
        if self.low is None or self.high is None:
            return None
        if self.low <= self.measured <= self.high:
            return "inside" if self.width < WIDE else "undecided"
        return "better" if (self.measured > self.high) == self.is_rate else "worse"

    def document(self) -> dict[str, Json]:
        """Return the figure as JSON."""
        return to_doc(self, verdict=self.verdict)


def compared(measured: RecordDoc, predicted: RecordDoc, asks: str) -> list[Judged]:
    """Return the common figures, the deciding one first: the rate of a closed loop, the mean of an open loop, whose
    rate is given. Bandwidth is left out if there is a rate: it has the same information."""
    ours, theirs = ({**figures_of(record), **_flushes(record)} for record in (predicted, measured))
    both = [name for name in ours if name in theirs]
    return [
        Judged(name, theirs[name], ours[name])
        for name in sorted(_kept(both, asks), key=lambda figure_name: _order(figure_name, asks))
    ]


def _flushes(record: RecordDoc) -> dict[str, float]:
    """Return the latencies of flushes: of an fsync, of an fdatasync."""
    latencies = {f"flush.{name}": flush_latency(record, name) for name in LATENCIES}
    return {name: value for name, value in latencies.items() if value}


def _kept(names: Sequence[str], asks: str) -> list[str]:
    """Remove bandwidth if there is a rate, and the rates of an open loop."""
    rates = [name for name in names if name.endswith("iops")]
    dropped = RATES if asks == "open" else RATES[1:] if rates else ()
    latencies = any(name.rpartition(".")[2] in LATENCIES for name in names)
    return [name for name in names if name.rpartition(".")[2] not in dropped or (asks == "open" and not latencies)]


def _order(name: str, asks: str) -> tuple[int, int]:
    side, _, figure = name.rpartition(".")
    order = LATENCIES if asks == "open" else (*RATES, *LATENCIES)
    return ("", "read", "write", "flush").index(side), order.index(figure) if figure in order else len(order)


def deciding(figures: Sequence[Judged]) -> Judged:
    """Return the figure that decides about a row: the first one, unless its interval is too wide to tell and another
    figure is outside its own."""
    outside = first_outside(figures) if figures[0].verdict == "undecided" else None
    return outside or figures[0]


def row_verdict(figures: Sequence[Judged]) -> Verdict | None:
    """Return the verdict of a row: that of the deciding figure."""
    return deciding(figures).verdict if figures else None


def first_outside(figures: Sequence[Judged]) -> Judged | None:
    """Return the first figure that is outside its interval."""
    return next((figure for figure in figures if figure.verdict in ("better", "worse")), None)


def whole_verdict(rows: Sequence[Sequence[Judged]]) -> str:
    """Return one verdict of all rows, in words."""
    verdicts = [row_verdict(figures) for figures in rows]
    besides = [figures for figures in rows if row_verdict(figures) == "inside" and first_outside(figures)]
    return _in_words(verdicts) + _besides(besides, len(rows))


def _besides(rows: Sequence[Sequence[Judged]], total: int) -> str:
    """Describe figures outside their interval in rows whose deciding figure is inside."""
    if not rows:
        return ""
    outside = Counter(
        f"{_short(figure)} {figure.verdict}"
        for figures in rows
        for figure in figures
        if figure.verdict in ("better", "worse")
    )
    counts = [f"{name} in {count}" if total > 1 else name for name, count in outside.most_common(3)]
    return f"; but {', '.join(counts)}"


def _short(figure: Judged) -> str:
    name = figure.figure.removeprefix("latency_").replace(".latency_", " ")
    return name.removesuffix("_ns").replace("p999", "p99.9").replace("iops", "IOPS")


def _in_words(verdicts: Sequence[Verdict | None]) -> str:
    known = [verdict for verdict in verdicts if verdict is not None]
    if not known:
        return "no figure could be compared"
    if len(set(known)) == 1 and (len(known) == 1 or known[0] in ("inside", "undecided")):
        return WORDS[known[0]] + (f" in all {len(known)} rows" if len(known) > 1 else "")
    counts: Mapping[Verdict, int] = {verdict: known.count(verdict) for verdict in WORDS}
    parts = [f"{count} {'are' if count > 1 else 'is'} {verdict}" for verdict, count in counts.items() if count]
    return f"of {len(known)} rows {', '.join(parts)}"


def distance(figures: Sequence[Judged]) -> float:
    """Return the distance of figures from their predictions: the root of the mean square of the log-ratios."""
    return math.sqrt(sum(figure.log_ratio**2 for figure in figures) / len(figures)) if figures else math.inf
